"""Computes the partition of ``__consumer_offsets`` that has a consumer group's records."""

from __future__ import annotations

from struct import iter_unpack

OFFSETS_PARTITIONS = 50
"""The broker's default, ``offsets.topic.num.partitions``."""


def offsets_partition(group: str, partitions: int = OFFSETS_PARTITIONS) -> int:
    """Return the partition of a group: all its commits and its metadata lie in this one.

    As Apache Kafka's ``GroupCoordinatorService.partitionFor``: the absolute value of Java's hash,
    modulo ``partitions``. A record's key is masked instead, which differs for negative hashes.
    """
    hashed = java_hash(group)
    return 0 if hashed == -(2**31) else abs(hashed) % partitions  # Java's abs can't hold 2**31


def java_hash(text: str) -> int:
    """Compute ``String.hashCode`` of Java: of UTF-16 units, a signed number of 32 bits."""
    hashed = 0
    for (unit,) in iter_unpack(">H", text.encode("utf-16-be", "surrogatepass")):
        hashed = (31 * hashed + unit) & 0xFFFFFFFF
    return hashed - 2**32 if hashed >= 2**31 else hashed
