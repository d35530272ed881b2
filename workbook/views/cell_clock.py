"""Shows in each cell that takes long for how long it has been running."""

from __future__ import annotations

import threading
import time

from IPython import get_ipython
from IPython.display import display

QUIET_S = 3.0
"""A cell that ends sooner shows nothing."""

EVERY_S = 1.0


class CellClock:
    """A line below a cell, which counts its seconds while it runs."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._hushed = False

    def start(self, _: object = None) -> None:
        """Begin to count for the cell that is about to run."""
        self.end()
        self._over, self._hushed = threading.Event(), False
        threading.Thread(target=self._count, args=(self._over,), daemon=True).start()

    def end(self, _: object = None) -> None:
        """Say how long the cell took, if it took long."""
        self._over.set()

    def hush(self) -> None:
        """Show no line for this cell, unless there is one."""
        self._hushed = True

    def _count(self, over: threading.Event) -> None:
        began, line = time.monotonic(), None
        if over.wait(QUIET_S) or self._hushed:
            return
        while True:
            ended = over.wait(EVERY_S if line else 0)
            seconds = time.monotonic() - began
            text = f"ran for {seconds:.0f} s" if ended else f"running for {seconds:.0f} s …"
            shown = {"text/plain": text, "text/html": f"<small><i>{text}</i></small>"}
            if line is None:
                line = display(shown, raw=True, display_id=True)
            else:
                line.update(shown, raw=True)
            if ended or line is None:
                return


_clock = CellClock()


def hush() -> None:
    """Leave the cell that runs to a line of its own, unless it has been counted already."""
    _clock.hush()


def time_cells() -> None:
    """Count the seconds of each cell from now on; once is enough."""
    shell = get_ipython()
    if shell is None or _clock.start in shell.events.callbacks["pre_run_cell"]:
        return
    shell.events.register("pre_run_cell", _clock.start)
    shell.events.register("post_run_cell", _clock.end)
