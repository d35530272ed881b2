"""Chapter 06: Add up the partitions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator

from workbook.classroom.core import Problem
from workbook.classroom.drawn import (
    one_after_another,
    smallest_first,
)
from workbook.classroom.judging import Case, by_cases
from workbook.exercises.chapters.rebalance.add_up_mistakes import MISTAKES, SHORTCUTS, Record

SECOND = 1_700_000_000


def views_by_second(records: Iterable[Record]) -> dict[int, int]:
    last = {record.key: int(record.value) for record in records}
    views: Counter[int] = Counter()
    for key, counted in last.items():
        second, _, _ = key.partition(b"/")
        views[int(second)] += counted
    return dict(views)


def _record(after: int, partition: int, views: int) -> Record:
    return Record(f"{SECOND + after}/{partition}".encode(), str(views).encode())


def _drawn_records() -> Iterator[Case]:
    """Yield records with seconds of one to eleven digits, partitions of one to three."""
    draw = random.Random(7)
    for size in range(1, 21):
        seconds = [draw.choice((9, 10, 123, SECOND, 12_345_678_901)) for _ in range(size)]
        keys = [f"{second}/{draw.choice((0, 3, 13, 27, 103))}".encode() for second in seconds]
        records = [Record(key, str(draw.choice((0, 3, 3, 120))).encode()) for key in keys]
        yield Case(
            (records,),
            views_by_second(records),
            "These records were drawn by chance, and seconds may have any number of digits. Which "
            "second differs?",
        )


_TEACHING_RECORDS = [
    Case(
        ([_record(0, 0, 3), _record(0, 1, 4), _record(1, 0, 5)],),
        {SECOND: 7, SECOND + 1: 5},
        "The first second stands in two partitions: 3 and 4 views make 7.",
    ),
    Case(
        ([_record(0, 0, 3), _record(0, 1, 4), _record(0, 0, 3)],),
        {SECOND: 7},
        "The metric of partition 0 was delivered twice. It counts once.",
    ),
    Case(
        ([_record(0, 0, 2), _record(0, 1, 4), _record(0, 0, 6), _record(0, 1, 1)],),
        {SECOND: 7},
        "Both partitions were corrected: 6 and 1 are their last values.",
    ),
    Case(
        ([_record(0, 2, 5), _record(0, 12, 7), _record(0, 22, 1)],),
        {SECOND: 13},
        "Partitions 2, 12 and 22 are three.",
    ),
    Case(
        ([_record(0, 0, 3), _record(0, 0, 3), _record(0, 1, 4)],),
        {SECOND: 7},
        "The metric of partition 0 was delivered twice, the second time right behind the first.",
    ),
    Case(
        ([_record(0, 1, 4), _record(0, 10, 5), _record(0, 100, 6)],),
        {SECOND: 15},
        "Partitions 1, 10 and 100 are three. The key is text: as a decimal, 1.1, 1.10 and 1.100 "
        "would be the same number.",
    ),
    Case(
        ([Record(b"1/23", b"4"), Record(b"12/3", b"5")],),
        {1: 4, 12: 5},
        "Second 1 in partition 23, and second 12 in partition 3: only the slash says where the "
        "second ends.",
    ),
    Case(
        ([_record(0, 3, 4), _record(0, 7, 4)],),
        {SECOND: 8},
        "Two partitions happen to have as many views. Both count.",
    ),
    Case(
        (
            [
                *(_record(0, 0, 1), _record(1, 0, 2), _record(0, 1, 3)),
                *(_record(1, 1, 4), _record(0, 0, 1)),
            ],
        ),
        {SECOND: 4, SECOND + 1: 6},
        "Two seconds with two partitions each, and one metric comes again.",
    ),
    Case(([],), {}, "An empty topic gives an empty dictionary."),
]

add_up = Problem(
    name="Add up the partitions",
    task="Two consumers now share the partitions, and each knows only a part of a second. So the "
    'key of a metric is second and partition, such as `b"1700000000/3"`, and the value is the '
    "views of that second in that partition. Write the reader. It gets a list of records with "
    "`.key` and `.value`, in the order of the topic, and returns a dictionary from second to "
    "views, whole numbers both: the last value of each key, added up over the partitions.\n\n"
    '`b"10/0"` with `b"3"`, `b"10/1"` with `b"4"`, and once more `b"10/0"` with `b"3"` give '
    "`{10: 7}`. All records are well formed here.",
    stub="def views_by_second(records):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_RECORDS, MISTAKES),
        by_cases(smallest_first(_drawn_records()), SHORTCUTS),
    ),
    hints=(
        "Two things happen to values: some replace each other, others are added. Which is which, "
        "and which has to be done first?",
        "First a dictionary with the whole key, in which the last value wins. Then a second walk "
        "over it, which cuts the keys at the slash.",
        "`last = {record.key: int(record.value) for record in records}` is the first walk. The "
        "second one is yours.",
    ),
    reference=views_by_second,
    discussion="What is replaced must be exactly what one writer writes. With the second alone as "
    "key, two consumers would overwrite each other's parts; with the partition in it, each part "
    "has one owner, also after a rebalance, when another consumer goes on with that partition.\n\n"
    "The reader cannot tell whether all partitions have reported yet. Until the last one has, the "
    "sum of a second is too small and looks final.",
)
