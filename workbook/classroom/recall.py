"""Recall questions: three short ones on earlier chapters, each answered by a button."""

from __future__ import annotations

import html
import re
import zlib
from dataclasses import dataclass

import ipywidgets as widgets

from workbook.classroom.choice import Option


@dataclass(frozen=True)
class Question:
    """A question with its options, of which one has no cause; ``chapter`` is which taught it."""

    chapter: str
    text: str
    options: tuple[Option, ...]

    @property
    def right(self) -> Option:
        """Return the option without a cause."""
        [right] = [option for option in self.options if not option.cause]
        return right

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the options' texts in an order that gives nothing away, the same each time."""
        return tuple(sorted((option.text for option in self.options), key=_mixed))

    def answer(self, text: str) -> str:
        """Return what to say to a choice."""
        chosen = next(option for option in self.options if option.text == text)
        return f"✗ {chosen.cause} (Chapter {self.chapter}.)" if chosen.cause else "✓ Right."


class Recall(widgets.VBox):
    """Questions, each with buttons below it and a word about the choice."""

    def __init__(self, *questions: Question) -> None:
        self.questions = questions
        super().__init__([part for question in questions for part in _asked(question)])

    def __repr__(self) -> str:
        lines = []
        for question in self.questions:
            lines += [question.text, *(f"  {text}" for text in question.shown)]
        return "\n".join(lines)


def _asked(question: Question) -> list[widgets.Widget]:
    said = widgets.HTML()
    buttons = widgets.ToggleButtons(
        options=[(text.replace("`", ""), text) for text in question.shown],
        value=None,
        style={"button_width": "auto"},
    )

    def say(change: dict[str, str]) -> None:
        said.value = html.escape(question.answer(change["new"]))

    buttons.observe(say, names="value")
    asked = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(question.text))
    return [widgets.HTML(f"<b>{asked}</b>"), buttons, said]


def _mixed(text: str) -> int:
    return zlib.crc32(text.encode())
