"""Wrong answers to "Views per name on Spark", as queries over the rows of clicks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from workbook.classroom.mistakes import Mistake, same_idea
from workbook.lessons.models.rows import count, name, without_duplicates


def _pages(clicks: Iterable[Any]) -> list[Any]:
    return [click for click in clicks if click.click_type == "Page"]


def _read(clicks: Iterable[Any]) -> list[Any]:
    """Return the clicks without the rows of nulls."""
    return [click for click in clicks if click.click_type is not None]


def _day(click: Any) -> int:
    return int(click.timestamp) // 86_400_000


def _sums(clicks: Iterable[Any]) -> list[tuple[Any, int]]:
    """Return each name that there is, with 0 where it has no page view."""
    views: Counter[Any] = Counter()
    for click in clicks:
        views[click.name] += click.click_type == "Page"
    return list(views.items())


_WITH_ZEROS = (
    "Names without a page view appear with 0. Filter before you group: on a stream each name that "
    "is kept costs state."
)

MISTAKES = [
    Mistake(
        lambda clicks: count(_read(clicks), name),
        "It counts actions as well: keep the rows whose `click_type` is `Page`.",
    ),
    Mistake(
        lambda clicks: count(clicks, name),
        "It counts all rows, actions and rows of nulls alike.",
    ),
    Mistake(
        lambda clicks: count([c for c in _read(clicks) if c.click_type != "Action"], name),
        "It leaves out the actions and keeps whatever else there is. Say which type counts: other "
        "types may come.",
    ),
    Mistake(
        lambda clicks: count([c for c in _read(clicks) if c.click_type.startswith("Page")], name),
        "It takes types that only begin with `Page`, such as `PageLeave`. Compare the whole type.",
    ),
    Mistake(
        lambda clicks: count([c for c in _read(clicks) if c.name.startswith("/")], name),
        "It judges by the name: a page need not begin with a slash, and an action may. The "
        "kind stands in `click_type`.",
    ),
    Mistake(
        lambda clicks: count(without_duplicates(_pages(clicks)), name),
        "It counts distinct values or drops duplicates, so an event that was delivered twice "
        "counts once. That is a good idea with a price; here every row counts.",
    ),
    Mistake(
        lambda clicks: [(at, 1) for at, _ in count(_pages(clicks), name)],
        "Each row has one view: duplicates were dropped before counting, or distinct values "
        "were counted. Here every event counts.",
    ),
    Mistake(
        lambda clicks: [],
        "Nothing is left. Is a filter never true? Whatever is compared with null is never true.",
    ),
    *same_idea(
        lambda clicks: count([c for c in clicks if c.click_type == "page"], name),
        lambda clicks: count([c for c in _read(clicks) if c.click_type.lower() == "page"], name),
        cause="A type is written `Page`, with a capital letter; `page` is another one.",
    ),
    Mistake(
        lambda clicks: count([c for c in clicks if c.click_type == "Action"], name),
        "It counts actions instead of pages.",
    ),
    *same_idea(
        lambda clicks: _sums(_read(clicks)),
        lambda clicks: _sums(clicks),
        lambda clicks: [(at, n if at is not None else None) for at, n in _sums(clicks)],
        cause=_WITH_ZEROS,
    ),
    *same_idea(
        lambda clicks: [(at, n) for at, _, n in count(_pages(clicks), name, lambda c: c.event_id)],
        lambda clicks: [(at, n) for at, _, n in count(_pages(clicks), name, lambda c: c.offset)],
        lambda clicks: [(at, n) for at, _, n in count(_pages(clicks), name, _day)],
        cause="A name stands in several rows: it is grouped by more than the name.",
    ),
    Mistake(
        lambda clicks: count(_pages(clicks), lambda click: click.name.lower()),
        "It changes the names to small letters. A name stays as it is.",
    ),
]
