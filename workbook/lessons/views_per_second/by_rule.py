"""Chapter 02: Completed seconds."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

from workbook.classroom.arriving import as_they_arrive, with_little_kept
from workbook.classroom.core import Problem
from workbook.classroom.drawn import (
    drawn_click,
    one_after_another,
    smallest_first,
)
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.views_per_second.by_rule_mistakes import MISTAKES, SHORTCUTS

SECOND = 1_700_000_000


Click = dict[str, Any]
"""A click as `json.loads` reads it."""


def _click(at: int, click_type: str, name: str, event_id: int) -> Click:
    return {"event_id": event_id, "click_type": click_type, "name": name, "timestamp": at}


def _action(at: int) -> Click:
    return _click(at, "Action", "buy", at)


def _pages(*times: int) -> list[Click]:
    """Build page views at these times in ms; the id is the time too, which keeps them short."""
    return [_click(at, "Page", "/home", at) for at in times]


def completed(clicks: Iterable[Click]) -> Iterator[tuple[int, int]]:
    counts: dict[int, int] = {}
    for click in clicks:
        if click["click_type"] == "Page":
            second = click["timestamp"] // 1000
            if counts and second not in counts:
                yield counts.popitem()
            counts[second] = counts.get(second, 0) + 1


def _drawn_streams() -> Iterator[Case]:
    """Yield streams of one to twenty clicks, some of them late, over seconds of any size."""
    draw = random.Random(2)
    for size in range(1, 21):
        at, clicks = draw.choice((59_000, 9_999_000, SECOND * 1000)), []
        for _ in range(size):
            at += draw.choice((100, 400, 900, 900, 2_500, 60_000, -1_000))
            drawn = drawn_click(draw, at)
            clicks.append(_click(at, drawn.click_type.value, drawn.name, drawn.event_id))
        yield Case(
            (clicks,),
            list(completed(clicks)),
            "These clicks were drawn by chance. Follow them through your lines: where does the "
            "first pair differ?",
        )


_TEACHING_STREAMS = [
    Case(
        (_pages(10_200, 10_900, 11_100, 12_000),),
        [(10, 2), (11, 1)],
        "The second changes twice, so two seconds are emitted, each with its own views.",
    ),
    Case((_pages(10_200),), [], "One click completes nothing: its second goes on."),
    Case(
        ([*_pages(10_100), _action(10_500), _action(11_200), *_pages(10_900, 12_300)],),
        [(10, 2)],
        "Leave out the two actions, and only seconds 10, 10 and 12 are left.",
    ),
    Case(
        ([_action(9_500), *_pages(10_000, 11_000)],),
        [(10, 1)],
        "An action before the first page view completes nothing.",
    ),
    Case(
        (_pages(10_000, 11_000, 14_000),),
        [(10, 1), (11, 1)],
        "The second jumps from 11 to 14: one change, so one more pair.",
    ),
    Case(
        (_pages(10_100, 10_200, 11_000, 10_800, 11_500, 12_000),),
        [(10, 2), (11, 1), (10, 1), (11, 1)],
        "The fourth click is late. Second 10 was emitted and removed, so it starts again "
        "at 1, and each change emits, also the change back.",
    ),
    Case(
        (_pages(10_100, 20_000, 21_000),),
        [(10, 1), (20, 1)],
        "Nobody looked at a page in the seconds between 10 and 20, so there are no pairs of them.",
    ),
    Case(
        (_pages(10_100, 20_000, 10_500, 21_000),),
        [(10, 1), (20, 1), (10, 1)],
        "The third click is ten seconds late. However late it is, it counts, and the change back "
        "emits. A limit for late clicks comes with Spark.",
    ),
    Case(
        (_pages(10_100, 10_100, 11_000),),
        [(10, 2)],
        "The same click came twice, and both count. To leave out duplicates would take a memory of "
        "its own, and nobody asks for it here.",
    ),
    Case(([],), [], "No clicks give no pairs."),
]

_VERY_LATE = [
    Case(
        (_pages(3_710_000, 3_720_000, 10_500, 3_721_000),),
        [(3_710, 1), (3_720, 1), (10, 1)],
        "The third click is an hour late. However late it is, it counts, and the change back "
        "emits: the rule says nothing of a limit.",
    ),
]

_ONE_BY_ONE = as_they_arrive(_pages(10_200, 10_900, 11_100, 12_000, 12_500, 12_600), [3, 4])
_KEEPS_LITTLE = with_little_kept(_pages(*range(10_000, 110_000, 500)), most=50)

by_rule = Problem(
    name="Completed seconds",
    task="Write the loop with a map from second to count. `clicks` are dictionaries, one by one in "
    'the order in which they arrive: `click["click_type"]` is "Page" or "Action", and '
    '`click["timestamp"]` the time in ms. When the second changes, `yield` the completed one as a '
    "pair `(second, count)` and remove it from the map. Actions neither count nor change the "
    "second; the last second is unfinished, so it isn't emitted. Page views in the seconds 10, 10, "
    "11 and 12 give `(10, 2)` and `(11, 1)`.\n\n"
    "If a late click brings second 10 back, that's a change too: 10 starts again at 1.",
    stub="def completed(clicks):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_STREAMS, MISTAKES, any_iterable=True),
        by_cases(smallest_first(_drawn_streams()), SHORTCUTS, any_iterable=True),
        by_cases(_VERY_LATE, any_iterable=True),
        _ONE_BY_ONE,
        _KEEPS_LITTLE,
    ),
    hints=(
        "Go through the example with a pencil. What is in the map before and after each click? At "
        "which clicks do you emit, and why not at the first?",
        "A click's second is its timestamp, divided by 1000 without the rest (`//`). For a page "
        "view ask first whether there's an older second in the map that is now complete; then "
        "count the click, in any case.",
        "`if counts and second not in counts:` is the change, and false at the first click. "
        "`counts.popitem()` removes the pair and returns it.",
    ),
    reference=completed,
    discussion="The map holds one second at a time, however long the stream is: removing is what "
    "keeps the state small. And an empty map means that nothing came before, so there's no second "
    "0 to emit. (Whoever starts with `current = 0` must remember that 0 means nothing yet.)\n\n"
    "A weakness stays. A late click makes the second change back: second 10 is emitted twice, and "
    "no pair says that it's only a part. The chapter meets another one soon.",
)
