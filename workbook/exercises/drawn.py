"""Further checks for an answer that is right in the teaching cases, by luck or by a shortcut.

A rule on names, sizes, order or small numbers holds in a handful of cases that were chosen to be
read. Cases drawn by a seed have none of those in common; the smallest that fails is shown.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable
from typing import Any

from workbook.events import Click, ClickType
from workbook.exercises.calls import collected
from workbook.exercises.judging import Case, NotYet, by_cases

Check = Callable[[Any], NotYet | None]

_NAMES = ("/home", "/shoes", "/hats/42", "shoes", "start", "buy", "/buy", "add-to-basket", "Page")


def one_after_another(*checks: Check) -> Check:
    """One check of several: the first that finds something decides."""

    def diagnose(answer: Any) -> NotYet | None:
        return next((found for check in checks if (found := check(answer))), None)

    return diagnose


def smallest_first(cases: Iterable[Case]) -> list[Case]:
    """Order drawn cases so that the first one that fails is the easiest to read."""
    return sorted(cases, key=lambda case: len(repr(case.args)))


def drawn_click(draw: random.Random, at: int, pages: float = 0.7) -> Click:
    """Draw a click at this time in ms: its kind stands in ``click_type`` and nowhere else."""
    kind = ClickType.PAGE if draw.random() < pages else ClickType.ACTION
    browser, tab = draw.choice(("Firefox", "Safari")), draw.choice(("t1", "t2", None))
    return Click(draw.randrange(10**9), kind, draw.choice(_NAMES), at, browser, tab)


def whole_numbers(case: Case, *, any_iterable: bool = False) -> Check:
    """A check that no number is a float: ``10.0`` equals ``10``, but is shown and keyed apart."""
    cause = (
        "The numbers are right, but some are of type float, such as `10.0`. `/` gives a float; "
        "`//` and `int` give whole numbers."
    )
    check = by_cases([Case(case.args, case.expected, cause)])

    def diagnose(answer: Any) -> NotYet | None:
        run = collected(answer) if any_iterable else answer

        @functools.wraps(answer)
        def marked(*args: Any) -> Any:
            return _marked(run(*args))

        return check(marked)

    return diagnose


class _Float:
    """A float that equals no whole number."""

    def __init__(self, number: float) -> None:
        self._number = number

    def __repr__(self) -> str:
        return repr(self._number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Float) and self._number == other._number

    def __hash__(self) -> int:
        return hash(self._number)


def _marked(value: Any) -> Any:
    """The value with its floats marked, as deep as lists, tuples and dictionaries go."""
    if isinstance(value, float):
        return _Float(value)
    if type(value) in (list, tuple):
        return type(value)(map(_marked, value))
    if isinstance(value, dict):
        return {_marked(k): _marked(v) for k, v in value.items()}
    return value
