"""Gives the right pairs in another form: swapped, as lists, as a dictionary, the first only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbook.classroom.mistakes import Mistake

_FORMS: dict[str, Callable[[Any], Any]] = {
    "swapped": lambda pairs: [(second, first) for first, second in pairs],
    "as_lists": lambda pairs: [list(pair) for pair in pairs],
    "values_alone": lambda pairs: [pair[-1] for pair in pairs],
    "as_a_dictionary": dict,
    "in_one_list": lambda pairs: [pairs],
    "taken_apart": lambda pairs: [part for pair in pairs for part in pair],
    "first_only": lambda pairs: next(iter(pairs), None),
}


def in_other_forms(right: Callable[..., Any], **causes: str) -> list[Mistake]:
    """Return mistakes that only give the right pairs in another form, each under its cause."""
    return [Mistake(_changed(right, _FORMS[form]), cause) for form, cause in causes.items()]


def _changed(right: Callable[..., Any], form: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *args: form(right(*args))
