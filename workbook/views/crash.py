"""Three buttons for a pipeline in a process of its own: start it, kill it, start it again."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any, Protocol

import ipywidgets as widgets

from workbook.errors import CrashFailed

AGAIN = "run the cell that makes the lab again."
SAID = {
    "new": "Press Start.",
    "running": "It runs. Kill it whenever you like.",
    "killed": "✗ Killed, without a warning. Start it again when you have seen enough.",
    "finished": f"It has come to the end of the clicks; {AGAIN}",
    "failed": f"✗ It has ended by itself, and lab.check() says why; {AGAIN}",
    "closed": f"This lab has been closed; {AGAIN}",
}
"""What is said of each state of the lab."""

OVER = ("finished", "failed", "closed")


class Crashes(Protocol):
    """What the buttons press."""

    @property
    def state(self) -> str:
        """One of new, running, killed, finished, failed, closed."""

    def start(self) -> None:
        """Start it for the first time."""

    def crash(self) -> None:
        """kill -9."""

    def restart(self) -> None:
        """Start it again."""


class CrashButtons(widgets.VBox):
    """``Start``, ``kill -9`` and ``Start again``; below them what has become of the pipeline.

    Only what is possible can be pressed, as far as it was known at the last press: the pipeline
    may end meanwhile, and a press then says so.
    """

    def __init__(self, lab: Crashes, **options: Any) -> None:
        self._lab = lab
        self._said = widgets.HTML()
        self._buttons = {
            "new": self._button("Start", "play", "success", lab.start),
            "running": self._button("kill -9", "bolt", "danger", lab.crash),
            "killed": self._button("Start again", "refresh", "success", lab.restart),
        }
        self._show(lab.state)
        super().__init__([widgets.HBox([*self._buttons.values()]), self._said], **options)

    def _button(
        self, text: str, icon: str, style: str, press: Callable[[], None]
    ) -> widgets.Button:
        def pressed(_: widgets.Button) -> None:
            error = None
            try:
                press()
            except CrashFailed as failure:
                error = failure
            state = self._lab.state
            self._show(state, error)
            if state in self._buttons:  # a disabled button would lose the keyboard
                self._buttons[state].focus()

        button = widgets.Button(description=text, icon=icon, button_style=style)
        button.on_click(pressed)
        return button

    def _show(self, state: str, error: CrashFailed | None = None) -> None:
        for name, button in self._buttons.items():
            button.disabled = name != state
        told = SAID[state]
        if error is not None and state not in OVER:
            told = f"✗ {html.escape(str(error))} {told}"
        self._said.value = told
