"""Chapter 13: What an emitted message carries."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.parameters import in_order_of
from workbook.lessons.restart_from_the_sink.what_to_carry_mistakes import MISTAKES, form


def carried(
    visits: Mapping[str, Sequence[int]], done: Collection[str], next_offset: int | None
) -> int | None:
    return min((offset for offsets in visits.values() for offset in offsets), default=next_offset)


def _case(
    visits: dict[str, list[int]], done: list[str], next_offset: int | None, says: str
) -> Case:
    return Case((visits, done, next_offset), carried(visits, done, next_offset), says)


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(13)
    for size in range(20):
        low = draw.choice((0, 7, 40_000, 7_000_000_000))
        offsets = sorted(draw.sample(range(low, low + 60), 3 * size))
        visits: dict[str, list[int]] = {}
        for offset in offsets:
            visits.setdefault(f"v{draw.randrange(size)}", []).append(offset)
        names = draw.sample(sorted(visits), len(visits))
        done = draw.sample(names, draw.randint(0, len(names)))
        mixed = {name: visits[name] for name in names}
        says = "These visits were drawn by chance. Which message has the smallest offset?"
        yield _case(mixed, done, low + 60, says)


_CASES = [
    _case(
        {"v2": [1, 4], "v3": [2]}, [], 7,
        "`v2` and `v3` are open. Without state both must be read from their first message.",
    ),
    _case(
        {"v1": [0, 3]}, [], 4,
        "`v1` is open, and its first message has offset 0. That's an offset like any other.",
    ),
    _case(
        {"v1": [0, 3], "v2": [1, 4], "v3": [2]}, ["v1", "v2"], 5,
        "This batch emits `v1` and `v2`. Its records may be written in any order, so neither is "
        "safe before both are: both must be read again.",
    ),
    _case(
        {"v4": [5, 8], "v5": [6, 7]}, ["v5", "v4"], 9,
        "Both visits are emitted by this batch. Its records may be written in any order: neither "
        "visit counts as safe before both are written.",
    ),
    _case(
        {"v4": [5, 6], "v5": [7]}, ["v4"], 8,
        "Here `done` holds one visit. It, too, counts as safe only once the batch is written, and "
        "its record carries the offset before that.",
    ),
    _case(
        {"v3": [2, 9], "v4": [5, 6], "v5": [7]}, ["v4"], 10,
        "`v3` was opened first, and is still open: its first message has offset 2.",
    ),
    _case(
        {"v7": [12], "v6": [8, 11]}, [], 13,
        "A state has its visits in any order: `v6` was opened before `v7`.",
    ),
    _case(
        {"v1": [9], "v8": [4, 6]}, ["v1"], 10,
        "`v8` was opened before `v1`, whatever they're called: its first message has offset 4.",
    ),
    _case(
        {"v6": [8, 14], "v7": [12, 13]}, [], 15,
        "Of `v6` two messages have come. The first one, of offset 8, is needed, too.",
    ),
    _case(
        {"v1": [0, 3], "v2": [1]}, [], 4,
        "The smallest offset is 0. That's an offset like any other.",
    ),
    _case(
        {"v1": [0]}, ["v1"], 1,
        "One visit, of one message of offset 0. No visit counts as safe before its batch is "
        "written.",
    ),
    _case(
        {}, [], 12,
        "Nothing is open, and the batch has no messages: reading may go on at 12. There's nothing "
        "to read again.",
    ),
    _case({}, [], 0, "Nothing has been read yet, and the first offset to read is 0."),
    _case(
        {}, [], None,
        "Nothing has ever come of this topic, so no offset is known: it's `None`.",
    ),
    _case({"v9": [40_000]}, [], 40_001, "One visit is open, and its only message was the last."),
]  # fmt: skip

what_to_carry = Problem(
    name="What an emitted message carries",
    task="A loop reads one partition in batches. `visits` maps each visit that was open when the "
    "batch began, or got a message in it, to the list of its messages' offsets, in the order in "
    "which they came; the visits are in any order. `done` are those that this batch emits. "
    "`next_offset` is where reading goes on after the batch, or `None` while nothing has come.\n\n"
    "Write the function that returns the offset that each record of this batch carries: the "
    "smallest one that a start without state must read again, since it isn't safe in the sink. "
    "No visit of a batch counts as safe before the whole batch is written: its records may "
    "be written in any order, and all carry the same offset. With no visits it's `next_offset`.\n\n"
    '`{"v2": [1, 4], "v3": [2]}` with `[]` and 7 gives `1`.',
    stub="def carried(visits, done, next_offset):\n    ...  # your code\n",
    diagnose=in_order_of(
        carried,
        one_after_another(
            by_cases(_CASES, MISTAKES, form=form), by_cases(smallest_first(_drawn_cases()))
        ),
    ),
    hints=(
        "One record of the batch is in the sink, whichever it is, then the loop is killed. Which "
        "visits may be nowhere but in the source?",
        "All records of the batch are given their offset before the first of them is written. Does "
        "any visit in `done` count as safe by then? And what does the smallest of no numbers give?",
        "`min(..., default=next_offset)` over `offset for offsets in visits.values() for offset in "
        "offsets`.",
    ),
    reference=carried,
    discussion="`done` is a trap: it isn't needed. What the batch emits counts as open until all "
    "its records are written, and a record can't know whether those after it will be.\n\n"
    "The price is that a restart reads a little too much: whatever the last batch emitted is "
    "emitted again. And one visit that stays open for long holds the offset back for as long, "
    "which is one more reason for a maximum age.\n\n"
    "A loop that merges two topics needs an offset for each of them.",
)
