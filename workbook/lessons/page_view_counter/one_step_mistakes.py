"""Wrong answers to "One step", from a count and a record's value to the next count."""

from __future__ import annotations

import ast
import json

from workbook.classroom.mistakes import Mistake, same_idea


def _kind(value: bytes) -> str:
    return str(json.loads(value)["click_type"])


MISTAKES = [
    Mistake(lambda count, value: count + 1, "It counts every click, actions too."),
    Mistake(
        lambda count, value: count + (_kind(value) == "Action"),
        "It counts the actions and leaves out the pages: the condition is inverted.",
    ),
    Mistake(
        lambda count, value: int(_kind(value) == "Page"),
        "It forgets the count it was given and starts again at each click.",
    ),
    Mistake(
        lambda count, value: count + 1 if _kind(value) == "Page" else 0,
        "An action sets the count back to 0, where it should leave it alone.",
    ),
    Mistake(
        lambda count, value: count,
        "The count never grows: a page view gives back the number that came in. Is the condition "
        "ever true (a type is written `Page`, with a capital letter, and the bytes have to be read "
        "by `json.loads`)? And is what was added given back?",
    ),
    Mistake(
        lambda count, value: count + (1 if _kind(value) == "Page" else -1),
        "An action takes one away: it should neither add nor take.",
    ),
]

AS_PYTHON = (
    "JSON is no Python: it writes `null`, `true` and `false`, which `eval` and `literal_eval` "
    "don't know. (And `eval` runs whatever a stranger has sent.) Read it with `json.loads`."
)

OTHERWISE_WRITTEN = [
    *same_idea(
        lambda count, value: count + (eval(value)["click_type"] == "Page"),
        lambda count, value: count + (ast.literal_eval(value.decode())["click_type"] == "Page"),
        cause=AS_PYTHON,
    ),
    Mistake(
        lambda count, value: count + (_kind(value) in "Page"),
        '`in` asks whether one text is a part of the other, and `"P"` and `""` are parts of '
        '`"Page"`. Compare with `==`.',
    ),
]
"""Mistakes that don't show where a click is written as usual."""
