"""Wrong answers to "The latest of each minute", as queries over the rows of commits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from workbook.exercises.engine.frames import Row
from workbook.exercises.engine.mistakes import Mistake, Mistakes, same_idea

Commits = Iterable[Any]
By = Callable[[Any], Any]

_offset = attrgetter("offset")


def _window(ms: int) -> By:
    return lambda row: row.committed_at // ms * ms


_minute = _window(60_000)


def _there(commits: Commits) -> list[Any]:
    return [row for row in commits if not row.deleted]


def _row(start: Any, row: Any) -> Row:
    return (start, row.group, row.topic, row.partition, row.committed)


def _newest(
    *keys: By, by: By = _offset, start: By = _minute, shown: Callable[[int], Any] = lambda ms: ms
) -> Callable[[Commits], list[Row]]:
    """Return a query for the last commit by some order, per window and ``keys``."""

    def query(commits: Commits) -> list[Row]:
        ordered = sorted(_there(commits), key=by)
        last = {(start(row), *(key(row) for key in keys)): row for row in ordered}
        return [_row(shown(key[0]), row) for key, row in last.items()]

    return query


def _group(row: Any) -> Any:
    return row.group


def _fields(row: Any) -> Row:
    return (row.topic, row.partition, row.committed)


def _largest_columns(commits: Commits) -> list[Row]:
    found: dict[Row, list[Row]] = {}
    for row in _there(commits):
        found.setdefault((_minute(row), row.group), []).append(_fields(row))
    return [(*key, *map(max, zip(*rows, strict=True))) for key, rows in found.items()]


def _of_each_group(commits: Commits) -> list[Row]:
    last = {row.group: row for row in sorted(_there(commits), key=_offset)}
    return [_row(_minute(row), row) for row in last.values()]


def _with_tombstones(commits: Commits) -> list[Row]:
    gone = {row.group: row for row in sorted(commits, key=_offset) if row.deleted}
    return [*_newest(_group)(commits), *(_row(None, row) for row in gone.values())]


def _sliding(step: int) -> Callable[[Commits], list[Row]]:
    def query(commits: Commits) -> list[Row]:
        found = {}
        for row in sorted(_there(commits), key=_offset):
            last = row.committed_at // step * step
            for start in range(last, row.committed_at - 60_000, -step):
                found[start, row.group] = _row(start, row)
        return list(found.values())

    return query


def _unordered(*, last: bool) -> Callable[[Commits], list[Row]]:
    def query(commits: Commits) -> list[Row]:
        found: dict[Row, Row] = {}
        for row in _there(commits):
            key = (_minute(row), row.group)
            if last or key not in found:
                found[key] = _row(key[0], row)
        return list(found.values())

    return query


class _Now:
    """Equal to each moment (ms) within the last day, for answers that look at the clock."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Now):
            return True
        return isinstance(other, int) and abs(time.time() * 1000 - other) < 86_400_000


def _by_the_clock(commits: Commits) -> list[Row]:
    now, last = _Now(), {row.group: row for row in sorted(_there(commits), key=_offset)}
    return [_row(now, row) for row in last.values()]


def _by_the_clock_all(commits: Commits) -> list[Row]:
    now, last = _Now(), {row.group: row for row in sorted(commits, key=_offset)}
    return [_row(now, row) for row in last.values()]


MISTAKES = Mistakes()

MISTAKES += same_idea(
    _newest(_group, by=lambda row: row.committed),
    cause="The highest `committed` wins. A group may be set back, as `reset` is: the highest "
    "`offset` is the newest.",
)
MISTAKES += same_idea(
    _newest(_group, by=lambda row: row.committed_at),
    cause="The latest `committed_at` wins. A broker's clock may be set back: the `offset` of the "
    "record is the order in which they were committed.",
)
MISTAKES += same_idea(
    _newest(_group, by=lambda row: -row.offset),
    cause="It takes the first commit of each minute. The highest offset counts.",
)
MISTAKES += same_idea(
    _largest_columns,
    cause="Each column has a maximum of its own, so a row is put together from several commits. "
    "Take one as a whole: a `struct` is one value.",
)
MISTAKES += same_idea(
    _newest(_group, by=_fields),
    cause="The maximum of a struct looks at its first field first. Put the offset in front, or use "
    "`max_by`.",
)
MISTAKES += same_idea(
    _of_each_group,
    cause="Each group has one row, its newest. What it did in the minutes before is gone: group by "
    "the window too.",
)
MISTAKES += same_idea(
    _newest(),
    cause="Each minute has one row, of whichever group came last. Each group has one of its own.",
)
MISTAKES += same_idea(
    _newest(_group, lambda row: row.topic, lambda row: row.partition),
    _newest(_group, lambda row: row.topic),
    _newest(_group, lambda row: row.partition),
    cause="A group that reads several partitions has several rows in a minute. Its newest commit "
    "alone counts: group by the window and by `group`.",
)
for _ms, _told in (
    (1_000, "a second"), (10_000, "ten seconds"), (30_000, "half a minute"),
    (600_000, "ten minutes"), (3_600_000, "an hour"),
):  # fmt: skip
    MISTAKES += same_idea(
        _newest(_group, start=_window(_ms)),
        cause=f"Its windows are {_told} long. One minute is asked for.",
    )
MISTAKES += same_idea(
    _sliding(30_000),
    _sliding(10_000),
    _sliding(1_000),
    cause="Its windows overlap, so a commit is in several. Without a third argument `F.window` has "
    "windows side by side.",
)
MISTAKES += same_idea(
    _newest(_group, start=lambda row: row.committed_at * 1000 // 60_000 * 60_000),
    cause="Milliseconds are taken for seconds, so each commit is far in the future, in a minute of "
    "its own. `F.timestamp_millis` makes a timestamp of them; a cast, or `timestamp_seconds`, "
    "doesn't.",
)
MISTAKES += same_idea(
    _newest(_group, shown=lambda ms: ms // 1000),
    cause="`start` is in seconds. Milliseconds are asked for, as in `committed_at`: "
    "`F.unix_millis`.",
)
MISTAKES += same_idea(
    _newest(_group, shown=lambda ms: ms + 60_000),
    cause="It's the end of the window. A minute is named by its start.",
)
MISTAKES += same_idea(
    _newest(_group, shown=lambda ms: ms // 60_000),
    cause="`start` is a number of minutes. When the minute begins is asked for, in ms.",
)
MISTAKES += same_idea(
    _with_tombstones,
    cause="Tombstones have no time, so they make a minute of their own, without a start. They "
    "count for nothing.",
)
MISTAKES += same_idea(
    lambda commits: [_row(_minute(row), row) for row in _there(commits)],
    lambda commits: list({_row(_minute(row), row) for row in _there(commits)}),
    cause="All commits are there. Of each group and minute the newest counts.",
)
MISTAKES += same_idea(
    _unordered(last=False),
    _unordered(last=True),
    cause="It takes the commit that happens to stand first or last. `first`, `last` and "
    "`dropDuplicates` know no newest: the offset has to decide.",
)
MISTAKES += same_idea(
    _by_the_clock,
    _by_the_clock_all,
    cause="It asks the clock on the wall when the query runs. A commit belongs to the minute in "
    "which it was made: that is its `committed_at`.",
)
MISTAKES += [Mistake(lambda commits: [], "Nothing is left. Is a filter never true?")]
