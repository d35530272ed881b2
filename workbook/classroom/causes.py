"""Likely causes of a wrong answer that show in one call, whatever the exercise."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator
from typing import Any

from workbook.classroom.apart import ROOM
from workbook.classroom.bounds import MOST, Large, parts
from workbook.classroom.calls import Attempt, Endless, same
from workbook.classroom.containers import numbers_as_text, other_container
from workbook.classroom.raised import cause_of_error
from workbook.classroom.returns import returned_at
from workbook.classroom.showing import type_name


def usual_cause(tried: Attempt) -> str:
    """Return the likely cause that shows in how a call went, whatever the exercise; or ''."""
    if tried.timed_out:
        return "It does not come to an end in time: does its loop reach the last element, or wait?"
    if tried.changed_class:
        return (
            f"It changes the class `{tried.changed_class}` itself, which everything else uses too. "
            "Work with values of it, and leave the class alone."
        )
    if isinstance(tried.error, MemoryError):
        return (
            f"It asks for more than {ROOM >> 30} GB of memory. Which of its values grows so large? "
            "(`bytes(n)` with a number gives n zero bytes, and `[x] * n` has n elements.)"
        )
    if tried.error is not None:
        return cause_of_error(tried.error)
    if tried.changed_input:
        return "It changes the input it was given. Build a new value and leave the input alone."
    if tried.unsteady:
        return KEPT
    return _cause_of_value(tried)


KEPT = (
    "The same input gives another value the second time: something is kept from call to "
    "call, in a global or in a default argument."
)


LEFT_BEHIND = (
    "Called with this input alone, it gives another value: something of the calls before is kept "
    "from call to call, in a global or in a default argument."
)


def _cause_of_value(tried: Attempt) -> str:
    value = tried.value
    if isinstance(value, Large):
        return f"It gives far more than is asked for: {value.size}."
    if isinstance(value, Endless):
        return (
            f"It yields without end: after {MOST:,} elements there are more. A generator ends "
            "where its function does, so leave the loop after the last element of the input."
        )
    if value is None and tried.printed:
        return "It prints the value and returns nothing. Give it back with `return`."
    if value is None:
        return "It returns None for this input: one way through it ends without a `return`."
    if inspect.isgenerator(value):
        return (
            "It has a `yield`, or a comprehension in round brackets, so it returns a generator. "
            "Collect, and `return` once at the end."
        )
    if inspect.iscoroutine(value):
        return "It is an `async def`, so calling it only returns a coroutine. Write a plain `def`."
    if isinstance(value, Iterator):
        return (
            f"It returns an iterator (of type {type_name(value)}), which hands out its elements "
            "once, and only when it is asked. Make it a value with `list(...)`."
        )
    if value is ...:
        return "It still returns `...` for this input: one place is left to fill in."
    if inspect.isclass(value):
        return f"It returns the class `{value.__name__}` itself, and not a value."
    if callable(value):
        return "It returns a function instead of a value: is a call missing its parentheses?"
    return ""


NO_RETURN = "It returns None, whatever the input: there is no `return` that is reached."
MEANT_NONE = "It returns None for this input."
_GIVES_NONE = (
    "It returns None for this input, because the expression that it returns gives None. Methods "
    "that change a value in place, such as `append`, `update` or `sort`, return nothing."
)


def cause_of_none(answer: Any, args: tuple[Any, ...], otherwise: str) -> str:
    """Return the cause of a None: '' where the expression says so itself, as in `row or None`."""
    if getattr(answer, "__name__", "") == "<lambda>" and otherwise != NO_RETURN:
        named = getattr(getattr(inspect.unwrap(answer), "__code__", None), "co_names", ())
        return _GIVES_NONE if _IN_PLACE.intersection(named) else ""
    at = returned_at(answer, copy.deepcopy(args))
    if at is None:
        return otherwise
    return _GIVES_NONE if _changes_in_place(at.value) else ""


_IN_PLACE = {
    *("append", "extend", "insert", "remove", "reverse", "sort", "clear", "add", "discard"),
    *("update", "subtract", "move_to_end", "appendleft", "extendleft", "rotate"),
    *("difference_update", "intersection_update", "symmetric_difference_update"),
}


def _changes_in_place(*returned: ast.expr | None) -> bool:
    """Return True if a returned value may be the None of a method that changes in place."""
    for each in returned:
        if isinstance(each, ast.IfExp) and _changes_in_place(each.body, each.orelse):
            return True
        if isinstance(each, ast.BoolOp) and _changes_in_place(*each.values):
            return True
        if isinstance(each, ast.Call) and getattr(each.func, "attr", "") in _IN_PLACE:
            return True
    return False


def is_plain_none(tried: Attempt) -> bool:
    """Return True if a call came back with None, and nothing else explains it."""
    ended = tried.error is None and not tried.timed_out and not tried.changed_class
    return ended and tried.value is None and not tried.printed


def other_type(value: Any, expected: Any) -> str:
    if same(value, expected):
        return other_numbers(value, expected)
    if isinstance(value, Large):
        return ""
    if type(value).__eq__ is object.__eq__ and value is not None:
        asked = type(expected).__name__
        return f"Its value is of type {type_name(value)}, where one of type {asked} is expected."
    if not same(_as_lists(value), _as_lists(expected)):
        return numbers_as_text(value, expected) or other_container(value, expected)
    if type(value) is type(expected):
        return "The contents are right, but a list stands for a tuple in it, or a tuple for a list."
    return f"Right contents in a {type(value).__name__}; a {type(expected).__name__} is expected."


def _as_lists(value: Any) -> Any:
    """Turn each tuple and list in the value into a list, those in a dictionary, too."""
    if isinstance(value, (list, tuple)):
        return [_as_lists(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_lists(each) for key, each in value.items()}
    return value


def other_numbers(value: Any, expected: Any) -> str:
    """Return the cause where 10.0 or True equals the whole number that is asked for, or ''."""
    asked = set(_numbers(expected))
    for kind in set(_numbers(value)) - asked:
        if int in asked:
            return f"Right values, of type {kind.__name__} where a whole number (int) is expected."
    return ""


def _numbers(value: Any) -> Iterator[type]:
    """Yield the type of each number in a value."""
    if isinstance(value, (int, float)):
        yield type(value)
    for part in parts(value):
        yield from _numbers(part)
