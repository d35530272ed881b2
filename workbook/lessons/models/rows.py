"""Counts of clicks by group, as a query over their rows gives them: what wrong answers may do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

Key = Callable[[Any], Any]

name = attrgetter("name")


def count(clicks: Iterable[Any], *keys: Key) -> list[tuple[Any, ...]]:
    """Return a row for each group: its keys, and how many clicks there are."""
    groups = Counter(tuple(key(click) for key in keys) for click in clicks)
    return [(*group, clicks_there) for group, clicks_there in groups.items()]


def without_duplicates(clicks: Iterable[Any]) -> list[Any]:
    """Return the last row of each event."""
    return list({click.event_id: click for click in clicks}.values())
