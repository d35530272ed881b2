"""kill -9 for the table of share holders: at a named point, and the verdict after the restart."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random

import pandas as pd
from confluent_kafka import KafkaException, Message

from workbook.errors import CrashFailed, NoSuchCrash
from workbook.faults.plan import EVENTS, STORE, TABLE, WHERE_IN_TABLE, Plan
from workbook.faults.victim import Victim
from workbook.generators.positions import PositionStream
from workbook.kafka.broker import Broker
from workbook.kafka.readers import latest_rows, read_dead_letters, read_messages
from workbook.kafka.stream_producer import generate
from workbook.ledgers.tables import TableLedger, TableVerdict
from workbook.sinks.store import Store
from workbook.stack.client import scratch_dir
from workbook.topics import compacted, new_compacted_topic

PATIENCE_S = 300.0
PASSES = 12
"""So many micro-batches at most lie before all kills together, of the 20 that there are."""

PARTITIONS = 2
COLUMNS = ["client", "positions", "tickers"]


@dataclass(frozen=True)
class TableOutcome:
    """A table that was killed, judged by the ledger: what its store says, and what its topic says.

    ``points`` are where it was killed, one after the other. ``letters`` are the rejected records
    found in the dead letters, of ``rejected``: at least once. ``recoveries`` are the times from a
    kill to the next record in the topic, in seconds.
    """

    points: tuple[str, ...]
    seed: int
    store: TableVerdict = field(repr=False)
    topic: TableVerdict = field(repr=False)
    rejected: int
    letters: int
    recoveries: tuple[float, ...]

    @property
    def kept(self) -> bool:
        """Store and topic equal the recomputation, and no rejected record was lost."""
        return self.store.clean and self.topic.clean and self.letters == self.rejected

    def __str__(self) -> str:
        mark = "✓" if self.kept else "✗"
        lines = [
            f"{mark} share holders, killed {len(self.points)} times",
            *(f"  at {point}: {WHERE_IN_TABLE[point]}" for point in self.points),
            f"Its store: {_brief(self.store)}",
            f"Its topic: {_brief(self.topic)}",
            f"Dead letters: {self.letters} of {self.rejected} rejected records.",
        ]
        if self.recoveries:
            times = ", ".join(f"{seconds:.1f} s" for seconds in self.recoveries)
            lines.append(f"From a kill to the next record: {times}.")
        return "\n".join(lines)


def _brief(verdict: TableVerdict) -> str:
    return str(verdict).splitlines()[0] if verdict.clean else str(verdict)


def crash_table(
    broker: Broker,
    points: Sequence[str],
    seed: int = 7,
    progress: Callable[[str], None] = lambda text: None,
) -> TableOutcome:
    """Run the table, kill it at each of the points, starting it again behind each, and judge.

    The input: 2,000 records of 120 positions, 5 % tombstones and 3 % bad ones among them. Raises
    ``NoSuchCrash`` for a point that it does not pass, ``CrashFailed`` when it ends by itself.
    """
    for point in points:
        if point not in WHERE_IN_TABLE:
            raise NoSuchCrash(
                f"The table does not pass {point!r}. Choose one of: {', '.join(WHERE_IN_TABLE)}."
            )
    with _Lab(broker, tuple(points), seed) as lab:
        progress(f"The table runs: {EVENTS:,} records wait for it.")
        for point in points:
            lab.run_to_the_crash(point)
            progress(f"Killed at {point}. It starts again.")
        lab.run_to_the_end()
        progress("The whole input has been read.")
        return lab.outcome()


class _Lab:
    """The topics, a folder and the processes of one table; leaving it removes them all."""

    def __init__(self, broker: Broker, points: tuple[str, ...], seed: int) -> None:
        self.broker, self.points, self.seed = broker, points, seed
        self.source = new_compacted_topic("positions", "crash", PARTITIONS)
        self.target = compacted(f"{self.source.name}.holders", PARTITIONS)
        self.folder = scratch_dir() / "crashes" / f"table.{secrets.token_hex(4)}"
        self.folder.mkdir(parents=True)
        self.kills: list[float] = []
        self._draw = Random(seed)
        self._victim: Victim | None = None

    def __enter__(self) -> _Lab:
        config = self.broker.client_config()
        self.broker.create(self.source, self.source.dead_letters, self.target)
        stream = PositionStream(
            seed=self.seed, partitions=PARTITIONS, positions=120, clients=30, bad_share=0.03
        ).ending_by(int(time.time() * 1000), EVENTS)
        generate(config, self.source.name, stream, EVENTS)
        self.expected = stream.expected(0, EVENTS)
        return self

    def run_to_the_crash(self, point: str) -> None:
        """Start, and wait until the process has killed itself, in its first few micro-batches."""
        passes = self._draw.randint(1, PASSES // len(self.points))
        if point == "after-commit":  # told by the number of the micro-batch
            passes += len(list((self.folder / "checkpoint" / "0" / "commits").glob("[0-9]*")))
        victim = self._run(replace(self._plan(), point=point, passes=passes))
        if not victim.killed:
            raise CrashFailed(f"The table was not killed. It said:\n{victim.last_words()}")
        self.kills.append(victim.killed_at or time.time())

    def run_to_the_end(self) -> None:
        """Start again, and wait until all of the input has been read."""
        victim = self._run(self._plan())
        if victim.code != 0:
            raise CrashFailed(f"The table ended by itself. It said:\n{victim.last_words()}")

    def outcome(self) -> TableOutcome:
        """Judge what store, topic and dead letters hold, against the ledger."""
        config, ledger = self.broker.client_config(), TableLedger(self.expected)
        told = read_messages(config, self.target.name)
        letters = read_dead_letters(config, self.source.dead_letters.name)
        store = Store(self.folder / STORE, "client")
        return TableOutcome(
            self.points,
            self.seed,
            ledger.judge(pd.DataFrame(store.all(), columns=COLUMNS)),
            ledger.judge(pd.DataFrame(latest_rows(told).values(), columns=COLUMNS)),
            rejected=int(self.expected["reason"].notna().sum()),
            letters=len(letters.drop_duplicates(["partition", "offset"])),
            recoveries=self._recoveries(told),
        )

    def _recoveries(self, told: list[Message]) -> tuple[float, ...]:
        times = sorted(message.timestamp()[1] / 1000 for message in told)
        after = ((kill, [at for at in times if at > kill]) for kill in self.kills)
        return tuple(found[0] - kill for kill, found in after if found)

    def _plan(self) -> Plan:
        return Plan(
            variant=TABLE,
            config=self.broker.client_config(),
            source=self.source.name,
            target=self.target.name,
            letters=self.source.dead_letters.name,
            group="",
            folder=str(self.folder),
            end=EVENTS,
            pace=0.0,
        )

    def _run(self, plan: Plan) -> Victim:
        if self._victim is not None:
            self._victim.kill()  # lets go of what is left of it
        self._victim = victim = Victim(plan)
        if not victim.ended(PATIENCE_S):
            raise CrashFailed(
                f"Expected the table to end within {PATIENCE_S:.0f} s. Is the machine very busy? "
                f"It said:\n{victim.last_words()}"
            )
        return victim

    def __exit__(self, *_: object) -> None:
        if self._victim is not None:
            self._victim.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.broker.ours:
            names = (self.source.name, self.source.dead_letters.name, self.target.name)
            with suppress(KafkaException):
                self.broker.delete(names)
