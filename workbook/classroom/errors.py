"""Says what to do about an error: in a cell, in a query in the background, in a view.

A cell's error stays an error: it's shown as the cell's own line, the error's first line and the
next step, where a trace of Spark's Java fills the screen. ``%tb`` shows the whole.
"""

from __future__ import annotations

import ast
import json
import logging
import re
import sys
import textwrap
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from IPython import get_ipython

import workbook
from workbook.classroom.advice import advice
from workbook.errors import QueryFailed, WorkbookError
from workbook.spark.failures import failure_of

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

NOTEBOOKS = Path(workbook.__file__).parents[1] / "notebooks"

SPARK_IS_CLOSED = "Cannot call methods on a stopped SparkContext"
"""What PySpark checks by a bare ``assert`` in ``F.col`` and its like."""

UNEXPECTED = "an assert without a text"
"""What a chapter's own ``assert`` stands for."""

STOPPED = (
    *("SPARK_JOB_CANCELLED", "SparkContext was shut down", "attribute 'setCallSite'"),
    "while sending command",
)
"""What py4j logs of a query that was stopped, or whose Spark was, and of a Ctrl-C."""

SILENT_END = "a process of Spark ended, and left no message"

_HEAD = re.compile(
    r"^(\[STREAM_FAILED\] Query \[[^]]*\] terminated with exception: "
    r"|An error occurred while calling \S+\n: |java\.util\.concurrent\.ExecutionException: )"
)
_NO_WORDS = re.compile(r"(\(no cause message\)|null|java\.io\.EOFException)?$")
_SAYS_NOTHING = re.compile(
    rf"{_NO_WORDS.pattern}|.*(Exception thrown in awaitResult|Job aborted due to stage failure)"
)

# --- what to say about an error -----------------------------------------------------------------


def next_step(error: BaseException, chapter: str = "") -> str:
    """Return what to do about an error in a chapter; '' where there is nothing to say."""
    if isinstance(error, NameError):
        return _cell_to_run(error.name or "", chapter)
    if isinstance(error, (WorkbookError, SyntaxError)):  # they say it themselves
        return ""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, ConnectionRefusedError) and _is_foreign(error):
        text = SPARK_IS_CLOSED
    if isinstance(error, AssertionError) and not str(error):
        text = SPARK_IS_CLOSED if _is_foreign(error) else UNEXPECTED
    found = advice(error, text)
    below = getattr(error, "_cause", None)  # of an error that PySpark has from Java
    return found or (next_step(below) if below is not None else "")


def headline(error: BaseException) -> str:
    """Return what to show of an error: its first line, or what a Python function has raised."""
    text = str(error)
    if isinstance(error, (WorkbookError, TimeoutError, KeyboardInterrupt)):
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


def _of_python(text: str) -> str:
    """Return what a Python trace within an error ends with, and its line in a cell."""
    trace = text.rpartition("Traceback (most recent call last):")[2]
    said = [line for line in trace.splitlines() if re.match(r"[A-Za-z_][\w.]*(: |$)", line)]
    places = re.findall(r'File ".*ipykernel_.*", line (\d+), in (\S+)', trace)
    where = f" (line {places[-1][0]} of the cell, in {places[-1][1]})" if places else ""
    return f"a Python function raised {said[0] if said else 'an error'}{where}"


def _cell_to_run(name: str, chapter: str) -> str:
    """Return what to do where a name isn't defined: run the chapter's cell that makes it."""
    path, heading = NOTEBOOKS / f"{chapter}.ipynb", ""
    if not chapter or not path.is_file():
        return ""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            headings = re.findall("^#+ (.*)", text, re.MULTILINE)
            heading = f", under “{headings[-1]}”" if headings else heading
        elif name in _bound(text):
            return (
                f"`{name}` is made in another cell of this chapter{heading}. Run that cell first; "
                "after a restart of the kernel run all from the top: menu Run, “Run All Above "
                "Selected Cell”."
            )
    return ""


def _bound(source: str) -> Iterator[str]:
    try:
        return bound(ast.parse(source))
    except SyntaxError:  # a magic
        return iter(())


