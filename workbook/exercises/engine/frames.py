"""Checks answers from DataFrame to DataFrame: small frames, compared regardless of order."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from workbook.exercises.engine.calls import Attempt
from workbook.exercises.engine.jobs import attempt_on_spark, without_new_queries
from workbook.exercises.engine.judging import NotYet, not_callable_so, usual_cause
from workbook.exercises.engine.mistakes import Mistake, cause_of_rows
from workbook.exercises.engine.render import Rows
from workbook.exercises.engine.showing import place
from workbook.exercises.engine.spark_errors import spark_cause, worker_line
from workbook.exercises.engine.streams import (
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
    any order. ``cause`` is said if no mistake explains the
    difference. With ``streams`` the next cell runs the answer on a stream, so that has to be
    possible too; without, it must still leave running to the caller. What is right is tried once
    more with each row, in and out, ``renamed``. The check needs a ``spark`` session.
    """
    types = dict(column.split() for column in columns.split(", "))
    columns_in = [column.split()[0] for column in schema.split(", ")]

    def diagnose(answer: Any, spark: SparkSession | None = None) -> NotYet | None:
        if spark is None:
            return NotYet("This check needs Spark: write `check(answer, spark=spark)`.")
        if misuse := not_callable_so(answer, (None,)):
            return misuse
        with _waiting_aloud(), without_new_queries(spark):
            frame = spark.createDataFrame(list(rows), schema)
            _warm_up(frame)
            found = _collect(answer, frame, list(types))
            if isinstance(found, NotYet):
                return found
            return judged(*found) or on_a_stream(answer, frame, found[0]) or again(answer, spark)

    def judged(frame: DataFrame, found: list[Row]) -> NotYet | None:
        other_type = _other_type(frame, types)
        if Counter(found) != Counter(expected):
            known = _without_a_filter(frame) if not found else ""
            known = known or cause_of_rows(mistakes, columns_in, rows, found)
            table = difference(list(types), found, expected)
            return NotYet(known or other_type or cause, table=table)
        return NotYet(other_type) if other_type else None

    def on_a_stream(answer: Any, table: DataFrame, result: DataFrame) -> NotYet | None:
        with without_new_queries(table.sparkSession) as started:
            described = _described(answer, table)
            if described.timed_out:
                return _error(answer, described)
            broken = cause_on_a_stream if streams else cause_of_running
            told = broken(described) or cause_of_luck(result)
        told = STARTS if started.queries else told
        return NotYet(told) if told else None

    def again(answer: Any, spark: SparkSession) -> NotYet | None:
        if renamed is None:
            return None
        frame = spark.createDataFrame([renamed(row) for row in rows], schema)
        found = _collect(answer, frame, list(types))
        if isinstance(found, NotYet):
            return found
        asked = [renamed(row) for row in expected]
        if Counter(found[1]) == Counter(asked):
            return None
        return NotYet(_BY_NAME, table=difference(list(types), found[1], asked))

    return diagnose


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


def _described(answer: Callable[..., Any], frame: DataFrame) -> Attempt:
    """Call the answer with a stream: nothing runs there, so a long wait is an endless loop."""
    spark = frame.sparkSession
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is said of a stream would only confuse
        return attempt_on_spark(spark, answer, stream_like(frame), seconds=DESCRIBING_SECONDS)


_warm: set[str] = set()


def _warm_up(frame: DataFrame) -> None:
    """Run the first query of a session, which is slow, outside the time of an answer."""
    session = frame.sparkSession.sparkContext.applicationId
    if session not in _warm:
        frame.groupBy(*frame.columns[:1]).count().collect()
        _warm.add(session)


