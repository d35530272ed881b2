"""A table on the terminal that is drawn again and again, with a line below it."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from workbook.commands.console import TERMINAL_S
from workbook.systems.base import Shown

ROWS = 10
"""At most this number of rows, so that the line below stays on the screen."""


class Screen:
    """Draws a table and a line on a terminal while a system runs; in a file or a pipe, nothing.

    ``show`` may be called as often as one likes; ``clock`` gives seconds.
    """

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        console = console or Console(highlight=False)
        self.is_there = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._clock, self._due = clock, 0.0

    def show(self, table: Callable[[], Shown], line: str) -> None:
        """Draw both, unless they have just been drawn; a table without rows is left out."""
        if self._clock() >= self._due:
            self._due = self._clock() + TERMINAL_S
            shown = table()
            above = [drawn(shown)] if shown.rows else []
            self._live.update(Group(*above, Text(line)), refresh=True)

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


def drawn(shown: Shown) -> Table:
    """Return the table as rich draws it: its first rows, and how many more there are."""
    table = Table(*shown.columns)
    for column in table.columns:
        column.overflow = "ellipsis"
    for row in shown.rows[:ROWS]:
        table.add_row(*map(Text, row))
    left = len(shown.rows) - ROWS
    if left > 0:
        table.caption = f"and {left:,} more"
    return table
