"""Shows below a cell for how long it has been running; keeps it current if a button is clicked."""

import html
import threading
import time
from collections.abc import Collection
from typing import Any

from IPython import get_ipython
from IPython.display import Javascript, display

QUIET_S = 3.0
"""A cell that ends sooner shows nothing, unless it's folded: then no number shows that it ran."""

EVERY_S = 1.0


class CellClock:
    """A line below a cell, which counts its seconds while it runs.

    ``folded`` are ids of cells that get it at once, even if they ask for none.
    """

    def __init__(self) -> None:
        self.folded: Collection[str] = ()
        self.waits_for = ""
        self._over = threading.Event()

    def start(self, _: object = None) -> None:
        """Begin to count for the cell that is about to run."""
        self.end()
        self._over, self.waits_for = threading.Event(), ""
        folded = running_cell() in self.folded
        line = display(_shown("running …"), raw=True, display_id=True) if folded else None
        threading.Thread(target=self._count, args=(self._over, line), daemon=True).start()

    def end(self, _: object = None) -> None:
        """Say how long the cell took, if it took long."""
        self._over.set()

    def _count(self, over: threading.Event, line: Any) -> None:
        began = time.monotonic()
        if line is None and over.wait(QUIET_S):
            return
        while True:
            ended = over.wait(EVERY_S if line else 0)
            seconds = time.monotonic() - began
            text = f"ran for {seconds:.0f} s" if ended else f"running for {seconds:.0f} s …"
            text += f" ({self.waits_for})" if self.waits_for and not ended else ""
            shown = _shown(text if seconds >= 1 else "has run")
            if line is None:
                line = display(shown, raw=True, display_id=True)
            else:
                line.update(shown, raw=True)
            if ended or line is None:
                return


def _shown(text: str) -> dict[str, str]:
    return {"text/plain": text, "text/html": f"<small><i>{html.escape(text)}</i></small>"}


def running_cell() -> str | None:
    """Return the id of the cell that runs; None outside a notebook that names its cells."""
    parent: dict[str, Any] = getattr(get_ipython(), "get_parent", dict)()
    cell: str | None = parent.get("metadata", {}).get("cellId")
    return cell


_clock = CellClock()


def say(what: str) -> None:
    """Say what the cell that runs is doing, such as "waiting for Spark"; '' for nothing special."""
    _clock.waits_for = what


def time_cells(folded: Collection[str] = ()) -> None:
    """Count the seconds of each cell from now on; once is enough."""
    _clock.folded = folded or _clock.folded
    shell = get_ipython()
    if shell is None or _clock.start in shell.events.callbacks["pre_run_cell"]:
        return
    shell.events.register("pre_run_cell", _clock.start)
    shell.events.register("post_run_cell", _clock.end)


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
    """Let clicks on buttons press them and do nothing else, in this page of JupyterLab.

    It makes the cell of a clicked output the current one, so the next Shift+Enter would run that
    cell again instead of going on.
    """
    if get_ipython() is not None:
        display(Javascript(_KEEP_THE_CELL))