def _collect(
    answer: Callable[..., Any], frame: DataFrame, columns: Sequence[str]
) -> tuple[DataFrame, list[Row]] | NotYet:
    """Return the answer's frame and its rows in the order of ``columns``, or what is wrong."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    tried = attempt_on_spark(spark, answer, frame, seconds=CALLING_SECONDS)
    if not isinstance(tried.value, DataFrame):
        return _error(answer, tried, _no_frame(tried.value))
    if Counter(tried.value.columns) != Counter(columns):
        return _other_columns(tried.value.columns, columns)
    ran = attempt_on_spark(spark, tried.value.select(*columns).collect, seconds=LIMIT_SECONDS)
    if not isinstance(ran.value, list):
        return _error(answer, ran)
    return tried.value, [_hashable(row) for row in ran.value]


def _hashable(value: Any) -> Any:
    """Turn a row's lists and maps, which Python can't count, into tuples."""
    if isinstance(value, dict):
        return tuple(sorted(((k, _hashable(v)) for k, v in value.items()), key=repr))
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value


def _without_a_filter(frame: DataFrame) -> str:
    """Return why there is no row where nothing filters, or ''."""
    plan = frame._jdf.queryExecution().analyzed().toString()
    return "" if re.search(r"\b(Filter|Join|Limit)", plan) else _NO_ROW


_NO_ROW = (
    "It gives no row, though nothing filters: is the result made out of something empty, as of a "
    "list that is filled on Spark's workers? Those have copies of their own."
)


def _error(answer: Callable[..., Any], tried: Attempt, otherwise: str = "") -> NotYet:
    if told := spark_cause(tried.error):
        where = worker_line(tried.error) or place(tried.error, answer)
        return NotYet(told, printed=tried.printed, where=where)
    cause = usual_cause(tried) or otherwise
    where = place(tried.error, answer)
    return NotYet(cause, value=tried.shown, printed=tried.printed, where=where)


def _no_frame(value: Any) -> str:
    kind = type(value)
    if kind.__name__ == "GroupedData":
        return "It ends with `groupBy`: what is to be computed for each group?"
    if kind.__module__.split(".")[0] == "pandas":
        return (
            f"It returns a {kind.__name__} of pandas, and a DataFrame of Spark is asked for: leave "
            "out `toPandas`, which fetches every row."
        )
    return (
        f"A DataFrame is asked for, and its value is of type {kind.__name__}. "
        "Describe the result, and leave running it to the caller."
    )


def _other_columns(found: Sequence[str], asked: Sequence[str]) -> NotYet:
    missing = ", ".join(c for c in asked if c not in found)
    besides = ", ".join(c for c in found if c not in asked)
    halves = [f"missing {missing}"] * bool(missing) + [f"not asked for {besides}"] * bool(besides)
    twice = ", ".join(f"`{c}`" for c, times in Counter(found).items() if times > 1)
    return NotYet(
        f"A name stands for more than one column: {twice}. Each is asked for once."
        if twice
        else f"The columns differ: {'; '.join(halves)}. "
        "Check what you group by, and name a column with `alias`.",
        value=", ".join(found),
        expected=", ".join(asked),
    )


def _other_type(frame: DataFrame, asked: dict[str, str]) -> str:
    """Name the first column whose type is of another kind than the one asked for; or ''."""
    for name, type_ in asked.items():
        found = frame.schema[name].dataType.simpleString()
        if _kind(found) != _kind(type_.lower()):
            if found.startswith(("array", "map", "struct")):
                return (
                    f"Look at the type: `{name}` is {found.upper()}, and {type_} is asked for: "
                    "one value in each row, and not a collection of them."
                )
            return (
                f"Look at the type: `{name}` is {found.upper()}, and {type_} is asked for. A whole "
                "number comes of `div`, `floor` or a cast; text of a cast to STRING."
            )
    return ""


def _kind(type_: str) -> str:
    """Return a type's kind: whole numbers of any width are one, since Spark chooses the width."""
    whole = re.fullmatch(r"tinyint|smallint|int|bigint|decimal\(\d+,0\)", type_)
    return "a whole number" if whole else type_


@contextmanager
def _waiting_aloud() -> Iterator[None]:
    """Say what a check waits for, once it takes longer than somebody likes to wait in silence."""
    out = sys.stdout  # an answer's own output is caught elsewhere meanwhile

    def say() -> None:
        print(
            "Spark works on your answer. The first time in a session takes some seconds ...",
            file=out,
            flush=True,
        )

    timer = threading.Timer(PATIENCE_SECONDS, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
