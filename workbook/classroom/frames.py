"""Runs answers from DataFrame to DataFrame, and shows how two frames differ."""

from __future__ import annotations

import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from workbook.classroom.calls import Attempt
from workbook.classroom.frame_causes import (
    broken,
    cause_of_no_frame,
    other_columns,
)
from workbook.classroom.jobs import attempt_on_spark
from workbook.classroom.judging import NotYet
from workbook.classroom.render import Rows
from workbook.classroom.streams import stream_like

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LIMIT_SECONDS = 30.0
"""How long the rows of an answer may take, in a session that has run a query before."""

CALLING_SECONDS = 15.0
"""How long an answer may take on a table, where it may run something, though it should not."""

DESCRIBING_SECONDS = 10.0
"""How long an answer may take to describe its result on a stream, which runs nothing."""

PATIENCE_SECONDS = 2.0
"""After this a check that still runs says what it waits for."""

MOST_ROWS = 12
"""How many rows of each kind a difference shows."""

Row = tuple[Any, ...]


def difference(columns: Sequence[str], found: Sequence[Row], expected: Sequence[Row]) -> Rows:
    """Show two frames as one table, each row marked by where it stands (after chispa)."""
    yours, asked = Counter(found), Counter(expected)
    parts = {"in both": yours & asked, "missing": asked - yours, "only in yours": yours - asked}
    return (("row", *columns), *(line for part in parts.items() for line in _lines(*part, columns)))


def _lines(where: str, counted: Counter[Row], columns: Sequence[str]) -> list[tuple[str, ...]]:
    rows = sorted(counted.elements(), key=repr)
    shown = [(where, *map(str, row)) for row in rows[:MOST_ROWS]]
    if len(rows) <= MOST_ROWS:
        return shown
    return [*shown, (where, f"… {len(rows) - MOST_ROWS:,} more", *[""] * (len(columns) - 1))]


def described(answer: Callable[..., Any], frame: DataFrame) -> Attempt:
    """Call the answer with a stream: nothing runs there, so a long wait is an endless loop."""
    spark = frame.sparkSession
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is said of a stream would only confuse
        return attempt_on_spark(spark, answer, stream_like(frame), seconds=DESCRIBING_SECONDS)


_warm: set[str] = set()


def warm_up(frame: DataFrame) -> None:
    """Run the first query of a session, which is slow, outside the time of an answer."""
    session = frame.sparkSession.sparkContext.applicationId
    if session not in _warm:
        frame.groupBy(*frame.columns[:1]).count().collect()
        _warm.add(session)


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


@contextmanager
def waiting_aloud() -> Iterator[None]:
    """Say what a check waits for, once it takes longer than somebody likes to wait in silence."""
    out = sys.stdout  # an answer's own output is caught elsewhere meanwhile

    def say() -> None:
        first = "" if _warm else " The first time in a session takes some seconds."
        print(f"Spark works on your answer ...{first}", file=out, flush=True)

    timer = threading.Timer(PATIENCE_SECONDS, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
