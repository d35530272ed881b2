"""Chapter 06: Hand over the open seconds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.rebalance.open_seconds_mistakes import MISTAKES, Open

SECOND = 1_700_000_000


def hand_over(opened: Mapping[int, Open], leaving: Sequence[int]) -> dict[int, int]:
    offsets = {}
    for partition in leaving:
        if partition in opened:
            offsets[partition] = opened[partition]["first"]
    return offsets


def _open(first: int, views: int, records: int | None = None, after: int = 0) -> Open:
    """Build an open second whose page views began at an offset; actions are records, too."""
    end = first + (views if records is None else records)
    return {"second": SECOND + after, "first": first, "next": end, "views": views}


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(6)
    for size in range(1, 21):
        partitions = draw.sample(range(40), size)
        opened = {}
        for partition in draw.sample(partitions, draw.randint(0, size)):
            views = draw.randrange(1, 30)
            begin = draw.choice((0, 1, 7, 10**6))
            opened[partition] = _open(begin, views, views + draw.randrange(9), draw.randrange(3))
        leaving = draw.sample(partitions, draw.randint(0, size))
        yield Case(
            (opened, leaving),
            hand_over(opened, leaving),
            "This assignment was drawn by chance. Which partition's offset differs?",
        )


_TEACHING_CASES = [
    Case(
        ({3: _open(40, 4, 5)}, [3]),
        {3: 40},
        "The open second began at offset 40. Who begins there counts all its page views.",
    ),
    Case(
        ({0: _open(10, 2), 1: _open(20, 3), 2: _open(30, 4)}, [0, 2]),
        {0: 10, 2: 30},
        "Partition 1 stays with this reader. It is not handed over.",
    ),
    Case(
        ({0: _open(10, 2)}, [0, 5]),
        {0: 10},
        "Nothing has been read of partition 5, so there is nothing to commit for it. What the "
        "group committed there before still holds.",
    ),
    Case(
        ({0: _open(0, 3), 4: _open(7, 1)}, [0, 4]),
        {0: 0, 4: 7},
        "On partition 0 the open second is the very first one: it began at offset 0, which is an "
        "offset like any other.",
    ),
    Case(
        ({2: _open(500, 9, 30, 1), 1: _open(80, 2, 3)}, [1, 2]),
        {1: 80, 2: 500},
        "Each partition has offsets of its own: 80 and 500 have nothing to do with each other.",
    ),
    Case(({0: _open(10, 2)}, []), {}, "Nothing leaves: there is nothing to commit."),
    Case(({}, [0, 1, 2]), {}, "Nothing has been read yet: there is nothing to commit."),
]

open_seconds = Problem(
    name="Hand over the open seconds",
    task="A reader counts each of its partitions by itself, and publishes a second when the next "
    "one begins. `opened` maps each partition to what is open there: in "
    '`{3: {"second": 1700000011, "first": 40, "next": 45, "views": 4}}` the page views of that '
    "second began at offset 40, four of them have been read, and 45 is the next offset to read. "
    "All earlier seconds are published and delivered.\n\n"
    "Now the group takes away the partitions in the list `leaving`. Return a dictionary from "
    "partition to the offset to commit, `{3: 40}` or another, so that the next reader counts each "
    "open second right. Only partitions in `leaving` belong in it, and only those that are in "
    "`opened`: of the others nothing was read. Leave `opened` as it is.",
    stub="def hand_over(opened, leaving):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_CASES, MISTAKES),
        by_cases(smallest_first(_drawn_cases())),
    ),
    hints=(
        "The next reader begins with an empty map, at the offset that you commit. What must it "
        "read, so that its count of the open second is the whole one?",
        "Walk over the partitions that leave. Each one that has an open second gets the offset at "
        "which that second began.",
        '`opened[partition]["first"]` is the offset. Ask `if partition in opened:` before you '
        "take it.",
    ),
    reference=hand_over,
    discussion="The records of the open second are read twice, and counted once: the first "
    "reader's part dies with its map, and the second reader's count is the whole.\n\n"
    "It holds because all earlier seconds are delivered: the handler has to wait for that first. "
    "And the handler must come to an end. The whole group waits for it, and after "
    "`max.poll.interval.ms` (five minutes) the group goes on without this reader.",
)
