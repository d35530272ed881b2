"""Answers to "Who has it?", right and wrong, as learners may write them."""

from __future__ import annotations

import ctypes
import struct
import zlib

from proof import Catalogue

from workbook.exercises.chapters.windowed_store.who_has_it_mistakes import MISTAKES


def find(partition, instances):
    for name in instances:
        if partition in instances[name]:
            return name
    return None


def by_struct(group, instances, partitions):
    hashed = 0
    for (unit,) in struct.iter_unpack(">H", group.encode("utf-16-be")):
        hashed = (hashed * 31 + unit) & 0xFFFFFFFF
    if hashed & 0x80000000:
        hashed = 2**32 - hashed
    if hashed == 2**31:
        hashed = 0
    return find(hashed % partitions, instances)


def by_ctypes(group, instances, partitions):
    data, total = group.encode("utf-16-be"), 0
    for place in range(0, len(data), 2):
        total = ctypes.c_int32(31 * total + int.from_bytes(data[place : place + 2], "big")).value
    positive = abs(total) if total != -(2**31) else 0
    return next((name for name, reads in instances.items() if positive % partitions in reads), None)


def by_powers(group, instances, partitions):
    units = memoryview(group.encode("utf-16-le")).cast("H").tolist()
    total = sum(unit * 31 ** (len(units) - 1 - place) for place, unit in enumerate(units))
    total = (total + 2**31) % 2**32 - 2**31
    return find(abs(total) % 2**31 % partitions, instances)


def java(group):
    hashed = 0
    for character in group:
        hashed = (31 * hashed + ord(character)) & 0xFFFFFFFF
    return hashed - 2**32 if hashed >= 2**31 else hashed


def masked(group, instances, partitions):
    return find((java(group) & 0x7FFFFFFF) % partitions, instances)


def python_hash(group, instances, partitions):
    return find(hash(group) % partitions, instances)


def unbounded(group, instances, partitions):
    hashed = 0
    for character in group:
        hashed = 31 * hashed + ord(character)
    return find(hashed % partitions, instances)


def unsigned(group, instances, partitions):
    return find(java(group) % 2**32 % partitions, instances)


def negative_modulo(group, instances, partitions):
    return find(java(group) % partitions, instances)


def smallest_forgotten(group, instances, partitions):
    data, hashed = group.encode("utf-16-be"), 0
    for high, low in zip(data[::2], data[1::2], strict=True):
        hashed = (31 * hashed + 256 * high + low) & 0xFFFFFFFF
    return find(abs(hashed - 2**32 if hashed >= 2**31 else hashed) % partitions, instances)


def of_bytes(group, instances, partitions):
    hashed = 0
    for byte in group.encode():
        hashed = (31 * hashed + byte) & 0xFFFFFFFF
    hashed = hashed - 2**32 if hashed >= 2**31 else hashed
    return find(0 if hashed == -(2**31) else abs(hashed) % partitions, instances)


def of_characters(group, instances, partitions):
    hashed = java(group)
    return find(0 if hashed == -(2**31) else abs(hashed) % partitions, instances)


def the_partition(group, instances, partitions):
    return by_struct(group, {number: [number] for number in range(50)}, partitions)


def raises_when_down(group, instances, partitions):
    return next(
        name for name in instances if the_partition(group, instances, partitions) in instances[name]
    )


def someone(group, instances, partitions):
    return by_struct(group, instances, partitions) or next(iter(instances))


def by_number_of_instances(group, instances, partitions):
    names = sorted(instances)
    return names[the_partition(group, instances, partitions) % len(names)] if names else None


def nothing_as_text(group, instances, partitions):
    return by_struct(group, instances, partitions) or ""


def always_fifty(group, instances, partitions):
    return by_struct(group, instances, 50)


def prints_it(group, instances, partitions):
    print(by_struct(group, instances, partitions))


def exchanged(instances, group, partitions):
    return by_struct(group, instances, partitions)


catalogue = Catalogue(
    right=[by_struct, by_ctypes, by_powers],
    wrong=[
        (masked, "masks the highest bit"),
        (python_hash, "another number of the name"),
        (unbounded, "Nothing overflows"),
        (unsigned, "no sign"),
        (negative_modulo, "modulo the partitions. In Python"),
        (smallest_forgotten, "One hash is left over"),
        (of_bytes, "bytes of UTF-8"),
        (of_characters, "sums up characters"),
        (the_partition, "Which instance reads it"),
        (raises_when_down, "raised StopIteration"),
        (someone, "names an instance all the same"),
        (always_fifty, "50 partitions, always"),
        (nothing_as_text, "an empty text"),
        (prints_it, "prints the value"),
        (exchanged, "changed places"),
        (lambda group: group, "Keep the parameters"),
    ],
    shortcuts=[
        (
            lambda group, instances, partitions: by_struct(group[:20], instances, partitions),
            "drawn by chance",
        ),
        (
            lambda group, instances, partitions: find(
                zlib.crc32(group.encode()) % partitions, instances
            ),
            "another",
        ),
    ],
    models=MISTAKES,
)
