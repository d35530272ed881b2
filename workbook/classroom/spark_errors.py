"""Explains Spark's errors to learners: a short cause with the column, the function, the line.

Spark numbers its errors by condition (``getCondition``), each with its own parameters; its messages
go on with the whole plan. What a Python function raised on a worker comes as the text of a
traceback.
"""

from __future__ import annotations

import linecache
import re
from typing import Any

STARTS = (
    "It starts a query (`writeStream ... start`). Return the DataFrame that describes the result; "
    "the notebook starts the query."
)
_BRACKETS = (
    "`&` and `|` bind more tightly than `==`, so put each condition in brackets: "
    "`(a == 1) & (b == 2)`."
)
_TOLD = {
    "WRITE_STREAM_NOT_ALLOWED": STARTS,
    "UNRESOLVED_COLUMN.WITH_SUGGESTION": "There's no column {objectName} at this point. Did you "
    "mean one of {proposal}? If it's meant as text, put it in quotes in SQL.",
    "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION": "There's no column {objectName} at this point.",
    "ATTRIBUTE_NOT_SUPPORTED": "There's no column or method `{attr_name}` at this point.",
    "CANNOT_CONVERT_COLUMN_INTO_BOOL": "Columns are joined by `&`, `|` and `~`, not by `and`, `or` "
    "and `not`, with each condition in brackets: `(a == 1) & (b == 2)`.",
    "CAST_OVERFLOW": "A cast overflows: {value} doesn't fit into {targetType}. Leave it out, or "
    "take a wider type: BIGINT.",
    "MISSING_AGGREGATION": "{expression} is neither in the `groupBy` nor in an aggregate.",
    "TABLE_OR_VIEW_NOT_FOUND": "Spark knows no table {relationName}. Hand the DataFrame to the SQL "
    'by name: `spark.sql("SELECT ... FROM {{df}}", df=df)`.',
    "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE": "{inputSql} is {inputType}, where {requiredType} is "
    "wanted. (`F.timestamp_millis` makes a timestamp of milliseconds.)",
}


def spark_cause(error: BaseException | None) -> str:
    """Name the likely cause of an error that Spark raised, or ''."""
    condition, named = _of(error, "getCondition"), _of(error, "getMessageParameters") or {}
    if condition == "PYTHON_EXCEPTION":
        raised = str(named.get("traceback") or error).strip().splitlines()[-1]
        return f"A Python function in your answer raised {raised}, on one of Spark's workers."
    if "Python worker exited unexpectedly" in str(error):
        return (
            "A Python function in your answer ended the worker that ran it (by `os._exit`, for "
            "example, or out of memory). Return a value instead."
        )
    taken_for_truth = condition == "CAST_INVALID_INPUT" and "BOOLEAN" in named["targetType"]
    mismatch = str(condition).startswith("DATATYPE_MISMATCH")
    if taken_for_truth or (mismatch and re.search(r" (AND|OR) ", named.get("sqlExpr", ""))):
        return _BRACKETS
    if condition in _TOLD:
        return _TOLD[condition].format(**named)
    return f"Spark refuses it: {_first_sentence(error)}" if condition else ""


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
