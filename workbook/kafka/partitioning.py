"""Compares how topics are partitioned: as many partitions, and each key in the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import Message

from workbook.errors import PartitionedApart
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.readers import records
from workbook.kafka.require import ANSWER_S, require_topic

LOOKS_AT = 500
"""Newest records of each partition whose keys are compared: many may be heartbeats."""

Counts = Callable[[Message], bool]
"""Whether a record's key is one that chose its partition."""


def require_alike(
    config: Mapping[str, Any], topics: Sequence[str], counts: Counts = lambda message: True
) -> int:
    """Return the number of partitions, which is the same for all topics.

    Only records that ``counts`` are looked at: the keys of others may be anywhere. Raises
    ``PartitionedApart`` where the numbers differ, or where the newest records of two topics have
    the same key in different partitions. Topics without a common key there are taken for alike.
    """
    numbers = {topic: require_topic(config, topic) for topic in topics}
    if len(set(numbers.values())) > 1:
        sizes = " and ".join(f"{topic} has {number}" for topic, number in numbers.items())
        raise PartitionedApart(
            f"Expected topics with the same number of partitions, but {sizes}: the same key lies "
            "in different ones. Write both into new topics of the same size."
        )
    places: dict[bytes, tuple[str, int | None]] = {}
    for topic in topics:
        for key, partition in _newest(config, topic, counts):
            other, former = places.setdefault(key, (topic, partition))
            if other != topic and former != partition:
                raise PartitionedApart(
                    f"Expected topics that are partitioned alike, but the key {key[:60]!r} is in "
                    f"partition {former} of {other} and in partition {partition} of {topic}. Set "
                    "the producers' `partitioner` to the same (Java's client: murmur2; librdkafka: "
                    "partitioner=murmur2_random), and write a new topic."
                )
    return next(iter(numbers.values()))


def require_partitions(
    config: Mapping[str, Any], topics: Sequence[str], number: int, timeout: float = ANSWER_S
) -> None:
    """Raise ``PartitionedApart`` where a topic no longer has this number of partitions.

    A broker that is away is waited for, for ``timeout`` seconds.
    """
    for topic in topics:
        found = require_topic(config, topic, timeout)
        if found != number:
            raise PartitionedApart(
                f"Expected {topic} to keep its {number} partitions, but it has {found} now: keys "
                "move to other partitions when some are added, and a visit would be split "
                "silently. Write both streams into new topics of the same size, and start there."
            )


def _newest(
    config: Mapping[str, Any], topic: str, counts: Counts
) -> Iterator[tuple[bytes, int | None]]:
    """Yield key and partition of those of a topic's newest records that count."""
    wanted = {
        place.partition: (max(place.begin, place.end - LOOKS_AT), place.end)
        for place in partition_offsets(config, topic)
    }
    for message in records(config, topic, wanted):
        if (key := message.key()) and counts(message):
            yield key, message.partition()
