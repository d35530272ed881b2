"""Plans how far each micro-batch of the clamped source reads, by looking at what lies ahead."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from confluent_kafka import TopicPartition

from workbook.sources.ahead import Ahead
from workbook.sources.bounds import (
    Bounds,
    Offsets,
    Places,
    begins_of,
    ends_of,
    readable_from,
    require_same,
)
from workbook.sources.clamp import Rule, Unread, plan
from workbook.sources.kafka_records import AT_ONCE, PATIENCE_S, is_here, is_out_of_range

_AHEAD = 1_000_000
"""Records of a partition that are looked at in advance, at most, where a trigger has no limit."""

_KEPT = 20_000
"""So many may wait at least: to stop fetching and begin again costs up to a second."""


class KafkaLog:
    """Looks at the records of two topics in advance, and decides what a micro-batch reads.

    It reads each record's time itself, in order, since no look-up says the newest time before an
    offset where times are out of order or one of them is far ahead.
    """

    def __init__(
        self,
        config: Mapping[str, str],
        topics: tuple[str, str],
        rule: Rule,
        max_lead: int,
        max_ahead: int,
        idle_timeout: int | None,
        fail_on_loss: bool,
    ) -> None:
        self._topics, self._rule, self._max_lead = topics, rule, max_lead
        self._max_ahead, self._idle, self._strict = max_ahead, idle_timeout, fail_on_loss
        self._bounds = Bounds(config, topics)
        self._reader = self._bounds.reader
        self._ahead: dict[tuple[str, int], Ahead] = {}
        self._paused: set[tuple[str, int]] = set()

    def close(self) -> None:
        """Close the connection to the broker."""
        self._bounds.close()

    # --- where topics begin and end --------------------------------------------------------------

    def first(self, starting: str) -> dict[str, Any]:
        """Return where a query begins that has no checkpoint: ``startingOffsets``."""
        numbers = [len(partitions) for partitions in self._bounds.partitions().values()]
        if numbers[0] != numbers[1]:
            raise ValueError(
                f"Expected {self._topics[0]} and {self._topics[1]} to have the same number of "
                f"partitions, since partition p is held against partition p, but they have "
                f"{numbers[0]} and {numbers[1]}."
            )
        offsets = begins_of(starting, self._topics, self._bounds.ask())
        empty: dict[str, dict[str, int]] = {topic: {} for topic in self._topics}
        return {"offsets": offsets, "tops": empty, "begins": empty}

    def ends(self) -> Offsets:
        """Return where the partitions end now."""
        return ends_of(self._bounds.ask())

    # --- what comes next -------------------------------------------------------------------------

    def next(
        self, start: dict[str, Any], most: int | None, until: Offsets | None
    ) -> dict[str, Any]:
        """Return up to where to read from ``start``: ``most`` records, and none after ``until``.

        Where a micro-batch begins stands in its end, too: Spark doesn't keep the first one's start.
        """
        while True:
            bounds = self._ask()
            begins = self._follow(start, bounds)
            share = _AHEAD if most is None else max(1, most // max(1, len(bounds)))
            ends = {key: high for key, (_, high) in bounds.items()}
            for (topic, number), end in ends.items():
                if until is not None:
                    ends[topic, number] = min(end, until[topic].get(str(number), 0))
            if self._look(share, ends):
                break
        for number in sorted({number for _, number in self._ahead}):
            self._read(number, share, ends)
        offsets: Offsets = {topic: {} for topic in self._topics}
        tops: dict[str, dict[str, int]] = {topic: {} for topic in self._topics}
        for (topic, number), ahead in sorted(self._ahead.items()):
            offsets[topic][str(number)] = ahead.next
            if ahead.top is not None:
                tops[topic][str(number)] = ahead.top
        if offsets == start["offsets"]:
            return start
        return {"offsets": offsets, "tops": tops, "begins": begins}

    def _ask(self) -> Places:
        """Ask where the partitions begin and end; while the broker is away, nobody is idle."""
        began = time.monotonic()
        bounds = self._bounds.ask()
        waited = time.monotonic() - began
        for ahead in self._ahead.values():
            ahead.new_at += waited
        return bounds

    def _follow(self, start: dict[str, Any], bounds: Places) -> Offsets:
        """Stand where ``start`` says; partitions that are new begin at their first record.

        Returns where reading begins: elsewhere in partitions whose records are lost.
        """
        anew, begins = False, {topic: dict[str, int]() for topic in self._topics}
        require_same(start["offsets"], self._topics, bounds)
        for (topic, number), (low, high) in bounds.items():
            offset = start["offsets"][topic].get(str(number), low)
            top = start["tops"][topic].get(str(number))
            if offset > high or offset < low:
                offset, top = readable_from(topic, number, offset, (low, high), self._strict), None
            begins[topic][str(number)] = offset
            known = self._ahead.get((topic, number))
            if known is None or known.next != offset or known.top != top:
                self._ahead[topic, number] = Ahead(offset, top, time.monotonic())
                anew = True
        if anew:
            places = [TopicPartition(t, n, a.position) for (t, n), a in self._ahead.items()]
            self._pause(set())  # a pause would last beyond it
            self._reader.assign(places)
        return begins

    def _look(self, share: int, ends: Mapping[tuple[str, int], int]) -> bool:
        """Look at records until each partition has its share ahead, or no more.

        Returns False where some were deleted meanwhile, and that is no failure: ask again.
        """
        deadline = time.monotonic() + PATIENCE_S
        missing = {
            key for key, ahead in self._ahead.items()
            if len(ahead) < share and ahead.position < ends[key]
        }  # fmt: skip
        most = max(share, _KEPT)
        self._pause({key for key, ahead in self._ahead.items() if len(ahead) >= most})
        while missing:
            wanted = [(self._ahead[key], ends[key]) for key in missing]
            expected = sum(min(end - a.position, share - len(a)) for a, end in wanted)
            messages = self._reader.consume(min(AT_ONCE, expected), timeout=0.1)
            for message in messages:
                key = str(message.topic()), int(message.partition() or 0)
                if not self._strict and is_out_of_range(message):
                    del self._ahead[key]
                    return False
                if not is_here(message):
                    continue
                ahead = self._ahead[key]
                if message.error() is None:
                    ahead.see(message)
                    ahead.position = int(message.offset() or 0) + 1
                else:
                    ahead.position = max(ahead.position, message.offset() or 0)
            if any(message.error() is None for message in messages):
                deadline = time.monotonic() + PATIENCE_S
            if messages:
                full = {
                    key for key in missing
                    if len(self._ahead[key]) >= share or self._ahead[key].position >= ends[key]
                }  # fmt: skip
                missing -= full
            if missing and time.monotonic() > deadline:
                where = ", ".join(f"partition {number} of {topic}" for topic, number in missing)
                raise TimeoutError(
                    f"Expected records of {where}, but none came for {PATIENCE_S:.0f} s. Check the "
                    "broker, and start again: nothing is lost."
                )
        latest, now = int(time.time() * 1000) + self._max_ahead, time.monotonic()
        for ahead in self._ahead.values():
            ahead.settle(latest, now)
        return True

    def _pause(self, full: set[tuple[str, int]]) -> None:
        """Pause fetching of full partitions, and resume that of the others."""
        pause, resume = full - self._paused, self._paused - full
        if pause:
            self._reader.pause([TopicPartition(*key) for key in pause])
        if resume:
            self._reader.resume([TopicPartition(*key) for key in resume])
        self._paused = full

    def _read(self, number: int, share: int, ends: Mapping[tuple[str, int], int]) -> None:
        """Take of partition ``number`` of both topics what the rule allows."""
        keys = [(topic, number) for topic in self._topics]
        both = [self._unread(self._ahead.get(key), share, ends.get(key, 0)) for key in keys]
        for key, taken in zip(keys, plan(both, self._rule, self._max_lead), strict=True):
            if key in self._ahead:
                self._ahead[key].take(taken, ends.get(key, 0), time.monotonic())

    def _unread(self, ahead: Ahead | None, share: int, end: int) -> Unread:
        if ahead is None:  # its topic has fewer partitions, for now
            return Unread(None, np.empty(0, np.int64))
        among = min(share, int(np.searchsorted(ahead.offsets, end)))
        idle = (
            self._idle is not None
            and not len(ahead)
            and ahead.position >= end
            and (time.monotonic() - ahead.new_at) * 1000 > self._idle
        )
        return Unread(ahead.top, ahead.tops[:among], holds=not idle)
