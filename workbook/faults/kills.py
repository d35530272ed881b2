"""kill -9, by a process to itself and to all that it has started, at the point it was told."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow as pa
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import DataFrame

from workbook.faults.plan import Plan

NOTE = "killed"
"""The file in the lab's folder that says when (seconds since 1970) the kill came."""

IN_TIME_S = 20.0


def kill_family(pid: int, folder: Path) -> None:
    """Kill a process and all its descendants: those first, and the caller, if among them, last."""
    with suppress(OSError):  # the folder may be on its way out
        (folder / NOTE).write_text(repr(time.time()))
    me = os.getpid()
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        family = [*root.children(recursive=True), root]
        for process in sorted(family, key=lambda p: p.pid == me):
            with suppress(psutil.Error):
                process.kill()


@dataclass
class KillAt:
    """Call it at each point: the chosen pass of the chosen point is the end of this process."""

    plan: Plan
    passed: int = 0

    def __call__(self, point: str) -> None:
        if point == self.plan.point:
            self.passed += 1
            if self.passed == self.plan.passes:
                kill_family(os.getpid(), Path(self.plan.folder))


def kill_after_commit(plan: Plan, commits: Path) -> None:
    """Watch a checkpoint from a thread and kill once so many micro-batches are committed."""
    commit = commits / str(plan.passes - 1)

    def watch() -> None:
        while not commit.exists():
            time.sleep(0.002)
        kill_family(os.getpid(), Path(plan.folder))

    threading.Thread(target=watch, daemon=True).start()


class KillMidBatch:
    """Kills from within a task, when another task of the micro-batch has written its metrics.

    ``arm`` before each micro-batch; from the chosen one on, the first task that has metrics
    lets them pass and the next one kills, once the topic has grown. Spark must run in one machine.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan, self._driver = plan, os.getpid()
        self._batches = 0

    @property
    def _claim(self) -> Path:
        """Holds the end of the topic before the micro-batch; renamed by the task that is first."""
        return Path(self._plan.folder) / "armed"

    def arm(self) -> None:
        """Count a micro-batch before it begins; arm the kill from the chosen one on."""
        self._batches += 1
        if self._batches >= self._plan.passes:
            self._claim.with_suffix(".taken").unlink(missing_ok=True)
            self._claim.write_text(str(self._end()))

    def through(self, records: DataFrame) -> DataFrame:
        """Pass the records through tasks of which one may kill."""
        schema = records.schema
        return records.repartition(2, "key").mapInArrow(self._pass_on, schema)

    def _pass_on(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        asked = False
        for batch in batches:
            if batch.num_rows and not asked:
                asked = True
                if not self._is_first():
                    self._kill_when_grown()
            yield batch

    def _is_first(self) -> bool:
        taken = self._claim.with_suffix(".taken")
        try:
            self._claim.rename(taken)
        except FileNotFoundError:
            return not taken.exists()  # not armed yet, or somebody was faster
        return True

    def _kill_when_grown(self) -> None:
        before = int(self._claim.with_suffix(".taken").read_text())
        deadline = time.monotonic() + IN_TIME_S
        while self._end() == before:
            if time.monotonic() > deadline:
                raise TimeoutError("no other task of the micro-batch has written")
            time.sleep(0.005)
        kill_family(self._driver, Path(self._plan.folder))

    def _end(self) -> int:
        """Return the end offset of the metrics topic."""
        reader = Consumer({**self._plan.config, "group.id": "workbook-offsets", "log_level": 0})
        try:
            place = TopicPartition(self._plan.target, 0)
            return int(reader.get_watermark_offsets(place, timeout=10)[1])
        finally:
            reader.close()


class KillInTask:
    """Kills from within a task that has changed some of a table's state, the rest not yet.

    ``arm`` before each micro-batch; in the chosen one the first row that is told is the end.
    Spark must run in one machine.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan, self._driver = plan, os.getpid()
        self._batches = 0

    def arm(self) -> None:
        """Count a micro-batch before it begins; arm the kill in the chosen one."""
        self._batches += 1
        if self._batches == self._plan.passes:
            (Path(self._plan.folder) / "armed").touch()

    def through(self, changes: DataFrame) -> DataFrame:
        """Pass the rows through tasks of which one may kill."""
        return changes.mapInArrow(self._pass_on, changes.schema)

    def _pass_on(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows and (Path(self._plan.folder) / "armed").exists():
                kill_family(self._driver, Path(self._plan.folder))
            yield batch


def die_with_parent(folder: Path) -> None:
    """Kill this process and what it has started once its parent is gone.

    The standard input is a pipe; the operating system closes its other end however the parent
    ends. Unlike a wish to the kernel this works from any thread of the parent and on macOS.
    """

    def watch() -> None:
        os.read(0, 1)  # not by sys.stdin, which a thread must not hold when the process ends
        kill_family(os.getpid(), folder)

    threading.Thread(target=watch, daemon=True).start()
