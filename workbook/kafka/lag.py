"""How far a group is behind, in messages and in seconds, from sampled end offsets alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from workbook.kafka.offsets import Offsets
from workbook.kafka.samples import Samples

KEPT_MS = 3_600_000
MOST = 200
"""Samples are kept for an hour, and at most so many of a partition: 3,200 bytes."""


class Lag(NamedTuple):
    """What a group has yet to read: ``messages``, the oldest of which is ``seconds`` old.

    With ``at_least`` it's older than that: it was there before the first sample. ``partly`` it's
    known: of some partitions it isn't.
    """

    messages: int
    seconds: float
    at_least: bool = False
    partly: bool = False


Commits = Sequence[Mapping[str, Any]]
"""What a group has committed: topic, partition, offset (the one to read next)."""

NOBODY: Offsets = {}


class EndSamples:
    """Where partitions ended in the last hour, sampled; times are in ms of any one clock.

    The seconds are as exact as samples are close: they're a tenth of their age apart at most.
    """

    def __init__(self, keep_ms: int = KEPT_MS, most: int = MOST) -> None:
        self._of: dict[tuple[str, int], Samples] = {}
        self._lost: dict[tuple[str, int], Samples | None] = {}
        self._committed: Offsets = {}
        self._keep_ms, self._most = keep_ms, most

    def add(
        self,
        now: int,
        ends: Mapping[tuple[str, int], int],
        committed: Mapping[tuple[str, int], int] = NOBODY,
    ) -> None:
        """Note where partitions ended at ``now``; one that shrank is a new one: begin again.

        ``committed`` has each one's highest committed offset, as it was known before they were
        asked for: if that lies beyond the end, the topic isn't the one that was read.
        """
        for partition, end in ends.items():
            samples = self._of.get(partition) or self._lost.pop(partition, None)
            if samples is None or samples.numbers[-1] > end:
                samples = Samples(self._keep_ms, self._most)
            samples.add(now, end)
            self._of[partition] = samples
            self._committed[partition] = committed.get(partition, 0)

    def lose(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Note that the ends of these are unknown: deleted, or no right to describe them.

        Their samples stay, because a broker that has just started may deny its topics too.
        """
        for each in partitions:
            self._lost.setdefault(each, self._of.pop(each, None))

    def keep(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Forget all partitions but these."""
        for each in {*self._of, *self._lost}.difference(partitions):
            for known in (self._of, self._lost, self._committed):
                known.pop(each, None)

    def end(self, topic: str, partition: int) -> int | None:
        """Return where a partition ended when last asked; None if that's unknown."""
        samples = self._of.get((topic, partition))
        return None if samples is None else samples.numbers[-1]

    @property
    def ends(self) -> Offsets:
        """Return where each partition ended when last asked."""
        return {each: samples.numbers[-1] for each, samples in self._of.items()}

    def is_lost(self, topic: str, partition: int) -> bool:
        """Return whether a partition is deleted, or we have no right to describe it."""
        return (topic, partition) in self._lost

    def is_beyond(self, topic: str, partition: int, committed: int) -> bool:
        """Return whether an offset was committed of a topic that was made anew, or cut, since."""
        end = self.end(topic, partition)
        return end is not None and end < committed <= self._committed[topic, partition]

    def lag(self, commits: Commits, now: int) -> Lag | None:
        """Return what is left behind all of these commits together; None if that's unknown."""
        messages, oldest, at_least, unknown = 0, float(now), False, 0
        for commit in commits:  # of 10,000 groups each second
            place, committed = (commit["topic"], commit["partition"]), commit["offset"]
            samples = self._of.get(place)
            left = 0 if samples is None else samples.numbers[-1] - committed
            if samples is None or committed < 0 or (left < 0 and self.is_beyond(*place, committed)):
                unknown += 1
            elif left > 0:  # else it may have committed after the last sample
                written = _written(samples, committed)
                messages += left
                at_least = at_least or written is None
                oldest = min(oldest, samples.times[0] if written is None else written)
        if unknown == len(commits):
            return None
        return Lag(messages, (now - oldest) / 1000, at_least, unknown > 0)


def _written(samples: Samples, offset: int) -> float | None:
    """Return when (ms) the end passed an offset below the last one; None if before the samples."""
    times, numbers = samples.times, samples.numbers
    after = bisect_right(numbers, offset)
    if after == 0:
        return None
    start, first = times[after - 1], numbers[after - 1]
    return start + (times[after] - start) * (offset - first) / (numbers[after] - first)
