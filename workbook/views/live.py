"""Redraws views while something runs, from a thread of their own."""

import threading
import time
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
from IPython import get_ipython
from IPython.core.error import InputRejected
from IPython.display import HTML, display

from workbook.views.picture import SAME, Picture
from workbook.views.tables import marked, sendable

EVERY_S = 0.5
DEADLINE_S = 1800.0
STOPPED = "<p><i>■ This view has stopped. Run its cell again to go on watching.</i></p>"

Shown = str | Picture
"""HTML, or a picture."""


class Live:
    """Redraws an output: ``draw`` renders it as HTML, or as a picture, again and again.

    It stands on the left of ``beside``, a widget, where there is one. It ends by its button, after
    half an hour, when its cell is run again, or with what it watches (``running``: it
    ``is_active``, and ``check`` raises what ended it); the last frame stays in the notebook. An
    error while drawing ends it too: the next cell raises it instead of running, and so does
    ``check()``.
    """

    def __init__(
        self,
        draw: Callable[[], Shown],
        *,
        running: Any = None,
        beside: widgets.Widget | None = None,
        every: float = EVERY_S,
    ) -> None:
        self.frames, self._last = 0, draw()  # before anything is on display: this may raise
        self._draw, self._running, self._every = draw, running, every
        self._until = time.monotonic() + DEADLINE_S
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._replaced = False
        self._frame, self._twin = widgets.HTML(), widgets.HTML()
        self._folded = widgets.Accordion([self._twin], titles=(SAME,))
        self._button = widgets.Button(description="■ Stop watching", tooltip="Keep the last frame")
        self._button.on_click(lambda _: self._stop.set())
        self._put(self._last)
        narrow = widgets.Layout(flex="1 1 560px")  # so that a shop finds room beside it
        view = widgets.VBox([self._frame, self._folded, self._button], layout=narrow)
        self._beside = beside is not None
        wraps = widgets.Layout(flex_flow="row wrap", align_items="flex-start")
        shown = widgets.HBox([view, beside], layout=wraps) if beside is not None else view
        self._display = display(shown, display_id=True)
        self._thread = threading.Thread(target=self._redraw, daemon=True)
        _end_those_of_earlier_runs(self)
        self._thread.start()

    def __str__(self) -> str:
        return str(self._last)

    def stop(self) -> None:
        """Draw once more and end."""
        self._stop.set()
        self._thread.join(timeout=10)
        self.check()

    def replace(self) -> None:
        """End without a word, and without waiting: another view has taken this one's place."""
        self._replaced = True
        self._stop.set()

    def check(self) -> None:
        """Raise what ended the view, if something did; once."""
        error, self._error = self._error, None
        if error:
            raise error

    def _redraw(self) -> None:
        try:
            while not self._over():
                due = time.monotonic() + self._every
                self._show()
                self._stop.wait(max(0.0, due - time.monotonic()))
            if not self._replaced:
                if self._running is not None:
                    self._running.check()
                self._last = self._draw()
            self._end(STOPPED)
        except Exception as error:
            self._end_by(error)

    def _end_by(self, error: Exception) -> None:
        if self._replaced:  # what it watched went with it: nobody needs to hear of that
            self._end(STOPPED)
            return
        self._error = error
        self._end(f"<p><b>✗ The view has ended:</b> {marked(_sentence(error))}</p>")
        _tell_next_cell(error)

    def _end(self, words: str) -> None:
        """Keep the last frame: as plain HTML too, since a saved notebook has no widgets."""
        self._put(self._last, words)
        self._button.close()
        if self._display is not None and not self._beside:
            self._display.update(HTML(sendable(f"{self._last}{words}")))

    def _over(self) -> bool:
        ended = self._running is not None and not self._running.is_active
        return self._stop.is_set() or ended or time.monotonic() > self._until

    def _show(self) -> None:
        self._last = self._draw()
        self._put(self._last)
        self.frames += 1

    def _put(self, shown: Shown, words: str = "") -> None:
        """Hand a frame to the browser, which draws it only if it has changed."""
        self._frame.value = sendable((shown if isinstance(shown, str) else shown.figure) + words)
        twin = "" if isinstance(shown, str) else sendable(shown.twin)
        self._twin.value = twin
        self._folded.layout.display = None if twin else "none"


_of_cell: dict[str, tuple[str, list[Live]]] = {}
"""The views that live: id of their cell to its latest run (a message id) and the views of it."""


def _end_those_of_earlier_runs(view: Live) -> None:
    """End the views of the cell's earlier run, and their threads: the new ones take their place."""
    parent: dict[str, Any] = getattr(get_ipython(), "get_parent", dict)()
    cell = parent.get("metadata", {}).get("cellId")
    if cell is None:  # no notebook, or one that does not name its cells
        return
    run = parent["header"]["msg_id"]
    latest, views = _of_cell.get(cell, (run, []))
    if latest != run:
        for old in views:
            old.replace()
        views = []
    _of_cell[cell] = run, [*views, view]


def _sentence(error: Exception) -> str:
    """Format an error as a sentence with its type: ``ZeroDivisionError: division by zero.``"""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."


class _Raiser:
    """Refuses the next cell once, with the error from a thread."""

    def __init__(self, error: Exception, transformers: list[Any]) -> None:
        self._error, self._transformers = error, transformers

    def visit(self, cell: Any) -> Any:
        self._transformers.remove(self)
        raise InputRejected(
            f"A live view above has ended: {_sentence(self._error)} "
            "This happened in the background, and your cell was not run. Mend that first, or run "
            "your cell again to go on without the view."
        )


def _tell_next_cell(error: Exception) -> None:
    shell = get_ipython()  # None outside a notebook
    if shell is not None:
        shell.ast_transformers.append(_Raiser(error, shell.ast_transformers))


def wait(until: Callable[[], object], timeout: float = 100.0, what: str = "the condition") -> None:
    """Wait until something has happened; raise TimeoutError naming it after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while not until():
        if time.monotonic() > deadline:
            raise TimeoutError(f"Waited {timeout:.0f} s for {what}, in vain.")
        time.sleep(0.05)
