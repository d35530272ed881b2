"""Wrong answers to "Who has it?" that take another number of the name than the broker."""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from typing import Any

from workbook.classroom.mistakes import Mistake, same_idea

Instances = Mapping[str, Collection[int]]
Answer = Callable[[str, Instances, int], Any]


def _units(group: str) -> list[int]:
    data = group.encode("utf-16-be")
    return [256 * high + low for high, low in zip(data[::2], data[1::2], strict=True)]


def _sum(units: Iterable[int], hashed: int = 0) -> int:
    for unit in units:
        hashed = 31 * hashed + unit
    return hashed


def signed(number: int) -> int:
    """Return the number that the lowest 32 bits stand for."""
    return (number + 2**31) % 2**32 - 2**31


def positive(hashed: int) -> int:
    """Return a hash without its sign, as Kafka's ``Utils.abs`` does."""
    return 0 if hashed == -(2**31) else abs(hashed)


def positive_hash(group: str) -> int:
    """Return the hash of a group as the broker has it, without its sign."""
    return positive(signed(_sum(_units(group))))


def at(partition: int, instances: Instances) -> str | None:
    """Return the first instance that reads a partition, or None."""
    return next((name for name, its in instances.items() if partition in its), None)


def _by(number: Callable[[str], int]) -> Answer:
    """Return the answer that takes another number of the name."""
    return lambda group, instances, partitions: at(number(group) % partitions, instances)


def _by_units(units: Callable[[str], Iterable[int]]) -> Answer:
    """Return the answer that sums up something else than the name's units."""
    return _by(lambda group: positive(signed(_sum(units(group)))))


def _by_steps(step: Callable[[int, int], int]) -> Answer:
    """Return the answer that adds a unit to the hash in another way."""
    return _by(lambda group: positive(signed(reduce(step, _units(group), 0))))


def _times(factor: int) -> Answer:
    return _by_steps(lambda hashed, unit: factor * hashed + unit)


def _swapped(group: str) -> list[int]:
    data = group.encode("utf-16-le")
    return [256 * high + low for high, low in zip(data[::2], data[1::2], strict=True)]


def from_sums(
    number: Callable[[int], int], cause: str, modulo: Callable[[int, int], int] = operator.mod
) -> list[Mistake]:
    """Return a wrong idea of what to do with the sum, be it of units or of characters."""
    return same_idea(
        lambda group, instances, partitions: at(
            modulo(number(_sum(_units(group))), partitions), instances
        ),
        lambda group, instances, partitions: at(
            modulo(number(_sum(map(ord, group))), partitions), instances
        ),
        cause=cause,
    )


def _as_in_java(number: int, partitions: int) -> int:
    """Return the remainder with the sign of the number, as Java's and C's ``%`` has it."""
    return number % partitions if number >= 0 else -(-number % partitions)


HASHED = [
    *from_sums(
        lambda total: signed(total) & 0x7FFFFFFF,
        "It masks the highest bit. That's how a record's key finds its partition; here the sign is "
        "dropped instead: -109,829,509 becomes 109,829,509.",
    ),
    *from_sums(
        lambda total: abs(signed(total)),
        "One hash is left over: -2147483648. Kafka's `Utils.abs` makes 0 of it.",
    ),
    *from_sums(
        lambda total: max(signed(total), 0),
        "A negative hash becomes 0. Only -2147483648 does; any other one loses its sign.",
    ),
    *from_sums(
        lambda total: abs(total % 2**32 - 2**32),
        "It takes off 2**32 in any case. Only from 2**31 on a number stands for a negative one.",
    ),
    *from_sums(
        lambda total: positive(signed(total % (2**32 - 1))),
        "Modulo `2**32 - 1` is another number: that's the mask for `&`. `% 2**32` keeps 32 bits.",
    ),
    *from_sums(
        lambda total: total % 2**16,
        "It keeps 16 bits. A unit has as many; the hash has 32.",
    ),
    *from_sums(
        lambda total: total,
        "Nothing overflows: Python's whole numbers grow, and Java's have 32 bits. Keep the lowest "
        "32 bits.",
    ),
    *from_sums(
        lambda total: total % 2**32,
        "It keeps 32 bits, but no sign: from 2**31 on a Java number is negative.",
    ),
    *from_sums(
        signed,
        "It takes a negative hash modulo the partitions. In Python that's positive, but another "
        "number: drop the sign first.",
    ),
    *from_sums(
        signed,
        "A negative remainder is no partition: drop the sign before the modulo.",
        _as_in_java,
    ),
    *same_idea(
        _by_units(str.encode),
        cause="It sums up the bytes of UTF-8. Java sums up units of UTF-16: `ö` is one of them.",
    ),
    *same_idea(
        _by_units(lambda group: map(ord, group)),
        cause="It sums up characters. Beyond 0xFFFF a character is two units of UTF-16, such as an "
        "emoji.",
    ),
    *same_idea(
        _by_units(lambda group: group.encode("utf-16-be")),
        _by_units(lambda group: group.encode("utf-16-le")),
        _by_units(lambda group: group.encode("utf-16")),
        cause="It sums up single bytes of UTF-16. Two of them, high and low, are one unit.",
    ),
    *same_idea(
        _by_units(lambda group: group.encode("utf-16-be")[1::2]),
        _by_units(lambda group: group.encode("utf-16-be")[::2]),
        cause="It takes one byte of each unit. Both count: `256 * high + low`.",
    ),
    Mistake(
        _by_units(_swapped),
        "It exchanges the two bytes of a unit: the higher one comes first, `256 * high + low`.",
    ),
    *same_idea(
        _by_units(lambda group: [0xFEFF, *_units(group)]),
        _by_units(lambda group: [0xFFFE, *_swapped(group)]),
        cause="`'utf-16'` puts a mark in front, a unit which isn't in the name. `'utf-16-be'` "
        "doesn't.",
    ),
    *same_idea(
        _by_units(lambda group: reversed(_units(group))),
        _by_units(lambda group: _units(group[::-1])),
        cause="It begins with the last unit. Java begins with the first one, so that the last one "
        "counts once.",
    ),
    *same_idea(
        _by_units(lambda group: _units(group)[:-1]),
        _by_units(lambda group: _units(group)[1:]),
        cause="It leaves out a unit, the first or the last: does the loop run over all of them?",
    ),
    Mistake(
        _by(lambda group: positive(signed(_sum(_units(group), 1)))),
        "It begins with 1. Java begins with 0.",
    ),
    *same_idea(
        *map(_times, (13, 29, 30, 32, 33, 37, 131)),
        cause="It multiplies by another number than 31.",
    ),
    *same_idea(
        _by_steps(lambda hashed, unit: 31 * (hashed + unit)),
        _by_steps(lambda hashed, unit: hashed + 31 * unit),
        cause="31 times the former hash, and then the unit is added: `31 * hashed + unit`.",
    ),
    Mistake(
        _by_steps(lambda hashed, unit: positive(signed(31 * hashed + unit))),
        "It drops the sign of each step. It's dropped once, of the whole name's hash.",
    ),
    *same_idea(
        _by(hash),
        _by(lambda group: abs(hash(group))),
        _by(lambda group: zlib.crc32(group.encode())),
        _by(lambda group: zlib.adler32(group.encode())),
        _by(len),
        _by(lambda group: sum(_units(group))),
        cause="It takes another number of the name than the broker did. Only Java's `hashCode` "
        "leads to the partition. (Python's `hash` of a text is another number in each process.)",
    ),
]
"""The answers of learners, as models; the first that gives the same names the cause."""
