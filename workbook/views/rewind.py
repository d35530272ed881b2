"""Pictures of the steps of a run: to step through without a kernel, or by a slider of widgets."""

from __future__ import annotations

import html
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets
from IPython.display import display

from workbook.views.picture import SAME, Picture
from workbook.views.tables import table

HOW = "Step through it: click, or Tab and the arrow keys"
SUPPRESS = 'data-lm-suppress-shortcuts="true"'
"""On a button, it keeps JupyterLab from taking its arrow keys for a move to the next cell."""

FOLDED = "This step for print and export"


@dataclass(frozen=True, repr=False)
class Stepper:
    """A picture for each step, of which the first is on show; ``words`` are about all of them.

    Its steps are radio buttons, so it works in a saved page too; where a page's styles are taken
    out, all steps are below each other. ``rows`` are all of them as one table.
    """

    steps: Sequence[Picture]
    names: Sequence[str]
    words: str
    rows: Sequence[Mapping[str, Any]] = ()

    def _repr_html_(self) -> str:
        if not self.steps:
            return f"<p>{html.escape(self.words)}</p>"
        own = f"steps-{secrets.token_hex(4)}"  # two of them in a page must not share their buttons
        buttons = "".join(_button(own, place, name) for place, name in enumerate(self.names))
        panels = "".join(f'<div class="step">{step.figure}</div>' for step in self.steps)
        return (
            f"<style>{_style(own, len(self.steps))}</style>"
            f'<div id="{own}" role="group" aria-label="Steps">'
            f"<p>{html.escape(self.words)} <i>{HOW}:</i></p>{buttons}{panels}"
            f"<details><summary>{SAME}</summary>{self.twin}</details></div>"
        )

    @property
    def twin(self) -> str:
        """Return the table as HTML."""
        return table(self.rows, self.steps[0].caption if self.steps else "")

    def __repr__(self) -> str:
        said = [f"{name}: {step.words}" for name, step in zip(self.names, self.steps, strict=True)]
        return "\n".join([self.words, *said])


def _button(own: str, place: int, name: str) -> str:
    checked = " checked" if place == 0 else ""
    return (
        f'<input type="radio" name="{own}" id="{own}-{place}" {SUPPRESS}{checked}>'
        f'<label for="{own}-{place}">{html.escape(name)}</label>'
    )


def _style(own: str, count: int) -> str:
    chosen = ",".join(
        f"#{own} input:nth-of-type({n}):checked ~ .step:nth-of-type({n})"
        for n in range(1, count + 1)
    )
    return (
        f"#{own} .step{{display:none}}{chosen}{{display:block}}"
        f"#{own} input{{margin:0 0.2em 0 0}}"
        f"#{own} label{{display:inline-block;margin:0 1em 0.3em 0;cursor:pointer}}"
        f"#{own} input:checked + label{{font-weight:600}}"
        f"#{own} input:focus-visible + label{{outline:2px solid currentColor}}"
    )


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
        """Go so many steps on, or back, as far as there are any."""
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
        return {"text/html": html, "text/plain": str(self.picture)}

    def __repr__(self) -> str:
        return str(self.picture)
