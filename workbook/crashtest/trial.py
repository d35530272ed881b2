"""One run of a program over a copy of the input of its own: its lives, commits and results."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from workbook.crashtest.copies import ANY, Copy, Record
from workbook.crashtest.results import FolderResults, Results, Row, TableResults, TopicResults
from workbook.crashtest.victim import Victim, forget_members, marked, owner
from workbook.errors import CrashFailed, WorkbookError
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import Offsets, Place, ask_committed, group_reader
from workbook.spark.checkpoints import newest
from workbook.stack.addresses import registry
from workbook.stack.client import lease
from workbook.stack.process import end_now
from workbook.topics import Topic

TICK_S = 0.005
COMMIT_LOOK_S, GROUP_LOOK_S = 0.03, 0.2
ENDLESS_S = 900.0
"""A program that still writes this long after its last input is never quiet."""


@dataclass(frozen=True)
class Setup:
    """What all runs of a crash test have in common.

    ``words`` are the command with its ``PLACES``. ``reads`` (with their numbers of partitions) and
    ``writes`` begin the names of the topics. Results are those of ``query``, of a ``folder`` of
    Parquet, or of a topic.
    """

    broker: Broker
    words: tuple[str, ...]
    token: str
    home: Path
    reads: Sequence[tuple[str, int]]
    writes: str = "out"
    query: str = ""
    folder: bool = False
    quiet_s: float = 10.0
    start_within_s: float = 60.0

    def uses(self, place: str) -> bool:
        """Return True if the command has this placeholder."""
        return any(place in word for word in self.words)


class Trial:
    """A run: it makes its topics and folders; ``close`` ends the program, and removes them.

    ``started`` and ``commits`` are moments (s since 1970); ``start_s`` is how long the first start
    took until its first result.
    """

    def __init__(self, setup: Setup, name: str) -> None:
        self.setup, self.run = setup, f"crash-test-{setup.token}-{name}"
        self._reads = [f"{topic}.{setup.token}.{name}" for topic, _ in setup.reads]
        self._partitions = [number for _, number in setup.reads]
        self.writes = f"{setup.writes}.{setup.token}.{name}"
        self._home = setup.home / name
        self._home.mkdir(parents=True)
        self._log, self.checkpoint = self._home / "log", self._home / "checkpoint"
        self.started: list[float] = []
        self.commits: list[float] = []
        self.left_behind = 0
        self._sent_at = 0.0
        self._victims: list[Victim] = []
        self._sent, self._committed = Counter[Place](), Offsets()
        self._admin = AdminClient({**setup.broker.client_config(), "log_level": 0})
        self._over, self._database = threading.Event(), ""
        with ExitStack() as ends:  # in this order backwards, however far it has come
            ends.callback(self._remove)
            self._copies = [
                Copy(setup.broker, *its) for its in zip(self._reads, self._partitions, strict=True)
            ]
            if not setup.query and not setup.folder:
                setup.broker.create(Topic(self.writes, self._partitions[0], ANY))
            self._known = self._all_topics()
            self._words = self._filled()
            self.results = self._watched()
            ends.callback(self.results.close)
            watcher = threading.Thread(target=self._watch_commits, daemon=True)
            watcher.start()
            ends.callback(watcher.join, 10)
            ends.callback(self._over.set)
            ends.callback(self._end_program)
            self.close = ends.pop_all().close

    # --- the program ------------------------------------------------------------------------------

    def start(self) -> Victim:
        """Start a copy of the program."""
        if self.started and not self._victims:
            self.forget(self.members())
            self._log.unlink(missing_ok=True)
        self.started.append(time.time())
        victim = Victim(self._words, self._log, self.run)
        self._victims.append(victim)
        return victim

    def kill(self, victim: Victim) -> None:
        """kill -9 to a copy, and all that it has started."""
        self.left_behind += victim.kill()
        self._victims.remove(victim)

    def members(self) -> set[tuple[str, str]]:
        """Return the members of the program's groups: group and id."""
        found = set()
        for group in self._groups():
            with suppress(KafkaException):
                [asked] = self._admin.describe_consumer_groups([group]).values()
                found |= {(group, member.member_id) for member in asked.result().members}
        return found

    def forget(self, dead: Iterable[tuple[str, str]]) -> None:
        """Let no group wait for members that were killed."""
        for group, member in dead:
            forget_members(self.setup.broker.bootstrap, group, [member])

    def send(self, chosen: Iterable[Record]) -> None:
        """Send a part of the input."""
        part = list(chosen)
        for source, copy in enumerate(self._copies):
            copy.send(record for record in part if record.source == source)
        self._sent.update((self._reads[record.source], record.partition) for record in part)
        self._sent_at = time.time()

    def settle(self, victim: Victim, patience_s: float, since: float = 0.0) -> bool:
        """Wait until the results are quiet, or the program has ended.

        Returns False if none has come within ``patience_s`` of its last start, or of ``since``.
        Raises ``CrashFailed`` for a program that never gets quiet.
        """
        began, quiet, since = time.time(), self.setup.quiet_s, max(self.started[-1], since)
        while True:
            self.results.check()
            come = [at for at in self.results.times[-1:] if at > since]
            calm = time.time() - max([since, self._sent_at, *come])
            if calm > 1 and victim.code is not None:
                return bool(come)
            long = quiet if come else max(patience_s, quiet)
            if calm > long and not self.results.held_back():
                return bool(come)
            if time.time() - began > ENDLESS_S:
                if calm > long:
                    raise CrashFailed(
                        "A transaction of a producer that was killed is still open: give it a "
                        "shorter transaction.timeout.ms."
                    )
                raise CrashFailed(
                    f"It still writes {ENDLESS_S / 60:.0f} minutes after the last input. A slow "
                    "program needs fewer --records. Results that come by the clock can't be "
                    "compared: let it write only what the input brings, or give a shorter --quiet."
                )
            time.sleep(0.05)

    def wait(self, victim: Victim, until: Callable[[], bool], seconds: float) -> bool:
        """Wait for a condition; return False if the time is over, or the program has ended."""
        deadline = time.time() + seconds
        while not until():
            if time.time() > deadline or victim.code is not None:
                return False
            time.sleep(TICK_S)
        return True

    @property
    def all_committed(self) -> bool:
        """Return True if the group has committed all of the input."""
        return all(self._committed.get(place, 0) >= end for place, end in self._sent.items())

    @property
    def start_s(self) -> float:
        """Return the seconds from the first start to the first result."""
        return self.results.times[0] - self.started[0] if self.results.times else 0.0

    @property
    def place(self) -> str:
        """Return where results are expected."""
        setup = self.setup
        return setup.query or (f"the folder {self._home / 'out'}" if setup.folder else self.writes)

    def elsewhere(self) -> str:
        """Say which topics have come since this run began."""
        more = sorted(self._all_topics() - self._known)
        return f", but meanwhile the topic {' and '.join(more)} was created" if more else ""

    def rows(self) -> list[Row]:
        """Return the results so far."""
        return self.results.rows()

    # --- inside -----------------------------------------------------------------------------------

    def _end_program(self) -> None:
        for victim in list(self._victims):
            self.kill(victim)
        end_now(marked(owner()))  # one whose start was cut short

    def _remove(self) -> None:
        """Remove the topics, groups and the schema of this run, and what the program made so."""
        with suppress(WorkbookError, KafkaException):
            if mine := [name for name in self._all_topics() if self.setup.token in name]:
                self.setup.broker.delete(mine)
        self.forget(self.members())
        with suppress(KafkaException):
            if groups := self._groups():
                deleted = self._admin.delete_consumer_groups(groups, request_timeout=10)
                for done in deleted.values():
                    done.result()
        if self._database:
            with suppress(psycopg.Error), psycopg.connect(self._database) as connection:
                connection.execute(f'DROP SCHEMA IF EXISTS "{self.run}" CASCADE'.encode())

    def _all_topics(self) -> set[str]:
        topics = self._admin.list_topics(timeout=10).topics
        return {name for name in topics if name[:2] != "__"}

    def _groups(self) -> list[str]:
        """Return the groups that the program has made: their names have ``{run}`` in them."""
        with suppress(KafkaException):
            known = self._admin.list_consumer_groups(request_timeout=10).result().valid
            return [group.group_id for group in known if self.run in group.group_id]
        return []

    def _filled(self) -> list[str]:
        """Return the command with its places filled; make this run's own schema."""
        setup, url = self.setup, ""
        if setup.query or setup.uses("{database}"):
            url = self._database = str(lease("crash-test").ask("server", name="postgres"))
            with psycopg.connect(url) as connection:
                connection.execute(f'CREATE SCHEMA "{self.run}"'.encode())
            path = quote(f'-csearch_path="{self.run}"')
            url += f"{'&' if '?' in url else '?'}options={path}"
            self._database = url
        out = self.run if setup.query else str(self._home / "out") if setup.folder else self.writes
        places = {
            "{in}": self._reads[0], "{in2}": self._reads[-1], "{out}": out,
            "{run}": self.run, "{database}": url,
            "{servers}": setup.broker.bootstrap, "{checkpoint}": str(self.checkpoint),
            "{registry}": registry("crash-test") if setup.uses("{registry}") else "",
        }  # fmt: skip
        words = []
        for word in setup.words:
            for place, text in places.items():
                word = word.replace(place, text)
            words.append(word)
        return words

    def _watched(self) -> Results:
        if self.setup.query:
            return TableResults(self._database, self.setup.query)
        if self.setup.folder:
            return FolderResults(self._home / "out")
        config = self.setup.broker.client_config()
        return TopicResults(config, self.writes, self._partitions[0])

    def _watch_commits(self) -> None:
        """Note when the group commits, and when the checkpoint gets a commit."""
        last, reader, config = None, None, self.setup.broker.client_config()
        places = [
            (topic, number)
            for topic, partitions in zip(self._reads, self._partitions, strict=True)
            for number in range(partitions)
        ]
        while not self._over.wait(COMMIT_LOOK_S):
            logs = [*self.checkpoint.glob("commits"), *self.checkpoint.glob("*/commits")]
            seen: Any = sum(newest(log) + 1 for log in logs)  # Spark removes old files
            if self.setup.uses("{run}"):
                with suppress(KafkaException, WorkbookError):
                    if reader is None:
                        self._over.wait(GROUP_LOOK_S)
                        reader = next((group_reader(config, n) for n in self._groups()), None)
                    else:
                        self._committed = ask_committed(reader, config, places)
            seen = seen, self._committed
            if last not in (None, seen):
                self.commits.append(time.time())
            last = seen
        if reader is not None:
            reader.close()
