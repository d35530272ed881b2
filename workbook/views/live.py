"""Views that redraw themselves while something runs, from a thread of their own."""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import ipywidgets as widgets
from IPython import get_ipython
from IPython.core.error import InputRejected
from IPython.display import HTML, display

EVERY_S = 0.4
DEADLINE_S = 1800.0
STOPPED = "<p><i>■ This view has stopped. Run its cell again to go on watching.</i></p>"


class Runs(Protocol):
    """A query or a group of queries, as far as a view needs to know it."""

    @property
    def is_active(self) -> bool: ...

    def check(self) -> None:
        """Raise what ended it, if something did."""


class Live:
    """An output that ``draw`` renders as HTML again and again.

    It ends by its button, with what it watches (``running``), or after ``deadline`` seconds; the
    last frame stays in the notebook. An error while drawing ends it too: the next cell raises it
    instead of running, and so does ``check()``.
    """

    def __init__(
        self,
        draw: Callable[[], str],
        *,
        running: Runs | None = None,
        every: float = EVERY_S,
        deadline: float = DEADLINE_S,
    ) -> None:
        self.frames = 0
        self._draw, self._running, self._every = draw, running, every
        self._until = time.monotonic() + deadline
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._button = widgets.Button(description="■ Stop watching", tooltip="Keep the last frame")
        self._button.on_click(lambda _: self._stop.set())
        display(self._button)
        self._frame = display(HTML(self._draw()), display_id=True)
        self._thread = threading.Thread(target=self._redraw, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Draw once more and end."""
        self._stop.set()
        self._thread.join(timeout=10)
        self.check()

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
            if self._running is not None:
                self._running.check()
            self._put(self._draw() + STOPPED)
        except Exception as error:
            self._error = error
            self._put(f"<b>✗ The view has ended:</b> {html.escape(str(error))}")
            _tell_next_cell(error)
        finally:
            self._button.close()

    def _over(self) -> bool:
        ended = self._running is not None and not self._running.is_active
        return self._stop.is_set() or ended or time.monotonic() > self._until

    def _show(self) -> None:
        self._put(self._draw())
        self.frames += 1

    def _put(self, text: str) -> None:
        if self._frame is not None:  # None where there is no notebook to show it
            self._frame.update(HTML(text))


class _Raiser:
    """Asked for the next cell, before it runs: refuses it once, with the error from a thread."""

    def __init__(self, error: Exception, transformers: list[Any]) -> None:
        self._error, self._transformers = error, transformers

    def visit(self, cell: Any) -> Any:
        self._transformers.remove(self)
        raise InputRejected(
            f"A live view above has ended: {self._error} "
            "This happened in the background; your cell was not run. Run it again to go on."
        )


def _tell_next_cell(error: Exception) -> None:
    shell = get_ipython()  # None outside a notebook
    if shell is not None:
        shell.ast_transformers.append(_Raiser(error, shell.ast_transformers))


def wait(until: Callable[[], object], timeout: float = 60.0, what: str = "the condition") -> None:
    """Wait until something has happened; raise TimeoutError naming it after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while not until():
        if time.monotonic() > deadline:
            raise TimeoutError(f"Waited {timeout:.0f} s for {what}, in vain.")
        time.sleep(0.05)
