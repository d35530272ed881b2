"""Checks of answers from DataFrame to DataFrame: small frames, compared without their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbook.exercises.calls import attempt
from workbook.exercises.judging import Mistake, NotYet, known_mistake, not_callable_so, usual_cause
from workbook.exercises.render import Rows
from workbook.exercises.showing import place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LIMIT_SECONDS = 60.0
"""How long Spark may take; long, because the first query of a session is slow."""

Row = tuple[Any, ...]


def by_rows(
    schema: str,
    rows: Sequence[Row],
    columns: Sequence[str],
    expected: Sequence[Row],
    mistakes: Sequence[Mistake],
    cause: str,
) -> Callable[..., NotYet | None]:
    """A check that hands a function a batch DataFrame of ``rows`` and compares what it returns.

    ``columns`` are those asked for, in any order; a mistake's model goes from rows to rows.
    ``cause`` is said if no mistake explains the difference. The check needs a ``spark`` session.
    """

    def diagnose(answer: Any, spark: SparkSession | None = None) -> NotYet | None:
        if spark is None:
            return NotYet("This check needs Spark: write `check(answer, spark=spark)`.")
        if misuse := not_callable_so(answer, (None,)):
            return misuse
        frame = spark.createDataFrame(list(rows), schema)
        found = _collect(answer, frame, columns)
        if isinstance(found, NotYet):
            return found
        if Counter(found) == Counter(expected):
            return None
        known = known_mistake(mistakes, [(list(rows),)], [sorted(found, key=repr)])
        return NotYet(known or cause, table=difference(columns, found, expected))

    return diagnose


def difference(columns: Sequence[str], found: Sequence[Row], expected: Sequence[Row]) -> Rows:
    """Two frames as one table, each row marked by where it stands (after chispa)."""
    yours, asked = Counter(found), Counter(expected)
    parts = {"in both": yours & asked, "missing": asked - yours, "only in yours": yours - asked}
    body = [
        (where, *map(str, row))
        for where, counted in parts.items()
        for row in sorted(counted.elements(), key=repr)
    ]
    return (("row", *columns), *body)


def _collect(
    answer: Callable[..., Any], frame: DataFrame, columns: Sequence[str]
) -> list[Row] | NotYet:
    """The answer's rows in the order of ``columns``, or what is wrong with what it returned."""
    from pyspark.sql import DataFrame

    tried = attempt(answer, frame, seconds=LIMIT_SECONDS)
    if not isinstance(tried.value, DataFrame):
        cause = usual_cause(tried) or (
            f"A DataFrame is asked for, and its value is of type {type(tried.value).__name__}. "
            "Describe the result, and leave running it to the caller."
        )
        where = place(tried.error, answer)
        return NotYet(cause, value=tried.shown, printed=tried.printed, where=where)
    if sorted(tried.value.columns) != sorted(columns):
        return _other_columns(tried.value.columns, columns)
    ran = attempt(lambda: tried.value.select(*columns).collect(), seconds=LIMIT_SECONDS)
    if not isinstance(ran.value, list):
        return NotYet(usual_cause(ran), value=ran.shown)
    return [tuple(row) for row in ran.value]


def _other_columns(found: Sequence[str], asked: Sequence[str]) -> NotYet:
    missing = ", ".join(c for c in asked if c not in found) or "none"
    besides = ", ".join(c for c in found if c not in asked) or "none"
    return NotYet(
        f"The columns differ: missing {missing}; not asked for {besides}. "
        "Check what you group by, and name a column with `alias`.",
        value=", ".join(found),
        expected=", ".join(asked),
    )
