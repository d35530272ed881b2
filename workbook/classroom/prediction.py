"""A prediction: asked before a run, recorded, and answered by the run."""

from __future__ import annotations

import html
from collections.abc import Sequence

import ipywidgets as widgets

from workbook.classroom.render import Card, Part, State


class Prediction(widgets.VBox):
    """A question with buttons for its options or, without options, a field for a number or a word.

    ``say`` chooses from code, as a click does; ``value`` is what was said last, or None. Nothing
    has to be said: ``against`` answers either way, folded where nothing was said. ``why`` explains
    the answer.
    """

    def __init__(self, question: str, options: Sequence[str] = (), why: str = "") -> None:
        self.question, self.options, self.why = question, tuple(options), why
        self.value: str | None = None
        self._said = widgets.HTML()
        if self.options:
            self._input: widgets.ToggleButtons | widgets.Text = widgets.ToggleButtons(
                options=self.options, value=None, style={"button_width": "auto"}
            )
        else:
            self._input = widgets.Text(
                placeholder="your guess, then Enter", continuous_update=False
            )
        self._input.observe(lambda change: self._note(change["new"]), names="value")
        super().__init__([widgets.HTML(f"<b>{html.escape(question)}</b>"), self._input, self._said])

    def say(self, guess: object) -> None:
        """Choose an option, or fill the field, as a click would."""
        self._input.value = str(guess)

    def against(self, actual: object, why: str = "") -> Card:
        """Return a card: what you said, and what the run says; ``why`` explains it."""
        why = why or self.why
        parts = [Part("The run says", str(actual)), *([Part("", why)] if why else [])]
        if self.value is None:
            return Card(State.UNANSWERED, self.question, (Part("You said", "nothing yet"), *parts))
        right = _plain(self.value) == _plain(actual)
        state = State.AS_PREDICTED if right else State.SURPRISE
        return Card(state, self.question, (Part("You said", self.value), *parts))

    def __repr__(self) -> str:
        return "\n".join([self.question, *(f"  {option}" for option in self.options)])

    def _note(self, guess: str | None) -> None:
        self.value = guess or None
        self._said.value = "" if self.value is None else f"<i>Noted: {html.escape(self.value)}</i>"


def _plain(value: object) -> str:
    """Reduce an answer to what counts: no case, no thousands separators, no blanks."""
    return "".join(str(value).split()).replace(",", "").casefold()
