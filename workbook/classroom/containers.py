"""Recognises right contents in a wrong form: a number as text, a value in a list."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from workbook.classroom.calls import same
from workbook.classroom.showing import type_name


def numbers_as_text(value: Any, expected: Any) -> str:
    """Return the cause where right numbers are given as text, or ''."""
    if not same(_with_texts(value), _with_texts(expected)):
        return ""
    return (
        "Right contents, but a number stands as text in it, where a whole number (int) is "
        "expected: leave out the `str(...)`, or put `int(...)` around the text."
    )


def other_container(value: Any, expected: Any) -> str:
    """Return the cause where the right value lies in another container, or lacks one; or ''."""
    asked = type_name(expected)
    if isinstance(value, (list, tuple)):
        if isinstance(expected, (set, dict)) and _same_elements(value, _elements(expected)):
            return f"Right contents in a {type_name(value)}; a {asked} is expected."
        if any(_is(item, expected) for item in value):
            alone = "by itself" if len(value) == 1 else "alone, without what else is in there"
            return f"The right value lies inside a {type_name(value)}. Give it back {alone}."
    unordered = isinstance(value, Set) and isinstance(expected, (list, tuple))
    if unordered and _same_elements(value, expected):
        return f"Right contents in a {type_name(value)}, without an order; a {asked} is expected."
    if isinstance(expected, (list, tuple, set)) and _same_elements([value], expected):
        return f"It's the one element itself; a {asked} that holds it is expected."
    return ""


def _with_texts(value: Any) -> Any:
    """Turn each number in the value into text, and each list into a tuple: keys can be tuples."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, dict):
        return {_with_texts(key): _with_texts(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_with_texts(item) for item in value)
    return value


def _elements(holder: Any) -> Iterable[Any]:
    return holder.items() if isinstance(holder, dict) else holder


def _same_elements(left: Iterable[Any], right: Iterable[Any]) -> bool:
    """Return True if these are the same elements, none of them twice, in any order."""
    mine, asked = list(left), list(right)
    if len(mine) != len(asked):
        return False
    return all(any(_is(item, each) for item in mine) for each in asked)


def _is(left: Any, right: Any) -> bool:
    """Return True if values are equal and of one type: 0 isn't False."""
    return type(left) is type(right) and same(left, right)
