"""Pictures of the steps of a run, with a slider and two buttons to go through them."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
from IPython.display import display

from workbook.views.picture import SAME, Picture

FOLDED = "This step for print and export"


class _Steps(widgets.VBox):
    """What moves; where there are no widgets, as in an exported notebook, a word instead."""

    def __repr__(self) -> str:
        return "In a running notebook a slider goes back from here."


class Rewind:
    """Shows a step of a run as a picture, the last one at first, and others by a slider or buttons.

    ``steps`` are a step's words and what ``draw`` takes; ``at`` is the step to begin with, and
    ``says`` is written before the slider. It's plain HTML at first, so that a saved or exported
    notebook has it; once the slider moves, a widget shows the step, which survives a reload of the
    page.
    """

    def __init__(
        self,
        draw: Callable[[int], Picture],
        steps: Sequence[tuple[str, int]],
        at: int = -1,
        says: str = "Go back:",
    ) -> None:
        self._draw, self._steps = draw, list(steps)
        first = range(len(self._steps))[at]
        self.slider = widgets.SelectionSlider(
            options=[(words, place) for place, (words, _) in enumerate(self._steps)],
            value=first, description=says, layout=widgets.Layout(width="32em"),
        )  # fmt: skip
        self.back, self.on = (
            widgets.Button(description=words, layout=widgets.Layout(width="auto", margin="2px 8px"))
            for words in ("◀ back", "forward ▶")
        )
        self.back.on_click(lambda _: self.move(-1))
        self.on.on_click(lambda _: self.move(1))
        self.picture = draw(self._steps[first][1])
        self._figure, self._twin = widgets.HTML(), widgets.HTML()
        self._table = widgets.Accordion([self._twin], titles=(SAME,))  # stays open at a move
        self._table.layout.display = "none"
        self._still: Any = None
        self.slider.observe(lambda change: self._show(change["new"]), names="value")

    def move(self, by: int) -> None:
        """Go a number of steps on, or back, as far as there are any."""
        self.slider.value = min(max(self.slider.value + by, 0), len(self._steps) - 1)

    def _show(self, place: int) -> None:
        self.picture = self._draw(self._steps[place][1])
        self._figure.value, self._twin.value = self.picture.figure, self.picture.twin
        self._table.layout.display = None if self.picture.twin else "none"
        if self._still is not None:
            folded = f"<details><summary>{FOLDED}</summary>{self.picture._repr_html_()}</details>"
            self._still.update(self._formats(folded), raw=True)

    def _ipython_display_(self) -> None:
        if len(self._steps) > 1:
            wraps = widgets.Layout(flex_flow="row wrap", align_items="center")
            row = widgets.HBox([self.back, self.slider, self.on], layout=wraps)
            display(_Steps([row, self._figure, self._table]))
        formats = self._formats(self.picture._repr_html_())
        self._still = display(formats, raw=True, display_id=True)

    def _formats(self, html: str) -> dict[str, str]:
        return {"text/html": html, "text/plain": repr(self.picture)}

    def __str__(self) -> str:
        return str(self.picture)

    def __repr__(self) -> str:
        return repr(self.picture)
