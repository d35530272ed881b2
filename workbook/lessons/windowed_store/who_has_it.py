"""Chapter 32: Who has it?"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.parameters import in_order_of
from workbook.lessons.windowed_store.who_has_it_mistakes import MISTAKES


def instance_of(
    group: str, instances: Mapping[str, Collection[int]], partitions: int
) -> str | None:
    hashed, data = 0, group.encode("utf-16-be")
    for high, low in zip(data[::2], data[1::2], strict=True):
        hashed = (31 * hashed + 256 * high + low) % 2**32
    if hashed >= 2**31:
        hashed -= 2**32
    partition = 0 if hashed == -(2**31) else abs(hashed) % partitions
    for name, reads in instances.items():
        if partition in reads:
            return name
    return None


def _spread(names: str, draw: random.Random) -> dict[str, range]:
    """Return instances that read neighbouring partitions, by chance."""
    cuts = [0, *sorted(draw.sample(range(1, 50), len(names) - 1)), 50]
    return {name: range(*ends) for name, ends in zip(names, pairwise(cuts), strict=True)}


def _around(partition: int) -> dict[str, range]:
    """Return three instances, one of which reads a single partition."""
    alone = range(partition, partition + 1)
    return {"low": range(partition), "alone": alone, "high": range(partition + 1, 50)}


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(32)
    for size in range(40):
        letters = "abcdefgh-01" if size % 4 else "äß€-🚀x"
        group = "".join(draw.choices(letters, k=1 + size))
        spread = _spread("abc", draw)
        if size % 5 == 0:
            del spread["b"]
        says = "This group was drawn by chance. Which partition has it?"
        yield _case(group, spread, says, draw.choice((50, 50, 8, 25, 1)))


def _case(
    group: str, instances: Mapping[str, Collection[int]], says: str, partitions: int = 50
) -> Case:
    return Case((group, instances, partitions), instance_of(group, instances, partitions), says)


_HALVES = {"a": range(25), "b": range(25, 50)}
_EIGHT = {name: {n} for n, name in enumerate("abcdefgh")}
_ODD_AND_EVEN = {"odd": set(range(1, 50, 2)), "even": set(range(0, 50, 2))}
_TENS = {name: range(10 * n, 10 * n + 10) for n, name in enumerate("abcde")}
_SHORT = "Its hash is a small number: no bit is lost, and no sign is needed."
_CASES = [
    _case("a", _HALVES, f"`ord('a')` is 97, and 97 modulo 50 is 47. {_SHORT}"),
    _case("ab", _around(5), f"31 * 97 + 98 is 3,105, and modulo 50 that's 5. {_SHORT}"),
    _case("ba", _around(35), f"31 * 98 + 97 is 3,135: the order of characters counts. {_SHORT}"),
    _case(
        "billing", _TENS,
        "Its hash is -109,829,509: the highest of 32 bits is set, so it's negative. Without its "
        "sign that's 9, modulo 50.",
    ),
    _case("billing", _around(9), "Its hash is -109,829,509, so its partition is 9."),
    _case("warehouse", _around(23), "Its hash is -1,997,587,773, so its partition is 23."),
    _case("dashboard", _TENS, "Its hash is -1,047,860,588, so its partition is 38."),
    _case("recommendations", _TENS, "Its hash is -1,822,967,846, so its partition is 46."),
    _case("orders-service", _around(17), "Its sum is far beyond 32 bits; 23,943,117 are left."),
    _case(
        "dashboard", _ODD_AND_EVEN,
        "Its partition is 38, and `even` reads it: those of an instance needn't be neighbours.",
    ),
    _case("d", _around(0), "`ord('d')` is 100, so its partition is 0: the first one."),
    _case(
        "Billing", _around(21),
        "Its hash is 1,554,823,771, so its partition is 21: `Billing` isn't `billing`.",
    ),
    _case(" ab", _around(7), "The space in front is part of the name: a unit like any other."),
    _case(
        "polygenelubricants", _around(0),
        "Its hash is -2147483648. No number of 32 bits is its opposite, so Kafka takes 0.",
    ),
    _case("größe", _around(7), "Its five characters are five units, whatever UTF-8 makes of them."),
    _case("заказы", _around(21), "Its six units are all above 0xFF: each takes both bytes."),
    _case("🚀", _around(27), "The rocket is two units of UTF-16: 0xD83D and 0xDE80."),
    _case("caf🚀", _around(5), "The rocket is two units of UTF-16: 0xD83D and 0xDE80."),
    _case("", _around(0), "No character, no sum: 0."),
    _case("a", _EIGHT, "`ord('a')` is 97, and this topic has 8 partitions: 97 modulo 8 is 1.", 8),
    _case("dashboard", _EIGHT, "This topic has 8 partitions: 1,047,860,588 modulo 8 is 4.", 8),
    _case("billing", {"b": _HALVES["b"]}, "Partition 9 is of an instance that's down: None."),
    _case("a", {"a": _HALVES["a"]}, "Partition 47 is of an instance that's down: None."),
]  # fmt: skip


def _form(value: Any, *args: Any) -> str:
    """Return what is wrong with the form of a value that should be a name; or ''."""
    if isinstance(value, (set, frozenset, list, tuple, range)):
        return "It returns several values. One name is asked for, or None."
    if value in ("", "None"):
        return f"It returns the text {value!r} where no instance has the group. None is asked for."
    return ""


who_has_it = Problem(
    name="Who has it?",
    task="All records of a group lie in one of the `partitions` of `__consumer_offsets` (a number, "
    "usually 50). The broker chooses it by Java's `hashCode` of the group's name:\n\n"
    "1. Begin with 0. For each unit of the name in UTF-16 (`'utf-16-be'` has two bytes per unit, "
    "the higher one first): the hash is 31 times the former hash plus the unit.\n"
    "2. It's a number of 32 bits with a sign: only its lowest 32 bits are kept, and from 2³¹ on it "
    "stands for itself minus 2³².\n"
    "3. Drop the sign (-2³¹ becomes 0), then modulo `partitions`.\n\n"
    "`instances` has the instances that are up: a dictionary from a name to the partitions that it "
    "reads. Return the name of the one that has the group, `None` if none of them has.\n\n"
    "With 50 partitions, `instance_of('billing', {'x': {9}, 'y': {47}}, 50)` gives `'x'`, and for "
    "the group `'a'` it's `'y'`.",
    stub="def instance_of(group, instances, partitions):\n    ...  # your code\n",
    diagnose=in_order_of(
        instance_of,
        one_after_another(
            by_cases(_CASES, MISTAKES, form=_form),
            by_cases([_case("billing", {}, "No instance is up: None.")]),
            by_cases(smallest_first(_drawn_cases())),
        ),
    ),
    hints=(
        "Python's whole numbers never overflow, and its `hash` is another one in each process. "
        "So both the loop and the 32 bits are yours to write.",
        "Modulo 2**32 keeps the lowest 32 bits. From 2**31 on, subtract 2**32. Look at -2**31 "
        "before you take `abs`.",
        '`data = group.encode("utf-16-be")`, and `256 * high + low` for `high, low in '
        "zip(data[::2], data[1::2])` are the units.",
    ),
    reference=instance_of,
    discussion="Chapter 22 asked by the hash that its own producer had used. This time the broker "
    "has chosen, in Java, and whoever asks has to compute as it does, to the last bit.\n\n"
    "Three things of Java look like one: `Utils.abs` (here, minus 2³¹ becomes 0), `Math.abs` "
    "(minus 2³¹ stays negative) and `Utils.toPositive` (the mask `& 0x7fffffff`, which partitions "
    "records by key). For names without overflow all of them agree, so a test with short names "
    "finds nothing.\n\n"
    "The number of partitions is `offsets.topic.num.partitions`, by default 50, when the first "
    "group joined. Later changes of the setting change nothing: ask the topic.",
)
