"""Names likely causes that show in the DataFrame of an answer, or in a call that gave none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbook.classroom.calls import Attempt
from workbook.classroom.causes import usual_cause
from workbook.classroom.judging import NotYet
from workbook.classroom.showing import place
from workbook.classroom.spark_errors import spark_cause, worker_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def broken(answer: Callable[..., Any], tried: Attempt, otherwise: str = "") -> NotYet:
    """Return what is wrong with an answer that raised, took too long or gave no DataFrame."""
    if cause := spark_cause(tried.error):
        where = worker_line(tried.error) or place(tried.error, answer)
        return NotYet(cause, printed=tried.printed, where=where)
    cause = usual_cause(tried) or otherwise
    where = place(tried.error, answer)
    return NotYet(cause, value=tried.shown, printed=tried.printed, where=where)


def cause_of_no_frame(value: Any) -> str:
    """Return the likely cause of a value that isn't a DataFrame."""
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


def other_columns(found: Sequence[str], asked: Sequence[str]) -> NotYet:
    """Return which columns are missing, not asked for, or there twice."""
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


def other_column_type(frame: DataFrame, asked: dict[str, str]) -> str:
    """Name the first column whose type is of another kind than the one asked for; or ''."""
    for name, type_ in asked.items():
        found = frame.schema[name].dataType.simpleString()
        if _kind(found) != _kind(type_.lower()):
            if found.startswith(("array", "map", "struct")):
                return (
                    f"Look at the type: `{name}` is {found.upper()}, and {type_} is asked for: "
                    "one value in each row, and not a collection of them."
                )
            how = _MADE_BY.get(type_.upper(), "")
            return f"Look at the type: `{name}` is {found.upper()}, and {type_} is asked for.{how}"
    return ""


_MADE_BY = {
    "BIGINT": " A whole number comes from `div`, `floor` or a cast.",
    "STRING": " Text comes from a cast to STRING.",
    "DATE": " `to_date` makes one of a timestamp.",
}


def _kind(type_: str) -> str:
    """Return a type's kind: whole numbers of any width are one, since Spark chooses the width."""
    whole = re.fullmatch(r"tinyint|smallint|int|bigint|decimal\(\d+,0\)", type_)
    return "a whole number" if whole else type_
