"""The plan of a process of the crash lab, what it notes, and kill -9 at the point in its plan.

It kills itself and all that it has started; what it notes outlives that.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import pyarrow as pa
from pyspark.sql import DataFrame

from workbook.crashlab.crashes.base import Point
from workbook.kafka.offsets import partition_offsets
from workbook.spark.checkpoints import newest
from workbook.spark.runner import OnPoint
from workbook.stack.process import family

NOTE = "killed"
"""The file in the lab's folder: when (seconds since 1970) the lab's kill came, and its point."""

READ = "read"
"""The file in the lab's folder with the offset behind the last record that the loop was given."""


WARM = "warm"
"""The file in the lab's folder that is there where the process has taken a warm Spark."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run of a system, with the ``words`` behind ``workbook run``, in a process of its own.

    ``records`` are waiting in its topic. With a ``point`` the process kills itself when it passes
    there for the ``passes``-th time. ``group`` and ``pace`` (seconds of waiting per record) are
    for runs by hand. ``own`` is a loop of somebody's own, packed as text.
    """

    system: str
    variant: str
    words: tuple[str, ...]
    config: dict[str, str]
    folder: str
    group: str
    records: int
    pace: float
    point: str | None = None
    passes: int = 0
    own: str = ""

    def to_json(self) -> bytes:
        """Encode the plan as one line for the process's standard input."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> Plan:
        """Parse a plan from its line of JSON."""
        return cls(**json.loads(line))


def draw(variant: str, points: Sequence[Point], seed: int) -> list[int]:
    """Draw the pass of each point at which a kill comes; all but the first come soon after."""
    passes, begins = [], True
    for point in points:
        spread = (point.last - point.first) // len(points)
        first, last = (point.first, point.first + spread) if begins else (1, max(spread, 1))
        passes.append(random.Random(f"{variant} {point.name} {seed}").randint(first, last))
        begins = False
    return passes


class NoteRead:
    """Notes the offset behind each record; called before the loop gets the record."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / READ, os.O_CREAT | os.O_WRONLY)

    def __call__(self, offset: int) -> None:
        os.pwrite(self._file, b"%20d" % offset, 0)


def read_in(folder: Path) -> int | None:
    """Return the offset that a process noted last; None if it was given no record."""
    try:
        return int((folder / READ).read_text())
    except (FileNotFoundError, ValueError):
        return None


IN_TIME_S = 20.0


def kill_family(pid: int, folder: Path, point: str | None) -> None:
    """Kill a process, all its descendants and its Spark; the caller, if among them, last."""
    with suppress(OSError):  # the folder may be on its way out
        (folder / NOTE).write_text(f"{time.time()!r} {point}")
    me = os.getpid()
    for process in sorted(family(pid), key=lambda p: (p.pid == me, p.pid == pid)):
        with suppress(psutil.Error):
            process.kill()


class KillAt(OnPoint):
    """Kills this process at the chosen pass of the chosen point."""

    def __init__(self, plan: Plan, options: Namespace) -> None:
        self._plan, self._passed = plan, 0
        self._first: str | None = None
        inside = plan.point in IN_TASK
        self._in_task = IN_TASK[plan.point](plan, options) if inside else None

    def __call__(self, point: str) -> None:
        """Count the passes; the first point of each micro-batch prepares a kill within it."""
        self._first = self._first or point
        if point == self._first and self._in_task:
            self._in_task.arm()
        if point == self._plan.point:
            self._passed += 1
            if self._passed == self._plan.passes:
                kill_family(os.getpid(), Path(self._plan.folder), point)

    def within(self, point: str, rows: DataFrame) -> DataFrame:
        """Add a step to the tasks in which one of them may kill the process."""
        if self._in_task is None or point != self._plan.point:
            return rows
        return self._in_task.through(rows)


def kill_after_commit(plan: Plan, commits: Path) -> None:
    """Watch a checkpoint from a thread, and kill after the chosen number of further commits."""
    commit = commits / str(newest(commits) + plan.passes)

    def watch() -> None:
        while not commit.exists():
            time.sleep(0.002)
        kill_family(os.getpid(), Path(plan.folder), plan.point)

    threading.Thread(target=watch, daemon=True).start()


class KillInTask:
    """Kills from within a task: a part of the micro-batch has been computed, the rest hasn't.

    ``arm`` before each micro-batch; from the chosen one on the first task that has rows is the
    end. Spark must run in one machine.
    """

    def __init__(self, plan: Plan, options: Namespace) -> None:
        self._plan, self._options, self._driver = plan, options, os.getpid()
        self._armed = Path(plan.folder) / "armed"
        self._batches = 0
        self._armed.unlink(missing_ok=True)  # of a former life

    def arm(self) -> None:
        """Count a micro-batch before it begins; arm the kill from the chosen one on."""
        self._batches += 1
        if self._batches >= self._plan.passes:
            self._set_trap()

    def through(self, rows: DataFrame) -> DataFrame:
        """Add a step to the tasks in which one of them may kill the process."""
        return rows.mapInArrow(self._pass_on, rows.schema)

    def _pass_on(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows and self._is_time():
                kill_family(self._driver, Path(self._plan.folder), self._plan.point)
            yield batch

    def _set_trap(self) -> None:
        self._armed.touch()

    def _is_time(self) -> bool:
        return self._armed.exists()


class KillMidWrite(KillInTask):
    """Kills when another task of the micro-batch has written its records.

    The first task that has some lets them pass; the next one waits until the topic has grown. The
    trap holds the end of the topic before the micro-batch; the task that is first renames it.
    """

    def through(self, rows: DataFrame) -> DataFrame:
        """Add the step to the tasks of a micro-batch, which get to be two."""
        return super().through(rows.repartition(2))

    def _set_trap(self) -> None:
        self._taken.unlink(missing_ok=True)
        self._armed.write_text(str(self._end()))

    @property
    def _taken(self) -> Path:
        return self._armed.with_suffix(".taken")

    def _is_time(self) -> bool:
        try:
            self._armed.rename(self._taken)
        except FileNotFoundError:
            if not self._taken.exists():  # not armed yet
                return False
        else:
            return False  # the first one
        self._wait_until_grown(int(self._taken.read_text()))
        return True

    def _wait_until_grown(self, before: int) -> None:
        deadline = time.monotonic() + IN_TIME_S
        while self._end() == before:
            if time.monotonic() > deadline:
                raise TimeoutError("no other task of the micro-batch has written")
            time.sleep(0.005)

    def _end(self) -> int:
        """Return the sum of the result topic's end offsets."""
        return sum(o.end for o in partition_offsets(self._plan.config, self._options.out))


IN_TASK: dict[str | None, type[KillInTask]] = {"mid-batch": KillInTask, "mid-write": KillMidWrite}
"""The points that lie inside tasks."""


def die_with_parent(folder: Path) -> None:
    """Kill this process and what it has started once its parent is gone.

    The standard input is a pipe; the operating system closes its other end however the parent
    ends. Unlike a wish to the kernel this works from any thread of the parent and on macOS.
    """

    def watch() -> None:
        os.read(0, 1)  # not by sys.stdin, which a thread must not hold when the process ends
        kill_family(os.getpid(), folder, None)

    threading.Thread(target=watch, daemon=True).start()
