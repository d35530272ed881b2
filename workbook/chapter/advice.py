"""Shortens an error of Kafka or Spark in a notebook, and says what to do about it.

A cell's error stays an error: it's shown as the cell's own line, the error's first line and the
next step, where a trace of Spark's Java fills the screen. ``%tb`` shows the whole.
"""

from __future__ import annotations

import re
import sys
from types import TracebackType
from typing import Any

from IPython import get_ipython

from workbook.chapter import cells, failed
from workbook.errors import WorkbookError

AGAIN = "Run the chapter's cells from the top: *Run*, *Run All Above Selected Cell*."
NEW_CHECKPOINT = (
    "Give the query a checkpoint folder of its own, `chapter.checkpoint()`, and start it again; "
    "with the old folder only the old query can go on."
)
START_KAFKA = (
    "In a terminal (*File*, *New*, *Terminal*) `python -m workbook doctor` says whether the broker "
    "runs, and `python -m workbook start kafka` starts it again after a stop."
)

NEXT_STEPS: tuple[tuple[str, str], ...] = (
    (
        r"UnknownTopicOrPartition|UNKNOWN_TOPIC|_UNKNOWN_PARTITION",
        "The topic isn't there. Look at its name; a broker that was started anew has lost the old "
        f"topics, too. {AGAIN}",
    ),
    (
        r"_MSG_TIMED_OUT|not present in metadata",
        "The broker hasn't taken the records in time: it's away, or it has no such topic. "
        f"{START_KAFKA}",
    ),
    (
        r"_ALL_BROKERS_DOWN|_TRANSPORT|_TIMED_OUT|_RESOLVE|waiting for a node assignment"
        r"|kafka\S*TimeoutException|No resolvable bootstrap|Failed to (construct|create new) kafka",
        f"No broker answers at the address in `bootstrap.servers`. {START_KAFKA} Then run the "
        "cell again.",
    ),
    (r"_DESTROY\b", "The client was thrown away too early. Keep it in a variable of its own."),
    (
        r"_NO_OFFSET",
        "There's nothing to commit: the consumer hasn't read a record yet. Call `poll` until it "
        "returns one.",
    ),
    (
        r"(Consumer|Producer) closed|Handle has been closed",
        "It was closed. Run the cell that makes it, and then this one.",
    ),
    (
        r"Queue full",
        "The producer's queue is full. Call `producer.poll(0.1)` now and then: it lets it empty.",
    ),
    (
        r"a bytes-like object is required|produce\(\).*must be",
        "Kafka's values and keys are bytes: hand in `json.dumps(value).encode()`.",
    ),
    (
        r"group\.id must be set",
        'A consumer needs a group: add `"group.id": "some-name"` to its settings.',
    ),
    (
        r"STATE_STORE_\w*SCHEMA|STATE_SCHEMA|MISSING_STATE_DIRECTORY|NOT_MATCH_IN_STATE_METADATA"
        r"|sources in the checkpoint offsets|does not support recovering from checkpoint",
        f"Another query made this checkpoint, one that keeps other rows. {NEW_CHECKPOINT}",
    ),
    (
        r"Partitions Set\(\S+ have been deleted|offset was changed from|data may have been lost",
        "The checkpoint remembers records that this topic doesn't have: it was made for another "
        f"topic, or for an earlier one of the same name. {NEW_CHECKPOINT}",
    ),
    (
        r"CONCURRENT_STREAM_LOG_UPDATE|CONCURRENT_QUERY|[Mm]ultiple streaming (jobs|queries)",
        "Two queries use one checkpoint. Stop the other one (`query.stop()`), or give this query a "
        "folder of its own, `chapter.checkpoint()`.",
    ),
    (
        r"query with that name is already active",
        "A query of this name still runs. Stop it first: `for query in spark.streams.active: "
        "query.stop()`; then run the cell again.",
    ),
    (
        r"output mode[\s\S]*aggregations without watermark",
        "In append mode a row is written once, when it's final, and without a watermark it never "
        'is. Put `withWatermark("time", "5 seconds")` before the `groupBy` and group by a '
        'window of that time, or take `.outputMode("update")`.',
    ),
    (
        r"output mode[\s\S]*no streaming aggregations",
        "Complete mode writes the whole result each time, so it needs a `groupBy`. Without one "
        'take `.outputMode("append")`.',
    ),
    (
        r"STREAMING_OUTPUT_MODE",
        "The modes are `append` (final rows only), `update` (rows that changed) and `complete` "
        "(all rows); not every query and sink knows each of them.",
    ),
    (
        r"topic option required",
        'Spark doesn\'t know where to write: add `.option("topic", name)` before `start()`.',
    ),
    (
        r"Required attribute 'value'|attribute unsupported type",
        "The Kafka sink writes the columns `key` and `value`, as text or bytes. Make them: "
        '`.selectExpr("CAST(key AS STRING) AS key", "to_json(struct(*)) AS value")`.',
    ),
    (
        r"checkpointLocation must be specified",
        'A streaming query keeps its place in a folder: add `.option("checkpointLocation", '
        "chapter.checkpoint())` before `start()`.",
    ),
    (
        r"queryName must be specified",
        'The memory sink is a table and needs a name: add `.queryName("counts")`.',
    ),
    (
        r"'path' is not specified",
        'Spark doesn\'t know where to write: add `.format("memory")` or `.format("kafka")`.',
    ),
    (
        r"kafka\.bootstrap\.servers' must be specified",
        "Spark doesn't know the broker: add `.options(**chapter.spark_options)`.",
    ),
    (
        r"must be specified for Kafka source",
        'Spark doesn\'t know what to read: add `.option("subscribe", topic)`.',
    ),
    (
        r"EVENT_TIME_IS_NOT_ON_TIMESTAMP",
        "A watermark and a window need a column of type timestamp. Of milliseconds since 1970 "
        '`F.timestamp_millis("timestamp")` makes one.',
    ),
    (
        r"Sorting is not supported",
        "A stream has no last row, so it can't be sorted. Sort where you look at the result.",
    ),
    (
        r"must be executed with writeStream",
        "This DataFrame is a stream: it has no end to collect. Start a query with `writeStream`, "
        "or read the topic once with `spark.read` in place of `spark.readStream`.",
    ),
    (
        r"Cannot call methods on a stopped SparkContext|SparkContext\S* (was )?(stopped|shut)"
        r"|SparkContext or SparkSession should be created|Connection refused|Error while sending"
        r"|object has no attribute '(_jvm|sc|setCallSite|_jsparkSession)'|Answer from Java side",
        "Spark was closed. `spark = chapter.spark()` starts it again, in about five seconds; the "
        f"DataFrames and queries of before belong to the old one. {AGAIN}",
    ),
)
"""Words of an error (a pattern), and what to do about it; the first that fits counts."""

