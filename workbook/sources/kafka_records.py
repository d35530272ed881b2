"""Reads records of a partition between two offsets, and says which errors pass by themselves."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

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


def records_of(
    reader: Consumer, topic: str, partition: int, begin: int, end: int, *, fail_on_loss: bool
) -> Iterator[list[Message]]:
    """Yield the records from ``begin`` up to, but not including, ``end``, as they come.

    Raises RecordsLost if some can't be there any more.
    """
    place = TopicPartition(topic, partition, begin)
    reader.assign([place])
    deadline, position = time.monotonic() + PATIENCE_S, begin
    try:
        while position < end:
            good = []
            for message in reader.consume(min(AT_ONCE, end - position), timeout=0.1):
                if _out_of_range(message):
                    position = _next_there(reader, place, position, end, fail_on_loss)
                elif is_here(message):
                    offset = int(message.offset() or 0)
                    if message.error() is not None:
                        position = max(position, offset)
                    elif offset < end:
                        good.append(message)
                        position = offset + 1
                    else:
                        position = end
            if good:
                deadline = time.monotonic() + PATIENCE_S
                yield good
            elif position < end and time.monotonic() > deadline:
                raise TimeoutError(
                    f"Expected records {position} to {end} of partition {partition} of {topic}, "
                    f"but none came for {PATIENCE_S:.0f} s. Check the broker, and start again."
                )
    finally:
        reader.unassign()


def _out_of_range(message: Message) -> bool:
    error = message.error()
    return error is not None and error.code() in _OUT_OF_RANGE


def _next_there(
    reader: Consumer, place: TopicPartition, position: int, end: int, fail_on_loss: bool
) -> int:
    """Go on where records are left, or raise."""
    low, _ = reader.get_watermark_offsets(place, ANSWER_S)
    if fail_on_loss or low <= position:
        raise RecordsLost(
            f"Expected records of partition {place.partition} of {place.topic} from offset "
            f"{position}, but they begin at {low}: older ones are deleted."
        )
    reader.assign([TopicPartition(place.topic, place.partition, min(low, end))])
    return min(low, end)
