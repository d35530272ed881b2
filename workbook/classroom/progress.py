"""Shows in a notebook what a cell waits for, and keeps the current cell when a button is clicked.

JupyterLab makes the cell of a clicked output the current one, so the next Shift+Enter would run
that cell again instead of going on.
"""

import time

from IPython import get_ipython
from IPython.display import Javascript, display

from workbook.views.cell_clock import say

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
    """Says below its cell what the cell waits for; in a terminal, once."""

    def __init__(self, what: str) -> None:
        self._what, self._began, self._said = what, time.monotonic(), False

    def tick(self) -> None:
        """Say it, unless the wait is short; to be called several times a second."""
        if self._said or time.monotonic() - self._began < QUIET_S:
            return
        self._said = True
        if get_ipython() is None:
            print(f"Waiting for {self._what} ...", flush=True)
        else:
            say(f"waiting for {self._what}")

    def end(self) -> None:
        """Go on without it."""
        say("")
