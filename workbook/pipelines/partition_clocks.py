"""What time is it on each partition of a topic, going by the events that were read from it?

Spark's watermark is the newest event time of all partitions: in a backlog it runs with the one
that is ahead. Here each partition has a clock of its own, and what waits for all of them waits for
the slowest. No Spark in here: numbers in, numbers out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from workbook.events import MAX_AHEAD_MS

IDLE_MS = 10_000
"""So long a partition gives nothing before it counts as read to its end."""

ASKED_MS = 5_000
"""The time between two micro-batches counts as idle up to this."""

IN_A_ROW = 1_000
"""So many records of a partition in a row confirm a leap of its clock."""

Unread = Callable[[int, int], int]
"""Partition and next offset to the number of records that wait there."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How far a partition has come: its newest event time that is believed (ms).

    ``ahead`` counts its last records that lie in a row behind a leap that isn't believed yet;
    ``idle`` is for how long (ms) it has given nothing although it was asked.
    """

    time: int
    ahead: int = 0
    idle: int = 0


def advance(
    before: Mapping[int, Clock], seen: pl.DataFrame, now: int, since: int, unread: Unread
) -> dict[int, Clock]:
    """Move the clocks of the partitions that gave something; the others have been idle.

    ``seen`` has a row per partition and second of what was read: partition, newest (event time in
    ms, null where nothing could be read), clicks, first, last (offsets). ``now`` is the reader's
    time (ms): no clock runs ahead of it. ``since`` is that of the micro-batch before. An hour
    between two of them, as in an outage, is no hour in which the partitions were asked.

    A clock goes with the newest event time as long as no step is longer than five minutes. A
    longer one, a leap, may be a single producer whose own clock is wrong. It is believed once
    ``IN_A_ROW`` records in a row lie behind it, or where it leads to the reader's own time and no
    more is unread than lies behind it. Until then it moves nothing.
    """
    asked = min(max(now - since, 0), ASKED_MS)
    after = {p: replace(clock, idle=clock.idle + asked) for p, clock in before.items()}
    for (partition,), rows in seen.partition_by("partition", as_dict=True).items():
        assert isinstance(partition, int)
        read = rows.filter(pl.col("newest").is_not_null()).sort("newest")
        known = before.get(partition)
        if len(read):
            after[partition] = _moved(partition, known, read, now, unread)
        elif known:
            after[partition] = replace(known, idle=0)
    return after


def slowest(clocks: Mapping[int, Clock], now: int) -> int:
    """The time up to which all partitions have come (ms); 0 where none has given anything.

    Spark gives each partition that has unread records a part of every micro-batch. So one that
    has given nothing for ``IDLE_MS`` has been read to its end: it counts as so far behind the
    reader's time, and holds nobody back in a replay. One that never gave anything isn't waited for.
    """
    times = [
        clock.time if clock.idle < IDLE_MS else max(clock.time, now - IDLE_MS)
        for clock in clocks.values()
    ]
    return min(times, default=0)


def _moved(
    partition: int, known: Clock | None, read: pl.DataFrame, now: int, unread: Unread
) -> Clock:
    times, clicks, first, last = (
        read[name].to_numpy() for name in ("newest", "clicks", "first", "last")
    )
    # Of its very first records the median: one that is far off sets no clock.
    time = known.time if known else _median(times, clicks)
    carried = known.ahead if known else 0
    while True:
        later = np.append(time, times[times > time])
        leaps = np.flatnonzero(np.diff(later) > MAX_AHEAD_MS)
        if not len(leaps):
            return Clock(min(int(later[-1]), now))
        time, landing = int(later[leaps[0]]), int(later[leaps[0] + 1])
        behind = times >= landing
        if not behind.all():
            carried = 0  # a record from before the leap contradicts it
        newest_before = last[~behind].max(initial=-1)
        ahead = carried + int(clicks[behind & (first > newest_before)].sum())
        if ahead < IN_A_ROW:
            near = now - landing <= MAX_AHEAD_MS
            if not (near and unread(partition, int(last.max()) + 1) <= ahead):
                return Clock(min(time, now), ahead)
        time = landing


def _median(times: np.ndarray, counts: np.ndarray) -> int:
    return int(times[np.searchsorted(counts.cumsum(), counts.sum() // 2, side="right")])
