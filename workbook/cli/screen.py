"""Shows a running query on the terminal until it is asked to end: a table, a line below it."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from workbook.cli.console import TERMINAL_S, Ending, Line, plain, waiting_for
from workbook.errors import BrokerUnreachable
from workbook.kafka.offsets import EndOffsets
from workbook.kafka.require import ANSWER_S, PATIENCE_S
from workbook.spark.runner import OnPoint, Running
from workbook.systems.base import Shown, Started

TICK_S, SAME_S = 0.2, 3.0
FINISH_S = 10.0
"""Seconds that the current micro-batch may take to end after the query was asked to."""

FRAME = 6
"""Lines of a screen that are no rows: the table's head and edges, its caption, the line below."""


class Screen:
    """Draws a table and a line on a terminal while a system runs; in a file or a pipe, nothing.

    ``show`` may be called as often as one likes; ``clock`` gives seconds. A row is a line, and as
    many are shown as fit. Below the table are as many of its notes as a third of the lines can
    hold. At the end all of it is taken away.
    """

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console or Console(highlight=False)
        self.is_there = self._console.is_terminal and not self._console.is_dumb_terminal
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._clock, self._due = clock, 0.0

    def show(self, table: Callable[[], Shown], line: str) -> None:
        """Draw both, unless they have just been drawn; a table without rows is left out."""
        if self._clock() >= self._due:
            self._due = self._clock() + TERMINAL_S
            shown = table()
            notes, lines = self._notes(shown)
            rows = max(self._console.height - FRAME - lines, 1)  # it may have another size by now
            above = [drawn(shown, rows)] if shown.rows else []
            below = Text(plain(line), no_wrap=True, overflow="ellipsis")
            self._live.update(Group(*above, *notes, below), refresh=True)

    def _notes(self, shown: Shown) -> tuple[list[Text], int]:
        """Return the first notes, as many as there's room for, and the lines that they take."""
        notes, taken = list[Text](), 0
        for note in shown.notes:
            text = Text(plain(note))
            lines = len(text.wrap(self._console, self._console.width))
            if taken + lines > self._console.height // 3:
                break
            notes, taken = [*notes, text], taken + lines
        return notes, taken

    def __enter__(self) -> Self:
        if self.is_there:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.is_there:
            self._live.stop()


def drawn(shown: Shown, rows: int) -> Table:
    """Return the table as rich draws it: its first rows, cut to a line, and how many more."""
    table = Table()
    for name in shown.columns:
        table.add_column(Text(name, no_wrap=True, overflow="ellipsis"), overflow="ellipsis")
    for row in shown.rows[:rows]:
        table.add_row(*(Text(plain(cell), no_wrap=True, overflow="ellipsis") for cell in row))
    left = len(shown.rows) + shown.more - rows
    if left > 0:
        table.caption = f"and {left:,} more"
    return table


class Writes(OnPoint):
    """Counts the micro-batches that passed their first point; once closed it lets none pass.

    ``same(timeout)`` raises if a topic was recreated: called before a sink writes what was read.
    """

    def __init__(self, same: Callable[[float], object] = lambda timeout: None) -> None:
        self.same, self._asks = same, False
        self.begun, self._closed, self._lock = 0, False, threading.Lock()

    def __call__(self, point: str) -> None:
        """Count each micro-batch at its first point; once closed, raise, which ends the query."""
        if point != "before-compute":
            if self._asks or point == "before-checkpoint":
                self.same(PATIENCE_S)
            self._asks = False
            return
        self._asks = True
        with self._lock:
            if self._closed:
                raise InterruptedError("the query was asked to end")
            self.begun += 1

    def ask(self) -> None:
        """Raise if a topic was recreated; ignore a broker that is away: the query waits for it."""
        with suppress(BrokerUnreachable):
            self.same(ANSWER_S)

    def close(self) -> None:
        """Let no further micro-batch begin."""
        with self._lock:
            self._closed = True


def follow(started: Started, writes: Writes, ends: EndOffsets, ending: Ending) -> None:
    """Show a system's progress until it's asked to end, and let its last micro-batch finish."""
    running, progress = started.running, started.running.progress
    line, known, due = Line(), set[str](), time.monotonic() + SAME_S

    def shown() -> Shown:
        table = started.shown()
        return replace(table, notes=[*progress.alerts().values(), *table.notes])

    with Screen() as screen:
        try:
            while not running.wait(TICK_S) and not ending.has_come():
                progress.know(ends.look())
                progress.silent = ends.silent
                progress.sample()
                if time.monotonic() > due and not ends.silent:
                    writes.ask()
                    due = time.monotonic() + SAME_S
                if screen.is_there:
                    screen.show(shown, str(progress))
                    continue
                line.show(str(progress))
                alerts = progress.alerts()
                for rule in alerts.keys() - known:
                    line.show(f"Alert, {rule}: {alerts[rule]}", last=True)
                known = {*alerts}
            with waiting_for(f"Ending: the micro-batch has {FINISH_S:.0f} s to finish"):
                _finish(running, writes)
        finally:
            running.stop()
    with waiting_for("Waiting for the broker's answer", after=2):
        started.settle()
    line.show(f"{progress}", last=True)


def _finish(running: Running, writes: Writes) -> None:
    """Let the micro-batch under way end, so that what it writes is counted too."""
    writes.close()
    deadline = time.monotonic() + FINISH_S
    while (
        running.is_active
        and running.progress.batches < writes.begun
        and time.monotonic() < deadline
    ):
        time.sleep(0.05)
