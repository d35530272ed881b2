"""Two buttons for a pipeline in a process of its own: kill it, and start it again."""

from __future__ import annotations

import html
from typing import Any, Protocol

import ipywidgets as widgets

from workbook.errors import CrashFailed


class Crashes(Protocol):
    """What the buttons press."""

    def crash(self) -> None:
        """kill -9."""

    def restart(self) -> None:
        """Start it again."""


class CrashButtons(widgets.VBox):
    """``kill -9`` and ``Start again``; below them what the last press has done."""

    def __init__(self, lab: Crashes, **options: Any) -> None:
        self._said = widgets.HTML("It runs. Kill it whenever you like.")
        buttons = [
            self._button("kill -9", "bolt", "danger", lab.crash, "✗ Killed, without a warning."),
            self._button("Start again", "refresh", "", lab.restart, "↻ It runs again."),
        ]
        super().__init__([widgets.HBox(buttons), self._said], **options)

    def _button(self, text: str, icon: str, style: str, press: Any, said: str) -> widgets.Button:
        def pressed(_: widgets.Button) -> None:
            try:
                press()
                self._said.value = said
            except CrashFailed as error:
                self._said.value = f"✗ {html.escape(str(error))}"

        button = widgets.Button(description=text, icon=icon, button_style=style)
        button.on_click(pressed)
        return button
