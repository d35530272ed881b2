"""Names likely causes that show in Spark's errors, in an answer's DataFrame, or on a stream.

The messages of Spark's errors continue with the whole plan. What a Python function raised on a
worker comes as the text of a traceback. An answer that is right on a table is called with a
streaming DataFrame of the same columns. Spark's own checker then says whether it would start the
query in update mode, which takes some 10 ms and starts nothing.
"""

from __future__ import annotations

import linecache
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbook.classroom.advice import advice
from workbook.classroom.causes import Attempt, usual_cause
from workbook.classroom.judging import NotYet
from workbook.classroom.render import place

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
    advice = "Check what you group by, and name a column with `alias`."
    if missing == "none":
        advice = "Choose the columns that are asked for with `select`."
    return NotYet(
        f"The columns differ: missing {missing}; not asked for {besides}. {advice}",
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
            return f"Look at the type: `{name}` is {found.upper()}, and {type_} is asked for."
    return ""


def _kind(type_: str) -> str:
    """Return a type's kind: whole numbers of any width are one, since Spark chooses the width."""
    whole = re.fullmatch(r"tinyint|smallint|int|bigint|decimal\(\d+,0\)", type_)
    return "a whole number" if whole else type_


# --- an answer on a stream ----------------------------------------------------------------------

RIGHT = "The rows are right, but "
_RUNS = (
    "it runs the query itself (`collect`, `toPandas`, `count`, `rdd`, `pivot`, `cache`): a stream "
    "has no end to wait for, and Spark refuses. Describe the result with DataFrame operations, and "
    "leave running it to the caller."
)
_REFUSED = {
    "writeStream.start|pivot is not supported": _RUNS,
    "Sorting is not supported": "a stream can't be sorted: more rows may always come. Leave out "
    "the order; the cell that shows the result sorts it.",
    "NON_TIME_WINDOW": "a stream knows no functions `over` a window of rows, such as `row_number`, "
    "because more rows may always come. `groupBy` and an aggregate do it.",
    "Distinct aggregations": "a stream can't count distinct values: it would have to keep each of "
    "them for ever. Here every row counts, so `count` is enough.",
    "correctness|Multiple streaming aggregations": "it aggregates twice (or joins or drops "
    "duplicates after aggregating), which a stream in update mode can't do. One `groupBy` is "
    "enough.",
}
_TABLE = (
    "they were made out of Python or of another table, so nothing of a stream would come through. "
    "Build the result from the DataFrame that is handed in."
)
COLLECTS = (
    "on a stream it collects every row that a group ever had, and the "
    "state keeps them all forever. Which aggregate keeps a single value?"
)
BY_THE_CLOCK = (
    "they depend on the time at which the query runs: on a stream a group "
    "gets a further row when that time changes."
)
_PLANNED = {
    r"\b(collect_list|collect_set|array_agg|listagg)\(": COLLECTS,
    r"\b(current_date|current_timestamp|now|localtimestamp)\(": BY_THE_CLOCK,
    r"approx_count_distinct\(": "`approx_count_distinct` gives only an estimate, which is wrong "
    "where there are more rows. Here every row counts: `count` gives their exact number.",
    r"\bJoin ": "a join keeps every row that both of its sides ever had, to find the rows that may "
    "still come. One aggregate is enough.",
    "FlatMapGroupsIn": "a Python function over each group sees the rows of one micro-batch alone, "
    "so it would start from nothing in each. The aggregates of `agg` keep their state.",
}
_LUCK = (
    "The rows are right by luck: it sorts, and then takes whichever row comes first. After "
    "`groupBy` or `dropDuplicates` Spark promises no order. Let the aggregate itself choose."
)


def stream_like(table: DataFrame) -> DataFrame:
    """Return a stream with the columns of ``table``, to be described and never run."""
    rate = table.sparkSession.readStream.format("rate").load()
    empty = (f"CAST(NULL AS {f.dataType.simpleString()}) AS {f.name}" for f in table.schema)
    return rate.selectExpr(*empty)


def cause_on_a_stream(described: Attempt) -> str:
    """Return why an answer's query, called with ``stream_like``, would not start; or ''."""
    if described.error is not None:
        return RIGHT + _refusal(described.error)
    if not getattr(described.value, "isStreaming", False):
        return RIGHT + _TABLE
    if refused := _refused(described.value, "Update"):
        return RIGHT + _refusal(refused)
    steps = _plan(described.value).toString()
    return next((RIGHT + cause for piece, cause in _PLANNED.items() if re.search(piece, steps)), "")


def cause_of_luck(frame: DataFrame) -> str:
    """Return the cause if rows hang on an order that a shuffle may lose, or ''."""
    taken = re.search(r"Deduplicate|\b(first|last|any_value)\(", plan := _plan(frame).toString())
    return _LUCK if taken and "Sort [" in plan[taken.start() :] else ""


def _plan(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()


def _refused(frame: DataFrame, mode: str) -> Exception | None:
    """Return the error with which Spark refuses to start a query in this output mode, or None."""
    jvm: Any = frame.sparkSession._jvm
    try:
        checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
        modes = jvm.org.apache.spark.sql.streaming.OutputMode
        checker.checkForStreaming(_plan(frame), getattr(modes, mode)())
    except Exception as refused:
        return refused
    return None


def _refusal(error: BaseException) -> str:
    text = f"{getattr(error, 'getCondition', str)()} {error}"
    known = next((cause for piece, cause in _REFUSED.items() if re.search(piece, text)), "")
    return known or f"not on a stream. {spark_cause(error) or error}"


NO_WATERMARK = (
    "The rows are right, but on a stream your state never ends: without a `withWatermark` Spark "
    "keeps each group for ever, because one more row of it may always come. (`withWatermark` "
    "returns a new DataFrame, and leaves the old one unchanged.)"
)
WATERMARK_BEHIND = (
    "The rows are right, but on a stream your state never ends: `withWatermark` stands behind the "
    "grouping, which doesn't know of it. It belongs before `groupBy`."
)
WATERMARK_UNUSED = (
    "The rows are right, but on a stream your state never ends: what it groups by isn't a `window` "
    "of the very column that has the watermark. A number or a text made out of a time (`div`, "
    "`date_trunc`, a cast) is only a value to Spark, and a value never gets old."
)
TOO_SHORT = (
    "On a stream it drops an event that is late by less than the delay that is asked for. Either "
    "the delay of your watermark is too short, or you group by a time that is rounded down to the "
    "start of its window. The watermark passes such a time when the window begins, but it passes "
    "an `F.window` only when the window ends."
)
TOO_LONG = (
    "On a stream it still counts an event that is too late, because the delay of your watermark is "
    "too long. The longer the delay, the more windows stay in the state."
)


def cause_of_endless_state(described: Attempt) -> str:
    """Return why the state of an answer's query would grow for ever, or ''.

    Append mode emits a group when its state ends, so Spark refuses it where that never happens.
    """
    if not _refused(described.value, "Append"):
        return ""
    steps = _plan(described.value).toString()
    watermark, grouping = steps.find("EventTimeWatermark"), steps.find("Aggregate")
    if watermark < 0:
        return NO_WATERMARK
    return WATERMARK_BEHIND if watermark < grouping else WATERMARK_UNUSED
