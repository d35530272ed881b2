"""Wrong answers to "Count per second", as programs with a reader and a screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes
from workbook.exercises.chapters.mob_ninety_minutes.helpers import page_second
from workbook.exercises.chapters.mob_ninety_minutes.print_records_mistakes import Show, Until, each

Seconds = Iterator[int]
"""The seconds of the page views, as they come."""


def by_seconds(shows: Callable[[Seconds, Show], None], cause: str) -> Mistake:
    """Build a mistake that reads as it should and does something else with the seconds."""

    def model(reader: Any, show: Show, until: Until) -> None:
        seconds = (page_second(message) for message in each(reader, until))
        shows((second for second in seconds if second is not None), show)

    return Mistake(model, cause)


def still_a_count(seconds: Seconds, show: Show) -> None:
    for views, _ in enumerate(seconds, 1):
        show(views)


def shows_each(seconds: Seconds, show: Show) -> None:
    """Show the open second after each page view."""
    views = Counter[int]()
    for second in seconds:
        views[second] += 1
        show(second, views[second])


def never_removes(seconds: Seconds, show: Show) -> None:
    """Let the count go on from second to second."""
    before, views = None, 0
    for second in seconds:
        if before is not None and second != before:
            show(before, views)
        before, views = second, views + 1


def shows_all_again(seconds: Seconds, show: Show) -> None:
    """Show every second that isn't the open one, after each page view."""
    views = Counter[int]()
    for second in seconds:
        views[second] += 1
        for other in views:
            if other != second:
                show(other, views[other])


def loses_the_first(seconds: Seconds, show: Show) -> None:
    """Count a page view only if it doesn't change the second; begin the next one with 0."""
    before, views = None, 0
    for second in seconds:
        if before is not None and second != before:
            show(before, views)
            views = 0
        else:
            views += 1
        before = second


def shows_the_new(seconds: Seconds, show: Show) -> None:
    """Show the second that begins."""
    before, views = None, Counter[int]()
    for second in seconds:
        views[second] += 1
        if before is not None and second != before:
            show(second, views[second])
        before = second


def begins_with_none(seconds: Seconds, show: Show) -> None:
    before, views = None, 0
    for second in seconds:
        if second != before:
            show(before, views)
            views = 0
        before, views = second, views + 1


def begins_with_zero(seconds: Seconds, show: Show) -> None:
    before, views = 0, 0
    for second in seconds:
        if second != before:
            show(before, views)
            views = 0
        before, views = second, views + 1


def shows_the_open_one(seconds: Seconds, show: Show) -> None:
    """Show the second that is still open when the loop ends, too."""
    for second, run in groupby(seconds):
        show(second, len(list(run)))


def fills_gaps(seconds: Seconds, show: Show) -> None:
    before, views = None, 0
    for second in seconds:
        if before is not None and second != before:
            show(before, views)
            for empty in range(before + 1, second):
                show(empty, 0)
            views = 0
        before, views = second, views + 1


def counts_alone(seconds: Seconds, show: Show) -> None:
    views = Counter[int]()
    for second in seconds:
        if views and second not in views:
            show(views.popitem()[1])
        views[second] += 1


def swapped(seconds: Seconds, show: Show) -> None:
    views = Counter[int]()
    for second in seconds:
        if views and second not in views:
            done, count = views.popitem()
            show(count, done)
        views[second] += 1


def includes_the_next(seconds: Seconds, show: Show) -> None:
    """Count the page view that changes the second into the one before."""
    before, views = None, 0
    for second in seconds:
        views += 1
        if before is not None and second != before:
            show(before, views)
            views = 0
        before = second


def nothing(seconds: Seconds, show: Show) -> None:
    for _ in seconds:
        pass


MISTAKES = Mistakes(
    [
        by_seconds(still_a_count, "It's still the program of the step before: one running count."),
        by_seconds(
            shows_each,
            "It shows the second after each page view, while it's still open. Show it once, when "
            "another second begins.",
        ),
        by_seconds(
            never_removes,
            "Its count goes on from second to second. What has been shown has to be removed, so "
            "that the next second begins anew.",
        ),
        by_seconds(
            shows_all_again,
            "It shows each complete second again and again: what has been shown has to be removed "
            "from the map.",
        ),
        by_seconds(
            loses_the_first,
            "The page view that changes the second is never counted. It belongs to the second that "
            "begins: count it after you have shown the one before.",
        ),
        by_seconds(
            includes_the_next,
            "The page view that changes the second is counted to the one before. Show first, and "
            "count after that.",
        ),
        by_seconds(
            shows_the_new, "It shows the second that begins. Complete is the one before it."
        ),
        by_seconds(
            begins_with_none,
            "It shows a second None at the first page view: there was none before it. Is the map "
            "empty?",
        ),
        by_seconds(
            begins_with_zero,
            "It begins with a second 0 that never was. At the first page view nothing is complete.",
        ),
        by_seconds(
            shows_the_open_one,
            "When the loop ends it shows the open second, too. It isn't complete: more of it may "
            "come after a restart.",
        ),
        by_seconds(fills_gaps, "It shows seconds with 0 page views. Nobody asked for them."),
        by_seconds(counts_alone, "The second is missing: `show` it together with its count."),
        by_seconds(swapped, "Second and count are swapped: first the second, then its page views."),
        by_seconds(
            nothing,
            "Nothing is ever shown. Does the map know the second before when a new one comes, and "
            "does a line reach `show`?",
        ),
    ]
)


@MISTAKES.add("It never asks `until()`, so nobody can end it: keep `while not until():`.")
def never_ends(reader: Any, show: Show, until: Until) -> None:
    views = Counter[int]()
    while True:
        second = page_second(reader.poll(0.1))
        if second is None:
            continue
        if views and second not in views:
            show(*views.popitem())
        views[second] += 1
