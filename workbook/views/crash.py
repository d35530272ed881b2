"""Three buttons for a pipeline in its own process: start it, kill it, start it again."""

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbook.errors import CrashFailed
from workbook.views.tables import marked

AGAIN = "To try again, run the cell that makes the lab, then this one."
SAID = {
    "new": "Press Start.",
    "running": "▶ It runs, in a process of its own; to start and to join its group takes seconds. "
    "{committed:,} of {end:,} clicks are committed. Kill it when you like.",
    "killed": "✗ Killed, without a warning. Start it again when you have seen enough.",
    "recovered": "✓ It has read all the clicks. Go on: the next cells show what became of them.",
    "finished": f"It has read all the clicks, and nobody has killed it. {AGAIN}",
    "failed": f"✗ It has ended by itself, and lab.check() says why. {AGAIN}",
    "closed": f"This lab is closed. {AGAIN}",
}
"""What is said of each state of the lab; of finished there are two kinds."""

OVER = ("finished", "failed", "closed")
EVERY_S = 0.3


class CrashButtons(widgets.VBox):
    """Buttons ``Start``, ``kill -9`` and ``Start again``, with the pipeline's fate below them.

    ``lab`` is a crash lab. Only what is possible can be pressed. A thread looks every ``every``
    seconds, since the pipeline may end, and other cells may start or kill it; it stops when the
    pipeline is over.
    """

    def __init__(self, lab: Any, *, every: float = EVERY_S) -> None:
        self._lab, self._every = lab, every
        self._shown, self._error = "", ""
        self._offsets = {"committed": 0, "end": 0}
        self._lock = threading.Lock()
        self._status = widgets.HTML()
        self._buttons = {
            "new": self._button("Start", "play", "success", lab.start),
            "running": self._button("kill -9", "bolt", "danger", lab.crash),
            "killed": self._button("Start again", "refresh", "success", lab.restart),
        }
        self._show()
        super().__init__([widgets.HBox([*self._buttons.values()]), self._status])
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _button(
        self, text: str, icon: str, style: str, press: Callable[[], None]
    ) -> widgets.Button:
        def pressed(_: widgets.Button) -> None:
            error = ""
            try:
                press()
            except CrashFailed as failure:
                error = f"✗ {marked(str(failure))} "
            state = self._show(error)
            if state in self._buttons:  # a disabled button would lose the keyboard
                self._buttons[state].focus()

        button = widgets.Button(description=text, icon=icon, button_style=style)
        button.on_click(pressed)
        return button

    def _watch(self) -> None:
        while self._lab.state not in OVER and not self._closed.wait(self._every):
            if self._lab.state == "running":
                self._look()
            self._show()
        self._show()

    def close(self) -> None:
        """Remove the buttons, and stop looking."""
        self._closed.set()
        super().close()

    def _look(self) -> None:
        """Ask for the offsets."""
        try:
            found = self._lab.offsets()
        except Exception:  # raised in a thread, nobody would see it; the next look may go well
            return
        self._offsets = {"committed": found.committed or 0, "end": found.end}

    def _show(self, error: str | None = None) -> str:
        """Show the lab as it is now, and return its state; an error stays until it changes."""
        with self._lock:
            state = self._lab.state
            if error is not None or state != self._shown:
                self._error = error or ""
            self._shown = state
            for name, button in self._buttons.items():
                button.disabled = name != state
            shown = ("" if state in OVER else self._error) + self._words(state)
            if self._status.value != shown:
                self._status.value = shown
        return state

    def _words(self, state: str) -> str:
        if state == "finished" and self._lab.killed_at is not None:
            return SAID["recovered"]
        return SAID[state].format(**self._offsets)
