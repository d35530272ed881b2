"""Counts clicks by second in the order of arrival, as answers by hand do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from workbook.events.clicks import Click, ClickType

Clicks = Sequence[Click]
Pairs = Iterator[tuple[Any, Any]]


def pages(clicks: Clicks) -> list[Click]:
    """Return the page views."""
    return [click for click in clicks if click.click_type == ClickType.PAGE]


def actions(clicks: Clicks) -> list[Click]:
    """Return the actions."""
    return [click for click in clicks if click.click_type == ClickType.ACTION]


def named_as_pages(clicks: Clicks) -> list[Click]:
    """Return the clicks that look like page views by their name."""
    return [click for click in clicks if click.name.startswith("/")]


def second(click: Click) -> int:
    """Return the second of a click."""
    return click.epoch_second


def runs(clicks: Iterable[Click], key: Callable[[Click], Any] = second) -> list[tuple[Any, Any]]:
    """Return each run of clicks with the same key, and how many they are."""
    return [(at, len(list(run))) for at, run in groupby(clicks, key)]


def completed(clicks: Clicks) -> list[tuple[int, int]]:
    """Return the completed seconds with their page views: the right answer."""
    return runs(pages(clicks))[:-1]


def changed_by_any(clicks: Clicks) -> list[tuple[int, int]]:
    """Return the seconds that any click completes, an action too, with their page views."""
    return [(at, len(pages(list(run)))) for at, run in groupby(clicks, second)][:-1]


def emits_the_start(clicks: Clicks, current: int | None) -> Pairs:
    """Begin with a second that never was."""
    count = 0
    for click in pages(clicks):
        if click.epoch_second != current:
            yield current, count
            current, count = click.epoch_second, 0
        count += 1


def change_only_emits(clicks: Clicks) -> Pairs:
    """Count a click only if it does not change the second."""
    current, count = None, 0
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            yield current, count
            count = 0
        else:
            count += 1
        current = click.epoch_second


def never_begins_again(clicks: Clicks) -> Pairs:
    """Let the count grow from second to second."""
    current, count = None, 0
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            yield current, count
        current, count = click.epoch_second, count + 1


def emits_at_every_click(clicks: Clicks) -> Pairs:
    """Emit the count so far with each page view."""
    current, count = None, 0
    for click in pages(clicks):
        count = count + 1 if click.epoch_second == current else 1
        current = click.epoch_second
        yield current, count


def fills_gaps(clicks: Clicks) -> Pairs:
    """Emit the seconds without page views too, with 0."""
    for (second, views), (new, _) in pairwise(runs(pages(clicks))):
        yield second, views
        yield from ((empty, 0) for empty in range(second + 1, new))


def actions_in_the_count(clicks: Clicks) -> Pairs:
    """Count actions too, in whichever second is current."""
    current, count = None, 0
    for click in clicks:
        if click.click_type == ClickType.PAGE:
            if current is not None and click.epoch_second != current:
                yield current, count
                count = 0
            current = click.epoch_second
        count += 1
