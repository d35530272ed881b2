"""Explains Spark's errors to learners: a short cause with the column, the function, the line.

Spark numbers its errors by condition (``getCondition``), each with its own parameters; its messages
go on with the whole plan. What a Python function raised on a worker comes as the text of a
traceback.
"""

from __future__ import annotations

import difflib
import linecache
import re
from collections.abc import Callable, Mapping
from typing import Any

_BRACKETS = (
    "`&` and `|` bind more tightly than `==`, so put each condition in brackets: "
    "`(a == 1) & (b == 2)`."
)

_WORKER_ENDED = (
    "A Python function in your answer ended the worker that ran it (by `os._exit`, for example, or "
    "out of memory). Return a value instead."
)


def _or_text(named: Mapping[str, str]) -> str:
    """Advise on a word in SQL that looks like no column: it may be text without its quotes."""
    word = named["objectName"].strip("`")
    columns = re.findall(r"`([^`]+)`", named["proposal"])
    if not word.isidentifier() or difflib.get_close_matches(word.lower(), columns):
        return ""
    return f" If it is meant as text, put it in quotes in SQL: `'{word}'`."


_TOLD: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "UNRESOLVED_COLUMN.WITH_SUGGESTION": lambda named: (
        f"There's no column {named['objectName']} at this point. Did you mean one of "
        f"{named['proposal']}?{_or_text(named)}"
    ),
    "WRITE_STREAM_NOT_ALLOWED": lambda named: (
        "It starts a query (`writeStream ... start`). Return the DataFrame that describes the "
        "result; the notebook starts the query."
    ),
    "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION": lambda named: (
        f"There's no column {named['objectName']} at this point."
    ),
    "ATTRIBUTE_NOT_SUPPORTED": lambda named: (
        f"There's no column or method `{named['attr_name']}` at this point."
    ),
    "CANNOT_CONVERT_COLUMN_INTO_BOOL": lambda named: (
        "Columns are joined by `&`, `|` and `~`, not by `and`, `or` and `not`, with each condition "
        "in brackets: `(a == 1) & (b == 2)`."
    ),
    "UNRESOLVED_ROUTINE": lambda named: f"Spark knows no function {named['routineName']}.",
    "TABLE_OR_VIEW_NOT_FOUND": lambda named: (
        f"Spark knows no table {named['relationName']}. Hand the DataFrame to the SQL by name: "
        '`spark.sql("SELECT ... FROM {df}", df=df)`.'
    ),
    "MISSING_AGGREGATION": lambda named: (
        f"{named['expression'].strip(chr(34))} is neither in the `groupBy` nor in an aggregate."
    ),
    "CAST_OVERFLOW": lambda named: (
        f"A cast overflows: {named['value'].rstrip('LSTD')} doesn't fit into "
        f"{named['targetType'].strip(chr(34))}. Leave it out, or take a wider type: BIGINT."
    ),
    "PARSE_SYNTAX_ERROR": lambda named: (
        f"Spark can't read this SQL: it stumbles at or near {named['error']}."
    ),
}


def spark_cause(error: BaseException | None) -> str:
    """Name the likely cause of an error that Spark raised, or ''."""
    condition = _of(error, "getCondition")
    named = _of(error, "getMessageParameters") or {}
    if condition == "PYTHON_EXCEPTION":
        raised = str(named.get("traceback") or error).strip().splitlines()[-1]
        return f"A Python function in your answer raised {raised}, on one of Spark's workers."
    if "Python worker exited unexpectedly" in str(error):
        return _WORKER_ENDED
    if _without_brackets(condition, named):
        return _BRACKETS
    if condition == "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE":
        return _wrong_type(named)
    try:
        return _TOLD[condition](named)
    except KeyError:  # a condition of which nothing is known here, or none of Spark's
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


def _without_brackets(condition: Any, named: Mapping[str, str]) -> bool:
    """Return True if a text was taken for a truth value: ``type == "Page" & reason.isNull()``."""
    if condition == "CAST_INVALID_INPUT":
        return "BOOLEAN" in named.get("targetType", "")
    mismatch = str(condition).startswith("DATATYPE_MISMATCH")
    return mismatch and bool(re.search(r" (AND|OR) ", named.get("sqlExpr", "")))


def _wrong_type(named: Mapping[str, str]) -> str:
    wanted, came, what = (named.get(n, "") for n in ("requiredType", "inputType", "inputSql"))
    if "TIMESTAMP" in wanted and "INT" in came:
        return (
            f"A timestamp is wanted, and {what} is a whole number. `F.timestamp_millis` makes a "
            "timestamp of milliseconds."
        )
    return f"{what} is {came}, where {wanted[:120]} is wanted."


def _of(error: BaseException | None, name: str) -> Any:
    """Call a method of Spark's errors; return None where the error has no such method."""
    method = getattr(error, name, None)
    return method() if method else None


def _first_sentence(error: BaseException | None) -> str:
    """Return the message without its condition, its SQL state and the plan."""
    lines = str(error).strip().splitlines() or [""]
    return re.sub(r"^\[[A-Z_.0-9]+\] | SQLSTATE: \w+.*$|;$", "", lines[0])[:300]
