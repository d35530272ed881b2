"""Names likely causes that show in Spark's errors, or in the DataFrame of an answer.

The messages of Spark's errors continue with the whole plan. What a Python function raised on a
worker comes as the text of a traceback.
"""

from __future__ import annotations

import linecache
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbook.classroom.advice import advice
from workbook.classroom.calls import Attempt
from workbook.classroom.causes import usual_cause
from workbook.classroom.judging import NotYet
from workbook.classroom.showing import place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STARTS = (
    "It starts a query (`writeStream ... start`). Return the DataFrame that describes the result; "
    "the notebook starts the query."
)
_BRACKETS = (
    "`&` and `|` bind more tightly than `==`, so put each condition in brackets: "
    "`(a == 1) & (b == 2)`."
)


def spark_cause(error: BaseException | None) -> str:
    """Name the likely cause of an error that Spark raised, or ''."""
    condition, named = _of(error, "getCondition"), _of(error, "getMessageParameters") or {}
    if condition == "PYTHON_EXCEPTION":
        raised = str(named.get("traceback") or error).strip().splitlines()[-1]
        return f"A Python function in your answer raised {raised}, on one of Spark's workers."
    taken_for_truth = condition == "CAST_INVALID_INPUT" and "BOOLEAN" in named["targetType"]
    mismatch = str(condition).startswith("DATATYPE_MISMATCH")
    if taken_for_truth or (mismatch and re.search(r" (AND|OR) ", named.get("sqlExpr", ""))):
        return _BRACKETS
    if error is None or not condition:
        return ""
    if condition == "WRITE_STREAM_NOT_ALLOWED":
        return STARTS
    return advice(error, f"[{condition}]") or f"Spark refuses it: {_first_sentence(error)}"


def worker_line(error: BaseException | None) -> str:
    """Find the learner's own line in the traceback of a Python worker, or ''."""
    if _of(error, "getCondition") != "PYTHON_EXCEPTION":
        return ""
    frames = re.findall(r'File "(.+)", line (\d+)', str(error))
    own = [(file, int(line)) for file, line in frames if "/site-packages/" not in file]
    if not own:
        return ""
    file, line = own[-1]
    return f"line {line}: {linecache.getline(file, line).strip()}".removesuffix(": ")


def _of(error: BaseException | None, name: str) -> Any:
    """Call a method of Spark's errors; return None where the error has no such method."""
    method = getattr(error, name, None)
    return method() if method else None


def _first_sentence(error: BaseException | None) -> str:
    """Return the message without its condition, its SQL state and the plan."""
    lines = str(error).strip().splitlines() or [""]
    return re.sub(
        r"^.*terminated with exception: |^\[[A-Z_.0-9]+\] | SQLSTATE: \w+.*$|;$", "", lines[0]
    )[:300]


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
    """Return that the columns differ, and in what."""
    missing = ", ".join(column for column in asked if column not in found) or "none"
    besides = ", ".join((Counter(found) - Counter(asked)).elements()) or "none"
    return NotYet(
        f"The columns differ: missing {missing}; not asked for {besides}. Check what you group by, "
        "and name a column with `alias`.",
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
