"""Chapter 01: One step."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import drawn_click, one_after_another, smallest_first
from workbook.classroom.judging import Case, NotYet, by_cases
from workbook.events.clicks import Click, ClickType
from workbook.lessons.page_view_counter.one_step_mistakes import (
    AS_PYTHON,
    MISTAKES,
    OTHERWISE_WRITTEN,
)

NOON = 1_700_000_000_000


def _value(event_id: int, click_type: ClickType, name: str) -> bytes:
    return Click(event_id, click_type, name, NOON, "Firefox", "tab-1").to_json()


PAGE = _value(1, ClickType.PAGE, "/home")


ACTION = _value(2, ClickType.ACTION, "add-to-basket")


def next_count(count: int, value: bytes) -> int:
    click = json.loads(value)
    if click["click_type"] == "Page":
        return count + 1
    return count


def _drawn_steps() -> Iterator[Case]:
    draw = random.Random(1)
    for _ in range(20):
        count, value = draw.randrange(10**6), drawn_click(draw, draw.randrange(NOON)).to_json()
        yield Case(
            (count, value),
            next_count(count, value),
            "A click's kind stands in its `click_type` and nowhere else: its name, its id and its "
            "browser don't say it.",
        )


def _other_counts() -> list[Case]:
    """Return the clicks of the teaching cases, after other counts."""
    return [
        Case((count, value), next_count(count, value), "The count so far may be any number.")
        for count in (1, 8, 9, 100, 999_999)
        for value in (PAGE, ACTION)
    ]


_TEACHING_STEPS = [
    Case((7, PAGE), 8, "A page view makes the count one larger."),
    Case((0, PAGE), 1, "The first page view makes the count 1."),
    Case((7, ACTION), 7, "An action leaves the count as it is."),
    Case((0, ACTION), 0, "An action before any page view leaves the count at 0."),
]

_AS_TEXT = (
    "The value is JSON, and JSON has many ways to write one click: with blanks, and its fields in "
    "any order. Read it with `json.loads`, and ask for `click_type`."
)
_WITH_NULL = b'{"event_id":9,"click_type":"Page","tab_id":null,"mobile":true}'
_OTHER_TYPE = "Only the type `Page` itself is a page view, and here it's another one."
_OTHERWISE_WRITTEN = [
    Case((7, b'{ "name": "/home", "click_type" : "Page", "event_id": 3 }'), 8, _AS_TEXT),
    Case((7, b'{"click_type":\t"Page",\n"name":"Action"}'), 8, _AS_TEXT),
    Case((7, b'{"name":"Page","click_type":"Action","event_id":4}'), 7, _AS_TEXT),
    Case((7, b'{"event_id":5,"click_type":"PageLeave","name":"/home"}'), 7, _OTHER_TYPE),
    Case((7, b'{"event_id":6,"click_type":"page","name":"/home"}'), 7, _OTHER_TYPE),
    Case((7, b'{"event_id":7,"click_type":"P","name":"/home"}'), 7, _OTHER_TYPE),
    Case((7, b'{"event_id":8,"click_type":"","name":"/home"}'), 7, _OTHER_TYPE),
    Case((7, '{"click_type":"Page","name":"/stra\\u00dfe/ü"}'.encode()), 8, _AS_TEXT),
    Case((7, _WITH_NULL), 8, AS_PYTHON),
]

_NO_CLICKS: tuple[bytes | None, ...] = (
    b'{"event_id": 77, "click_type": "Page", "na',
    b'{"event_id": 77, "click_ty',
    b"",
    None,
    b"42",
    b'["click_type", "Page"]',
    b'{"event_id": 77}',
    b"\xff\xfe",
)
_NO_CLICK = (
    "This record is no click. For such a one the step may raise an error, which the loop catches, "
    "or return the count as it is; any other value would spoil the count for ever."
)


def _or_raises(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Take an error as a loop takes it that skips the record."""

    @functools.wraps(answer)
    def step(count: int, value: bytes) -> Any:
        try:
            return answer(count, value)
        except Exception:
            return count

    return step


def _leaves_alone(answer: Any) -> NotYet | None:
    cases = [Case((count, value), count, _NO_CLICK) for value in _NO_CLICKS for count in (7, 0)]
    return by_cases(cases)(_or_raises(answer))


one_step = Problem(
    name="One step",
    task="Write the step that takes the count so far and the value of one record, and returns the "
    "next count. The value is JSON in bytes, which `json.loads` reads. Only clicks of the "
    '`click_type` "Page" count: one of them after 7 gives 8, and any other click after 7 leaves '
    "7. Where the value is no click, the step may raise an error: the loop will catch it.",
    stub="def next_count(count, value):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_STEPS, MISTAKES),
        by_cases(_other_counts()),
        by_cases(smallest_first(_drawn_steps())),
        by_cases(_OTHERWISE_WRITTEN, OTHERWISE_WRITTEN),
        _leaves_alone,
    ),
    hints=(
        "The value is text in JSON. What do you have once it's read, and where does it say which "
        "kind of click it was?",
        "`json.loads` makes a dictionary of it, and its kind is under `click_type`. Whatever the "
        "kind, a number has to come back.",
        'For a page, `json.loads(value)["click_type"]` is `"Page"`, and `count + 1` comes back. '
        "And otherwise?",
    ),
    reference=next_count,
    discussion="The step keeps nothing by itself: all that is known stands in `count`, which the "
    "caller holds. So it is easy to test, and whoever loses the number loses everything.\n\n"
    "It believes each click: one that is delivered twice is counted twice (chapter 04).",
)
