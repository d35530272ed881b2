"""Says which partition a key belongs to, and whether two topics are partitioned alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from confluent_kafka import Message

from workbook.errors import PartitionedApart
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.readers import records
from workbook.kafka.require import ANSWER_S, require_topic

Words = npt.NDArray[np.uint32]

SEED = np.uint32(0x9747B28C)
FACTOR = np.uint32(0x5BD1E995)

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
        ranges = {
            place.partition: (max(place.begin, place.end - LOOKS_AT), place.end)
            for place in partition_offsets(config, topic)
        }
        for message in records(config, topic, ranges):
            key, partition = message.key(), message.partition()
            if not key or not counts(message):
                continue
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


# --- the hash of Kafka's Java client -------------------------------------------------------------


def partition_of(keys: Sequence[bytes], partitions: int) -> npt.NDArray[np.int32]:
    """Return each key's partition, as the Java client and librdkafka's ``murmur2`` choose it."""
    positive = murmur2(keys) & np.uint32(0x7FFFFFFF)
    return (positive % np.uint32(partitions)).astype(np.int32)


def murmur2(keys: Sequence[bytes]) -> Words:
    """Compute MurmurHash2 (A. Appleby, 2008) with the seed that Kafka uses."""
    lengths = np.array([len(key) for key in keys], dtype=np.int64)
    hashes = np.zeros(len(keys), dtype=np.uint32)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        joined = b"".join(keys[row] for row in rows.tolist())
        hashes[rows] = _of_length(
            np.frombuffer(joined, np.uint8).reshape(len(rows), length).astype(np.uint32)
        )
    return hashes


def _of_length(letters: Words) -> Words:
    """Hash keys of one length; ``letters`` has a row per key."""
    count, length = letters.shape
    h = np.full(count, SEED ^ np.uint32(length), dtype=np.uint32)
    whole = length // 4 * 4
    for at in range(0, whole, 4):
        k = _word(letters[:, at : at + 4]) * FACTOR
        h = (h * FACTOR) ^ ((k ^ (k >> np.uint32(24))) * FACTOR)
    if whole < length:
        h = (h ^ _word(letters[:, whole:])) * FACTOR
    h = (h ^ (h >> np.uint32(13))) * FACTOR
    return h ^ (h >> np.uint32(15))


def _word(letters: Words) -> Words:
    """Return up to four bytes as a number, the lowest first."""
    word = np.zeros(len(letters), dtype=np.uint32)
    for column in range(letters.shape[1]):
        word |= letters[:, column] << np.uint32(8 * column)
    return word
