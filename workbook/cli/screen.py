"""Shows a running query on the terminal until it is asked to end: a line, a table below it."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from workbook.cli.console import Ending, Line, waiting_for
from workbook.errors import BrokerUnreachable, plain
from workbook.kafka.offsets import EndOffsets
from workbook.kafka.require import ANSWER_S, PATIENCE_S
from workbook.spark.runner import OnPoint, Running
from workbook.systems.base import Shown, Started

TICK_S, SAME_S = 0.25, 3.0
FINISH_S = 10.0
"""Seconds that the current micro-batch may take to end after the query was asked to."""

NOTES = 4
"""Sentences that are shown above a table."""


def drawn(line: str, alerts: Sequence[str], shown: Shown, height: int) -> Group:
    """Return the line, a few sentences and the table; rich cuts off what doesn't fit.

    Rows that can't fit into the ``height`` aren't made at all: there may be thousands of pages.
    """
    notes = [Text(plain(note)) for note in (*alerts, *shown.notes)[:NOTES]]
    above = [Text(plain(line), no_wrap=True, overflow="ellipsis"), *notes]
    if not shown.rows:
        return Group(*above)
    table = Table(title=f"{len(shown.rows) + shown.more:,} rows")
    for name in shown.columns:
        table.add_column(Text(name, no_wrap=True, overflow="ellipsis"), overflow="ellipsis")
    for row in shown.rows[:height]:
        table.add_row(*(Text(plain(cell), no_wrap=True, overflow="ellipsis") for cell in row))
    return Group(*above, table)


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
    """Show a system's progress until it's asked to end, and let its last micro-batch finish.

    On a terminal that's a screen, which is taken away at the end; elsewhere a line now and then.
    """
    running, progress = started.running, started.running.progress
    console = Console(highlight=False)
    live = Live(console=console, auto_refresh=False, transient=True)
    is_screen = console.is_terminal and not console.is_dumb_terminal
    line, known, due = Line(), set[str](), time.monotonic() + SAME_S
    with live if is_screen else nullcontext():
        try:
            while not running.wait(TICK_S) and not ending.has_come():
                progress.know(ends.look())
                progress.silent = ends.silent
                progress.sample()
                if time.monotonic() > due and not ends.silent:
                    writes.ask()
                    due = time.monotonic() + SAME_S
                alerts = progress.alerts()
                if is_screen:
                    told = [*alerts.values()]
                    now = drawn(str(progress), told, started.shown(), console.height)
                    live.update(now, refresh=True)
                    continue
                line.show(str(progress))
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
