"""Pictures to step through, by mouse or keyboard, without a kernel behind them."""

from __future__ import annotations

import html
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.picture import SAME, Picture
from workbook.views.tables import table

HOW = "Step through it: click, or Tab and the arrow keys"
SUPPRESS = 'data-lm-suppress-shortcuts="true"'
"""On a button, it keeps JupyterLab from taking its arrow keys for a move to the next cell."""


@dataclass(frozen=True, repr=False)
class Stepper:
    """A picture for each step, of which the first is on show; ``words`` are about all of them.

    Its steps are radio buttons, so it works in a saved page too; where a page's styles are taken
    out, all steps stand below each other. ``rows`` are all of them as one table.
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
