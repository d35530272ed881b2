"""Checks answers from DataFrame to DataFrame: small frames, compared regardless of order."""

from __future__ import annotations

import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.classroom.calls import Attempt
from workbook.classroom.frame_causes import (
    broken,
    cause_of_no_frame,
    cause_of_no_rows,
    other_column_type,
    other_columns,
)
from workbook.classroom.jobs import attempt_on_spark, without_new_queries
from workbook.classroom.judging import NotYet, not_callable_so
from workbook.classroom.mistakes import Mistake, cause_of_rows
from workbook.classroom.render import Rows
from workbook.classroom.streams import (
    STARTS,
    cause_of_luck,
    cause_of_running,
    cause_on_a_stream,
    stream_like,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


def by_rows(
    schema: str,
    rows: Sequence[Row],
    columns: str,
    expected: Sequence[Row],
    mistakes: Sequence[Mistake],
    cause: str,
    *,
    streams: bool = True,
    renamed: Callable[[Row], Row] | None = None,
) -> Callable[..., NotYet | None]:
    """Build a check that hands a function a batch DataFrame of ``rows`` and compares its result.

    ``columns`` are those asked for with their types, as in ``"name STRING, views BIGINT"``, in any
    order; a mistake's model goes from rows, whose fields have the names of ``schema``, to rows in
    any order. ``cause`` is said if no mistake explains the difference. With ``streams`` the next
    cell runs the answer on a stream, so that has to be possible too; without, it must still leave
    running to the caller. What is right is tried once more with each row, in and out, ``renamed``.
    The check needs a ``spark`` session.
    """
    types = dict(column.split() for column in columns.split(", "))
    return _ByRows(schema, rows, types, expected, mistakes, cause, streams, renamed)


@dataclass(frozen=True)
class _ByRows:
    """Diagnoses an answer from DataFrame to DataFrame; see ``by_rows``."""

    schema: str
    rows: Sequence[Row]
    types: dict[str, str]
    expected: Sequence[Row]
    mistakes: Sequence[Mistake]
    cause: str
    streams: bool
    renamed: Callable[[Row], Row] | None

    def __call__(self, answer: Any, spark: SparkSession | None = None) -> NotYet | None:
        if spark is None:
            return NotYet("This check needs Spark: write `check(answer, spark=spark)`.")
        if misuse := not_callable_so(answer, (None,)):
            return misuse
        with waiting_aloud(), without_new_queries(spark):
            table = spark.createDataFrame(list(self.rows), self.schema)
            warm_up(table)
            found = collect_rows(answer, table, list(self.types))
            if isinstance(found, NotYet):
                return found
            result, rows = found
            return (
                self._judged(result, rows)
                or self._on_a_stream(answer, table, result)
                or self._under_other_names(answer, spark)
            )

    def _judged(self, result: DataFrame, found: list[Row]) -> NotYet | None:
        """Compare the rows of an answer, and then their types."""
        other_type = other_column_type(result, self.types)
        if Counter(found) == Counter(self.expected):
            return NotYet(other_type) if other_type else None
        columns = [column.split()[0] for column in self.schema.split(", ")]
        known = "" if found else cause_of_no_rows(result)
        known = known or cause_of_rows(self.mistakes, columns, self.rows, found)
        table = difference(list(self.types), found, self.expected)
        return NotYet(known or other_type or self.cause, table=table)

    def _on_a_stream(
        self, answer: Callable[..., Any], table: DataFrame, result: DataFrame
    ) -> NotYet | None:
        """Ask whether what is right on a table can be described on a stream."""
        with without_new_queries(table.sparkSession) as started:
            tried = described(answer, table)
            if tried.timed_out:
                return broken(answer, tried)
            refused = cause_on_a_stream if self.streams else cause_of_running
            cause = refused(tried) or cause_of_luck(result)
        cause = STARTS if started.queries else cause
        return NotYet(cause) if cause else None

    def _under_other_names(self, answer: Callable[..., Any], spark: SparkSession) -> NotYet | None:
        """Try the same rows once more, each of them renamed."""
        if self.renamed is None:
            return None
        table = spark.createDataFrame([self.renamed(row) for row in self.rows], self.schema)
        found = collect_rows(answer, table, list(self.types))
        if isinstance(found, NotYet):
            return found
        asked = [self.renamed(row) for row in self.expected]
        if Counter(found[1]) == Counter(asked):
            return None
        return NotYet(_BY_NAME, table=difference(list(self.types), found[1], asked))


_BY_NAME = (
    "It's right for the names in the check, and wrong for the same rows under other names. Judge "
    "by the other columns."
)


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
