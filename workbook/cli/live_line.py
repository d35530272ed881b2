"""Shows a running query on the terminal until it is asked to end."""

from __future__ import annotations

import threading
import time

from workbook.cli.console import Ending, Line, waiting_for
from workbook.cli.screen import Screen
from workbook.kafka.offsets import EndOffsets
from workbook.spark.runner import OnPoint, Running
from workbook.systems.base import Started

TICK_S = 0.2
FINISH_S = 10.0
"""Seconds that the current micro-batch may take to end after the query was asked to."""


class Writes(OnPoint):
    """Counts the micro-batches that passed their first point; once closed it lets none pass."""

    def __init__(self) -> None:
        self.begun, self._closed, self._lock = 0, False, threading.Lock()
        self._first: str | None = None

    def __call__(self, point: str) -> None:
        """Count each micro-batch at its first point; once closed, raise, which ends the query."""
        self._first = self._first or point
        if point != self._first:
            return
        with self._lock:
            if self._closed:
                raise InterruptedError("the query was asked to end")
            self.begun += 1

    def close(self) -> None:
        """Let no further micro-batch begin."""
        with self._lock:
            self._closed = True


def follow(
    started: Started,
    writes: Writes,
    ends: EndOffsets,
    ending: Ending,
) -> None:
    """Show a system's progress until it's asked to end, and let its last micro-batch finish."""
    running, progress = started.running, started.running.progress
    line = Line()
    with Screen(full=started.full_screen) as screen:
        try:
            while not running.wait(TICK_S) and not ending.has_come():
                progress.know(ends.look())
                progress.silent = ends.silent
                if screen.is_there:
                    screen.show(started.shown, str(progress))
                else:
                    line.show(str(progress))
            with waiting_for("Ending: the current micro-batch finishes first"):
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
