"""Shortens an error of Kafka or Spark in a notebook, and says what to do about it.

A cell's error stays an error: it's shown as the cell's own line, the error's first line and the
next step, where a trace of Spark's Java fills the screen. ``%tb`` shows the whole.
"""

from __future__ import annotations

import logging
import re
import sys
from types import TracebackType
from typing import Any

from IPython import get_ipython

from workbook.classroom import cells, failed
from workbook.classroom.next_steps import NEXT_STEPS
from workbook.errors import WorkbookError

SPARK_IS_CLOSED = "Cannot call methods on a stopped SparkContext"
"""What PySpark checks by a bare ``assert`` in ``F.col`` and its like."""

UNEXPECTED = "an assert without a text"
"""What a chapter's own ``assert`` stands for."""

STOPPED = ("SPARK_JOB_CANCELLED", "SparkContext was shut down", "attribute 'setCallSite'")
"""What a Python function of a query raises that was stopped, or whose Spark was."""

SILENT_END = "a process of Spark ended, and left no message"

_PATTERNS = [(re.compile(words), step) for words, step in NEXT_STEPS]
_HEAD = re.compile(
    r"^(\[STREAM_FAILED\] Query \[[^]]*\] terminated with exception: "
    r"|An error occurred while calling \S+\n: |java\.util\.concurrent\.ExecutionException: )"
)

_NO_WORDS = re.compile(r"(\(no cause message\)|null|java\.io\.EOFException)?$")
_SAYS_NOTHING = re.compile(
    rf"{_NO_WORDS.pattern}|.*(Exception thrown in awaitResult|Job aborted due to stage failure)"
)


def next_step(error: BaseException) -> str:
    """Return what to do about an error; '' where there is nothing to say."""
    if isinstance(error, NameError):
        return cells.step_for(error.name or "")
    if isinstance(error, (WorkbookError, SyntaxError)):  # they say it themselves
        return ""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, ConnectionRefusedError) and _is_foreign(error):
        text = SPARK_IS_CLOSED
    if isinstance(error, AssertionError) and not str(error):
        text = SPARK_IS_CLOSED if _is_foreign(error) else UNEXPECTED
    return next((step for words, step in _PATTERNS if words.search(text)), "")


def headline(error: BaseException) -> str:
    """Return what to show of an error: its first line, or what a Python function has raised."""
    text = str(error)
    if isinstance(error, (WorkbookError, TimeoutError)):
        return text
    if "Traceback (most recent call last):" in text:
        return _of_python(text)
    while (shorter := _HEAD.sub("", text, count=1)) != text:
        text = shorter
    first = re.sub(r" ?SQLSTATE: \w+", "", text.strip().partition("\n")[0]).strip().rstrip(";")
    below = getattr(error, "_cause", None)  # of an error that PySpark has from Java
    if below is not None and _SAYS_NOTHING.match(first):
        return headline(below)
    return SILENT_END if _NO_WORDS.match(first) else first


def follow_errors(chapter: str = "") -> None:
    """Shorten what is long, and name the next step, in the cells of a chapter from now on."""
    cells.chapter = chapter
    shell = get_ipython()
    if shell is None:
        return
    shell.set_custom_exc((Exception, KeyboardInterrupt), _shown)
    logging.getLogger().addFilter(_is_not_of_an_interrupt)
    logging.getLogger("py4j.clientserver").addFilter(_is_not_of_a_stop)
    for hook in list(shell.events.callbacks["post_run_cell"]):
        if hook.__module__ == __name__:
            shell.events.unregister("post_run_cell", hook)
    shell.events.register("post_run_cell", _after_a_cell)


def _is_not_of_an_interrupt(record: logging.LogRecord) -> bool:
    """Leave out py4j's trace of a Ctrl-C: the cell shows it, short."""
    return "while sending command" not in record.getMessage()


def _is_not_of_a_stop(record: logging.LogRecord) -> bool:
    """Leave out py4j's trace of a micro-batch that was under way when its query was stopped."""
    error = str(record.exc_info[1]) if record.exc_info else ""
    return not any(word in error for word in STOPPED)


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
    ours = isinstance(error, (WorkbookError, TimeoutError, KeyboardInterrupt))
    return ours or type(error).__module__.startswith(("pyspark", "py4j")) or _is_foreign(error)


def _is_foreign(error: BaseException) -> bool:
    """Return True if PySpark's own code has raised it."""
    at, trace = "", error.__traceback__
    while trace is not None:
        at, trace = trace.tb_frame.f_globals.get("__name__", ""), trace.tb_next
    return at.startswith(("pyspark", "py4j"))


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
