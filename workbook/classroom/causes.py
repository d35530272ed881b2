"""Likely causes of a wrong answer that show in one call, whatever the exercise."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from workbook.classroom.advice import advice
from workbook.classroom.calls import Attempt, same
from workbook.classroom.guard import HOLDERS, Large, parts
from workbook.classroom.sandbox import ROOM
from workbook.classroom.showing import error_line, type_name

NO_RETURN = (
    "It returns None, whatever the input: no `return` is reached, or what follows it is None, as "
    "with `append`, `update` or `sort`, which change a value and return nothing."
)
_KEPT = (
    "Does it keep something from call to call, in a global or in a default argument? Or does it "
    "ask a clock, or draw by chance?"
)
LEFT_BEHIND = f"Called with this input alone, it gives another value. {_KEPT}"
KEPT = f"The same input gives another value the second time. {_KEPT}"
PRINTS = "It prints the value and returns nothing. Give it back with `return`."


def usual_cause(tried: Attempt) -> str:
    """Return the likely cause that shows in how a call went, whatever the exercise; or ''."""
    if tried.timed_out:
        return "It does not come to an end in time: does its loop reach the last element, or wait?"
    if isinstance(tried.error, MemoryError):
        return (
            f"It asks for more than {ROOM >> 30} GB of memory. Which of its values grows so large? "
            "(`bytes(n)` with a number gives n zero bytes, and `[x] * n` has n elements.)"
        )
    if tried.error is not None:
        line = error_line(tried.error)
        return f"It raised {line}. {advice(tried.error, line)}".rstrip()
    if tried.afterwards is not None:
        return "It changes the input it was given. Build a new value and leave the input alone."
    return KEPT if tried.second else _cause_of_value(tried)


def _cause_of_value(tried: Attempt) -> str:
    value = tried.value
    if isinstance(value, Large):
        return f"It gives far more than is asked for: {value.size}."
    if value is None and tried.printed:
        return PRINTS
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
    if callable(value):
        return "It returns a function or a class, no value: is a call missing its parentheses?"
    return ""


def other_type(value: Any, expected: Any, others: Sequence[type] = ()) -> str:
    """Return the cause where a value has the expected contents in another form, or another type.

    A value of one of the ``others`` is of a type that is right elsewhere.
    """
    if same(value, expected):
        return other_numbers(value, expected)
    if value is None or expected is None or isinstance(value, Large):
        return ""
    asked, found = _in_words(expected), _in_words(value)
    if forms := _forms(value, expected):
        if TEXT in forms:
            return (
                "Right contents, but a number stands as text or bytes in it, where a whole number "
                "(int) is expected: leave out the `str(...)`, or put `int(...)` around the text."
            )
        if not _related(value, expected):
            return f"Right contents in a {found}; a {asked} is expected."
        return "Right contents, but a {} stands for a {} in it.".format(*forms[0])
    numbers = isinstance(value, (int, float)) and isinstance(expected, (int, float))
    if numbers or _related(value, expected) or isinstance(value, tuple(others)):
        return ""
    if isinstance(value, (list, tuple)) and len(value) == 1 and same(value[0], expected):
        return f"The right value lies inside a {found}. Give it back by itself."
    return f"Its value is of type {found}, where one of type {asked} is expected."


def _in_words(value: Any) -> str:
    """Return a type's name as the tasks have it."""
    return "dictionary" if isinstance(value, dict) else type_name(value)


def by_part(value: Any, expected: Any, why: str) -> str:
    """Return the cause of the part in which two values of one form differ; ``why`` of the whole."""
    path, mine, asked = _the_difference(value, expected)
    if path and mine is not None and asked is not None and not _related(mine, asked):
        found, wanted = _in_words(mine), _in_words(asked)
        return f"In your value, `{path}` is of type {found}, and type {wanted} is asked for."
    return f"{why} Your value differs at `{path}`." if path else why


def _the_difference(value: Any, expected: Any, path: str = "") -> tuple[str, Any, Any]:
    """Walk into values that have the same named parts, as long as a single one differs."""
    differing = [part for part in _named_parts(value, expected) if not same(*part[1:])]
    if len(differing) != 1:
        return path, value, expected
    [(name, mine, asked)] = differing
    return _the_difference(mine, asked, f"{path}{name}".removeprefix("."))


def _named_parts(value: Any, expected: Any) -> Iterator[tuple[str, Any, Any]]:
    if type(value) is (kind := type(expected)) and (fields := getattr(kind, "__match_args__", ())):
        yield from ((f".{f}", getattr(value, f), getattr(expected, f)) for f in fields)
    elif isinstance(value, dict) and isinstance(expected, dict):
        if value.keys() == expected.keys() and all(isinstance(key, str) for key in expected):
            yield from ((f"[{key!r}]", value[key], asked) for key, asked in expected.items())
    elif type(value) is tuple and type(expected) is tuple and len(value) == len(expected):
        pairs = enumerate(zip(value, expected, strict=True))
        yield from ((f"[{place}]", *pair) for place, pair in pairs)


def _related(value: Any, expected: Any) -> bool:
    return isinstance(value, type(expected)) or isinstance(expected, type(value))


TEXT = ("text", "whole number")

MOST_MATCHED = 500
"""Up to this number of elements without an order, each is compared with each."""


def _forms(value: Any, expected: Any) -> list[tuple[str, str]] | None:
    """Return the types (found, asked) in which equal contents differ; None for other contents."""
    if same(value, expected):
        return []
    if type(expected) is int:
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        return [TEXT] if isinstance(text, str) and text.removeprefix("+") == str(expected) else None
    mine, asked = (list(v.items()) if isinstance(v, dict) else v for v in (value, expected))
    if not all(isinstance(v, (list, tuple, set, frozenset)) for v in (mine, asked)):
        return None
    in_order = all(isinstance(v, (list, tuple)) for v in (value, expected))
    if len(mine) != len(asked) or not (in_order or len(mine) <= MOST_MATCHED):
        return None
    found = [] if _related(value, expected) else [(type_name(value), type_name(expected))]
    left = list(mine)
    for number, each in enumerate(asked):
        places = [number] if in_order else range(len(left))
        matches = ((n, forms) for n in places if (forms := _forms(left[n], each)) is not None)
        place, forms = next(matches, (0, None))
        if forms is None:
            return None
        found += forms
        if not in_order:
            del left[place]
    return found


def other_numbers(value: Any, expected: Any) -> str:
    """Return the cause where 10.0 or True is in the place of an equal whole number, or ''."""
    found = type_name(value)
    if isinstance(expected, int) and found.startswith("numpy.") and not isinstance(value, float):
        return f"This is a {found}, which `json.dumps` refuses: put `int(...)` around it."
    if type(expected) is int and (isinstance(value, bool) or not isinstance(value, int)):
        return f"Right values, of type {found} where a whole number (int) is expected."
    if isinstance(expected, HOLDERS) and not isinstance(value, HOLDERS):
        return f"Right contents in a {found}; a {type_name(expected)} is expected."
    causes = (other_numbers(*places) for places in _places(value, expected))
    return next(filter(None, causes), "")


def _places(value: Any, expected: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what two equal containers hold in the same place."""
    if isinstance(expected, (dict, set, frozenset)):
        mine = {each: each for each in value}
        yield from ((mine.get(each, each), each) for each in expected)
    if isinstance(expected, dict):
        yield from ((value.get(each), held) for each, held in expected.items())
    elif not isinstance(expected, (set, frozenset)):
        yield from zip(parts(value), parts(expected), strict=False)
