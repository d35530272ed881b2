"""Answers to "Ask the right one", right and wrong, as learners may write them."""

from __future__ import annotations

import binascii
import zlib

from proof import Catalogue

from workbook.lessons.stores_and_instances.ask_the_right_one_mistakes import MISTAKES


def step_by_step(client, stores):
    key = bytes(client, "utf-8")
    partition = zlib.crc32(key) % len(stores)
    store = stores[partition]
    if client in store:
        return store[client]
    return 0


def by_binascii(client, stores):
    return stores[binascii.crc32(client.encode("utf-8")) % len(stores)].get(client, 0)


def first_that_knows(client, stores):
    for store in stores:
        if client in store:
            return store[client]
    return 0


def all_added_up(client, stores):
    return sum(store.get(client, 0) for store in stores)


def by_hash(client, stores):
    return stores[hash(client) % len(stores)].get(client, 0)


def as_in_java(client, stores):
    number = (zlib.crc32(client.encode("utf-8")) & 0x7FFFFFFF) % len(stores)
    return stores[number].get(client, 0)


def without_default(client, stores):
    return stores[zlib.crc32(client.encode()) % len(stores)].get(client)


def with_brackets(client, stores):
    return stores[zlib.crc32(client.encode()) % len(stores)][client]


def of_text(client, stores):
    return stores[zlib.crc32(client) % len(stores)].get(client, 0)


def ascii_only(client, stores):
    return stores[zlib.crc32(client.encode("ascii")) % len(stores)].get(client, 0)


def prints_it(client, stores):
    print(step_by_step(client, stores))


catalogue = Catalogue(
    right=[step_by_step, by_binascii],
    wrong=[
        (first_that_knows, "whichever store has a row"),
        (all_added_up, "puts their answers together"),
        (by_hash, "another number in each process"),
        (as_in_java, "drops the highest bit"),
        (without_default, "gets None"),
        (with_brackets, "raised KeyError"),
        (of_text, "raised TypeError"),
        (ascii_only, "raised UnicodeEncodeError"),
        (lambda client, stores: zlib.crc32(client.encode()) % len(stores), "number of the store"),
        (lambda client, stores: stores[0].get(client, 0), "always asks the first"),
        (prints_it, "prints the value"),
        (lambda client: 0, "Keep the parameters"),
    ],
    shortcuts=[
        (lambda client, stores: stores[zlib.crc32(client.encode()) % 2].get(client, 0), "always"),
        (
            lambda client, stores: stores[zlib.crc32(client.encode()) & len(stores) - 1].get(
                client, 0
            ),
            "three stores",
        ),
        (lambda client, stores: stores[len(client) % len(stores)].get(client, 0), "another number"),
    ],
    models=MISTAKES,
)
