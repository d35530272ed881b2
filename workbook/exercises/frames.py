"""Checks of answers from DataFrame to DataFrame: small frames, compared without their order."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from workbook.exercises.calls import Attempt, attempt
from workbook.exercises.judging import Mistake, NotYet, known_mistake, not_callable_so, usual_cause
from workbook.exercises.render import Rows
from workbook.exercises.showing import place
from workbook.exercises.spark_errors import spark_cause, worker_line
from workbook.exercises.streams import (
    cause_of_luck,
    cause_of_running,
    cause_on_a_stream,
    stream_like,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LIMIT_SECONDS = 60.0
"""How long Spark may take; long, because the first query of a session is slow."""

DESCRIBING_SECONDS = 10.0
"""How long an answer may take to describe its result, which runs nothing."""

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
) -> Callable[..., NotYet | None]:
    """A check that hands a function a batch DataFrame of ``rows`` and compares what it returns.

    ``columns`` are those asked for with their types, as in ``"name STRING, views BIGINT"``, in any
    order; a mistake's model goes from rows to rows. ``cause`` is said if no mistake explains the
    difference. With ``streams`` the next cell runs the answer on a stream, so that has to be
    possible too; without, it must still leave running to the caller. The check needs a ``spark``
    session.
    """
    types = dict(column.split() for column in columns.split(", "))

    def diagnose(answer: Any, spark: SparkSession | None = None) -> NotYet | None:
        if spark is None:
            return NotYet("This check needs Spark: write `check(answer, spark=spark)`.")
        if misuse := not_callable_so(answer, (None,)):
            return misuse
        with _waiting_aloud(), _no_query_left(spark):
            frame = spark.createDataFrame(list(rows), schema)
            described = _described(answer, frame)
            if described.timed_out:
                return _error(answer, described)
            found = _collect(answer, frame, list(types))
            return found if isinstance(found, NotYet) else judged(*found, described)

    def judged(frame: DataFrame, found: list[Row], described: Attempt) -> NotYet | None:
        other_type = _other_type(frame, types)
        if Counter(found) != Counter(expected):
            known = known_mistake(mistakes, [(list(rows),)], [sorted(found, key=repr)])
            table = difference(list(types), found, expected)
            return NotYet(known or other_type or cause, table=table)
        broken = cause_on_a_stream if streams else cause_of_running
        told = other_type or broken(described) or cause_of_luck(frame)
        return NotYet(told) if told else None

    return diagnose


@contextmanager
def _no_query_left(spark: SparkSession) -> Iterator[None]:
    """Stop the queries that an answer has started: the notebook starts its own."""
    before = {query.id for query in spark.streams.active}
    try:
        yield
    finally:
        for query in spark.streams.active:
            if query.id not in before:
                query.stop()


def difference(columns: Sequence[str], found: Sequence[Row], expected: Sequence[Row]) -> Rows:
    """Two frames as one table, each row marked by where it stands (after chispa)."""
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
    """The answer called with a stream: nothing is run there, so a long wait is an endless loop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is said of a stream would only confuse
        return attempt(answer, stream_like(frame), seconds=DESCRIBING_SECONDS)


def _collect(
    answer: Callable[..., Any], frame: DataFrame, columns: Sequence[str]
) -> tuple[DataFrame, list[Row]] | NotYet:
    """The answer's frame and its rows in the order of ``columns``, or what is wrong with it."""
    from pyspark.sql import DataFrame

    tried = attempt(answer, frame, seconds=LIMIT_SECONDS)
    if not isinstance(tried.value, DataFrame):
        return _error(answer, tried, _no_frame(tried.value))
    if Counter(tried.value.columns) != Counter(columns):
        return _other_columns(tried.value.columns, columns)
    ran = attempt(lambda: tried.value.select(*columns).collect(), seconds=LIMIT_SECONDS)
    if not isinstance(ran.value, list):
        return _error(answer, ran)
    return tried.value, [tuple(map(_comparable, row)) for row in ran.value]


def _comparable(value: Any) -> Any:
    """An array or a map as something that can be counted."""
    if isinstance(value, list | tuple):
        return tuple(map(_comparable, value))
    if isinstance(value, dict):
        return tuple(sorted(((k, _comparable(v)) for k, v in value.items()), key=repr))
    return value


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
    missing = ", ".join(c for c in asked if c not in found) or "none"
    besides = ", ".join(c for c in found if c not in asked) or "none"
    twice = ", ".join(f"`{c}`" for c, times in Counter(found).items() if times > 1)
    return NotYet(
        f"A name stands for more than one column: {twice}. Each is asked for once."
        if twice
        else f"The columns differ: missing {missing}; not asked for {besides}. "
        "Check what you group by, and name a column with `alias`.",
        value=", ".join(found),
        expected=", ".join(asked),
    )


def _other_type(frame: DataFrame, asked: dict[str, str]) -> str:
    """Names the first column whose type is of another kind than the one asked for; or ''."""
    for name, type_ in asked.items():
        found = frame.schema[name].dataType.simpleString()
        if _kind(found) != _kind(type_.lower()):
            return (
                f"Look at the type: `{name}` is {found.upper()}, and {type_} is asked for. A whole "
                "number comes of `div`, `floor` or a cast; text of a cast to STRING."
            )
    return ""


def _kind(type_: str) -> str:
    """Whole numbers of any width are one kind: Spark chooses between them by itself."""
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
