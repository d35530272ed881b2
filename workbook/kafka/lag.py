"""How far a group is behind, in messages and in seconds, from sampled end offsets alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbook.kafka.end_offsets import Offsets
from workbook.kafka.samples import Samples

KEPT_MS = 3_600_000
MOST = 200
"""Samples are kept for an hour, and at most so many of a partition: 3,200 bytes."""


@dataclass(frozen=True, slots=True)
class Lag:
    """What a group has yet to read of a partition: ``messages``, the oldest ``seconds`` old.

    With ``at_least`` it's older than that: it was there before the first sample.
    """

    messages: int
    seconds: float
    at_least: bool = False


class EndSamples:
    """Where partitions ended in the last hour, sampled; times are in ms of any one clock.

    The seconds are as exact as samples are close: they're a tenth of their age apart at most.
    """

    def __init__(self, keep_ms: int = KEPT_MS, most: int = MOST) -> None:
        self._of: dict[tuple[str, int], Samples] = {}
        self._lost: set[tuple[str, int]] = set()
        self._keep_ms, self._most = keep_ms, most

    def add(self, now: int, ends: Mapping[tuple[str, int], int]) -> None:
        """Note where partitions ended at ``now``; one that shrank is a new one: begin again."""
        for partition, end in ends.items():
            samples = self._of.get(partition)
            if samples is None or samples.numbers[-1] > end:
                samples = self._of[partition] = Samples(self._keep_ms, self._most)
            samples.add(now, end)
            self._lost.discard(partition)

    def lose(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Note that the ends of these are unknown: deleted, or no right to describe them.

        Their samples stay, because a broker that has just started may deny its topics too.
        """
        self._lost.update(each for each in partitions if each in self._of)

    def keep(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Forget all partitions but these."""
        wanted = set(partitions)
        self._of = {each: samples for each, samples in self._of.items() if each in wanted}
        self._lost &= wanted

    def end(self, topic: str, partition: int) -> int | None:
        """Return where a partition ended when last asked; None if that's unknown."""
        place = topic, partition
        return None if place in self._lost or place not in self._of else self._of[place].numbers[-1]

    @property
    def ends(self) -> Offsets:
        """Return where each partition ended when last asked."""
        return {each: s.numbers[-1] for each, s in self._of.items() if each not in self._lost}

    @property
    def answered(self) -> bool:
        """Return whether any end is known."""
        return len(self._of) > len(self._lost)

    def lag(self, topic: str, partition: int, committed: int, now: int) -> Lag | None:
        """Return what is left from ``committed``, the offset to read next; None if it's unknown."""
        end = self.end(topic, partition)
        if end is None or committed < 0:
            return None
        if committed >= end:  # it may have committed after the last sample
            return Lag(0, 0.0)
        written = _written(self._of[topic, partition], committed)
        samples = self._of[topic, partition]
        since = samples.times[0] if written is None else written
        return Lag(end - committed, max(now - since, 0) / 1000, written is None)


def _written(samples: Samples, offset: int) -> float | None:
    """Return when (ms) the end passed an offset below the last one; None if before the samples."""
    after = bisect_right(samples.numbers, offset)
    if after == 0:
        return None
    (start, first), (stop, last) = (
        (samples.times[place], samples.numbers[place]) for place in (after - 1, after)
    )
    return start + (stop - start) * (offset - first) / (last - first)
