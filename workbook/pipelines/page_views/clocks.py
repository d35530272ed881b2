"""The clock of each partition of a topic, by the event times of the records that were read.

Spark's watermark is the newest event time of all partitions: in a backlog it runs with the one
that is ahead. Here each partition has a clock of its own, and what waits for all of them waits for
the slowest. No Spark in here: numbers in, numbers out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from workbook.streams.events.clicks import MAX_AHEAD_MS

IDLE_MS = 10_000
"""A partition that has given nothing readable for this time counts as read to its end."""

ASKED_MS = 5_000
"""The time between two micro-batches counts as idle up to this."""

RECENT = 1_000
"""A clock goes by this number of its partition's last records."""

PASSED = 0.9
"""This share of them has passed the time at which the clock stands."""

UNKNOWN = -1
"""The time of a clock that nothing has set yet."""

Unread = Callable[[int, int], int]
"""Partition and next offset to the number of records that wait there."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a partition: an event time (ms) that most of its last records have passed.

    ``recent`` has the seconds (since 1970) of these last records, ``RECENT`` of them at most.
    ``idle`` is for how long (ms) the partition has given nothing readable although it was asked,
    ``delay`` how long (ms) the event at which the clock stands took from happening to arriving.
    """

    time: int = UNKNOWN
    idle: int = 0
    delay: int = 0
    recent: tuple[int, ...] = ()


def advance(
    before: Mapping[int, Clock], seen: pl.DataFrame, now: int, since: int, unread: Unread
) -> dict[int, Clock]:
    """Move the clocks of the partitions that gave something readable; the others have been idle.

    ``seen`` has a row per partition and second of what was read: partition, second (null for what
    could not be read), newest (event time in ms), delay (ms), last (offset), and the offsets of the
    partition's ``recent`` records that lie there. ``now`` is the reader's time (ms): no clock runs
    ahead of it. ``since`` is that of the micro-batch before. An hour between two of them, as
    in an outage, is no hour in which the partitions were asked.

    In a backlog nothing tells a producer whose own clock is ahead from a partition that goes on. So
    a clock stands where nine in ten of the last 1,000 records have passed, and nowhere before there
    are so many: whoever writes fewer moves nothing, however far ahead. At the end of a partition
    the newest time counts at once, if it is the reader's own to five minutes. Where so many records
    still wait, so many others must have passed: of 30 that wait, the 30th newest time counts.
    """
    asked = min(max(now - since, 0), ASKED_MS)
    after = {p: replace(clock, idle=clock.idle + asked) for p, clock in before.items()}
    for (partition,), rows in seen.partition_by("partition", as_dict=True).items():
        assert isinstance(partition, int)
        read = rows.filter(pl.col("second").is_not_null())
        known = after.setdefault(partition, Clock())
        if len(read):
            end = int(rows["last"].max()) + 1  # type: ignore[arg-type]
            after[partition] = _moved(known, read, now, partial(unread, partition, end))
    return after


def slowest(clocks: Mapping[int, Clock], now: int) -> tuple[int, int]:
    """Return the time (ms) that all partitions have reached, and the slowest partition.

    Spark gives each partition that has unread records a part of every micro-batch. So one that has
    given nothing for ``IDLE_MS`` has been read to its end. What comes next will arrive from now on:
    it counts as so far behind the reader's time, and its events' delay more. One that never gave
    anything isn't waited for. Both are ``UNKNOWN`` where none has given anything.
    """
    times = [(_time(clock, now), partition) for partition, clock in clocks.items()]
    return min(times, default=(UNKNOWN, UNKNOWN))


def _time(clock: Clock, now: int) -> int:
    return clock.time if clock.idle < IDLE_MS else max(clock.time, now - IDLE_MS - clock.delay)


def _moved(known: Clock, read: pl.DataFrame, now: int, unread: Callable[[], int]) -> Clock:
    """Advance the clock by what was read."""
    came = read.select("second", "recent").explode("recent").drop_nulls().sort("recent")["second"]
    recent = np.append(np.array(known.recent, np.int64), came.to_numpy())[-RECENT:]
    time, newest = known.time, int(read["newest"].max())  # type: ignore[arg-type]
    ordered = np.sort(recent)
    if len(recent) == RECENT:
        time = max(time, int(ordered[round(RECENT * (1 - PASSED))]) * 1000)
    near = int((recent >= (now - MAX_AHEAD_MS) // 1000).sum())
    if newest > time and near and (waiting := unread()) <= near:
        time = max(time, newest if waiting < 2 else int(ordered[-waiting]) * 1000)
    passed = read.filter(pl.col("newest") <= time)
    at = (passed if len(passed) else read).sort("newest")
    delay = max(int(at["delay"][-1]), 0)
    return Clock(min(time, now), delay=delay, recent=tuple(recent.tolist()))
