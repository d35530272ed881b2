"""Runs a system in a process of its own, kills it, starts it again, and judges the result."""

from __future__ import annotations

import secrets
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, ClassVar

from workbook.crashlab.crashes.base import OwnLoop
from workbook.crashlab.lab_topics import LabTopics, variant_of
from workbook.crashlab.loops import packed
from workbook.crashlab.points import WARM, Plan, draw
from workbook.crashlab.process import Victim
from workbook.crashlab.report import BY_HAND, KILL, RESTART, Kill, KillPictures, Outcome, recoveries
from workbook.errors import CrashFailed
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import PartitionOffsets
from workbook.stack.client import scratch_dir
from workbook.topics import PREFIX
from workbook.views.picture import Picture

PACE_S = 0.0008
"""Seconds of waiting per record, so that commits of the client lie between records."""

PATIENCE_S = 300.0
"""The seconds that a run may take: Spark on a busy machine is slow to start."""


class CrashLab:
    """One input, one variant of a system in a process of its own, and its results.

    Making one creates its topics and fills its input. ``start`` it, ``crash`` it (or give
    ``points`` at which it kills itself, one after each start, and ``wait_for_crash``), ``restart``
    it, ``finish`` it, and ask for the ``outcome``. As a context manager, or by ``close``, it ends
    and takes its topics along where the lab started the broker. Its process ends with this one,
    and when a second lab of the variant is made, as by running a cell again; not so with
    ``replaces=False``, which ends none and is ended by none.

    Without a ``variant`` it runs what ``workbook run`` runs; where that is a function, it runs
    this loop of yours (``OwnLoop``) with the ``settings`` of its consumer, and the broker refuses
    the metric with the number ``refused`` until the first kill. ``pace`` are seconds of waiting
    per record, of a variant by hand: 0.004 leaves time to press a button. Raises ``NoSuchCrash``
    for a system, variant or point that there is not, ``CrashFailed`` for a step that does not fit,
    or when the process ends by itself.
    """

    latest: ClassVar[dict[tuple[str, str], CrashLab]] = {}

    def __init__(
        self,
        broker: Broker,
        system: str,
        variant: str | Callable[..., None] | None = None,
        *points: str,
        seed: int = 7,
        pace: float = PACE_S,
        replaces: bool = True,
        settings: Mapping[str, Any] = MappingProxyType({}),
        refused: int = 0,
    ) -> None:
        self.system, self.seed = system, seed
        own = OwnLoop(variant, dict(settings), refused) if callable(variant) else None
        self.variant = variant_of(system, variant)
        packed_loop = packed(own) if own else ""
        self._group = f"{PREFIX}{system}.{self.variant.name}.{secrets.token_hex(4)}"
        self._folder = scratch_dir() / "crashes" / self._group
        passed = [self.variant.point(name) for name in points]
        self._to_come = list(zip(points, draw(self.variant.name, passed, seed), strict=True))
        self._aim = (BY_HAND, 0)
        self._victim: Victim | None = None
        self._kills: list[Kill] = []
        self._restarts: list[float] = []
        self._over = False
        self._folder.mkdir(parents=True)
        if replaces:
            self._replace_the_former()
        self.topics = LabTopics(broker, system, seed, self._folder, clean=own is not None)
        self.topics.crashes.prepare(self.variant, self.topics.filled, self.topics.outputs)
        self._plan = Plan(
            system=system,
            variant=self.variant.name,
            words=(*self.topics.words, *self.variant.words),
            config=broker.client_config(),
            folder=str(self._folder),
            group=self._group,
            records=self.topics.filled.records,
            pace=pace,
            own=packed_loop,
        )
        self._pictures = KillPictures(
            self.topics, self._group, self._folder, by_hand=self.variant.by_hand is not None
        )
        self._later = packed(replace(own, refused=0)) if own else ""

    # --- step by step -------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process, which kills itself where the lab was given a point."""
        self._require(self.state != "closed", "start", "it has been closed; make it again")
        self._require(self._victim is None, "start", "it has been started already")
        self._run()

    def crash(self) -> None:
        """kill -9, now: the process and all that it has started."""
        self._require(self.state == "running", "crash", "it does not run")
        self._started().kill()
        self._require(self.state == "killed", "crash", "it has just ended by itself")

    def wait_for_crash(self, within: float = PATIENCE_S) -> None:
        """Wait until the process has killed itself at its point."""
        self._wait_for_end(within)
        killed = self.state == "killed" and self.kills[-1].point == self._aim[0]
        self._require(killed, "see a crash", "its process ended before the point came")

    def restart(self) -> None:
        """Start the process again after a crash; it kills itself at the next point, if any."""
        self._require(self.state != "closed", "restart", "it has been closed; make it again")
        self.check()
        self._require(self.state == "killed", "restart", "it has not been killed")
        self._kills = self.kills
        self._started().kill()  # lets go of what is left of it
        self._pictures.note(len(self._kills))
        self._restarts.append(time.time())
        self._plan = replace(self._plan, own=self._later)
        self._run()

    def finish(self, within: float = PATIENCE_S) -> None:
        """Wait until the input is finished and delivered; ``CrashFailed`` if it takes too long."""
        self._wait_for_end(within)
        self._require(self.state == "finished", "finish", "it was killed: restart it first")

    def outcome(self, since: str = RESTART) -> Outcome:
        """Judge the results; those of all of the input are there once it has ``finished``.

        ``since`` is where a recovery begins: at the start again, since somebody may have looked
        at the dead process for a while, or at the kill.
        """
        self._started()
        topics, killed = self.topics, [kill.at for kill in self.kills]
        begun = killed if since == KILL else self._restarts
        self._pictures.note(len(killed))
        return Outcome(
            self.system,
            self.variant,
            self.seed,
            tuple(self.kills),
            topics.crashes.judge(topics.filled, topics.outputs),
            recoveries(begun, topics.crashes.written(topics.outputs)),
            since,
            tuple(self._pictures.pictures(killed, self._restarts)),
            (self._folder / WARM).exists(),
        )

    def timeline(self) -> Picture:
        """Draw the checkpoint of a query on Spark: its files over time, and the kills."""
        self._require(self.variant.by_hand is None, "show a checkpoint", "it commits to Kafka")
        return self._pictures.timeline([kill.at for kill in self.kills], self._restarts)

    def close(self) -> None:
        """End the process, and remove the lab's folder and, from our own broker, its topics."""
        self._end()
        self.topics.delete()

    # --- what is going on ---------------------------------------------------------------------

    @property
    def state(self) -> str:
        """Return new, running, killed (it may be restarted), finished, failed or closed."""
        if self._over or not self._folder.exists():
            return "closed"
        if self._victim is None:
            return "new"
        if self._victim.kill_note:
            return "killed"
        return {None: "running", 0: "finished"}.get(self._victim.code, "failed")

    @property
    def kills(self) -> list[Kill]:
        """Return all kills so far."""
        note = self._victim.kill_note if self._victim is not None else None
        if note is None:
            return self._kills
        point, passes = self._aim if note[1] == self._aim[0] else (BY_HAND, 0)
        return [*self._kills, Kill(point, passes, note[0])]

    @property
    def killed_at(self) -> float | None:
        """Return when the last kill came (seconds since 1970), or None; a restart keeps it."""
        return self.kills[-1].at if self.kills else None

    @property
    def is_active(self) -> bool:
        """Return True while it runs, or was killed and may be restarted."""
        return self.state in ("running", "killed")

    def check(self) -> None:
        """Raise ``CrashFailed`` if the process ended by itself, and not as it should."""
        victim = self._victim
        if victim is None or self.state != "failed":
            return
        foreign = victim.code == -signal.SIGKILL
        how = "was killed, but not by the lab: is memory short?" if foreign else "ended by itself."
        raise CrashFailed(f"{self} {how} It said:\n{victim.last_words()}")

    def __str__(self) -> str:
        return f"The process of {self.system}, {self.variant.name},"

    @property
    def checkpoint(self) -> Path:
        """Return the folder in which Spark keeps offsets, commits and state of its query."""
        return self._folder / "checkpoint" / "0"

    def offsets(self) -> PartitionOffsets:
        """Return how far partition 0 goes, and is committed, in Kafka or in the checkpoint."""
        if self.variant.by_hand is None:
            return self.topics.offsets_in(self.checkpoint)
        return self.topics.offsets(self._group)

    # --- inside -------------------------------------------------------------------------------

    def _run(self) -> None:
        self._aim = self._to_come.pop(0) if self._to_come else (BY_HAND, 0)
        point, passes = self._aim
        plan = replace(self._plan, point=point, passes=passes) if passes else self._plan
        self._victim = Victim(plan)

    def _replace_the_former(self) -> None:
        """End the process of the variant's last lab; a view of its topics may still be open."""
        former = CrashLab.latest.get((self.system, self.variant.name))
        CrashLab.latest[self.system, self.variant.name] = self
        if former is not None:
            former._end()

    def _end(self) -> None:
        self._over = True
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
                f"{self} was expected to end within {within:.0f} s, but it runs on: "
                f"{self.offsets()}. Is the machine very busy? Wait for it again. "
                f"It said:\n{victim.last_words()}"
            )
        self.check()

    def _require(self, condition: bool, deed: str, reason: str) -> None:
        if not condition:
            raise CrashFailed(f"{self} cannot {deed}: {reason}.")

    def __enter__(self) -> CrashLab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        self.close()


def crash(
    broker: Broker,
    system: str,
    variant: str | Callable[..., None],
    *points: str,
    seed: int = 7,
    progress: Callable[[str], None] = lambda text: None,
    **own: Any,
) -> Outcome:
    """Run, kill at each point and start again behind it, to the end; judge. Raise as ``CrashLab``.

    With several points the kills come one after the other, each after a new start. ``own`` are the
    ``settings`` and ``refused`` of a loop of your own.
    """
    with CrashLab(broker, system, variant, *points, seed=seed, replaces=False, **own) as lab:
        lab.start()
        progress(f"It starts; {lab.topics.filled.records:,} records wait in its topic ...")
        for point in points:
            lab.wait_for_crash()
            progress(f"Killed at pass {lab.kills[-1].passes:,} of {point}. It starts again ...")
            lab.restart()
        lab.finish()
        progress("The whole input has been read, and all results are delivered.")
        return lab.outcome(since=KILL)