SPARK_IS_CLOSED = "Cannot call methods on a stopped SparkContext"
"""What PySpark checks by a bare ``assert`` in ``F.col`` and its like."""

_PATTERNS = [(re.compile(words), step) for words, step in NEXT_STEPS]
_HEAD = re.compile(
    r"^(\[STREAM_FAILED\] Query \[[^]]*\] terminated with exception: "
    r"|An error occurred while calling \S+\n: |java\.util\.concurrent\.ExecutionException: )"
)


def next_step(error: BaseException) -> str:
    """Return what to do about an error; '' where there is nothing to say."""
    if isinstance(error, NameError):
        return cells.step_for(error.name or "")
    if isinstance(error, (WorkbookError, SyntaxError)):  # they say it themselves
        return ""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, AssertionError) and not str(error) and _is_foreign(error):
        text = SPARK_IS_CLOSED
    return next((step for words, step in _PATTERNS if words.search(text)), "")


def headline(error: BaseException) -> str:
    """Return an error's first line, or what a Python function of the query has raised."""
    text = str(error)
    if "Traceback (most recent call last):" in text:
        return _of_python(text)
    while (shorter := _HEAD.sub("", text, count=1)) != text:
        text = shorter
    first = text.strip().partition("\n")[0]
    return re.sub(r" SQLSTATE: \w+", "", first).rstrip(";")


def follow_errors(chapter: str = "") -> None:
    """Shorten what is long, and name the next step, in the cells of a chapter from now on."""
    cells.chapter = chapter
    shell = get_ipython()
    if shell is None:
        return
    shell.set_custom_exc((Exception,), _shown)
    for hook in list(shell.events.callbacks["post_run_cell"]):
        if hook.__module__ == __name__:
            shell.events.unregister("post_run_cell", hook)
    shell.events.register("post_run_cell", _after_a_cell)


def _of_python(text: str) -> str:
    """Return what a Python trace within an error ends with, and its line in a cell."""
    trace = text.rpartition("Traceback (most recent call last):")[2]
    said = [line for line in trace.splitlines() if re.match(r"[A-Za-z_][\w.]*(: |$)", line)]
    places = re.findall(r'File ".*ipykernel_.*", line (\d+), in (\S+)', trace)
    where = f" (line {places[-1][0]} of the cell, in {places[-1][1]})" if places else ""
    return f"a Python function raised {said[0] if said else 'an error'}{where}"


def _shown(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> Any:
    step, own = next_step(error), _own(trace)
    if own is None or not _is_long(error):
        if not step or isinstance(error, SyntaxError):
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
            return None
        lines = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
        more = f"What to do: {step}"
    else:
        short = type(kind.__name__, (Exception,), {"__module__": kind.__module__})(headline(error))
        lines = shell.InteractiveTB.structured_traceback(type(short), short, own, tb_offset=0)
        more = f"What to do: {step}\n" if step else ""
        more += "(This is the short form; `%tb` in a cell shows the whole.)"
    shell._get_exc_info((kind, error, trace))  # what %tb shows
    shell._showtraceback(kind, error, [*lines, f"\n{more}"])
    return None


def _is_long(error: BaseException) -> bool:
    """Return True for errors whose trace is of no use in a cell: Java's, and the package's own."""
    ours = isinstance(error, (WorkbookError, TimeoutError))
    return ours or type(error).__module__.startswith(("pyspark", "py4j")) or _is_foreign(error)


def _is_foreign(error: BaseException) -> bool:
    """Return True if PySpark's own code has raised it."""
    at, trace = "", error.__traceback__
    while trace is not None:
        at, trace = trace.tb_frame.f_globals.get("__name__", ""), trace.tb_next
    return at.startswith(("pyspark", "py4j", "socket")) and at != "__main__"


def _own(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a trace that lies in cells; None where there is none."""
    kept: list[TracebackType] = []
    while trace is not None:
        if cells.is_cell(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    linked: TracebackType | None = None
    for each in reversed(kept):
        linked = TracebackType(linked, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return linked


def _after_a_cell(result: Any) -> None:
    """Print the queries that have failed in the background, each once."""
    raised = result.error_in_exec
    for name, error in failed.new():
        if raised is None or "StreamingQuery" not in type(raised).__name__:
            sys.stdout.write(ended(name, error) + "\n")


def ended(name: str, error: BaseException) -> str:
    """Return a sentence about a query that has failed, and what to do about it."""
    step = next_step(error)
    return f"The query `{name}` has ended: {headline(error)}" + (
        f"\nWhat to do: {step}" if step else ""
    )
