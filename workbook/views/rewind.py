"""A slider to go back in a recorded run: each of its steps is a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
from IPython.display import HTML, display

from workbook.views.picture import SAME, Picture

FOLDED = "This step for print and export"


class Rewind:
    """Shows the last step of a run as a picture, and the others by a slider or two buttons.

    ``steps`` are a step's words and what ``draw`` takes. The last step is plain HTML, so that a
    saved or exported notebook has it; once the slider moves, a widget shows the step, which
    survives a reload of the page.
    """

    def __init__(self, draw: Callable[[int], Picture], steps: Sequence[tuple[str, int]]) -> None:
        self._draw, self._steps = draw, list(steps)
        last = len(self._steps) - 1
        self.slider = widgets.SelectionSlider(
            options=[(words, place) for place, (words, _) in enumerate(self._steps)],
            value=last, description="Go back:", layout=widgets.Layout(width="32em"),
        )  # fmt: skip
        self.back = widgets.Button(description="◀ back", layout=widgets.Layout(width="auto"))
        self.on = widgets.Button(description="on ▶", layout=widgets.Layout(width="auto"))
        self.back.on_click(lambda _: self.move(-1))
        self.on.on_click(lambda _: self.move(1))
        self.picture = draw(self._steps[last][1])
        self._figure, self._twin = widgets.HTML(), widgets.HTML()
        self._table = widgets.Accordion([self._twin], titles=(SAME,))
        self._table.layout.display = "none"
        self._still: Any = None
        self.slider.observe(lambda change: self._show(change["new"]), names="value")

    def move(self, by: int) -> None:
        """Go so many steps on, or back, as far as there are any."""
        self.slider.value = min(max(self.slider.value + by, 0), len(self._steps) - 1)

    def _show(self, place: int) -> None:
        self.picture = self._draw(self._steps[place][1])
        self._figure.value, self._twin.value = self.picture.figure, self.picture.twin
        self._table.layout.display = None if self.picture.twin else "none"
        if self._still is not None:
            self._still.update(HTML(
                f"<details><summary>{FOLDED}</summary>{self.picture._repr_html_()}</details>"
            ))  # fmt: skip

    def _ipython_display_(self) -> None:
        if len(self._steps) > 1:
            wraps = widgets.Layout(flex_flow="row wrap", align_items="center")
            row = widgets.HBox([self.back, self.slider, self.on], layout=wraps)
            display(widgets.VBox([row, self._figure, self._table]))
        self._still = display(HTML(self.picture._repr_html_()), display_id=True)

    def __repr__(self) -> str:
        return str(self.picture)
