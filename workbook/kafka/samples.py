"""A number over time in little memory: samples that lie the further apart, the older they are."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

APART = 0.1
"""Samples may lie this share of their age apart: what is a minute old is known to six seconds."""


class Samples:
    """Samples (time ms, whole number) of the last ``keep_ms``, at most ``most`` of them.

    A number that stays the same takes two samples, however long it does: the first and the last.
    """

    def __init__(self, keep_ms: int, most: int) -> None:
        self.times, self.numbers = array("q"), array("q")
        self._keep_ms, self._most = keep_ms, most

    def __len__(self) -> int:
        return len(self.times)

    def add(self, time: int, number: int) -> None:
        """Add a sample; one that isn't newer than the last takes its place."""
        while self.times and self.times[-1] >= time:
            self._drop_last()
        if self.numbers[-2:] == array("q", (number, number)):
            self._drop_last()
        self.times.append(time)
        self.numbers.append(number)
        self._forget(time - self._keep_ms)
        if len(self) > self._most:
            self._thin(time)

    def at(self, time: int) -> int | None:
        """Return the number as of the newest sample that isn't later than this; None if none is."""
        place = bisect_right(self.times, time)
        return self.numbers[place - 1] if place else None

    def since(self, time: int) -> list[tuple[int, int]]:
        """Return the samples from this time on, and the one before them."""
        first = max(bisect_left(self.times, time) - 1, 0)
        return list(zip(self.times[first:], self.numbers[first:], strict=True))

    def _drop_last(self) -> None:
        self.times.pop()
        self.numbers.pop()

    def _forget(self, before: int) -> None:
        """Drop what is older, but for the newest of those: the number was the same until then."""
        old = bisect_right(self.times, before) - 1
        if old > 0:
            del self.times[:old], self.numbers[:old]

    def _thin(self, now: int) -> None:
        share = APART
        while len(self) > self._most // 2:
            kept = self._kept(now, share)
            self.times = array("q", (self.times[place] for place in kept))
            self.numbers = array("q", (self.numbers[place] for place in kept))
            share *= 2

    def _kept(self, now: int, share: float) -> list[int]:
        """Return the places of what stays: without it, its neighbours would lie too far apart."""
        times, kept = self.times, [len(self) - 1]
        for place in range(len(self) - 2, 0, -1):
            if times[kept[-1]] - times[place - 1] > share * (now - times[place - 1]):
                kept.append(place)
        return [0, *reversed(kept)]
