"""Looks whether two topics are partitioned alike: as many partitions, the same hash of the key."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, Message, TopicPartition

from workbook.errors import PartitionedApart
from workbook.kafka.murmur2 import partition_of
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.probe import require_topic
from workbook.kafka.readers import FAST_PLAIN

LOOKS_AT = 500
"""So many of the newest records of each partition are looked at: many may be heartbeats."""

ENOUGH = 8
"""So many different keys show a partitioner; fewer may fit one by chance."""

ANSWER_S = 6.0
_A_MOMENT_S = 0.1


def _crc32(keys: Sequence[bytes], partitions: int) -> list[int]:
    return [zlib.crc32(key) % partitions for key in keys]


PARTITIONERS: dict[str, Callable[[Sequence[bytes], int], Sequence[int]]] = {
    "murmur2 (Java's client)": lambda keys, n: partition_of(keys, n).tolist(),
    "CRC32 (librdkafka's default)": _crc32,
}
"""Partitioners by the key: which of ``n`` partitions each of the keys gets."""


Counts = Callable[[Message], bool]
"""Whether a record's key is one that chose its partition."""


def require_alike(
    config: Mapping[str, Any], topics: Sequence[str], counts: Counts = lambda message: True
) -> int:
    """Return the number of partitions, which is the same for all topics.

    Only records that ``counts`` are looked at: the keys of others may lie anywhere. Raises
    ``PartitionedApart`` where it isn't, or where the keys of the newest records show that two
    topics were written by different partitioners: the same key would lie in different partitions.
    Topics that all fit no known partitioner are taken for alike, and so is one with fewer than
    ``ENOUGH`` different keys.
    """
    numbers = {topic: require_topic(config, topic) for topic in topics}
    if len(set(numbers.values())) > 1:
        sizes = " and ".join(f"{topic} has {number}" for topic, number in numbers.items())
        raise PartitionedApart(
            f"Expected topics with the same number of partitions, but {sizes}: the same key lies "
            "in different ones. Write both into new topics of the same size."
        )
    number = next(iter(numbers.values()))
    fits = {topic: _fitting(_keys(config, topic, counts), number) for topic in topics}
    known = {topic: names for topic, names in fits.items() if names is not None}
    if number > 1 and any(known.values()) and not set.intersection(*known.values()):
        which = " and ".join(
            f"{topic} by {' or '.join(names) or 'neither'}" for topic, names in known.items()
        )
        raise PartitionedApart(
            f"Expected topics that were partitioned alike, but {which}: the same key lies in "
            "different partitions. Set the producer's `partitioner` to the same for both (Java's "
            "client: murmur2; librdkafka: partitioner=murmur2_random), and write a new topic."
        )
    return number


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


def _fitting(keys: Mapping[int, Sequence[bytes]], number: int) -> set[str] | None:
    """Return the partitioners that have put these keys where they lie; None for too few keys."""
    found = [(key, partition) for partition, some in keys.items() for key in some]
    if len({key for key, _ in found}) < ENOUGH:
        return None
    where = [partition for _, partition in found]
    only_keys = [key for key, _ in found]
    return {name for name, by in PARTITIONERS.items() if list(by(only_keys, number)) == where}


def _keys(config: Mapping[str, Any], topic: str, counts: Counts) -> dict[int, list[bytes]]:
    """Return keys of those of the newest records that count, by partition."""
    ends = partition_offsets(dict(config), topic)
    settings = {"group.id": "workbook-looks", "enable.auto.commit": "false", **FAST_PLAIN}
    reader = Consumer({**config, **settings, "enable.partition.eof": "true"})
    found: dict[int, list[bytes]] = {}
    try:
        starts = [
            TopicPartition(topic, o.partition, max(o.begin, o.end - LOOKS_AT))
            for o in ends
            if o.end > o.begin
        ]
        reader.assign(starts)
        waiting = {o.partition: o.end for o in ends if o.end > o.begin}
        until = time.monotonic() + ANSWER_S
        while waiting and time.monotonic() < until:
            # It waits for as many as it's asked for: after the last ones, all of the time.
            for message in reader.consume(LOOKS_AT, _A_MOMENT_S):
                until = time.monotonic() + ANSWER_S
                partition, key = int(message.partition() or 0), message.key()
                over = message.error() is not None
                if not over and key and counts(message):
                    found.setdefault(partition, []).append(key)
                if over or int(message.offset() or 0) + 1 >= waiting.get(partition, 0):
                    waiting.pop(partition, None)
    finally:
        reader.close()
    return found
