"""Chapter 01: One step."""

from __future__ import annotations

import random
from collections.abc import Iterator

from workbook.events.clicks import Click, ClickType
from workbook.exercises.chapters.page_view_counter.one_step_mistakes import MISTAKES
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import (
    drawn_click,
    one_after_another,
    smallest_first,
)
from workbook.exercises.engine.judging import Case, by_cases

NOON = 1_700_000_000_000


def _click(event_id: int, click_type: ClickType, name: str, timestamp: int = NOON) -> Click:
    return Click(event_id, click_type, name, timestamp, "Firefox")


PAGE = _click(1, ClickType.PAGE, "/home")


ACTION = _click(2, ClickType.ACTION, "add-to-basket")


def next_count(count: int, click: Click) -> int:
    if click.click_type == ClickType.PAGE:
        return count + 1
    return count


def _drawn_steps() -> Iterator[Case]:
    draw = random.Random(1)
    for _ in range(20):
        count, click = draw.randrange(10**6), drawn_click(draw, draw.randrange(NOON))
        yield Case(
            (count, click),
            next_count(count, click),
            "A click's kind stands in its `click_type` and nowhere else: its name, its id and its "
            "browser don't say it.",
        )


def _other_counts() -> list[Case]:
    """Return the clicks of the teaching cases, after other counts."""
    return [
        Case((count, click), next_count(count, click), "The count so far may be any number.")
        for count in (1, 8, 9, 100, 999_999)
        for click in (PAGE, ACTION)
    ]


_TEACHING_STEPS = [
    Case((7, PAGE), 8, "A page view makes the count one larger."),
    Case((0, PAGE), 1, "The first page view makes the count 1."),
    Case((7, ACTION), 7, "An action leaves the count as it is."),
    Case((0, ACTION), 0, "An action before any page view leaves the count at 0."),
]

one_step = Problem(
    name="One step",
    task="Write the step that takes the count so far and one `Click`, and returns the next count. "
    "Only page views count, actions do not: a page after 7 gives 8, an action after 7 leaves 7.",
    stub="def next_count(count, click):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_STEPS, MISTAKES),
        by_cases(_other_counts()),
        by_cases(smallest_first(_drawn_steps())),
    ),
    hints=(
        "There are two kinds of click. What should happen to the count for each of them?",
        "A click knows its kind in `click_type`; the kinds stand in `ClickType`. Whatever the "
        "kind, a number has to come back.",
        "For a page, `return count + 1`. And otherwise?",
    ),
    reference=next_count,
    discussion="The step keeps nothing by itself: all that is known stands in `count`, which the "
    "caller holds. So it is easy to test, and whoever loses the number loses everything.\n\n"
    "It believes each click: one that is delivered twice is counted twice (chapters 04 and 14).",
)
