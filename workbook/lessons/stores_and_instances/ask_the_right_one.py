"""Chapter 22: Ask the right one."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping, Sequence

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.stores_and_instances.ask_the_right_one_mistakes import MISTAKES


def ask(client: str, stores: Sequence[Mapping[str, int]]) -> int:
    return stores[zlib.crc32(client.encode()) % len(stores)].get(client, 0)


def _stores(held: Mapping[str, int], number: int) -> list[dict[str, int]]:
    """Return stores of so many partitions, each with its own clients."""
    stores: list[dict[str, int]] = [{} for _ in range(number)]
    for client, positions in held.items():
        stores[zlib.crc32(client.encode()) % number][client] = positions
    return stores


def _with_leftovers(
    held: Mapping[str, int], number: int, old: Mapping[str, int]
) -> list[dict[str, int]]:
    """Return such stores with rows of ``old`` in all stores but the right one."""
    stores = _stores(held, number)
    for client, positions in old.items():
        for at, store in enumerate(stores):
            if at != zlib.crc32(client.encode()) % number:
                store[client] = positions
    return stores


_HELD = {"Ada": 4, "Bo": 2, "Cleo": 7, "Dan": 1, "Eve": 3, "Finn": 9, "Zoë": 5}


def _drawn_stores() -> Iterator[Case]:
    draw = random.Random(22)
    for size in range(24):
        names = [f"c{draw.randrange(100):02}" for _ in range(1 + size // 4)]
        held = {name: draw.randrange(1, 20) for name in names}
        asked = draw.choice((*names, "Nobody"))
        yield Case(
            (asked, stores := _stores(held, draw.choice((1, 2, 3, 5, 7)))),
            ask(asked, stores),
            "These stores were drawn by chance. Which partition has the key?",
        )


_TWO, _THREE = _stores(_HELD, 2), _stores(_HELD, 3)
_RIGHT_PLACE = "CRC32 of the key's bytes, modulo the number of stores, is the partition of the key."
_CASES = [
    Case(("Ada", _TWO), 4, _RIGHT_PLACE),
    Case(("Bo", _TWO), 2, _RIGHT_PLACE),
    Case(("Dan", _TWO), 1, _RIGHT_PLACE),
    Case(("Cleo", _THREE), 7, "There are three stores here. " + _RIGHT_PLACE),
    Case(("Eve", _THREE), 3, "There are three stores here. " + _RIGHT_PLACE),
    Case(("Eve", _stores(_HELD, 4)), 3, "There are four stores here. " + _RIGHT_PLACE),
    Case(("Zoë", _THREE), 5, "A key is bytes: `encode()` makes them of any text."),
    Case(
        ("Ida", _TWO),
        0,
        "Ida holds nothing, and the right store says so by having no row: that's 0.",
    ),
    Case(
        ("Finn", _with_leftovers(_HELD, 2, {"Finn": 8})),
        9,
        "The other store has an old row of Finn, from before a rebalance. Only the store of the "
        "key's partition is right.",
    ),
    Case(
        ("Ida", _with_leftovers(_HELD, 3, {"Ida": 6})),
        0,
        "Ida sold everything. Other stores have an old row, and the right one has none.",
    ),
]

ask_the_right_one = Problem(
    name="Ask the right one",
    task="Write the function that asks the right instance. `stores` is a list with one dictionary "
    "per partition, from client to the number of positions; store 0 belongs to partition 0, and so "
    "on. The key of the topic was the client's name, as UTF-8, and the producer put it into "
    "partition `crc32(key) % partitions`. Return the client's number of positions, `0` for one "
    "who holds none. A store may have old rows of clients whose partition it once had, before a "
    "rebalance: don't believe those.\n\n"
    "`zlib.crc32(b'Ada')` is even, so with two stores `ask('Ada', stores)` looks into `stores[0]`.",
    stub="def ask(client, stores):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_CASES, MISTAKES),
        by_cases(smallest_first(_drawn_stores())),
    ),
    hints=(
        "Which store is it? Only the key and the number of stores decide that, not what is in "
        "them.",
        "`zlib.crc32` takes bytes. A dictionary's `get` takes a second value, for keys that it "
        "doesn't have.",
        "`number = zlib.crc32(client.encode()) % len(stores)` is the store to ask.",
    ),
    reference=ask,
    discussion="Nothing is searched: key and number of partitions decide, so a question costs one "
    "look-up on one machine. Kafka Streams' `queryMetadataForKey` is this, and it returns the "
    "host to ask; the call over the network is yours to write.\n\n"
    "It stands on two things that aren't in the function. The number of partitions must never "
    "change. And every producer of the topic must use the same partitioner: Java's default is "
    "murmur2, librdkafka's is CRC32.",
)
