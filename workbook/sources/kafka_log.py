"""What lies ahead in two topics, and how far each micro-batch of the clamped source may read."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from workbook.sources.clamp import NO_TOP, Rule, Unread, counted, plan, tops_of

Offsets = dict[str, dict[str, int]]
"""Topic -> partition (as text, since it travels as JSON) -> offset."""

ANSWER_S = 10.0
"""So long a broker may take for an answer."""

READING: dict[str, Any] = {
    "group.id": "kafka-clamped",  # nobody joins it: partitions are assigned, nothing is committed
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "fetch.queue.backoff.ms": 1,
    "fetch.wait.max.ms": 5,
    "log_level": 0,
}
"""Settings of a consumer that reads where it's told to."""

_AHEAD = 1_000_000
"""Records of a partition that are looked at in advance, at most, where a trigger has no limit."""


_AT_ONCE = 10_000
"""Records that a consumer hands over in one call, which waits until it has as many as asked for."""


class RecordsLost(RuntimeError):
    """Records that were to be read aren't there any more."""


class Ahead:
    """The records of a partition that were looked at and aren't read yet."""

    def __init__(self, offset: int, top: int | None, seen_at: float) -> None:
        self.next = self.position = offset
        self.top = top
        self.offsets: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.tops: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.new_at = seen_at
        self._new: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.offsets) + len(self._new)

    def see(self, message: Message) -> None:
        """Note a record."""
        self._new.append((int(message.offset() or 0), message.timestamp()[1]))

    def settle(self, latest: int, now: float) -> None:
        """Count what was noted, with times up to ``latest``."""
        if self._new:
            new = np.array(self._new, np.int64)
            top = self._last_top()
            self.offsets = np.concatenate([self.offsets, new[:, 0]])
            self.tops = np.concatenate([self.tops, tops_of(counted(new[:, 1], latest), top)])
            self._new, self.new_at = [], now

    def take(self, number: int) -> None:
        """Read so many of them."""
        if number:
            top = int(self.tops[number - 1])
            self.top = None if top == NO_TOP else top
            self.next = int(self.offsets[number - 1]) + 1
            self.offsets, self.tops = self.offsets[number:], self.tops[number:]

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
        self._reader = Consumer({**config, **READING})
        self._ahead: dict[tuple[str, int], Ahead] = {}
        self._paused: set[tuple[str, int]] = set()

    def close(self) -> None:
        """Leave the broker."""
        self._reader.close()

    # --- where topics begin and end --------------------------------------------------------------

    def first(self, starting: str) -> dict[str, Any]:
        """Return where a query begins that has no checkpoint: ``startingOffsets``."""
        numbers = [len(partitions) for partitions in self._partitions().values()]
        if numbers[0] != numbers[1]:
            raise ValueError(
                f"Expected {self._topics[0]} and {self._topics[1]} to have the same number of "
                f"partitions, since partition p is held against partition p, but they have "
                f"{numbers[0]} and {numbers[1]}."
            )
        bounds = self._bounds()
        named = None if starting in ("earliest", "latest") else _offsets(starting, self._topics)
        offsets: Offsets = {topic: {} for topic in self._topics}
        for (topic, partition), (low, high) in bounds.items():
            if named is None:
                chosen = low if starting == "earliest" else high
            else:
                wanted = named[topic].get(str(partition), -2)
                chosen = {-2: low, -1: high}.get(wanted, wanted)
            offsets[topic][str(partition)] = chosen
        return {"offsets": offsets, "tops": {topic: {} for topic in self._topics}}

    def ends(self) -> Offsets:
        """Return where the partitions end now."""
        offsets: Offsets = {topic: {} for topic in self._topics}
        for (topic, partition), (_, high) in self._bounds().items():
            offsets[topic][str(partition)] = high
        return offsets

    def _partitions(self) -> dict[str, list[int]]:
        found = {}
        for topic in self._topics:
            described = self._reader.list_topics(topic, timeout=ANSWER_S).topics[topic]
            if described.error is not None:
                raise KafkaException(described.error)
            found[topic] = sorted(described.partitions)
        return found

    def _bounds(self) -> dict[tuple[str, int], tuple[int, int]]:
        return {
            (topic, number): self._reader.get_watermark_offsets(
                TopicPartition(topic, number), timeout=ANSWER_S
            )
            for topic, numbers in self._partitions().items()
            for number in numbers
        }

    # --- what comes next -------------------------------------------------------------------------

    def next(
        self, start: dict[str, Any], most: int | None, until: Offsets | None
    ) -> dict[str, Any]:
        """Return up to where to read from ``start``: ``most`` records, and none after ``until``."""
        bounds = self._bounds()
        self._follow(start, bounds)
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
        return {"offsets": offsets, "tops": tops}

    def _follow(
        self, start: dict[str, Any], bounds: Mapping[tuple[str, int], tuple[int, int]]
    ) -> None:
        """Stand where ``start`` says; partitions that are new begin at their first record."""
        anew = False
        for (topic, number), (low, high) in bounds.items():
            offset = start["offsets"][topic].get(str(number), low)
            top = start["tops"][topic].get(str(number))
            if offset > high or offset < low:
                offset = self._lost(topic, number, offset, low, high)
            known = self._ahead.get((topic, number))
            if known is None or known.next != offset or known.top != top:
                self._ahead[topic, number] = Ahead(offset, top, time.monotonic())
                anew = True
        if anew:
            places = [TopicPartition(t, n, a.position) for (t, n), a in self._ahead.items()]
            self._reader.assign(places)
            self._paused.clear()

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
        deadline = time.monotonic() + ANSWER_S
        missing = {
            key for key, ahead in self._ahead.items()
            if len(ahead) < share and ahead.position < ends[key]
        }  # fmt: skip
        self._pause({key for key, ahead in self._ahead.items() if len(ahead) >= share})
        while missing:
            expected = sum(ends[key] - self._ahead[key].position for key in missing)
            messages = self._reader.consume(min(_AT_ONCE, expected), timeout=0.1)
            for message in messages:
                key = (str(message.topic()), int(message.partition() or 0))
                ahead = self._ahead[key]
                error = message.error()
                if error is None:
                    ahead.see(message)
                    ahead.position = int(message.offset() or 0) + 1
                elif error.code() == KafkaError._PARTITION_EOF:
                    ahead.position = max(ahead.position, message.offset() or 0)
                elif not error.retriable():
                    raise KafkaException(error)
            if messages:
                deadline = time.monotonic() + ANSWER_S
                full = {
                    key for key in missing
                    if len(self._ahead[key]) >= share or self._ahead[key].position >= ends[key]
                }  # fmt: skip
                missing -= full
            elif time.monotonic() > deadline:
                break  # the broker is slow, or away: what is there is read meanwhile
        latest, now = int(time.time() * 1000) + self._max_ahead, time.monotonic()
        for ahead in self._ahead.values():
            ahead.settle(latest, now)

    def _pause(self, full: set[tuple[str, int]]) -> None:
        """Stop fetching of those that are full, and go on with the others."""
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
                self._ahead[key].take(taken)

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


