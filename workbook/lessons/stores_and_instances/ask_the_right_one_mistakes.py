"""Wrong answers to "Ask the right one", from a client and the stores to the number of positions."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence

from workbook.classroom.mistakes import Mistake, same_idea

Stores = Sequence[Mapping[str, int]]


def _at(client: str, stores: Stores) -> int:
    return zlib.crc32(client.encode()) % len(stores)


def _store_by(number: Callable[[str], int]) -> Callable[[str, Stores], int]:
    """Return the answer that chooses a store by another number of the client's name."""
    return lambda client, stores: stores[number(client) % len(stores)].get(client, 0)


_OTHER_NUMBER = (
    "It chooses the store by another number than the producer did. Only `zlib.crc32` of the key's "
    "bytes leads to the partition that the record lies in. (Python's `hash` of a text is even "
    "another number in each process.)"
)

MISTAKES = [
    *same_idea(
        lambda client, stores: next((s[client] for s in stores if client in s), 0),
        lambda client, stores: next((s[client] for s in reversed(stores) if client in s), 0),
        lambda client, stores: min((s[client] for s in stores if client in s), default=0),
        cause="It believes whichever store has a row. That may be an old one, from before a "
        "rebalance: ask the store of the key's partition alone.",
    ),
    Mistake(
        lambda client, stores: sum(s.get(client, 0) for s in stores),
        "It asks all stores and puts their answers together. A key belongs to one partition, and "
        "what other stores have of it is old.",
    ),
    Mistake(
        lambda client, stores: stores[0].get(client, 0),
        "It always asks the first store. The key decides which one it is.",
    ),
    Mistake(
        lambda client, stores: stores[-1].get(client, 0),
        "It always asks the last store. The key decides which one it is.",
    ),
    *same_idea(
        _store_by(hash),
        _store_by(len),
        _store_by(lambda client: ord(client[0])),
        _store_by(lambda client: sum(client.encode())),
        _store_by(lambda client: zlib.adler32(client.encode())),
        _store_by(lambda client: int.from_bytes(client.encode())),
        cause=_OTHER_NUMBER,
    ),
    Mistake(
        _store_by(lambda client: zlib.crc32(client.encode()) & 0x7FFFFFFF),
        "It drops the highest bit, as Java does to get no negative number. Python's `zlib.crc32` "
        "is never negative, and the producer took all 32 bits: modulo 3 that's another partition.",
    ),
    Mistake(
        lambda client, stores: stores[zlib.crc32(client.encode()) % 2].get(client, 0),
        "It computes with two stores, always. `len(stores)` says how many there are.",
    ),
    Mistake(
        lambda client, stores: stores[zlib.crc32(client.encode()) % len(stores)].get(client),
        "A client without a row gets None. At the right store that means: holds nothing, 0.",
    ),
    *same_idea(
        lambda client, stores: stores[_at(client, stores)].get(client.encode(), 0),
        lambda client, stores: 0,
        cause="It gives 0 for every client. Is a store asked? Its keys are texts, and bytes are "
        "never among them; only `crc32` wants bytes.",
    ),
    Mistake(_at, "It returns the number of the store. Look the client up in that store."),
    Mistake(
        lambda client, stores: dict(stores[_at(client, stores)]),
        "It returns the whole store. One client's number is asked for.",
    ),
    Mistake(
        lambda client, stores: stores[(_at(client, stores) + 1) % len(stores)].get(client, 0),
        "It asks the store next to the right one. Partitions and the list are both counted from 0.",
    ),
]
"""The answers of learners, as models; the first that gives the same names the cause."""
