"""The mob's third step: count per second."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.step import Step
from workbook.exercises.chapters.mob_ninety_minutes.count_views import count_views
from workbook.exercises.chapters.mob_ninety_minutes.helpers import page_second
from workbook.exercises.chapters.mob_ninety_minutes.on_paper import ERROR, Entry
from workbook.exercises.chapters.mob_ninety_minutes.per_second_mistakes import MISTAKES
from workbook.exercises.chapters.mob_ninety_minutes.rehearsal import numbers, rehearsed, shown_by


def mob(reader: Any, show: Callable[..., None], until: Callable[[], bool]) -> None:
    views: dict[int, int] = {}
    while not until():
        second = page_second(reader.poll(0.1))
        if second is None:
            continue
        if views and second not in views:
            show(*views.popitem())
        views[second] = views.get(second, 0) + 1


_rehearse = shown_by(numbers(2))


def _case(records: Sequence[Entry], cause: str) -> Case:
    return Case((list(records),), _rehearse(mob)(records), cause)


def _pages(*times: int) -> list[Entry]:
    return [("Page", at) for at in times]


def seconds_in(records: Sequence[Entry]) -> set[int]:
    """Return the seconds that have a page view."""
    clicks = [entry for entry in records if isinstance(entry, tuple)]
    return {at // 1000 for kind, at, *_ in clicks if kind == "Page"}


def drawn_records(seed: int) -> Iterator[list[Entry]]:
    """Draw clicks in the order of their time, over seconds of any size, with silence between."""
    draw = random.Random(seed)
    for size in range(1, 16):
        at, records = draw.choice((7_000, 59_000, 9_999_000, 1_700_000_000_000)), list[Entry]()
        for _ in range(size):
            at += draw.choice((0, 100, 400, 900, 900, 2_500, 60_000))
            records.append((draw.choice(("Page", "Page", "Page", "Action")), at))
            records += [None] * draw.choice((0, 0, 0, 1))
        yield records


_CASES = [
    _case(
        _pages(10_200, 10_900, 11_100, 12_000),
        "The second changes twice, so two seconds are shown, each with its own page views.",
    ),
    _case(
        _pages(10_000, 10_200, 10_400, 10_600, 10_800, 11_000),
        "Second 10 has five page views, and all of them count.",
    ),
    _case(_pages(10_200), "One page view completes nothing: its second goes on."),
    _case(
        [*_pages(10_100), ("Action", 10_500), ("Action", 11_200), *_pages(11_900, 12_300)],
        "The actions neither count nor change the second: what's left is 10, 11 and 12.",
    ),
    _case(
        [("Action", 9_500), *_pages(10_000, 11_000)],
        "An action before the first page view completes nothing.",
    ),
    _case(
        _pages(10_000, 11_000, 14_000, 15_000),
        "Nobody looked at a page in seconds 12 and 13, so they aren't shown.",
    ),
    _case(
        [*_pages(10_000), None, None, *_pages(10_500), None, *_pages(11_000)],
        "Silence completes nothing: the next page view of another second does.",
    ),
    _case(
        [*_pages(10_000, 11_000), ERROR, *_pages(12_000)],
        "`page_second` raises an error that came in place of a record: let it.",
    ),
]

per_second = Step(
    name="3. Count per second",
    task="Edit the program: it keeps a map from second to page views, and shows a second when it's "
    "complete. `page_second(message)` gives the second of a page view, and None for silence and "
    "for actions. When a page view of another second comes, the one in the map is complete: "
    "`show` it with its count, and remove it.\n\n"
    "Page views in the seconds 10, 10, 11 and 12 show `10 2` and then `11 1`.",
    stub="def mob(reader, show, until):\n"
    "    views = 0\n"
    "    while not until():\n"
    "        second = page_second(reader.poll(0.1))\n"
    "        if second is None:\n"
    "            continue\n"
    "        views += 1\n"
    "        show(views)\n"
    "        ...  # your code\n",
    diagnose=rehearsed(
        one_after_another(
            by_cases(_CASES, [replace(m, model=_rehearse(m.model)) for m in MISTAKES]),
            by_cases(
                smallest_first(
                    _case(
                        records,
                        "These clicks were drawn by chance. Follow them through your lines: where "
                        "does the first line differ?",
                    )
                    for records in drawn_records(3)
                )
            ),
        ),
        _rehearse,
        3,
    ),
    hints=(
        "Go through 10, 10, 11, 12 with a pencil. What is in the map before and after each of "
        "them? Where do you show, and why not at the first?",
        "For each page view two things, in this order: if another second is in the map, show it "
        "and remove it. Then count this page view, in any case.",
        "`if views and second not in views:` is the change. `views.popitem()` removes the pair "
        "and returns it, and `views.get(second, 0) + 1` counts.",
    ),
    reference=mob,
    discussion="The map holds one second at a time, so the state is small, however long it runs. "
    "It rests on clicks that are appended in the order of their time: a late one would end a "
    "second too early (chapter 02).",
    before=count_views,
    called="per_second",
)
