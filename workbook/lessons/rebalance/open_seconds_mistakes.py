"""Wrong answers to "Hand over the open seconds", from what is open to the offsets to commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea

Open = dict[str, int]
"""The open second of a partition: second, first (offset), next (offset), views."""

Opened = Mapping[int, Open]
Leaving = Sequence[int]


def _offsets(
    opened: Opened, leaving: Leaving, offset: Callable[[Open], Any] = lambda open_: open_["first"]
) -> dict[int, Any]:
    """Return an offset for each partition that leaves and has an open second."""
    return {p: offset(opened[p]) for p in leaving if p in opened}


MISTAKES = Mistakes()


@MISTAKES.add(
    "It commits for every partition that has an open second. Only those in `leaving` go to another "
    "reader."
)
def commits_all(opened: Opened, leaving: Leaving) -> dict[int, int]:
    return _offsets(opened, list(opened))


@MISTAKES.add(
    "It commits for the partitions that stay, and leaves out those that go: the condition is "
    "inverted."
)
def commits_what_stays(opened: Opened, leaving: Leaving) -> dict[int, int]:
    return _offsets(opened, [p for p in opened if p not in leaving])


@MISTAKES.add(
    "It takes each partition in `leaving` for one that has an open second. A reader may be handed "
    "a partition and lose it before it has read anything: ask first whether it is in `opened`."
)
def believes_all_are_open(opened: Opened, leaving: Leaving) -> dict[int, int]:
    return {p: opened[p]["first"] for p in leaving}


@MISTAKES.add(
    "A partition of which nothing was read gets `None`. Leave it out: there is nothing to commit."
)
def fills_with_none(opened: Opened, leaving: Leaving) -> dict[int, Any]:
    return {p: opened[p]["first"] if p in opened else None for p in leaving}


@MISTAKES.add(
    "A partition of which nothing was read gets offset 0. That would send the next reader back to "
    "the beginning of the partition: leave it out."
)
def fills_with_zero(opened: Opened, leaving: Leaving) -> dict[int, int]:
    return {p: opened[p]["first"] if p in opened else 0 for p in leaving}


@MISTAKES.add(
    "Offset 0 is left out. It's the first offset of a partition, and an offset like any other. Is "
    "an `if` asking whether the number is true?"
)
def drops_offset_zero(opened: Opened, leaving: Leaving) -> dict[int, int]:
    return {p: first for p, first in _offsets(opened, leaving).items() if first}


@MISTAKES.add(
    "Partition 0 is left out. It's the first partition, and one like any other. Is an `if` asking "
    "whether the number is true?"
)
def drops_partition_zero(opened: Opened, leaving: Leaving) -> dict[int, int]:
    return {p: first for p, first in _offsets(opened, leaving).items() if p}


@MISTAKES.add(
    "All partitions get the same offset. Each partition has offsets of its own, which begin at 0."
)
def one_for_all(opened: Opened, leaving: Leaving) -> dict[int, int]:
    offsets = _offsets(opened, leaving)
    return dict.fromkeys(offsets, min(offsets.values(), default=0))


MISTAKES += [
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: o["next"]),
        "It commits how far this reader has read. The next one begins in the middle of the second, "
        "and publishes a part of it as if it were the whole.",
    ),
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: o["next"] - 1),
        "It commits the last record that was read. A committed offset is where the next reader "
        "begins, and that has to be the first page view of the open second.",
    ),
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: o["first"] + 1),
        "It begins one record too late: a committed offset is the first that will be read, not the "
        "last that was.",
    ),
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: o["first"] - 1),
        "It begins one record too early. The record before belongs to a second that is published; "
        "who begins there would publish that one again, with a part of its page views.",
    ),
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: o["second"]),
        "It commits the second. Kafka knows offsets only: where did the page views of this second "
        "begin?",
    ),
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: o["views"]),
        "It commits the number of page views. Kafka wants an offset: where did they begin?",
    ),
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: o["first"] + o["views"]),
        "It begins behind the page views that were counted. The next reader doesn't have that "
        "count: it has to count the second from its first page view.",
    ),
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: o),
        "It returns all that is open. Of each second only the offset of its first page view is "
        "asked for.",
    ),
    *same_idea(
        lambda opened, leaving: list(_offsets(opened, leaving).items()),
        lambda opened, leaving: list(_offsets(opened, leaving).values()),
        lambda opened, leaving: set(_offsets(opened, leaving).items()),
        cause="A dictionary is asked for, from partition to offset: it returns a list or a set.",
    ),
    Mistake(
        lambda opened, leaving: {first: p for p, first in _offsets(opened, leaving).items()},
        "Partition and offset are swapped: the partition is the key.",
    ),
    *same_idea(
        lambda opened, leaving: dict(list(_offsets(opened, leaving).items())[:1]),
        lambda opened, leaving: dict(list(_offsets(opened, leaving).items())[:1]) or None,
        cause="It returns the first partition only. Does the `return` stand inside the loop?",
    ),
    Mistake(
        lambda opened, leaving: _offsets(opened, leaving, lambda o: (o["first"], o["next"])),
        "It returns two offsets for a partition. Kafka keeps one: the first that will be read.",
    ),
    Mistake(
        lambda opened, leaving: {
            opened[p]["second"]: first for p, first in _offsets(opened, leaving).items()
        },
        "The key is the second. An offset belongs to a partition, and that's what Kafka wants to "
        "know.",
    ),
    Mistake(
        lambda opened, leaving: dict(list(_offsets(opened, leaving).items())[-1:]),
        "It returns the last partition only. Is the dictionary made anew in each turn of the loop?",
    ),
    Mistake(
        lambda opened, leaving: {},
        "It never commits anything. Then the next reader begins at an older commit, or at the very "
        "beginning, and reads everything since then again.",
    ),
]
