"""Keeps the views and the clocks of several partitions, as answers by hand do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from workbook.events.clicks import Click, ClickType

Arrival = tuple[int, Click]
"""A click and the partition that it came from."""

Arrivals = Sequence[Arrival]
Pairs = Iterator[tuple[int, int]]


def is_page(click: Click) -> bool:
    """Return True for a page view."""
    return click.click_type == ClickType.PAGE


def after_each(arrivals: Arrivals) -> Iterator[tuple[Counter[int], dict[int, int]]]:
    """Yield the map of views and the clocks after each click; what is emitted is taken out."""
    views, clocks = Counter[int](), dict[int, int]()
    for partition, click in arrivals:
        clocks[partition] = click.epoch_second
        if is_page(click):
            views[click.epoch_second] += 1
        yield views, clocks


def passed(views: Counter[int], clock: int) -> Pairs:
    """Take the seconds before the clock out of the map, and yield them."""
    for second in sorted(second for second in views if second < clock):
        yield second, views.pop(second)


def completed(arrivals: Arrivals, partitions: int) -> list[tuple[int, int]]:
    """Return the seconds that are complete on all partitions: the right answer."""
    return [
        pair
        for views, clocks in after_each(arrivals)
        if len(clocks) == partitions
        for pair in passed(views, min(clocks.values()))
    ]


def as_pages(arrivals: Arrivals, is_page: Callable[[Click], bool]) -> list[Arrival]:
    """Return the arrivals with other clicks as page views."""
    kinds = {True: ClickType.PAGE, False: ClickType.ACTION}
    return [(p, replace(click, click_type=kinds[is_page(click)])) for p, click in arrivals]


def totals(arrivals: Arrivals) -> list[tuple[int, int]]:
    """Return all seconds with their page views."""
    return sorted(Counter(c.epoch_second for _, c in arrivals if is_page(c)).items())


def clocks_at_the_end(arrivals: Arrivals) -> dict[int, int]:
    """Return the clocks after the last click."""
    return {partition: click.epoch_second for partition, click in arrivals}


def within_a_minute(arrivals: Arrivals) -> list[Arrival]:
    """Count the time of each click anew with every minute."""
    return [(p, replace(click, timestamp=click.timestamp % 60_000)) for p, click in arrivals]
