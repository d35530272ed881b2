"""Computes the partition of many keys at once by the hash of Kafka's Java client."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

SEED = np.uint32(0x9747B28C)
FACTOR = np.uint32(0x5BD1E995)


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
