"""The step of a program that grows: its cell takes over what was written in the step before."""

import ast
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from IPython import get_ipython

from workbook.classroom.core import Problem, stub_name, text_of
from workbook.classroom.render import Card, Part, State

UNTOUCHED = (State.NOT_ATTEMPTED, State.SOLVED_BEFORE)
TAKEN_OVER = (
    "The cell above has taken over the program that you wrote in the step before. Edit it there, "
    "and run it again."
)


@dataclass(repr=False)
class Step(Problem):
    """An exercise whose stub is the reference of the step ``before`` it (``in_turn``), with a gap.

    Where that one was passed with an answer of one's own, the first check of the untouched stub
    puts this answer's text into the cell, under the stub's first line and with the check below it;
    ``called`` is the exercise's name in the notebook.
    """

    before: Problem | None = None
    called: str = ""

    def check(self, answer: Any = ..., **given: Any) -> Card:
        """Return one of three outcomes, as every exercise does; take over where it's untouched."""
        card = super().check(answer, **given)
        shell, text = get_ipython(), self.taken_over()
        if card.state not in UNTOUCHED or shell is None or not text:
            return card
        shell.set_next_input(text, replace=True)
        return replace(card, parts=(Part("", TAKEN_OVER),))

    def taken_over(self) -> str:
        """Return the cell with the answer of the step before; '' where that is the reference."""
        before = self.before
        if before is None or not before.stands:
            return ""
        if not (text := text_of(before.answer)):
            return ""
        text = _with_the_head_of(text, before.stub, self.stub)
        return f"{text}\n\n\n{self.called}.check({stub_name(self.stub)})"


def in_turn(*steps: Step) -> tuple[Step, ...]:
    """Give each step the one ``before`` it, and return them all."""
    for former, step in pairwise(steps):
        step.before = former
    return steps


def _with_the_head_of(text: str, old: str, new: str) -> str:
    """Replace a function's first line by that of a new stub where it is still the old stub's."""
    first, rest = text.partition("\n")[::2]
    return f"{_head(new)}\n{rest}" if first.rstrip() == _head(old) else text


def _head(stub: str) -> str:
    """Return the first line of the function that a stub defines."""
    return stub.splitlines()[ast.parse(stub).body[-1].lineno - 1].rstrip()
