"""Queries over the rows of commits, of which the wrong answers are made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from workbook.classroom.frames import Row

Commits = Iterable[Any]
By = Callable[[Any], Any]

_offset = attrgetter("offset")


def window(ms: int) -> By:
    """Return where a commit's window of so many ms begins."""
    return lambda row: row.committed_at // ms * ms


minute = window(60_000)


def there(commits: Commits) -> list[Any]:
    """Return the commits without tombstones."""
    return [row for row in commits if not row.deleted]


def row_of(start: Any, row: Any) -> Row:
    """Return a commit as a row of the result."""
    return (start, row.group, row.topic, row.partition, row.committed)


def newest(
    *keys: By, by: By = _offset, start: By = minute, shown: Callable[[int], Any] = lambda ms: ms
) -> Callable[[Commits], list[Row]]:
    """Return a query for the last commit by some order, per window and ``keys``."""

    def query(commits: Commits) -> list[Row]:
        ordered = sorted(there(commits), key=by)
        last = {(start(row), *(key(row) for key in keys)): row for row in ordered}
        return [row_of(shown(key[0]), row) for key, row in last.items()]

    return query


def group(row: Any) -> Any:
    """Return a commit's group, as a key."""
    return row.group


_FIELDS = ("topic", "partition", "committed")


def fields(row: Any) -> Row:
    """Return what is kept of a commit."""
    return (row.topic, row.partition, row.committed)


def by_column(*orders: str) -> Callable[[Commits], list[Row]]:
    """Return a query in which each column has its largest value by an order of its own."""

    def query(commits: Commits) -> list[Row]:
        found: dict[Row, list[Any]] = {}
        for row in there(commits):
            found.setdefault((minute(row), row.group), []).append(row)
        return [(*key, *map(largest, _FIELDS, orders, [rows] * 3)) for key, rows in found.items()]

    def largest(field: str, order: str, rows: list[Any]) -> Any:
        return getattr(max(rows, key=attrgetter(order)), field)

    return query


ORDERS = (
    "topic partition committed",
    "topic partition offset",
    "topic offset offset",
    "offset partition offset",
    "offset offset committed",
    "offset partition committed",
    "committed_at offset offset",
    "offset committed_at offset",
    "offset offset committed_at",
    "committed_at committed_at offset",
    "committed_at committed_at committed",
)
"""By what topic, partition and committed may each be chosen, so that they don't belong together."""


def of_each_group(commits: Commits) -> list[Row]:
    """Return the last commit of each group, whatever the minute."""
    last = {row.group: row for row in sorted(there(commits), key=_offset)}
    return [row_of(minute(row), row) for row in last.values()]


def with_tombstones(start: int | None) -> Callable[[Commits], list[Row]]:
    """Return a query that has the tombstones too, in a minute with this start."""

    def query(commits: Commits) -> list[Row]:
        gone = {row.group: row for row in sorted(commits, key=_offset) if row.deleted}
        return [*newest(group)(commits), *(row_of(start, row) for row in gone.values())]

    return query


def sessions(commits: Commits) -> list[Row]:
    """Return the last commit of each session, which a minute without any ends."""
    found: dict[str, list[list[Any]]] = {}
    for row in sorted(there(commits), key=attrgetter("committed_at")):
        its = found.setdefault(row.group, [])
        if not its or row.committed_at >= its[-1][-1].committed_at + 60_000:
            its.append([])
        its[-1].append(row)
    each = [session for its in found.values() for session in its]
    return [row_of(session[0].committed_at, max(session, key=_offset)) for session in each]


def shifted(ms: int) -> By:
    """Return where a minute begins that begins so many ms within one."""
    return lambda row: (row.committed_at - ms) // 60_000 * 60_000 + ms


def sliding(step: int) -> Callable[[Commits], list[Row]]:
    """Return a query with windows of a minute, one for each step (ms)."""

    def query(commits: Commits) -> list[Row]:
        found = {}
        for row in sorted(there(commits), key=_offset):
            last = row.committed_at // step * step
            for start in range(last, row.committed_at - 60_000, -step):
                found[start, row.group] = row_of(start, row)
        return list(found.values())

    return query


def unordered(*, last: bool) -> Callable[[Commits], list[Row]]:
    """Return a query for the commit that stands first or last, whatever its offset."""

    def query(commits: Commits) -> list[Row]:
        found: dict[Row, Row] = {}
        for row in there(commits):
            key = (minute(row), row.group)
            if last or key not in found:
                found[key] = row_of(key[0], row)
        return list(found.values())

    return query


class _Now:
    """Equal to each moment (ms) within the last day, for answers that look at the clock."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Now):
            return True
        return isinstance(other, int) and abs(time.time() * 1000 - other) < 86_400_000


def by_the_clock(commits: Commits) -> list[Row]:
    """Return the last commit of each group in the minute of the clock on the wall."""
    now, last = _Now(), {row.group: row for row in sorted(there(commits), key=_offset)}
    return [row_of(now, row) for row in last.values()]


def by_the_clock_all(commits: Commits) -> list[Row]:
    """Return the same with the tombstones."""
    now, last = _Now(), {row.group: row for row in sorted(commits, key=_offset)}
    return [row_of(now, row) for row in last.values()]
