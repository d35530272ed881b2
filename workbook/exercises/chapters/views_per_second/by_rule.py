"""Chapter 02: Completed seconds."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from workbook.events.clicks import Click, ClickType
from workbook.exercises.chapters.views_per_second.by_rule_mistakes import MISTAKES, SHORTCUTS
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import (
    drawn_click,
    one_after_another,
    smallest_first,
)
from workbook.exercises.engine.judging import Case, by_cases

SECOND = 1_700_000_000


def _page(at: int) -> Click:
    """Build a page view at this time in ms; its id is the time too, which keeps the cases short."""
    return Click(at, ClickType.PAGE, "/home", at, "Firefox")


def _action(at: int) -> Click:
    return Click(at, ClickType.ACTION, "buy", at, "Firefox")


def _pages(*times: int) -> list[Click]:
    return [_page(at) for at in times]


def completed(clicks: Iterable[Click]) -> list[tuple[int, int]]:
    counts: dict[int, int] = {}
    emitted = []
    for click in clicks:
        if click.click_type == ClickType.PAGE:
            second = click.epoch_second
            if counts and second not in counts:
                emitted.append(counts.popitem())
            counts[second] = counts.get(second, 0) + 1
    return emitted


def _drawn_streams() -> Iterator[Case]:
    """Yield streams of one to twenty clicks, some of them late, over seconds of any size."""
    draw = random.Random(2)
    for size in range(1, 21):
        at, clicks = draw.choice((59_000, 9_999_000, SECOND * 1000)), []
        for _ in range(size):
            at += draw.choice((100, 400, 900, 900, 2_500, 60_000, -1_000))
            clicks.append(drawn_click(draw, at))
        yield Case(
            (clicks,),
            completed(clicks),
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
        ([_page(10_100), _action(10_500), _action(11_200), *_pages(10_900, 12_300)],),
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
        "emits. A limit for late clicks comes in chapter 05.",
    ),
    Case(
        (_pages(10_100, 10_100, 11_000),),
        [(10, 2)],
        "The same click came twice, and both count. To leave out duplicates would take a memory of "
        "its own, and nobody asks for it here.",
    ),
    Case(([],), [], "No clicks give no pairs."),
]

by_rule = Problem(
    name="Completed seconds",
    task="Write the loop with a map from second to count. It gets `Click`s in the order in which "
    "they arrive, and gives pairs `(second, count)`, in a list or by `yield`: when the second "
    "changes, the completed one is emitted and removed from the map. Actions neither count nor "
    "change the second; the last second is unfinished, so it is not emitted. Page views in the "
    "seconds 10, 10, 11 and 12 give `(10, 2)` and `(11, 1)`.\n\n"
    "If a late click brings second 10 back, that is a change too: 10 starts again at 1.",
    stub="def completed(clicks):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_STREAMS, MISTAKES, any_iterable=True),
        by_cases(smallest_first(_drawn_streams()), SHORTCUTS, any_iterable=True),
    ),
    hints=(
        "Go through the example with a pencil. What is in the map before and after each click? At "
        "which clicks do you emit, and why not at the first?",
        "A click knows its second in `epoch_second`. For a page view ask first whether there is an "
        "older second in the map that is now complete; then count the click, in any case.",
        "`if counts and second not in counts:` is the change, and false at the first click. "
        "`counts.popitem()` removes the pair and returns it.",
    ),
    reference=completed,
    discussion="The map holds one second at a time, however long the stream is: removing is what "
    "keeps the state small. And an empty map says that nothing came before, so there is no second "
    "0 to emit. (Whoever starts with `current = 0` must remember that 0 means nothing yet.)\n\n"
    "Two weaknesses stay. Only a change emits, so the last second waits for the next page view, "
    "be it an hour later. And a late click makes the second change back: second 10 is emitted "
    "twice, and no pair says that it is only a part. With many partitions this is the rule, not "
    "the exception; chapter 05 repairs it.",
)
