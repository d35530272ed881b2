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
"""So long a partition gives nothing readable before it counts as read to its end."""

ASKED_MS = 5_000
"""The time between two micro-batches counts as idle up to this."""

IN_A_ROW = 1_000
"""So many records of a partition in a row confirm a leap of its clock."""

UNKNOWN = -1
"""The time of a clock that nothing has set yet."""

Unread = Callable[[int, int], int]
"""Partition and next offset to the number of records that wait there."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How far a partition has come: its newest event time that is believed (ms).

    ``ahead`` counts its last records in a row behind a leap, to ``landing`` (ms), that isn't
    believed yet. ``idle`` is for how long (ms) it has given nothing readable although it was asked,
    ``delay`` how long (ms) its newest event took from happening to arriving.
    """

    time: int = UNKNOWN
    ahead: int = 0
    landing: int = UNKNOWN
    idle: int = 0
    delay: int = 0


def advance(
    before: Mapping[int, Clock], seen: pl.DataFrame, now: int, since: int, unread: Unread
) -> dict[int, Clock]:
    """Move the clocks of the partitions that gave something readable; the others have been idle.

    ``seen`` has a row per partition and second of what was read: partition, second (null for what
    could not be read), newest (event time in ms; null where ``believed`` takes none), delay (ms),
    clicks, first, last (offsets). ``now`` is the reader's time (ms): no clock runs ahead of it.
    ``since`` is that of the micro-batch before. An hour between two of them, as in an outage, is no
    hour in which the partitions were asked.

    A clock goes with the newest event time as long as no step is longer than five minutes. A
    longer one, a leap, may be a producer whose own clock is wrong. It is believed once
    ``IN_A_ROW`` records in a row lie behind it, or where it leads to the reader's own time and no
    more is unread than lies behind it. Until then it moves nothing. The first step is a leap too.
    """
    asked = min(max(now - since, 0), ASKED_MS)
    after = {p: replace(clock, idle=clock.idle + asked) for p, clock in before.items()}
    for (partition,), rows in seen.partition_by("partition", as_dict=True).items():
        assert isinstance(partition, int)
        read = rows.filter(pl.col("second").is_not_null()).sort("newest", nulls_last=True)
        known = after.setdefault(partition, Clock())
        if len(read):
            moved = _moved(partition, known, read, now, unread)
            after[partition] = replace(moved, idle=0)
    return after


def believed(timestamp: pl.Expr) -> pl.Expr:
    """Whether a clock may go by an event, for events in the order of their offsets.

    Not where a later record of its partition is more than five minutes older.
    """
    oldest_later = timestamp.reverse().cum_min().reverse().shift(-1)
    return (timestamp <= oldest_later + MAX_AHEAD_MS).fill_null(True)


def slowest(clocks: Mapping[int, Clock], now: int) -> tuple[int, int]:
    """The time up to which all partitions have come (ms), and the one that has come least far.

    Spark gives each partition that has unread records a part of every micro-batch. So one that has
    given nothing for ``IDLE_MS`` has been read to its end. What comes next will arrive from now on:
    it counts as so far behind the reader's time, and its events' delay more. One that never gave
    anything isn't waited for. Both are ``UNKNOWN`` where none has given anything.
    """
    times = [(_time(clock, now), partition) for partition, clock in clocks.items()]
    return min(times, default=(UNKNOWN, UNKNOWN))


def _time(clock: Clock, now: int) -> int:
    return clock.time if clock.idle < IDLE_MS else max(clock.time, now - IDLE_MS - clock.delay)


def _moved(partition: int, known: Clock, read: pl.DataFrame, now: int, unread: Unread) -> Clock:
    """The clock after what was read; rows without a newest time can only contradict a leap."""
    trusted = read.drop_nulls("newest")
    times, clicks, first = (trusted[name].to_numpy() for name in ("newest", "clicks", "first"))
    seconds, last = read["second"].to_numpy(), read["last"].to_numpy()
    time, carried, delay = known.time, known.ahead, max(int(trusted["delay"][-1]), 0)
    while True:
        if time == UNKNOWN:
            # Of its very first records the median: one that is far off sets no clock.
            landing, behind = _median(times, clicks), times > UNKNOWN
        else:
            later = np.append(time, times[times > time])
            leaps = np.flatnonzero(np.diff(later) > MAX_AHEAD_MS)
            if not len(leaps):
                return Clock(min(int(later[-1]), now), delay=delay)
            time, landing = int(later[leaps[0]]), int(later[leaps[0] + 1])
            behind = times >= landing
        # A record from before the leap contradicts it, but not one that is late for the clock too.
        before = (seconds < landing // 1000) & (seconds >= (time - MAX_AHEAD_MS) // 1000)
        before &= time != UNKNOWN
        carried = 0 if before.any() else carried
        landing = min(landing, known.landing) if carried else landing
        in_a_row = first > last[before].max(initial=-1)
        ahead = carried + int(clicks[behind & in_a_row].sum())
        if ahead < IN_A_ROW:
            near = now - landing <= MAX_AHEAD_MS
            if not (near and unread(partition, int(last.max()) + 1) <= ahead):
                return Clock(min(time, now), ahead, landing, delay=delay)
        time, carried = landing, 0


def _median(times: np.ndarray, counts: np.ndarray) -> int:
    return int(times[np.searchsorted(counts.cumsum(), counts.sum() // 2, side="right")])
