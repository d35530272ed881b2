"""A pipeline in a process of its own that may be killed at any moment, and the verdict after it."""

from __future__ import annotations

import secrets
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import ClassVar

from confluent_kafka import KafkaException

from workbook.errors import CrashFailed
from workbook.faults import material
from workbook.faults.outcome import BY_HAND, KILL, NEVER, RESTART, Outcome, judge
from workbook.faults.plan import EVENTS, Plan, draw, require
from workbook.faults.victim import Victim
from workbook.kafka.broker import Broker
from workbook.kafka.metrics_reader import read_metrics
from workbook.kafka.offsets import PartitionOffsets, partition_offsets
from workbook.stack.client import scratch_dir
from workbook.topics import new_topic

PACE_S = 0.0008
"""Seconds of waiting per record, so that commits of the client lie between records."""

PATIENCE_S = 300.0
"""So long a run may take before it is given up: Spark on a busy machine is slow to start."""


class CrashLab:
    """One input, one variant of the pipeline in a process of its own, and what comes out.

    Making one creates its topics and fills the clicks: 2,000 of them in 40 s of event time, 1 %
    bad, and a page view one minute later that completes the last second. ``start`` it, ``crash``
    it (or give a ``point`` at which it kills itself, and ``wait_for_crash``), ``restart`` it,
    ``finish`` it, and ask for the ``outcome``. As a context manager, or by ``close``, it ends and
    takes its topics along where the lab started the broker. Its process ends with this one, and
    when a second lab of the variant is made, as by running a cell again; not so with
    ``replaces=False``, which ends none and is ended by none.

    ``pace`` are seconds of waiting per record: 0.004 leaves time to press a button. Raises
    ``NoSuchCrash`` for a variant or a point that there is not, ``CrashFailed`` for a step that
    does not fit, or when the pipeline ends by itself.
    """

    latest: ClassVar[dict[str, CrashLab]] = {}

    def __init__(
        self,
        broker: Broker,
        variant: str = "on-delivery",
        point: str | None = None,
        seed: int = 7,
        *,
        pace: float = PACE_S,
        replaces: bool = True,
    ) -> None:
        require(variant, point)
        self.variant, self.point, self.seed = variant, point, seed
        self.passes = draw(variant, point, seed) if point else 0
        self.clicks, self.metrics = new_topic("clicks", "crash"), new_topic("metrics", "crash")
        self.group = f"{variant}.{secrets.token_hex(4)}"
        self._broker = broker
        self._victim: Victim | None = None
        self._killed_at: float | None = None
        self._restarted_at: float | None = None
        self._folder = scratch_dir() / "crashes" / self.group
        self._folder.mkdir(parents=True)
        if replaces:
            self._replace_the_former()
        broker.create(self.clicks, self.clicks.dead_letters, self.metrics)
        self.expected = material.fill(broker.client_config(), self.clicks.name, seed)
        self._plan = Plan(
            variant=variant,
            config=broker.client_config(),
            source=self.clicks.name,
            target=self.metrics.name,
            letters=self.clicks.dead_letters.name,
            group=self.group,
            folder=str(self._folder),
            end=EVENTS + 1,
            pace=pace,
        )

    # --- step by step -------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process, which kills itself where the lab was given a point."""
        self._require(self.state != "closed", "start", "it has been closed; make it again")
        self._require(self._victim is None, "start", "it has been started already")
        self._victim = Victim(replace(self._plan, point=self.point, passes=self.passes))

    def crash(self) -> None:
        """kill -9, now: the process and all that it has started."""
        self._require(self.alive, "crash", "it does not run")
        self._started().kill()
        self._restarted_at = None
        self._require(self.killed_at is not None, "crash", "it has just ended by itself")

    def wait_for_crash(self, within: float = PATIENCE_S) -> None:
        """Wait until the process has killed itself at its point."""
        self._wait_for_end(within)
        self._require(
            self._started().killed, "see a crash", "its process ended before the point came"
        )

    def restart(self) -> None:
        """Start the process again after a crash; it kills itself no more."""
        self._require(self.state != "closed", "restart", "it has been closed; make it again")
        crashed = self.killed_at is not None and self._started().killed
        self._require(crashed, "restart", "it has not been killed")
        self._started().kill()  # lets go of what is left of it
        self._restarted_at = time.time()
        self._victim = Victim(self._plan)

    def finish(self, within: float = PATIENCE_S) -> None:
        """Wait until the input is finished and delivered; ``CrashFailed`` if it takes too long."""
        self._wait_for_end(within)
        self._require(self.finished, "finish", "it was killed: restart it first")

    def outcome(self, since: str = RESTART) -> Outcome:
        """Judge what came out; all of the input is in it once it has ``finished``.

        ``since`` is where the recovery begins: at the start again, since somebody may have looked
        at the dead pipeline for a while, or at the kill.
        """
        self._started()
        metrics = read_metrics(self._broker.client_config(), self.metrics.name)
        return Outcome(
            self.variant,
            self.point or (NEVER if self.killed_at is None else BY_HAND),
            self.seed,
            self.passes,
            **judge(self.expected, metrics),
            recovery=material.recovery(
                self.killed_at if since == KILL else self._restarted_at, metrics
            ),
            since=since,
        )

    def close(self) -> None:
        """End the process, and remove the lab's folder and, from our own broker, its topics."""
        self._end()
        if self._broker.ours:
            names = (self.clicks.name, self.clicks.dead_letters.name, self.metrics.name)
            with suppress(KafkaException):  # closed before
                self._broker.delete(names)

    # --- what is going on ---------------------------------------------------------------------

    @property
    def state(self) -> str:
        """One of new, running, killed (it may be restarted), finished, failed, closed."""
        if not self._folder.exists():
            return "closed"
        if self._victim is None:
            return "new"
        named = {None: "running", 0: "finished", -signal.SIGKILL: "killed"}
        return named.get(self._victim.code, "failed")

    @property
    def alive(self) -> bool:
        """The process runs."""
        return self._victim is not None and self._victim.code is None

    @property
    def finished(self) -> bool:
        """The process has come to the end of the input, and all is delivered."""
        return self._victim is not None and self._victim.code == 0

    @property
    def killed_at(self) -> float | None:
        """When the last kill came (seconds since 1970), also after the restart; else None."""
        if self._victim is not None:
            self._killed_at = self._victim.killed_at or self._killed_at
        return self._killed_at

    @property
    def is_active(self) -> bool:
        """There is something to watch: it runs, or was killed and may be restarted."""
        return self.state in ("running", "killed")

    def check(self) -> None:
        """Raise ``CrashFailed`` if the process ended by itself, and not as it should."""
        victim = self._victim
        if victim is None or victim.code in (None, 0) or victim.killed:
            return
        raise CrashFailed(
            f"The pipeline {self.variant!r} ended by itself. It said:\n{victim.last_words()}"
        )

    @property
    def checkpoint(self) -> Path:
        """Where Spark keeps offsets, commits and state of its query."""
        return self._folder / "checkpoint" / "0"

    def offsets(self) -> PartitionOffsets:
        """Return how far clicks go, and are committed, in Kafka or in the checkpoint."""
        found = partition_offsets(self._broker.client_config(), self.clicks.name, self.group)[0]
        if self.variant != "spark":
            return found
        committed = material.committed(self.checkpoint, self.clicks.name)
        lag = found.end - (found.begin if committed is None else committed)
        return replace(found, committed=committed, lag=lag)

    # --- inside -------------------------------------------------------------------------------

    def _replace_the_former(self) -> None:
        """End the process of the variant's last lab; a view of its topics may still be open."""
        former = CrashLab.latest.get(self.variant)
        CrashLab.latest[self.variant] = self
        if former is not None:
            former._end()

    def _end(self) -> None:
        if self._victim is not None:
            self._victim.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _started(self) -> Victim:
        if self._victim is None:
            raise CrashFailed("The crash lab has not been started: call start() first.")
        return self._victim

    def _wait_for_end(self, within: float) -> None:
        victim = self._started()
        if not victim.ended(within):
            raise CrashFailed(
                f"Expected the pipeline {self.variant!r} to end within {within:.0f} s, but it runs "
                f"on: {self.offsets()}. Is the machine very busy? Wait for it again. "
                f"It said:\n{victim.last_words()}"
            )
        self.check()

    def _require(self, condition: bool, deed: str, reason: str) -> None:
        if not condition:
            raise CrashFailed(f"The crash lab of {self.variant!r} cannot {deed}: {reason}.")

    def __enter__(self) -> CrashLab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        self.close()


def crash(
    broker: Broker,
    variant: str,
    point: str,
    seed: int = 7,
    progress: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Run, kill at the point, run again to the end, and judge; raises as ``CrashLab``."""
    with CrashLab(broker, variant, point, seed, replaces=False) as lab:
        lab.start()
        progress(f"The pipeline runs: {len(lab.expected):,} page views wait to be counted.")
        lab.wait_for_crash()
        progress(f"Killed at pass {lab.passes:,} of {point}. It starts again.")
        lab.restart()
        lab.finish()
        progress("The whole input has been read, and all metrics are delivered.")
        return lab.outcome(since=KILL)