def bound(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a cell imports, defines or assigns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


# --- errors of cells ----------------------------------------------------------------------------


def follow_errors(chapter: str) -> None:
    """Shorten what is long, and name the next step, in the cells of a chapter from now on."""
    shell = get_ipython()
    if shell is None:
        return

    def shown(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: Any = None) -> None:
        show(shell, error, trace, tb_offset, next_step(error, chapter))

    shell.set_custom_exc((Exception, KeyboardInterrupt), shown)
    for name in ("", "py4j.clientserver"):
        logging.getLogger(name).addFilter(_is_news)
    if _after_a_cell not in shell.events.callbacks["post_run_cell"]:
        shell.events.register("post_run_cell", _after_a_cell)


def _is_news(record: logging.LogRecord) -> bool:
    """Leave out py4j's traces of a Ctrl-C, and of a micro-batch whose query was stopped."""
    with suppress(Exception):  # logging itself says so of a message with a wrong format
        text = f"{record.getMessage()} {record.exc_info[1] if record.exc_info else ''}"
        return not any(word in text for word in STOPPED)
    return True


def show(
    shell: Any, error: BaseException, trace: TracebackType | None, tb_offset: int | None, step: str
) -> None:
    """Show an error in its cell, and the next ``step`` below it; in short where it's long."""
    kind, own = type(error), _own(trace)
    if own is None or not _is_long(error):
        if not step or isinstance(error, SyntaxError):
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
            return
        lines = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
        more = _in_lines(f"What to do: {step}")
    else:
        short = type(kind.__name__, (Exception,), {"__module__": kind.__module__})(headline(error))
        lines = shell.InteractiveTB.structured_traceback(type(short), short, own, tb_offset=0)
        more = _in_lines(f"What to do: {step}") + "\n" if step else ""
        more += "(This is the short form; %tb in a cell shows the whole.)"
    shell._get_exc_info((kind, error, trace))  # what %tb shows
    shell._showtraceback(kind, error, [*lines, f"\n{more}"])


def _in_lines(text: str) -> str:
    """Break an advice between words, which a notebook's text doesn't; its `code` is bold, whole."""
    bold = re.sub("`([^`]+)`", lambda code: f"\x1b[1m{code[1]}\x1b[0m".replace(" ", "\xa0"), text)
    return textwrap.fill(bold, 88, break_long_words=False).replace("\xa0", " ")


def _is_long(error: BaseException) -> bool:
    """Return True for errors whose trace is of no use in a cell: Java's, and the package's own."""
    ours = isinstance(error, (WorkbookError, TimeoutError, KeyboardInterrupt))
    return ours or type(error).__module__.startswith(("pyspark", "py4j")) or _is_foreign(error)


def _is_foreign(error: BaseException) -> bool:
    """Return True if PySpark's own code has raised it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    at = frames[-1].f_globals.get("__name__", "") if frames else ""
    return bool(at.startswith(("pyspark", "py4j")))


def _own(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a trace that is in cells; None where there is none."""
    traces, linked = list[TracebackType](), None
    while trace is not None:
        traces, trace = [trace, *traces], trace.tb_next
    for each in traces:
        file = each.tb_frame.f_code.co_filename
        if "ipykernel_" in file or file.startswith("<ipython-input"):
            linked = TracebackType(linked, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return linked


# --- errors of queries in the background --------------------------------------------------------

_reported: set[str] = set()
"""The run ids of the queries whose failure was reported."""


def _after_a_cell(result: Any) -> None:
    """Print the queries that have failed in the background, each once."""
    for name, query, error in _unreported():
        _reported.add(str(query.runId))
        if "StreamingQuery" not in type(result.error_in_exec).__name__:
            sys.stdout.write(ended(name, error) + "\n")


def ended(name: str, error: BaseException) -> str:
    """Return a sentence about a query that has failed, and what to do about it."""
    step = next_step(error)
    text = f"The query `{name}` has ended: {headline(error)}"
    return f"{text}\nWhat to do: {step}" if step else text


def _unreported() -> list[tuple[str, StreamingQuery, BaseException]]:
    """Return each query in a notebook's variables that failed: its variable, itself, its error."""
    shell, streaming = get_ipython(), sys.modules.get("pyspark.sql.streaming")
    kind = getattr(streaming, "StreamingQuery", None)  # None while it's being imported elsewhere
    if shell is None or kind is None:
        return []
    named = sorted(shell.user_ns.copy().items(), key=lambda item: item[0].startswith("_"))
    found: dict[str, tuple[str, StreamingQuery, BaseException]] = {}
    for name, query in named:
        error = _failure(query) if isinstance(query, kind) else None
        if error is not None and str(query.runId) not in _reported:
            found.setdefault(str(query.runId), (name, query, error))
    return list(found.values())


def _failure(query: StreamingQuery) -> BaseException | None:
    try:
        return None if query.isActive else failure_of(query)
    except Exception:  # Spark itself has ended
        return None


def failure_watch() -> Callable[[], None]:
    """Return what raises the failure of a query, unless it was reported; it asks twice a second.

    A cell may wait for the failure itself: it gets two seconds to see it.
    """
    looks = deque[bool](maxlen=5)
    due = 0.0

    def check() -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + 0.5
        failed = _unreported()
        looks.append(bool(failed))
        if sum(looks) == looks.maxlen:
            _reported.update(str(query.runId) for _, query, _ in failed)
            raise failed[0][2]

    return check


class Watched:
    """Shows Spark's bare query to a view, which ends with it."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query

    @property
    def is_active(self) -> bool:
        """Return True while the query runs, and False once Spark itself has ended."""
        try:
            return self._query.isActive
        except OSError:
            return False

    def check(self) -> None:
        """Raise QueryFailed, with what to do, if something made the query fail."""
        failure = failure_of(self._query)
        if failure is None:
            return
        run = self._query.runId
        names = [name for name, query, _ in _unreported() if query.runId == run]
        _reported.add(str(run))
        raise QueryFailed(ended([*names, self._query.name or "query"][0], failure))
