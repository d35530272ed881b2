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


def by_struct(group, instances):
    hashed = 0
    for (unit,) in struct.iter_unpack(">H", group.encode("utf-16-be")):
        hashed = (hashed * 31 + unit) & 0xFFFFFFFF
    if hashed & 0x80000000:
        hashed = 2**32 - hashed
    if hashed == 2**31:
        hashed = 0
    return find(hashed % 50, instances)


def by_ctypes(group, instances):
    data, total = group.encode("utf-16-be"), 0
    for place in range(0, len(data), 2):
        total = ctypes.c_int32(31 * total + int.from_bytes(data[place : place + 2], "big")).value
    positive = abs(total) if total != -(2**31) else 0
    return next((name for name, reads in instances.items() if positive % 50 in reads), None)


def by_powers(group, instances):
    units = memoryview(group.encode("utf-16-le")).cast("H").tolist()
    total = sum(unit * 31 ** (len(units) - 1 - place) for place, unit in enumerate(units))
    total = (total + 2**31) % 2**32 - 2**31
    return find(abs(total) % 2**31 % 50, instances)


def java(group):
    hashed = 0
    for character in group:
        hashed = (31 * hashed + ord(character)) & 0xFFFFFFFF
    return hashed - 2**32 if hashed >= 2**31 else hashed


def masked(group, instances):
    return find((java(group) & 0x7FFFFFFF) % 50, instances)


def python_hash(group, instances):
    return find(hash(group) % 50, instances)


def unbounded(group, instances):
    hashed = 0
    for character in group:
        hashed = 31 * hashed + ord(character)
    return find(hashed % 50, instances)


def unsigned(group, instances):
    return find(java(group) % 2**32 % 50, instances)


def negative_modulo(group, instances):
    return find(java(group) % 50, instances)


def smallest_forgotten(group, instances):
    data, hashed = group.encode("utf-16-be"), 0
    for high, low in zip(data[::2], data[1::2], strict=True):
        hashed = (31 * hashed + 256 * high + low) & 0xFFFFFFFF
    return find(abs(hashed - 2**32 if hashed >= 2**31 else hashed) % 50, instances)


def of_bytes(group, instances):
    hashed = 0
    for byte in group.encode():
        hashed = (31 * hashed + byte) & 0xFFFFFFFF
    hashed = hashed - 2**32 if hashed >= 2**31 else hashed
    return find(0 if hashed == -(2**31) else abs(hashed) % 50, instances)


def of_characters(group, instances):
    hashed = java(group)
    return find(0 if hashed == -(2**31) else abs(hashed) % 50, instances)


def the_partition(group, instances):
    return by_struct(group, {number: [number] for number in range(50)})


def raises_when_down(group, instances):
    return next(name for name in instances if the_partition(group, instances) in instances[name])


def someone(group, instances):
    return by_struct(group, instances) or next(iter(instances))


def by_number_of_instances(group, instances):
    names = sorted(instances)
    return names[the_partition(group, instances) % len(names)] if names else None


def nothing_as_text(group, instances):
    return by_struct(group, instances) or ""


def prints_it(group, instances):
    print(by_struct(group, instances))


def exchanged(instances, group):
    return by_struct(group, instances)


catalogue = Catalogue(
    right=[by_struct, by_ctypes, by_powers],
    wrong=[
        (masked, "masks the highest bit"),
        (python_hash, "another number of the name"),
        (unbounded, "Nothing overflows"),
        (unsigned, "no sign"),
        (negative_modulo, "modulo 50. In Python"),
        (smallest_forgotten, "One hash is left over"),
        (of_bytes, "bytes of UTF-8"),
        (of_characters, "sums up characters"),
        (the_partition, "Which instance reads it"),
        (raises_when_down, "raised StopIteration"),
        (someone, "names an instance all the same"),
        (nothing_as_text, "an empty text"),
        (prints_it, "prints the value"),
        (exchanged, "changed places"),
        (lambda group: group, "Keep the parameters"),
    ],
    shortcuts=[
        (lambda group, instances: by_struct(group[:20], instances), "drawn by chance"),
        (lambda group, instances: find(zlib.crc32(group.encode()) % 50, instances), "another"),
    ],
    models=MISTAKES,
)
