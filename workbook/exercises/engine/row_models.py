"""Counts rows of clicks in plain Python as an answer on Spark would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from workbook.exercises.engine.frames import Row

BOTH_TYPES = ("Page", "Action")


def count_pages(
    rows: list[Row],
    key: Callable[[Row], Any],
    click_types: tuple[str | None, ...] = ("Page",),
    accepted: Callable[[Row], bool] = lambda row: row[6] is None,
    counts: Callable[[Row], int] = lambda row: 1,
) -> list[Row]:
    """Count pairs of key and views; rows have the fields of ``Click`` in order, then reason."""
    views: Counter[Any] = Counter()
    for row in rows:
        if row[1] in click_types and accepted(row):
            views[key(row)] += counts(row)
    return sorted(views.items(), key=repr)


def named_as_page(row: Row) -> bool:
    """Return True if an accepted row looks like a page by its name."""
    return row[6] is None and row[2].startswith("/")


def second_or_null(row: Row) -> int | None:
    """Return the second of a row; None where it was rejected."""
    return None if row[3] is None else row[3] // 1000