def _offsets(text: str, topics: tuple[str, str]) -> Offsets:
    try:
        found = json.loads(text)
        return {topic: {str(p): int(o) for p, o in found[topic].items()} for topic in topics}
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ValueError(
            "Expected startingOffsets as earliest, latest, or offsets of both topics in JSON "
            f'like {{"{topics[0]}":{{"0":23}},"{topics[1]}":{{"0":-2}}}}, but got {text!r}.'
        ) from None


def records_of(
    reader: Consumer, topic: str, partition: int, begin: int, end: int, *, fail_on_loss: bool
) -> Iterator[list[Message]]:
    """Yield the records from ``begin`` up to, but not including, ``end``, as they come.

    Raises RecordsLost if some can't be there any more.
    """
    reader.assign([TopicPartition(topic, partition, begin)])
    deadline = time.monotonic() + ANSWER_S * 6
    position = begin
    while position < end:
        messages = reader.consume(min(_AT_ONCE, end - position), timeout=0.1)
        good = []
        for message in messages:
            error = message.error()
            if error is None:
                position = int(message.offset() or 0) + 1
                if position <= end:
                    good.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                position = max(position, message.offset() or 0)
            elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
                low, _ = reader.get_watermark_offsets(TopicPartition(topic, partition), ANSWER_S)
                if fail_on_loss or low <= position:
                    raise RecordsLost(
                        f"Expected records of partition {partition} of {topic} from offset "
                        f"{position}, but they begin at {low}: older ones are deleted."
                    )
                position = min(low, end)
                reader.assign([TopicPartition(topic, partition, position)])
            elif not error.retriable():
                raise KafkaException(error)
        if good:
            deadline = time.monotonic() + ANSWER_S * 6
            yield good
        elif time.monotonic() > deadline:
            raise TimeoutError(
                f"Expected records {position} to {end} of partition {partition} of {topic}, but "
                f"none came for {ANSWER_S * 6:.0f} s. Check the broker, and start again."
            )
    reader.unassign()
