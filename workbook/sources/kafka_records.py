"""Reads records of a partition between two offsets, and says which errors pass by themselves."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

ANSWER_S = 10.0
"""So long a broker may take for an answer."""

PATIENCE_S = 60.0
"""So long a query waits for a broker that has answered before."""

RETRY_S = 0.1
"""So long it waits before it asks again."""

_DEFAULTS = {
    "group.id": "kafka-clamped",  # nobody joins it: partitions are assigned, nothing is committed
    "isolation.level": "read_uncommitted",  # as Spark's own source reads
    "fetch.wait.max.ms": 5,
    "fetch.queue.backoff.ms": 1,
    "reconnect.backoff.max.ms": 1000,
}
_NEEDED = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "log_level": 0,
}

_AWAY = (
    *(KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT),
    *(KafkaError._RESOLVE, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION),
    *(KafkaError.REQUEST_TIMED_OUT, KafkaError.BROKER_NOT_AVAILABLE),
    *(KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH),
    KafkaError._DESTROY_BROKER,
)


def is_away(error: KafkaError) -> bool:
    """Return whether it's the error of a broker that may be over in a moment."""
    return error.code() in _AWAY or bool(error.retriable())


_OUT_OF_RANGE = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)
_GONE = (*_OUT_OF_RANGE, KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)


def reading(config: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of a consumer that reads where it's told to."""
    return {**_DEFAULTS, **config, **_NEEDED}


AT_ONCE = 10_000
"""Records that a consumer hands over in one call, which waits until it has as many as asked for."""


class RecordsLost(RuntimeError):
    """Records that were to be read aren't there any more."""


def is_here(message: Message) -> bool:
    """Return whether it's a record, or the end of a partition; raise for an error that stays."""
    error = message.error()
    if error is None or error.code() == KafkaError._PARTITION_EOF:
        return True
    if is_away(error):
        return False
    if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:  # it needs none
        return False
    raise refused(str(message.topic()), error)


def is_out_of_range(message: Message) -> bool:
    """Return whether it says that the partition no longer has the records that were asked for."""
    error = message.error()
    return error is not None and error.code() in _OUT_OF_RANGE


def refused(topic: str, error: KafkaError) -> Exception:
    """Return the exception for an error that stays; one for a missing right names it."""
    if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        return PermissionError(
            f"Expected the rights to READ and DESCRIBE the topic {topic}, but the broker refuses: "
            f"{error.str()}. Ask for an ACL, or check kafka.sasl.username."
        )
    if error.code() in _GONE:
        return RecordsLost(
            f"Expected the topic {topic}, with the records where this query stands, but the broker "
            f"has no such topic, or no such records any more ({error.str()}). Check its name; if "
            "it was made anew, begin with another checkpoint."
        )
    return KafkaException(error)


@dataclass(frozen=True)
class Range:
    """Records of a partition, from an offset up to, but not including, another."""

    topic: str
    partition: int
    begin: int
    end: int


def records_of(
    reader: Consumer, ranges: Sequence[Range], *, fail_on_loss: bool
) -> Iterator[list[Message]]:
    """Yield the records of ranges of one topic as they come; those of a partition in order.

    Raises RecordsLost if some can't be there any more.
    """
    progress = _Progress(reader, ranges, fail_on_loss)
    deadline = time.monotonic() + PATIENCE_S
    try:
        while left := progress.left():
            if good := progress.take(reader.consume(min(AT_ONCE, left), timeout=0.1)):
                deadline = time.monotonic() + PATIENCE_S
                yield good
            elif time.monotonic() > deadline and progress.left():
                raise TimeoutError(
                    f"Expected records {progress.missing()}, but none came for {PATIENCE_S:.0f} s. "
                    "Check the broker, and start again."
                )
    finally:
        reader.unassign()


class _Progress:
    """Knows how far ranges of one topic have been read, and holds the reader to them."""

    def __init__(self, reader: Consumer, ranges: Sequence[Range], fail_on_loss: bool) -> None:
        self._reader, self._strict, self._topic = reader, fail_on_loss, ranges[0].topic
        self._ends = {each.partition: each.end for each in ranges}
        self._open = {each.partition: each.begin for each in ranges}
        self._assign()

    def left(self) -> int:
        """Return how many offsets are still to be read."""
        return sum(self._ends[partition] - at for partition, at in self._open.items())

    def missing(self) -> str:
        """Return what is still to be read."""
        topic, ends = self._topic, self._ends
        each = [f"{at} to {ends[n]} of partition {n} of {topic}" for n, at in self._open.items()]
        return ", ".join(each)

    def take(self, messages: Sequence[Message]) -> list[Message]:
        """Return the records among messages that belong to the ranges, and note how far they are.

        Raises as ``is_here`` for an error that stays, and RecordsLost.
        """
        good = [message for message in messages if message.error() is None]
        ends, wanted = self._ends, good
        numbers = cast("list[int]", [message.partition() for message in good])
        offsets = cast("list[int]", [message.offset() for message in good])
        last = dict(zip(numbers, offsets, strict=True))
        if over := {number for number, at in last.items() if at >= ends[number]}:
            each = zip(good, numbers, offsets, strict=True)
            wanted = [message for message, number, at in each if at < ends[number]]
            self._let_go(over)
        self._reach({number: at + 1 for number, at in last.items()})
        if len(good) < len(messages):
            self._heed(message for message in messages if message.error() is not None)
        return wanted

    def _heed(self, messages: Iterable[Message]) -> None:
        """Note where partitions end that have no more records now, and which have lost some."""
        for message in messages:
            number = int(message.partition() or 0)
            if is_out_of_range(message) and number in self._open:
                self._go_on(number)
            elif is_here(message):
                self._reach({number: int(message.offset() or 0)})

    def _reach(self, positions: Mapping[int, int]) -> None:
        for number in self._open.keys() & positions.keys():
            self._open[number] = max(positions[number], self._open[number])
            if self._open[number] >= self._ends[number]:
                del self._open[number]

    def _go_on(self, number: int) -> None:
        """Go on where records of a partition are left, or raise."""
        position = self._open[number]
        place = TopicPartition(self._topic, number)
        low, _ = self._reader.get_watermark_offsets(place, ANSWER_S)
        if self._strict or low <= position:
            raise RecordsLost(
                f"Expected records of partition {number} of {self._topic} from offset "
                f"{position}, but they begin at {low}: older ones are deleted."
            )
        self._reach({number: low})
        self._assign()

    def _assign(self) -> None:
        self._held = set(self._open)
        self._reader.assign([TopicPartition(self._topic, *at) for at in self._open.items()])

    def _let_go(self, numbers: set[int]) -> None:
        """Fetch no more of partitions that go on beyond their end: the others would wait.

        A pause would last beyond the next ``assign``.
        """
        places = [TopicPartition(self._topic, number) for number in numbers & self._held]
        self._reader.incremental_unassign(places)
        self._held -= numbers
