"""Answers to "Who has it?", right and wrong, as learners may write them."""

from __future__ import annotations

import ctypes
import struct
import zlib

from proof import Catalogue

from workbook.lessons.windowed_store.who_has_it_mistakes import MISTAKES


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


def by_hash_and_number_of_instances(group, instances, partitions):
    hashed = 0
    for (unit,) in struct.iter_unpack(">H", group.encode("utf-16-be")):
        hashed = ctypes.c_int32(31 * hashed + unit).value
    return list(instances)[(abs(hashed) & 0x7FFFFFFF) % len(instances)]


def nothing_as_text(group, instances, partitions):
    return by_struct(group, instances, partitions) or ""


def always_fifty(group, instances, partitions):
    return by_struct(group, instances, 50)


def with_units(units):
    """The right answer, but for the units that are summed up."""

    def instance_of(group, instances, partitions):
        hashed = 0
        for unit in units(group):
            hashed = (31 * hashed + unit) & 0xFFFFFFFF
        hashed = hashed - 2**32 if hashed >= 2**31 else hashed
        return find(0 if hashed == -(2**31) else abs(hashed) % partitions, instances)

    return instance_of


def in_pairs(data):
    return [256 * data[place] + data[place + 1] for place in range(0, len(data), 2)]


little_endian = with_units(lambda group: in_pairs(group.encode("utf-16-le")))
with_a_mark = with_units(lambda group: in_pairs(group.encode("utf-16")))
low_bytes = with_units(lambda group: group.encode("utf-16-be")[1::2])
not_the_last = with_units(lambda group: in_pairs(group.encode("utf-16-be")[:-2]))
without_the_emoji = with_units(lambda group: [ord(c) for c in group if ord(c) < 0x10000])
in_lower_case = with_units(lambda group: in_pairs(group.lower().encode("utf-16-be")))
stripped = with_units(lambda group: in_pairs(group.strip().encode("utf-16-be")))


def step_by_step(step):
    """The right answer, but for what is done with each unit."""

    def instance_of(group, instances, partitions):
        hashed = 0
        for unit in in_pairs(group.encode("utf-16-be")):
            hashed = step(hashed, unit)
        hashed = hashed - 2**32 if hashed >= 2**31 else hashed
        return find(0 if hashed == -(2**31) else abs(hashed) % partitions, instances)

    return instance_of


times_33 = step_by_step(lambda hashed, unit: (33 * hashed + unit) % 2**32)
added_first = step_by_step(lambda hashed, unit: 31 * (hashed + unit) % 2**32)
mask_as_modulo = step_by_step(lambda hashed, unit: (31 * hashed + unit) % (2**32 - 1))
sixteen_bits = step_by_step(lambda hashed, unit: (31 * hashed + unit) & 0xFFFF)


def sign_dropped_in_each_step(group, instances, partitions):
    hashed = 0
    for unit in in_pairs(group.encode("utf-16-be")):
        hashed = (31 * hashed + unit) & 0xFFFFFFFF
        hashed = abs(hashed - 2**32) if hashed >= 2**31 else hashed
        hashed = 0 if hashed == 2**31 else hashed
    return find(hashed % partitions, instances)


def negative_is_zero(group, instances, partitions):
    return find(max(java(group), 0) % partitions, instances)


def always_subtracts(group, instances, partitions):
    return find(abs(java(group) % 2**32 - 2**32) % partitions, instances)


def without_modulo(group, instances, partitions):
    hashed = java(group)
    return find(0 if hashed == -(2**31) else abs(hashed), instances)


def last_character_first(group, instances, partitions):
    return by_struct(group[::-1], instances, partitions)


def in_order_of_instances(group, instances, partitions):
    at = the_partition(group, instances, partitions)
    return list(instances)[at * len(instances) // partitions]


def by_number_of_the_last(group, instances, partitions):
    last = max(number for reads in instances.values() for number in reads)
    return by_struct(group, instances, last + 1)


def of_those_up(group, instances, partitions):
    return by_struct(group, instances, sum(map(len, instances.values())))


def between(group, instances, partitions):
    at = the_partition(group, instances, partitions)
    for name, reads in instances.items():
        if reads and min(reads) <= at <= max(reads):
            return name
    return None


def first_of_a_list(group, instances, partitions):
    at = the_partition(group, instances, partitions)
    names = [name for name, reads in instances.items() if at in reads]
    return names[0]


def turned_round(group, instances, partitions):
    names = {number: name for name, reads in instances.items() for number in reads}
    return names[the_partition(group, instances, partitions)]


def gives_up(group, instances, partitions):
    at = the_partition(group, instances, partitions)
    for name in instances:
        return name if at in instances[name] else None
    return None


def not_the_first_partition(group, instances, partitions):
    at = the_partition(group, instances, partitions)
    if not at:
        return None
    return find(at, instances)


def a_list(group, instances, partitions):
    at = the_partition(group, instances, partitions)
    return [name for name in instances if at in instances[name]]


def its_partitions(group, instances, partitions):
    return instances.get(by_struct(group, instances, partitions))


def none_as_text(group, instances, partitions):
    return str(by_struct(group, instances, partitions))


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
        (raises_when_down, "it raises an error"),
        (little_endian, "exchanges the two bytes"),
        (with_a_mark, "puts a mark in front"),
        (low_bytes, "one byte of each unit"),
        (not_the_last, "leaves out a unit"),
        (without_the_emoji, "0xD83D and 0xDE80"),
        (in_lower_case, "isn't `billing`"),
        (stripped, "The space in front"),
        (last_character_first, "begins with the last unit"),
        (times_33, "another number than 31"),
        (added_first, "`31 * hashed + unit`"),
        (mask_as_modulo, "the mask for `&`"),
        (sixteen_bits, "keeps 16 bits"),
        (sign_dropped_in_each_step, "drops the sign of each step"),
        (negative_is_zero, "A negative hash becomes 0"),
        (always_subtracts, "2**32 in any case"),
        (without_modulo, "modulo `partitions` is missing"),
        (by_number_of_instances, "divides the hash among the instances"),
        (in_order_of_instances, "gives each instance as many"),
        (of_those_up, "partitions that are read now"),
        (between, "between an instance's first and last"),
        (gives_up, "stands behind the loop"),
        (not_the_first_partition, "takes partition 0 for none"),
        (a_list, "It returns several values"),
        (none_as_text, "the text 'None'"),
        (someone, "names an instance all the same"),
        (always_fifty, "50 partitions, always"),
        (nothing_as_text, "returns the text ''"),
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
    same=[
        (first_of_a_list, raises_when_down),
        (turned_round, raises_when_down),
        (by_number_of_the_last, of_those_up),
        (its_partitions, a_list),
        (by_hash_and_number_of_instances, by_number_of_instances),
    ],
    models=MISTAKES,
)
