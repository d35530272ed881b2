"""Plans how far each micro-batch of the clamped source reads, by looking at what lies ahead."""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from confluent_kafka import (
    Message,
    TopicPartition,
)

from workbook.sources.bounds import Bounds
from workbook.sources.clamp import NO_TOP, Rule, Unread, counted, plan, tops_of
from workbook.sources.kafka_records import (
    AT_ONCE,
    PATIENCE_S,
    RecordsLost,
    is_here,
)

Offsets = dict[str, dict[str, int]]
"""Topic -> partition (as text, since it travels as JSON) -> offset."""

_AHEAD = 1_000_000
"""Records of a partition that are looked at in advance, at most, where a trigger has no limit."""

EARLIEST, LATEST = -2, -1
"""As in ``startingOffsets``."""

_KEPT = 20_000
"""So many may wait at least: to stop fetching and begin again costs up to a second."""


class Ahead:
    """Holds the times of a partition's records that no micro-batch has read yet."""

    def __init__(self, offset: int, top: int | None, seen_at: float) -> None:
        self.next = self.position = offset
        self.top = top
        self.offsets: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.tops: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.new_at = seen_at
        self._new = (array("q"), array("q"))

    def __len__(self) -> int:
        return len(self.offsets) + len(self._new[0])

    def see(self, message: Message) -> None:
        """Note a record."""
        self._new[0].append(int(message.offset() or 0))
        self._new[1].append(message.timestamp()[1])

    def settle(self, latest: int, now: float) -> None:
        """Count what was noted, with times up to ``latest``."""
        if self._new[0]:
            offsets, times = (np.array(new, np.int64) for new in self._new)
            tops = tops_of(counted(times, latest), self._last_top())
            self.offsets = np.concatenate([self.offsets, offsets])
            self.tops = np.concatenate([self.tops, tops])
            self._new, self.new_at = (array("q"), array("q")), now

    def take(self, number: int, end: int, now: float) -> None:
        """Take so many of them; with the last one also offsets up to ``end`` without a record."""
        if number:
            top = int(self.tops[number - 1])
            self.top = None if top == NO_TOP else top
            self.next, self.new_at = int(self.offsets[number - 1]) + 1, now
            self.offsets, self.tops = self.offsets[number:], self.tops[number:]
        if not len(self):
            self.next = max(self.next, min(self.position, end))

    def _last_top(self) -> int | None:
        last = int(self.tops[-1]) if len(self.tops) else NO_TOP
        return self.top if last == NO_TOP else last


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
        bounds = self._bounds.ask()
        if starting.strip().lower() in ("earliest", "latest"):
            where = EARLIEST if starting.strip().lower() == "earliest" else LATEST
            named = {
                topic: {str(p): where for t, p in bounds if t == topic} for topic in self._topics
            }
        else:
            named = _offsets(starting, self._topics, bounds)
        offsets: Offsets = {topic: {} for topic in self._topics}
        for (topic, partition), (low, high) in bounds.items():
            chosen, of_ends = named[topic][str(partition)], {EARLIEST: low, LATEST: high}
            offsets[topic][str(partition)] = of_ends.get(chosen, chosen)
        empty: dict[str, dict[str, int]] = {topic: {} for topic in self._topics}
        return {"offsets": offsets, "tops": empty, "begins": empty}

    def ends(self) -> Offsets:
        """Return where the partitions end now."""
        offsets: Offsets = {topic: {} for topic in self._topics}
        for (topic, partition), (_, high) in self._bounds.ask().items():
            offsets[topic][str(partition)] = high
        return offsets

    # --- what comes next -------------------------------------------------------------------------

    def next(
        self, start: dict[str, Any], most: int | None, until: Offsets | None
    ) -> dict[str, Any]:
        """Return up to where to read from ``start``: ``most`` records, and none after ``until``.

        Where a micro-batch begins stands in its end, too: Spark doesn't keep the first one's start.
        """
        bounds = self._bounds.ask()
        begins = self._follow(start, bounds)
        share = _AHEAD if most is None else max(1, most // max(1, len(bounds)))
        ends = {key: high for key, (_, high) in bounds.items()}
        for (topic, number), end in ends.items():
            if until is not None:
                ends[topic, number] = min(end, until[topic].get(str(number), 0))
        self._look(share, ends)
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

    def _follow(
        self, start: dict[str, Any], bounds: Mapping[tuple[str, int], tuple[int, int]]
    ) -> Offsets:
        """Stand where ``start`` says; partitions that are new begin at their first record.

        Returns where reading begins: elsewhere in partitions whose records are lost.
        """
        anew, begins = False, {topic: dict[str, int]() for topic in self._topics}
        if {*start["offsets"]} != {*self._topics}:
            raise ValueError(
                f"Expected the checkpoint of {' and '.join(self._topics)}, but it is of "
                f"{' and '.join(start['offsets'])}. Name another checkpoint."
            )
        for topic, of in start["offsets"].items():
            for number in of:
                if (topic, int(number)) not in bounds:
                    raise RecordsLost(
                        f"Expected partition {number} of {topic}, but it isn't there: the topic "
                        "was made anew with fewer. Begin with another checkpoint."
                    )
        for (topic, number), (low, high) in bounds.items():
            offset = start["offsets"][topic].get(str(number), low)
            begins[topic][str(number)] = offset
            top = start["tops"][topic].get(str(number))
            if offset > high or offset < low:
                offset = begins[topic][str(number)] = self._lost(topic, number, offset, low, high)
                top = None
            known = self._ahead.get((topic, number))
            if known is None or known.next != offset or known.top != top:
                self._ahead[topic, number] = Ahead(offset, top, time.monotonic())
                anew = True
        if anew:
            places = [TopicPartition(t, n, a.position) for (t, n), a in self._ahead.items()]
            self._reader.assign(places)
            self._paused.clear()
        return begins

    def _lost(self, topic: str, number: int, offset: int, low: int, high: int) -> int:
        what = (
            f"Expected records of partition {number} of {topic} from offset {offset}, but "
            + (f"they begin at {low}: older ones are deleted." if offset < low else "")
            + (f"they end at {high}: the topic was made anew." if offset > high else "")
        )
        if self._strict:
            raise RecordsLost(f"{what} With failOnDataLoss=false reading goes on at {low}.")
        return low

    def _look(self, share: int, ends: Mapping[tuple[str, int], int]) -> None:
        """Look at records until each partition has its share ahead, or no more."""
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
                if not is_here(message):
                    continue
                ahead = self._ahead[str(message.topic()), int(message.partition() or 0)]
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


def _offsets(
    text: str, topics: tuple[str, str], bounds: Mapping[tuple[str, int], tuple[int, int]]
) -> Offsets:
    """Read offsets of each partition, no more and no less, none beyond the end."""
    try:
        found = json.loads(text)
        named = {(t, int(p)): o for t, of in found.items() for p, o in of.items()}
    except (ValueError, AttributeError, TypeError):
        named = {}
    numbers = all(type(o) is int and o >= EARLIEST for o in named.values())
    if not numbers or {*named} != {*bounds}:
        raise ValueError(
            "Expected startingOffsets as earliest, latest, or an offset for each partition of both "
            f'topics in JSON like {{"{topics[0]}":{{"0":23}},"{topics[1]}":{{"0":-2}}}}, but got '
            f"{text!r}."
        )
    for (topic, partition), offset in named.items():
        if offset > bounds[topic, partition][1]:
            raise ValueError(
                f"Expected an offset in startingOffsets that partition {partition} of {topic} has, "
                f"but it ends at {bounds[topic, partition][1]}, and {offset} was asked for."
            )
    return found
