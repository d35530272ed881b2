"""Measure lag, in messages and in seconds, from groups' commits and sampled end offsets."""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from workbook.kafka.offsets import Offsets, Place

KEPT_MS, MOST = 3_600_000, 200
"""End offsets are kept for an hour, and at most 200 of a partition: 3,200 bytes."""

APART = 0.1
"""Samples may be this share of their age apart: what is a minute old is known to six seconds."""


class Lag(NamedTuple):
    """The number of messages that a group has yet to read; the oldest is ``seconds`` old.

    With ``at_least`` that is a lower bound: the message is older than the first sample. With
    ``partly`` the lag of some partitions is unknown.
    """

    messages: int
    seconds: float
    at_least: bool = False
    partly: bool = False


Commits = Sequence[Mapping[str, Any]]
"""The commits of a group: topic, partition, offset (the one to read next)."""


class Samples:
    """A partition's end offsets over time, as (ms, offset): the older, the further apart."""

    def __init__(self) -> None:
        self.times, self.numbers = array("q"), array("q")

    def add(self, time: int, number: int) -> None:
        """Add a sample; one that isn't newer than the last replaces it."""
        while self.times and self.times[-1] >= time:
            self._drop_last()
        if self.numbers[-2:] == array("q", (number, number)):
            self._drop_last()  # a standstill takes two samples: its first and its last
        self.times.append(time)
        self.numbers.append(number)
        old = bisect_right(self.times, time - KEPT_MS) - 1
        if old > 0:
            del self.times[:old], self.numbers[:old]
        if len(self.times) > MOST:
            self._thin(time)

    def when(self, number: int) -> float | None:
        """Return when (ms) it passed a number below the last one; None if before the samples."""
        times, numbers = self.times, self.numbers
        after = bisect_right(numbers, number)
        if after == 0:
            return None
        start, first = times[after - 1], numbers[after - 1]
        return start + (times[after] - start) * (number - first) / (numbers[after] - first)

    def _drop_last(self) -> None:
        self.times.pop()
        self.numbers.pop()

    def _thin(self, now: int) -> None:
        """Drop each sample without which its neighbours wouldn't be too far apart."""
        times, kept = self.times, [len(self.times) - 1]
        for place in range(len(times) - 2, 0, -1):
            if times[kept[-1]] - times[place - 1] > APART * (now - times[place - 1]):
                kept.append(place)
        kept = [0, *reversed(kept)]
        self.times = array("q", (times[place] for place in kept))
        self.numbers = array("q", (self.numbers[place] for place in kept))


class EndSamples:
    """The end offsets of partitions in the last hour; times are in ms of any one clock."""

    def __init__(self) -> None:
        self._of: dict[Place, Samples] = {}
        self._lost: set[Place] = set()
        self._committed: Offsets = {}

    def note(
        self, now: int, ends: Offsets, committed: Offsets, denied: Collection[Place] = ()
    ) -> None:
        """Note where partitions ended at ``now``, and which ones the broker has ``denied``.

        ``committed`` has the highest committed offset of each partition that was asked for, as it
        was known before: where that is beyond the end, the topic has been recreated or truncated.
        Other partitions are forgotten.
        """
        self._lost = set(denied)
        for place, end in ends.items():
            samples = self._of.get(place)
            if samples is None or samples.numbers[-1] > end:  # a new one, or a recreated one
                samples = self._of[place] = Samples()
            samples.add(now, end)
            self._committed[place] = committed.get(place, 0)
        for place in self._of.keys() - committed.keys():
            del self._of[place], self._committed[place]

    def __contains__(self, place: Place) -> bool:
        """Return whether the broker has ever answered about a partition."""
        return place in self._of or place in self._lost

    def unknown(self, commits: Commits) -> set[str]:
        """Return the topics whose lag is unknown, though the broker has answered about them."""
        places = [((commit["topic"], commit["partition"]), commit["offset"]) for commit in commits]
        return {
            place[0]
            for place, committed in places
            if place in self._lost or self._is_beyond(place, committed)
        }

    def lag(self, commits: Commits, now: int) -> Lag | None:
        """Return what is left behind all of these commits together; None if that's unknown."""
        messages, oldest, at_least, unknown = 0, float(now), False, 0
        for commit in commits:  # of 10,000 groups each second
            place, committed = (commit["topic"], commit["partition"]), max(commit["offset"], 0)
            samples = None if place in self._lost else self._of.get(place)
            left = 0 if samples is None else samples.numbers[-1] - committed
            if samples is None or (left < 0 and self._is_beyond(place, committed)):
                unknown += 1
            elif left > 0:  # else it may have committed after the last sample
                written = samples.when(committed)
                messages += left
                at_least = at_least or written is None
                oldest = min(oldest, samples.times[0] if written is None else written)
        if unknown == len(commits):
            return None
        return Lag(messages, (now - oldest) / 1000, at_least, unknown > 0)

    def _is_beyond(self, place: Place, committed: int) -> bool:
        samples = self._of.get(place)
        return samples is not None and samples.numbers[-1] < committed <= self._committed[place]
