"""A slider for the time between two micro-batches, and a table with the result of each choice."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from workbook.views.tables import table

Row = Mapping[str, Any]

SECONDS = (0, 1, 2, 5, 10, 30)
READY = "Choose an interval with the arrow keys or the mouse, then press the button."


class IntervalSlider(widgets.VBox):
    """A slider in seconds, a button, and a table with a row for each run.

    ``measure`` is called with the seconds that were chosen, and gives the row to add; ``rows`` are
    those to begin with. An error is told in words, and the next run may go well.
    """

    def __init__(
        self,
        measure: Callable[[int], Row],
        rows: Sequence[Row] = (),
        *,
        caption: str = "What each interval comes to",
        seconds: Sequence[int] = SECONDS,
        value: int = 2,
    ) -> None:
        self.rows = list(rows)
        self._measure, self._caption = measure, caption
        self._slider = widgets.SelectionSlider(
            options=[(f"{s} s", s) for s in seconds],
            value=value,
            description="interval",
            continuous_update=False,
        )
        self._button = widgets.Button(
            description="Run", icon="play", button_style="success", tooltip="Run with this interval"
        )
        self._button.on_click(lambda _: self.run())
        self._status, self._table = widgets.HTML(READY), widgets.HTML()
        self._draw()
        super().__init__([widgets.HBox([self._slider, self._button]), self._status, self._table])

    def run(self) -> None:
        """Measure with the interval that the slider shows, and add the row."""
        seconds = self._slider.value
        self._slider.disabled = self._button.disabled = True
        self._status.value = f"▶ Running with {seconds} s between two micro-batches ..."
        try:
            self.rows.append(self._measure(seconds))
            self._status.value = f"✓ Done with {seconds} s. {READY}"
        except Exception as error:  # raised in a callback, nobody would see it
            first = str(error).strip().splitlines()[:1]
            text = html.escape(": ".join([type(error).__name__, *first]))
            self._status.value = f"✗ {text} {READY}"
        finally:
            self._slider.disabled = self._button.disabled = False
            self._draw()
            self._button.focus()  # a disabled button loses the keyboard

    def _draw(self) -> None:
        self._table.value = table(self.rows, self._caption)
