"""A question by choice: its options are declared once, each wrong one with its cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

import ipywidgets as widgets
from IPython.display import HTML, display

from workbook.classroom.core import Problem
from workbook.classroom.judging import NotYet
from workbook.classroom.render import Card, Part, State
from workbook.classroom.showing import show

NO_LETTER = "Answer with a letter in quotes"
NO_OPTION = "There is no such option"


@dataclass(frozen=True)
class Option:
    """One of the answers; ``cause`` names why it is wrong, and is empty for the right one."""

    text: str
    cause: str = ""


@dataclass(frozen=True)
class Choice:
    """Diagnoses a letter among options, which stand under their letters."""

    options: dict[str, Option]

    def __call__(self, answer: Any) -> NotYet | None:
        letters = ", ".join(self.options)
        if not isinstance(answer, str):
            return NotYet(
                f'{NO_LETTER}, such as "{min(self.options)}".',
                value=show(answer),
                expected=f"one of {letters}",
            )
        chosen = answer.strip().lower()
        if chosen not in self.options:
            return NotYet(f"{NO_OPTION}: choose one of {letters}.", value=show(answer))
        option = self.options[chosen]
        if not option.cause:
            return None
        return NotYet(option.cause, value=f"{chosen}: {option.text}")


class ChoiceProblem(Problem):
    """An exercise whose options are buttons; ``check("b")`` answers from code, as a click does."""

    def _ipython_display_(self) -> None:
        options: dict[str, Option] = self.diagnose.options  # type: ignore[attr-defined]
        said = widgets.HTML()
        buttons = widgets.ToggleButtons(
            options=[(f"{letter}) {option.text}".replace("`", ""), letter)
                     for letter, option in options.items()],
            value=None,
            style={"button_width": "auto"},
        )  # fmt: skip

        def answer(change: dict[str, str]) -> None:
            said.value = self.check(change["new"])._repr_html_()

        buttons.observe(answer, names="value")
        question, _, _ = self.task.rpartition("\n\n")
        asked = Card(State.TASK, self.name, (Part("", question),))
        display(HTML(asked._repr_html_()), widgets.VBox([buttons, said]))


def choice(
    name: str,
    task: str,
    options: Sequence[Option],
    hints: tuple[str, ...],
    discussion: str,
    *,
    variable: str = "prediction",
) -> ChoiceProblem:
    """Return an exercise whose answer is a letter; exactly one option has no cause.

    The stub assigns to ``variable``, and the task ends with the list of the options.
    """
    by_letter = dict(zip(ascii_lowercase, options, strict=False))
    [right] = [letter for letter, option in by_letter.items() if not option.cause]
    *first, last = [f'"{letter}"' for letter in by_letter]
    return ChoiceProblem(
        name=name,
        task=f"{task}\n\n" + "\n".join(f"{at}) {option.text}" for at, option in by_letter.items()),
        stub=f"{variable} = ...  # {', '.join(first)} or {last}\n",
        diagnose=Choice(by_letter),
        hints=hints,
        reference=right,
        discussion=discussion,
    )
