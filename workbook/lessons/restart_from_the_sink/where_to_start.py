"""Chapter 13: Where to start."""

from __future__ import annotations

import random
from collections.abc import Iterator

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.parameters import in_order_of
from workbook.lessons.restart_from_the_sink.where_to_start_mistakes import MISTAKES, form


def begin_at(said: int | None, first: int, end: int) -> int:
    if said is None:
        return -1
    if first <= said <= end:
        return said
    return -2


def _case(said: int | None, first: int, end: int, says: str) -> Case:
    return Case((said, first, end), begin_at(said, first, end), says)


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(14)
    for _ in range(30):
        first = draw.choice((0, 3, 1_000, 70_000))
        end = first + draw.choice((0, 1, 50, 9_000))
        near = (first - 2, first - 1, first, first + 1, end - 1, end, end + 1, end + 500)
        said = draw.choice([None, *(offset for offset in near if offset >= 0)])
        yield _case(said, first, end, "This partition was drawn by chance. Where does it begin?")


_CASES = [
    _case(5, 0, 10, "The partition has the offsets 0 to 9, and the sink says 5: begin there."),
    _case(0, 0, 10, "The sink says 0, and offset 0 is there. It's an offset like any other."),
    _case(
        3, 5, 10,
        "Offsets 3 and 4 are deleted by retention. Read what is left, from the earliest: -2.",
    ),
    _case(0, 5, 10, "Offset 0 is deleted, with 1 to 4. Read what is left, from the earliest: -2."),
    _case(4, 5, 10, "Offset 4 is deleted: `first` is the oldest one left."),
    _case(5, 5, 10, "Offset 5 is the first that is left, and it's the one that we want."),
    _case(
        10, 0, 10,
        "The end is 10: all was read and emitted, and the next record will have offset 10.",
    ),
    _case(
        11, 0, 10,
        "The sink says 11, but the source ends at 10: somebody has deleted the topic and created "
        "it again. Its records are new: -2.",
    ),
    _case(None, 0, 10, "No record in the sink says where to begin: latest, -1."),
    _case(None, 5, 10, "Nothing is said, whatever was deleted: latest, -1."),
    _case(
        -2, 0, 10, "-2 says: nothing of this topic had come yet. So begin with the first record."
    ),
    _case(-2, 5, 10, "-2 says: nothing had come. What is left begins with the earliest record."),
    _case(
        3, 10, 10,
        "Everything is deleted: the partition is empty, and its next record will have offset 10.",
    ),
    _case(10, 10, 10, "The partition is empty, and nothing that we want is gone."),
    _case(0, 0, 0, "A fresh partition, in which nothing has come yet."),
    _case(7, 0, 0, "The sink says 7, and the source has nothing at all: it was made anew."),
    _case(None, 0, 0, "Nothing is said, and nothing is there: latest, -1."),
]  # fmt: skip

where_to_start = Problem(
    name="Where to start",
    task="For one partition of the source, `first` is the first offset that it still has, and "
    "`end` the offset that its next record will get (both are equal where it's empty). "
    "`said` is what the sink's last record says: an offset, or -2 if nothing of this topic had "
    "come by then. It's `None` if the sink has no such record. Write the function that "
    "returns where a new release begins:\n\n"
    "1. Nothing from `said` on is missing in the source: at `said`.\n"
    "2. `said` is deleted, or the topic ends before it, since it was created anew: -2 (earliest).\n"
    "3. `said` is -2: -2, as well.\n"
    "4. `said` is `None`: -1 (latest).\n\n"
    "`begin_at(5, 0, 10)` gives `5`, and `begin_at(3, 5, 10)` gives `-2`.",
    stub="def begin_at(said, first, end):\n    ...  # your code\n",
    diagnose=in_order_of(
        begin_at,
        one_after_another(
            by_cases(_CASES, MISTAKES, form=form), by_cases(smallest_first(_drawn_cases()))
        ),
    ),
    hints=(
        "Draw the partition as a line from `first` to `end`. Where on it, or beside it, may `said` "
        "lie? And if it isn't there?",
        "Deal with `None` first, and ask for it by name: 0 is false, too.",
        "`first <= said <= end` is the question that is left: both ends of the line are fine.",
    ),
    reference=begin_at,
    discussion="`end` isn't too far: a partition that was read to its end, with nothing open, says "
    "just that.\n\n"
    "A recreated topic is noticed only as long as it's shorter than before. Once it has grown past "
    "the old offset, an offset alone can't show it. So `run` writes the ids of the topics beside "
    "the offsets, and a record with another id doesn't count.\n\n"
    "*Latest* is what OTTO chose for a sink in which no record says where to begin. It loses every "
    "visit that is open by then: a release that is killed before it has emitted anything leaves "
    "such a sink. `run` begins at the earliest record instead. It reads too much and emits old "
    "visits again, but it loses nothing.",
)
