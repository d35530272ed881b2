"""Shows in a notebook what a cell waits for, and keeps the current cell when a button is clicked.

JupyterLab makes the cell of a clicked output the current one, so the next Shift+Enter would run
that cell again instead of going on.
"""

import html
import time
from typing import Any

from IPython import get_ipython
from IPython.display import Javascript, display

from workbook.views.cell_clock import hush

QUIET_S = 1.0
"""A wait that is shorter goes without a word."""

_KEEP_THE_CELL = """
if (!window.workbookKeepsTheCell) {
  window.workbookKeepsTheCell = true;
  const style = document.createElement('style');
  style.textContent = '.widget-html, .widget-html-content {min-width: 0; max-width: 100%}';
  document.head.append(style);  // a picture in a narrow window scrolls, its words wrap
  document.addEventListener('mousedown', event => {
    if (event.target.closest?.('.jp-OutputArea .jupyter-button')) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);
}
"""


def keep_the_current_cell() -> None:
    """Let clicks on buttons press them and do nothing else, in this page of JupyterLab."""
    if get_ipython() is not None:
        display(Javascript(_KEEP_THE_CELL))


class Waiting:
    """A line about a wait, which counts its seconds and says in the end how many there were."""

    def __init__(self, what: str) -> None:
        self._what, self._began, self._shown = what, time.monotonic(), -1
        self._line: Any = None

    def tick(self) -> None:
        """Count on; to be called several times a second."""
        seconds = time.monotonic() - self._began
        if seconds < QUIET_S or int(seconds) == self._shown:
            return
        first, self._shown = self._shown < 0, int(seconds)
        if get_ipython() is not None:
            self._show(f"Waiting for {self._what}: {max(1, self._shown)} s so far …")
        elif first:
            print(f"Waiting for {self._what} ...", flush=True)

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
