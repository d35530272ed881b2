"""The mob's fifth step: commit on delivery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.step import Step
from workbook.lessons.mob_ninety_minutes.bookmarks import bookmarks_of
from workbook.lessons.mob_ninety_minutes.commit_on_delivery_mistakes import MISTAKES
from workbook.lessons.mob_ninety_minutes.helpers import commit_behind, page_second
from workbook.lessons.mob_ninety_minutes.on_paper import Entry
from workbook.lessons.mob_ninety_minutes.publish_seconds import (
    PUBLISHES,
    drawn_records,
)
from workbook.lessons.mob_ninety_minutes.rehearsal import published_by, rehearsed


def mob(reader: Any, producer: Any, metrics: str, until: Callable[[], bool]) -> None:
    views, n0 = dict[int, int](), None
    while not until():
        producer.poll(0)
        n1 = reader.poll(0.1)
        second = page_second(n1)
        if second is None:
            continue
        if views and second not in views:
            done, count = views.popitem()
            then = partial(commit_behind, reader, n0)
            producer.produce(metrics, key=str(done), value=str(count), on_delivery=then)
        views[second], n0 = views.get(second, 0) + 1, n1
    producer.flush()


def _case(records: Sequence[Entry], cause: str, late: int = 1, refused: int | None = None) -> Case:
    args = [*records, *[None] * 6], late, refused
    return Case(args, bookmarks_of(mob)(*args), cause)


def _pages(*times: int) -> list[Entry]:
    return [("Page", at) for at in times]


def _seconds_in(records: Sequence[Entry]) -> set[int]:
    """Return the seconds that have a page view."""
    clicks = [entry for entry in records if isinstance(entry, tuple)]
    return {at // 1000 for kind, at, *_ in clicks if kind == "Page"}


SIX = _pages(10_100, 10_600, 11_200, 11_500, 11_900, 12_300)
"""The six records that stand on paper in the notebook."""

_CASES = [
    _case(
        SIX,
        "The six records on paper: with second 10 delivered, a restart goes on at offset 2; with "
        "second 11, at offset 5.",
    ),
    _case(
        [
            *_pages(10_100),
            ("Action", 10_200),
            *_pages(11_300),
            ("Action", 11_400),
            *_pages(11_500),
            None,
            *_pages(12_400, 12_500, 13_000),
        ],
        "Silence and actions lie between the page views: n0 is the page view before, whatever "
        "came behind it. A restart has to count each open second from its first page view on.",
    ),
    _case(
        _pages(10_100, 11_200, 12_300, 13_400, 14_500),
        "The broker answers late here, when the loop has read on. A report is about the second "
        "that it was given to, not about the newest.",
        late=3,
    ),
    _case(
        _pages(10_100, 10_600, 11_200, 12_300, 13_400, 14_500),
        "The broker refuses second 11: nothing behind it may be committed.",
        refused=11,
    ),
    _case(
        _pages(10_100, 10_600, 11_200, 12_300),
        "The broker refuses the very first metric: nothing may be committed.",
        refused=10,
    ),
    _case(_pages(10_100, 10_200), "No second is complete, so there's nothing to commit."),
]
_DRAWN = smallest_first(
    _case(
        records,
        "These clicks were drawn by chance. Where may a restart begin, once these metrics are "
        "delivered?",
        late=late,
    )
    for late in (1, 4)
    for records in drawn_records(5 + late)
    if len(_seconds_in(records)) > 2
)

_MODELS = [replace(m, model=bookmarks_of(m.model)) for m in MISTAKES]
_COMMITS = one_after_another(by_cases(_CASES, _MODELS), by_cases(_DRAWN))


def _publishes_and_commits(program: Callable[..., Any]) -> Any:
    return _COMMITS(bookmarks_of(program)) or PUBLISHES(published_by(program))


commit_on_delivery = Step(
    name="5. Commit on delivery",
    task="Edit the program: once the broker has taken a second's metric, and not before, the "
    "group's bookmark moves to where the next second begins. Three edits: give the new record a "
    "name, `n1`, and keep that of the page view before, `n0`. Hand `produce` an "
    "`on_delivery=partial(commit_behind, reader, ...)`, which is called with an error or None once "
    "the broker has answered. And call `producer.poll(0)` in each turn of the loop, since reports "
    "run nowhere else.\n\n"
    "On paper, once seconds 10 and 11 are delivered, a restart begins with the page view at "
    "offset 5. And it is never where page views of an undelivered second would be missed.",
    stub="def mob(reader, producer, metrics, until):\n"
    "    views = {}\n"
    "    while not until():\n"
    "        second = page_second(reader.poll(0.1))\n"
    "        if second is None:\n"
    "            continue\n"
    "        if views and second not in views:\n"
    "            done, count = views.popitem()\n"
    "            producer.produce(metrics, key=str(done), value=str(count))\n"
    "        views[second] = views.get(second, 0) + 1\n"
    "    producer.flush()\n"
    "    ...  # your code\n",
    diagnose=rehearsed(_publishes_and_commits, lambda program: program, 4),
    hints=(
        "Put your finger on offset 2 of the six records. Which record completes second 10, and "
        "which one is the last that may be forgotten?",
        "`commit_behind` commits the offset behind the message that it gets: a restart reads on "
        "there. `partial` keeps what `n0` is now; a `lambda` would look at it when it's called.",
        "Above the loop `n0 = None`, at its head `producer.poll(0)` and `n1 = reader.poll(0.1)`. "
        "Where it publishes, `partial(commit_behind, reader, n0)`; then `n0 = n1`.",
    ),
    reference=mob,
    discussion="This is at least once: a second is published before the bookmark passes it, so "
    "nothing is lost, and what was published and not committed comes again. The program ends at "
    "the first metric that fails, and its restart sends that second again.\n\n"
    "Its weakness is the one partition: `n0` is the record before, whichever partition it's of.",
    called="commit_on_delivery",
)
