"""Runs Spark's jobs for a check, and cancels them and all queries that an answer started.

To interrupt Python while it waits for Java leaves the job running, and the connection broken. So
the job itself is cancelled, from a thread beside; Python then gets an ordinary error. Spark kills
a Python worker whose task was cancelled and that hangs, two seconds later.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbook.classroom.calls import Attempt, attempt

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENDING_SECONDS = 3.0
"""How long a call may go on once its jobs are cancelled; a loop of Python does."""

_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


def attempt_on_spark(
    spark: SparkSession, function: Callable[..., Any], *args: Any, seconds: float
) -> Attempt:
    """Call what may run jobs of Spark, which are cancelled after so many seconds."""
    with _in_a_group(spark) as group:
        late = threading.Event()

        def cancel() -> None:
            late.set()
            spark.sparkContext.cancelJobGroup(group)

        timer = threading.Timer(seconds, cancel)
        timer.daemon = True
        timer.start()
        try:
            tried = attempt(function, *args, seconds=seconds + ENDING_SECONDS)
        finally:
            timer.cancel()
        stopped = late.is_set() and tried.error is not None
        return replace(tried, error=None, timed_out=True) if stopped else tried


@contextmanager
def _in_a_group(spark: SparkSession) -> Iterator[str]:
    """Have this thread's jobs in a group of their own, whose tasks may be interrupted."""
    context, group = spark.sparkContext, f"check-{uuid.uuid4()}"
    before = {name: context.getLocalProperty(name) for name in _GROUP}
    context.setJobGroup(group, "a check of an answer", interruptOnCancel=True)
    try:
        yield group
    finally:
        context.cancelJobGroup(group)  # after an interrupt jobs may be left
        for name, value in before.items():
            context.setLocalProperty(name, value)  # type: ignore[arg-type]  # None takes it away


@dataclass
class Started:
    """Counts the streaming queries that an answer has started."""

    queries: int = 0


@contextmanager
def without_new_queries(spark: SparkSession) -> Iterator[Started]:
    """Stop at the end each streaming query that was not active at the beginning."""
    before, started = {query.runId for query in spark.streams.active}, Started()
    try:
        yield started
    finally:
        for query in spark.streams.active:
            if query.runId not in before:
                started.queries += 1
                query.stop()
