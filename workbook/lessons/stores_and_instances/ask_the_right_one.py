"""Chapter 22: Ask the right one."""

import binascii
import zlib

from workbook.classroom.exercise import case, exercise, wrong


def ask(client, stores):
    return stores[zlib.crc32(client.encode()) % len(stores)].get(client, 0)


def crc(client):
    return zlib.crc32(client.encode())


def by(number, default=0):
    """Ask the store that another number of the client's name leads to."""
    return lambda client, stores: stores[number(client) % len(stores)].get(client, default)


def first_row(client, stores):
    return next((store[client] for store in stores if client in store), 0)


def of(client, held, number, old=()):
    """Return a question: stores of ``held``, with ``old`` rows in all stores but the right one."""
    stores = [{} for _ in range(number)]
    for name, positions in held.items():
        stores[crc(name) % number][name] = positions
    for name, positions in dict(old).items():
        for at, store in enumerate(stores):
            if at != crc(name) % number:
                store[name] = positions
    return client, stores


HELD = {"Ada": 4, "Bo": 2, "Cleo": 7, "Dan": 1, "Eve": 3, "Finn": 9, "Zoë": 5}


def draw(random, size):
    names = [f"{random.choice('céß日')}{random.randrange(100):02}" for _ in range(1 + size // 4)]
    held = {name: random.randrange(1, 20) for name in names}
    asked = random.choice((*names, "Nobody", ""))
    old = random.choice(({}, {asked: random.randrange(1, 20)}))
    return of(asked, held, random.choice((1, 2, 3, 5, 7, 24)), old)


ask_the_right_one = exercise(
    ask,
    name="Ask the right one",
    task="Write the function that asks the right instance. `stores` is a list with one dictionary "
    "per partition, from client to number of positions: store 0 has partition 0, and so on. The "
    "topic's key is the client's name in UTF-8, and the producer chose the partition by "
    "`crc32(key) % partitions`. Return the client's number of positions, or `0` for a client who "
    "holds none.\n\n"
    "A store may still have old rows of clients whose partition it had before a rebalance. Don't "
    "use those.\n\n"
    "`zlib.crc32(b'Ada')` is even, so with two stores `ask('Ada', stores)` looks into `stores[0]`.",
    cases=[
        case("The CRC32 of `Ada` is even, so its partition is 0.", *of("Ada", HELD, 2)),
        case("There are two stores. CRC32 modulo 2 is the partition.", *of("Bo", HELD, 2)),
        case("There are two stores. CRC32 modulo 2 is the partition.", *of("Dan", HELD, 2)),
        case("There are three stores. CRC32 modulo 3 is the partition.", *of("Cleo", HELD, 3)),
        case("There are three stores. CRC32 modulo 3 is the partition.", *of("Eve", HELD, 3)),
        case("There are four stores. CRC32 modulo 4 is the partition.", *of("Eve", HELD, 4)),
        case("The key is the name's bytes in UTF-8, where `ë` has two.", *of("Zoë", HELD, 3)),
        case("Ida holds nothing, and the right store has no row: 0.", *of("Ida", HELD, 2)),
        case("The other store has an old row of Finn.", *of("Finn", HELD, 2, {"Finn": 8})),
        case("Other stores have old rows of Ida, and the right one has none.",
             *of("Ida", HELD, 3, {"Ida": 6})),
    ],
    draw=draw,
    right=[by(lambda client: binascii.crc32(client.encode("utf-8")))],
    wrong=[
        wrong("It takes the row of any store that has one. That may be an old row, from before a "
              "rebalance: ask only the store of the key's partition.", first_row,
              lambda client, stores: max(s.get(client, 0) for s in stores)),
        wrong("It adds up the answers of all stores. A key belongs to one partition, and a row of "
              "it in another store is old.",
              lambda client, stores: sum(s.get(client, 0) for s in stores)),
        wrong("It asks the same store for every client. The key decides which store is right.",
              by(lambda client: 0), by(lambda client: -1)),
        wrong("It chooses the store by another hash than the producer. Only `zlib.crc32` of the "
              "key's bytes leads to the record's partition.", by(hash), by(len)),
        wrong("It always divides by two. `len(stores)` is the number of partitions.",
              lambda client, stores: stores[crc(client) % 2 % len(stores)].get(client, 0)),
        wrong("It returns None for a client without a row. In the right store, no row means 0.",
              by(crc, None)),
    ],
    hints=(
        "Which store is it? Only the key and the number of stores decide that. The contents of the "
        "stores don't matter.",
        "`zlib.crc32` takes bytes. A dictionary's `get` takes a second argument, the value for a "
        "missing key.",
        "`number = zlib.crc32(client.encode()) % len(stores)` is the store to ask.",
    ),
    discussion="No search is needed: the key and the number of partitions decide, so a question "
    "costs one look-up on one machine. Kafka Streams has `queryMetadataForKey` for this. It "
    "returns the host to ask, and you write the call over the network.\n\n"
    "The function rests on two assumptions. The number of partitions must never change, and every "
    "producer of the topic must use the same partitioner: Java's default is murmur2, librdkafka's "
    "is CRC32.",
)  # fmt: skip
