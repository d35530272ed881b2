"""Wrong answers to "Who has it?", from a group and the instances to a name."""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from workbook.exercises.engine.mistakes import Mistake, same_idea

Instances = Mapping[str, Collection[int]]


def _units(group: str) -> list[int]:
    data = group.encode("utf-16-be")
    return [256 * high + low for high, low in zip(data[::2], data[1::2], strict=True)]


def _sum(units: Iterable[int], hashed: int = 0) -> int:
    for unit in units:
        hashed = 31 * hashed + unit
    return hashed


def _signed(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _abs(hashed: int) -> int:
    return 0 if hashed == -(2**31) else abs(hashed)


def _hash(group: str) -> int:
    return _signed(_sum(_units(group)))


def _at(partition: int, instances: Instances) -> str | None:
    return next((name for name, its in instances.items() if partition in its), None)


def _by(number: Callable[[str], int]) -> Callable[[str, Instances, int], Any]:
    """Return the answer that takes another number of the name."""
    return lambda group, instances, partitions: _at(number(group) % partitions, instances)


def _from_sums(
    number: Callable[[int], int], cause: str, modulo: Callable[[int, int], int] = operator.mod
) -> list[Mistake]:
    """Return a wrong idea of what to do with the sum, be it of units or of characters."""
    return same_idea(
        lambda group, instances, partitions: _at(
            modulo(number(_sum(_units(group))), partitions), instances
        ),
        lambda group, instances, partitions: _at(
            modulo(number(_sum(map(ord, group))), partitions), instances
        ),
        cause=cause,
    )


def _as_in_java(number: int, partitions: int) -> int:
    """Return the remainder with the sign of the number, as Java's and C's ``%`` has it."""
    return number % partitions if number >= 0 else -(-number % partitions)


MISTAKES = [
    *_from_sums(
        lambda total: _signed(total) & 0x7FFFFFFF,
        "It masks the highest bit. That's how a record's key finds its partition; here the sign is "
        "dropped instead: -109,829,509 becomes 109,829,509.",
    ),
    *_from_sums(
        lambda total: abs(_signed(total)),
        "One hash is left over: -2147483648. Kafka's `Utils.abs` makes 0 of it.",
    ),
    *_from_sums(
        lambda total: total,
        "Nothing overflows: Python's whole numbers grow, and Java's have 32 bits. Keep the lowest "
        "32 bits.",
    ),
    *_from_sums(
        lambda total: total % 2**32,
        "It keeps 32 bits, but no sign: from 2**31 on a Java number is negative.",
    ),
    *_from_sums(
        _signed,
        "It takes a negative hash modulo the partitions. In Python that's positive, but another "
        "number: drop the sign first.",
    ),
    *_from_sums(
        _signed,
        "A negative remainder is no partition: drop the sign before the modulo.",
        _as_in_java,
    ),
    *same_idea(
        _by(lambda group: _abs(_signed(_sum(group.encode())))),
        cause="It sums up the bytes of UTF-8. Java sums up units of UTF-16: `ö` is one of them.",
    ),
    *same_idea(
        _by(lambda group: _abs(_signed(_sum(map(ord, group))))),
        cause="It sums up characters. Beyond 0xFFFF a character is two units of UTF-16, such as an "
        "emoji.",
    ),
    *same_idea(
        _by(lambda group: _abs(_signed(_sum(group.encode("utf-16-be"))))),
        _by(lambda group: _abs(_signed(_sum(group.encode("utf-16"))))),
        cause="It sums up single bytes of UTF-16. Two of them, high and low, are one unit.",
    ),
    Mistake(
        _by(lambda group: _abs(_signed(_sum(reversed(_units(group)))))),
        "It begins with the last unit. Java begins with the first one, so that the last one counts "
        "once.",
    ),
    Mistake(
        _by(lambda group: _abs(_signed(_sum(_units(group), 1)))),
        "It begins with 1. Java begins with 0.",
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
    Mistake(
        lambda group, instances, partitions: _abs(_hash(group)) % partitions,
        "It returns the partition. Which instance reads it?",
    ),
    Mistake(
        lambda group, instances, partitions: (
            sorted(instances)[_abs(_hash(group)) % len(instances)] if instances else None
        ),
        "It divides the hash among the instances that are up. The partitions are divided among "
        "them: first modulo `partitions`, then look who reads it.",
    ),
    *same_idea(
        lambda group, instances, partitions: (
            _at(_abs(_hash(group)) % partitions, instances) or next(iter(instances))
        ),
        lambda group, instances, partitions: (
            _at(_abs(_hash(group)) % partitions, instances) or min(instances)
        ),
        cause="Where nobody reads the partition, it names an instance all the same. That one "
        "knows nothing of the group: return None.",
    ),
    Mistake(
        lambda group, instances, partitions: _at(_abs(_hash(group)) % 50, instances),
        "It takes 50 partitions, always. The topic may have another number, and `partitions` says "
        "how many.",
    ),
    Mistake(
        lambda group, instances, partitions: _at(
            _abs(_hash(group)) % max(partitions - 1, 1), instances
        ),
        "It takes one partition too few: `partitions` is their number, not the last one's.",
    ),
    Mistake(
        lambda group, instances, partitions: _at(_abs(_hash(group)) % partitions + 1, instances),
        "It counts the partitions from 1. The first one is 0.",
    ),
]
"""The answers of learners, as models; the first that gives the same names the cause."""


def form(value: Any, *args: Any) -> str:
    """Return what is wrong with the form of a value that should be a name; or ''."""
    if isinstance(value, (set, frozenset, list, tuple)):
        return "It returns several values. One name is asked for, or None."
    if value == "":
        return "It returns an empty text where no instance has the group. The task asks for None."
    return ""
