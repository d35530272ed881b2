"""Counts of clicks by group, as a query over their rows gives them: what wrong answers may do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from workbook.exercises.engine.mistakes import Mistake

Key = Callable[[Any], Any]

name = attrgetter("name")
partition = attrgetter("partition")


def second(click: Any) -> int | None:
    """Return the second of a click; None where the record could not be read."""
    return None if click.timestamp is None else click.timestamp // 1000


def accepted(clicks: Iterable[Any]) -> list[Any]:
    """Return the clicks without a reason to reject them."""
    return [click for click in clicks if click.reason is None]


def pages(clicks: Iterable[Any]) -> list[Any]:
    """Return the accepted page views."""
    return [click for click in accepted(clicks) if click.click_type == "Page"]


def count(clicks: Iterable[Any], *keys: Key) -> list[tuple[Any, ...]]:
    """Return a row for each group: its keys, and how many clicks there are."""
    groups = Counter(tuple(key(click) for key in keys) for click in clicks)
    return [(*group, clicks_there) for group, clicks_there in groups.items()]


def without_duplicates(clicks: Iterable[Any]) -> list[Any]:
    """Return the last row of each event."""
    return list({click.event_id: click for click in clicks}.values())


def sum_pages(clicks: Iterable[Any], *keys: Key) -> list[tuple[Any, ...]]:
    """Return a row for each group of accepted clicks, with 0 where none of them is a page view."""
    views: Counter[Any] = Counter()
    for click in accepted(clicks):
        views[tuple(key(click) for key in keys)] += click.click_type == "Page"
    return [(*group, n) for group, n in views.items()]


def miscounts(*keys: Key) -> list[Mistake]:
    """Return the mistakes in which rows to count, whatever they are grouped by."""
    return [
        Mistake(
            lambda clicks: count(accepted(clicks), *keys),
            "It counts actions as well: keep the rows whose `click_type` is `Page`.",
        ),
        Mistake(
            lambda clicks: count([c for c in clicks if c.click_type == "Page"], *keys),
            "It counts rejected records: a click that carries a `reason` was not accepted.",
        ),
        Mistake(
            lambda clicks: count(clicks, *keys),
            "It counts all rows, actions and rejected records alike.",
        ),
        Mistake(
            lambda clicks: count([c for c in accepted(clicks) if c.name.startswith("/")], *keys),
            "It judges by the name: a page need not begin with a slash, and an action may. The "
            "kind stands in `click_type`.",
        ),
        Mistake(
            lambda clicks: count(without_duplicates(pages(clicks)), *keys),
            "It counts distinct values or drops duplicates, so an event that was delivered twice "
            "counts once. That is a good idea with a price; here every row counts.",
        ),
        Mistake(
            lambda clicks: [(*group, 1) for *group, _ in count(pages(clicks), *keys)],
            "Each row has one view: duplicates were dropped before counting, or distinct values "
            "were counted. Here every event counts.",
        ),
        Mistake(
            lambda clicks: [],
            "Nothing is left. Is a filter never true? `= NULL` never is (write `IS NULL`), and a "
            "type is written `Page`.",
        ),
    ]
