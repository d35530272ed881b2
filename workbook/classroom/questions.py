"""Asks by buttons: a choice (an exercise), recall questions, and predictions before a run."""

import html
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

import ipywidgets as widgets
from IPython.display import HTML, display

from workbook.classroom.core import Problem
from workbook.classroom.judging import NotYet
from workbook.classroom.render import Card, Part, State, show
from workbook.views.tables import marked

NO_LETTER = "Answer with a letter in quotes"
NO_OPTION = "There is no such option"


Options = Mapping[str, str]
"""Each option's text, and why it is wrong: '' for the right one."""


def _buttons(
    options: Iterable[tuple[str, str]], choose: Callable[[str], None]
) -> widgets.ToggleButtons:
    """Return a button per option (label, value), none of them chosen yet."""
    made = widgets.ToggleButtons(
        options=[(label.replace("`", ""), value) for label, value in options],
        value=None,
        style={"button_width": "auto"},
    )
    made.observe(lambda change: choose(change["new"]), names="value")
    return made


@dataclass(repr=False)
class ChoiceProblem(Problem):
    """An exercise whose options are buttons; ``check("b")`` answers from code, as a click does.

    ``options`` are each letter's text and cause.
    """

    options: dict[str, tuple[str, str]] = field(default_factory=dict)

    def _ipython_display_(self) -> None:
        said = widgets.HTML()

        def answer(letter: str) -> None:
            said.value = self.check(letter)._repr_html_()

        labels = ((f"{at}) {text}", at) for at, (text, _) in self.options.items())
        question, _, _ = self.task.rpartition("\n\n")
        asked = Card(State.TASK, self.name, (Part("", question),))
        display(HTML(asked._repr_html_()), widgets.VBox([_buttons(labels, answer), said]))


def choice(
    name: str,
    task: str,
    options: Options,
    hints: tuple[str, ...],
    discussion: str,
    *,
    variable: str = "prediction",
) -> ChoiceProblem:
    """Return an exercise whose answer is a letter; exactly one of the options is right.

    The stub assigns to ``variable``, and the task ends with the list of the options.
    """
    by_letter = dict(zip(ascii_lowercase, options.items(), strict=False))
    letters = ", ".join(by_letter)
    [right] = [letter for letter, (_, cause) in by_letter.items() if not cause]
    *first, last = [f'"{letter}"' for letter in by_letter]

    def diagnose(answer: Any) -> NotYet | None:
        if not isinstance(answer, str):
            asked = f"one of {letters}"
            return NotYet(f'{NO_LETTER}, such as "a".', value=show(answer), expected=asked)
        chosen = answer.strip().lower()
        if chosen not in by_letter:
            return NotYet(f"{NO_OPTION}: choose one of {letters}.", value=show(answer))
        text, cause = by_letter[chosen]
        return NotYet(cause, value=f"{chosen}: {text}") if cause else None

    return ChoiceProblem(
        name=name,
        task=f"{task}\n\n" + "\n".join(f"{at}) {text}" for at, (text, _) in by_letter.items()),
        stub=f"{variable} = ...  # {', '.join(first)} or {last}\n",
        diagnose=diagnose,
        hints=hints,
        reference=right,
        discussion=discussion,
        options=by_letter,
    )


@dataclass(frozen=True)
class Question:
    """A question with its options, of which one is right; ``chapter`` is which taught it."""

    chapter: str
    text: str
    options: Options

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the options' texts in an order that gives nothing away, the same each time."""
        return tuple(sorted(self.options, key=lambda text: zlib.crc32(text.encode())))

    def answer(self, text: str) -> str:
        """Return what to say to a choice."""
        cause = self.options[text]
        return f"✗ {cause} (Chapter {self.chapter}.)" if cause else "✓ Right."


class Recall(widgets.VBox):
    """Recall questions on earlier chapters, each with buttons and a word about the choice.

    ``asked`` has the options of each, under the chapter and the text: ``"04: Which …?"``.
    """

    def __init__(self, asked: Mapping[str, Options]) -> None:
        split = ((*text.partition(": ")[::2], options) for text, options in asked.items())
        self.questions = [Question(*each) for each in split]
        super().__init__([part for question in self.questions for part in _asked(question)])

    def __repr__(self) -> str:
        return "\n".join(
            line for each in self.questions for line in (each.text, *map("  {}".format, each.shown))
        )


def _asked(question: Question) -> list[widgets.Widget]:
    said = widgets.HTML()

    def say(text: str) -> None:
        said.value = marked(question.answer(text))

    buttons = _buttons(((text, text) for text in question.shown), say)
    return [widgets.HTML(f"<b>{marked(question.text)}</b>"), buttons, said]


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
        if options:
            self._input = _buttons(((text, text) for text in options), self._note)
        else:
            self._input = widgets.Text(
                placeholder="your guess, then Enter", continuous_update=False
            )
            self._input.observe(lambda change: self._note(change["new"]), names="value")
        super().__init__([widgets.HTML(f"<b>{marked(question)}</b>"), self._input, self._said])

    def say(self, guess: object) -> None:
        """Choose an option, or fill the field, as a click would."""
        self._input.value = str(guess)

    def against(self, actual: object, why: str = "") -> Card:
        """Return a card: what you said, and what the run says; ``why`` explains it."""
        why = why or self.why
        said = Part("You said", self.value or "nothing yet")
        state = State.AS_PREDICTED if _plain(self.value) == _plain(actual) else State.SURPRISE
        state = State.UNANSWERED if self.value is None else state
        because = [Part("", why)] if why else []
        return Card(state, self.question, (said, Part("The run says", str(actual)), *because))

    def __repr__(self) -> str:
        return "\n".join([self.question, *(f"  {option}" for option in self.options)])

    def _note(self, guess: str | None) -> None:
        self.value = guess or None
        self._said.value = "" if self.value is None else f"<i>Noted: {html.escape(self.value)}</i>"


def _plain(value: object) -> str:
    """Reduce an answer to what counts: no case, no thousands separators, no blanks."""
    return re.sub(r",(?=\d{3}\b)", "", "".join(str(value).split())).casefold()
