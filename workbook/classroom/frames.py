"""Runs answers from DataFrame to DataFrame: on a table, and on a stream by micro-batches.

To interrupt Python while it waits for Java leaves the job running, and the connection broken. So
the job itself is cancelled, from a thread beside; Python then gets an ordinary error. Spark kills
a Python worker whose task was cancelled and that hangs, two seconds later.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from workbook.classroom.causes import Attempt, attempt
from workbook.classroom.judging import NotYet
from workbook.classroom.render import Rows
from workbook.classroom.spark_causes import broken, cause_of_no_frame, other_columns, stream_like

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LIMIT_SECONDS = 30.0
"""How long the rows of an answer may take, in a session that has run a query before."""

CALLING_SECONDS = 15.0
"""How long an answer may take to describe its result, though it may run something on a table."""

STREAMING_SECONDS = 60.0
"""How long all micro-batches may take together."""

ENDING_SECONDS = 3.0
"""How long a call may go on once its jobs are cancelled; a loop of Python does."""

MOST_ROWS = 6
"""How many rows of each kind a difference shows."""

_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")

Row = tuple[Any, ...]


def difference(columns: Sequence[str], found: Sequence[Row], expected: Sequence[Row]) -> Rows:
    """Show two frames as one table, each row marked by where it stands (after chispa)."""
    yours, asked = Counter(found), Counter(expected)
    parts = {"in both": yours & asked, "missing": asked - yours, "only in yours": yours - asked}
    lines: list[tuple[str, ...]] = [("row", *columns)]
    for where, counted in parts.items():
        rows = sorted(counted.elements(), key=repr)
        lines += [(where, *map(str, row)) for row in rows[:MOST_ROWS]]
        if len(rows) > MOST_ROWS:
            more = f"… {len(rows) - MOST_ROWS:,} more"
            lines.append((where, more, *[""] * (len(columns) - 1)))
    return tuple(lines)


class Starts(Exception):
    """A query was started where it should be described only."""


def described(answer: Callable[..., Any], frame: DataFrame) -> Attempt:
    """Call the answer with a stream: nothing runs there, so a long wait is an endless loop."""
    from pyspark.sql.streaming import DataStreamWriter

    spark = frame.sparkSession
    starts = patch.object(DataStreamWriter, "start", side_effect=Starts)
    with warnings.catch_warnings(), starts:
        warnings.simplefilter("ignore")  # what is said of a stream would only confuse
        return attempt_on_spark(spark, answer, stream_like(frame), seconds=CALLING_SECONDS)


def collect_rows(
    answer: Callable[..., Any], frame: DataFrame, columns: Sequence[str]
) -> tuple[DataFrame, list[Row]] | NotYet:
    """Return the answer's frame and its rows in the order of ``columns``, or what is wrong."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    tried = attempt_on_spark(spark, answer, frame, seconds=CALLING_SECONDS)
    if not isinstance(tried.value, DataFrame):
        return broken(answer, tried, cause_of_no_frame(tried.value))
    if Counter(tried.value.columns) != Counter(columns):
        return other_columns(tried.value.columns, columns)
    ran = attempt_on_spark(spark, tried.value.select(*columns).collect, seconds=LIMIT_SECONDS)
    if not isinstance(ran.value, list):
        return broken(answer, ran)
    return tried.value, [_hashable(row) for row in ran.value]


def _hashable(value: Any) -> Any:
    """Turn a row's lists and maps, which Python can't count, into tuples."""
    if isinstance(value, dict):
        return tuple(sorted(((k, _hashable(v)) for k, v in value.items()), key=repr))
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value


def run_batches(
    spark: SparkSession,
    answer: Callable[..., Any],
    schema: str,
    batches: Sequence[Sequence[Row]],
    columns: Sequence[str],
) -> Attempt:
    """Run an answer in update mode; the value is a list of the rows that each micro-batch emits.

    Each micro-batch is a file of rows, and the query ends with the last of them. A watermark, which
    moves from one micro-batch to the next, shows nowhere else. ``columns`` are those to keep of the
    rows, which are sorted.
    """

    def run() -> list[list[Row]]:
        with tempfile.TemporaryDirectory(prefix="check-", ignore_cleanup_errors=True) as folder:
            rows, checkpoint = Path(folder, "rows"), Path(folder, "checkpoint")
            _write(rows, [column.split()[0] for column in schema.split(", ")], batches)
            source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
            emitted = _emitted(answer(source.json(str(rows))).select(*columns), checkpoint)
            return [emitted[number] for number in range(len(batches))]

    return attempt_on_spark(spark, run, seconds=STREAMING_SECONDS)


def _write(folder: Path, names: Sequence[str], batches: Sequence[Sequence[Row]]) -> None:
    folder.mkdir()
    for number, rows in enumerate(batches):
        file = folder / f"{number}.json"
        lines = (json.dumps(dict(zip(names, row, strict=True)), default=str) for row in rows)
        file.write_text("\n".join(lines))
        os.utime(file, (number, number))  # Spark reads the oldest file first


def _emitted(frame: DataFrame, checkpoint: Path) -> list[list[Row]]:
    emitted: list[list[Row]] = []

    def keep(batch: DataFrame, _: int) -> None:
        emitted.append(sorted(map(tuple, batch.collect()), key=repr))  # None has no order

    writer = frame.writeStream.outputMode("update").foreachBatch(keep)
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    query = writer.start()
    try:
        query.awaitTermination(int(STREAMING_SECONDS))
    finally:
        query.stop()
    return emitted


def attempt_on_spark(
    spark: SparkSession, function: Callable[..., Any], *args: Any, seconds: float
) -> Attempt:
    """Call a function whose jobs of Spark are cancelled after ``seconds``."""
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
    context.setJobGroup(group, "a check of an answer", interruptOnCancel=True)
    try:
        yield group
    finally:
        context.cancelJobGroup(group)  # after an interrupt jobs may be left
        for name in _GROUP:
            context.setLocalProperty(name, None)  # type: ignore[arg-type]  # takes it away


@contextmanager
def without_new_queries(spark: SparkSession) -> Iterator[list[str]]:
    """Stop at the end each streaming query that was not active at the beginning; yield their ids.

    The list is empty until then.
    """
    before, started = {query.runId for query in spark.streams.active}, list[str]()
    try:
        yield started
    finally:
        for query in spark.streams.active:
            if query.runId not in before:
                started.append(str(query.runId))
                query.stop()
