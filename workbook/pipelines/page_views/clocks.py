"""The clock of each partition of a topic: the newest event time that was read there.

Spark's watermark is the newest event time of all partitions, so in a backlog it runs with the
partition that is ahead. Here whatever waits for all partitions waits for the slowest clock. No
Spark in here: numbers in, numbers out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

IDLE_MS = 10_000
"""A partition that has given nothing readable for this time counts as read to its end."""

ASKED_MS = 5_000
"""The time between two micro-batches counts as idle up to this: an outage is no idleness."""

UNKNOWN = -1
"""The time of a clock that nothing has set yet."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a partition: its newest event ``time`` (ms).

    ``idle`` is for how long (ms) the partition has given nothing readable although it was asked.
    """

    time: int = UNKNOWN
    idle: int = 0


def advance(
    before: Mapping[int, Clock], newest: Mapping[int, int | None], now: int, since: int
) -> dict[int, Clock]:
    """Move the clocks of the partitions that gave something readable; the others have been idle.

    ``newest`` has the newest event time (ms) of each partition that was read, None where nothing
    was readable. ``now`` is the reader's time (ms): no clock runs ahead of it. ``since`` is the
    reader's time at the micro-batch before.
    """
    asked = min(max(now - since, 0), ASKED_MS)
    after = {p: replace(clock, idle=clock.idle + asked) for p, clock in before.items()}
    for partition, time in newest.items():
        known = after.setdefault(partition, Clock())
        if time is not None:
            after[partition] = Clock(max(known.time, min(time, now)))
    return after


def slowest(clocks: Mapping[int, Clock], now: int) -> tuple[int, int]:
    """Return the time (ms) that all partitions have reached, and the slowest partition.

    Spark gives each partition that has unread records a part of every micro-batch. So a partition
    that has given nothing for ``IDLE_MS`` has been read to its end, and is as far as the reader's
    time less that. A partition that never gave anything isn't waited for. Both are ``UNKNOWN``
    where none has given anything.
    """
    times = [
        (clock.time if clock.idle < IDLE_MS else max(clock.time, now - IDLE_MS), partition)
        for partition, clock in clocks.items()
    ]
    return min(times, default=(UNKNOWN, UNKNOWN))
