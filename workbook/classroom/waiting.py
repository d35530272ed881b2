"""Shows what a cell waits for, and for how long so far."""

from __future__ import annotations

import html
import time
from typing import Any

from IPython import get_ipython
from IPython.display import display

from workbook.views.cell_clock import hush

QUIET_S = 1.0
"""A wait that is shorter goes without a word."""


class Waiting:
    """A line about a wait, which counts its seconds and says in the end how many there were."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._shown = -1
        self._line: Any = None

    def tick(self) -> None:
        """Count on; to be called several times a second."""
        seconds = time.monotonic() - self._began
        if seconds < QUIET_S or int(seconds) == self._shown:
            return
        first, self._shown = self._shown < 0, int(seconds)
        if get_ipython() is None:
            if first:
                print(f"Waiting for {self._what} ...", flush=True)
            return
        self._show(f"Waiting for {self._what}: {max(1, self._shown)} s so far …")

    def end(self) -> None:
        """Say how long it took, if there was a line at all."""
        if self._line is not None:
            self._show(f"Waited {time.monotonic() - self._began:.0f} s for {self._what}.")

    def _show(self, text: str) -> None:
        formats = {"text/plain": text, "text/html": f"<i>{html.escape(text)}</i>"}
        if self._line is None:
            hush()
            self._line = display(formats, raw=True, display_id=True)
        else:
            self._line.update(formats, raw=True)
