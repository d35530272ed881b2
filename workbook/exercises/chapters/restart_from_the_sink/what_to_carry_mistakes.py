"""Wrong answers to "What an emitted message carries"."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from workbook.exercises.engine.mistakes import Mistakes, same_idea

Visits = Mapping[str, Sequence[int]]
Done = Collection[str]
Of = Callable[..., Any]


def _offsets(visits: Visits) -> list[int]:
    return [offset for offsets in visits.values() for offset in offsets]


def _open(visits: Visits, done: Done) -> Visits:
    return {ssid: offsets for ssid, offsets in visits.items() if ssid not in done}


def _emitted(visits: Visits, done: Done) -> Visits:
    return {ssid: offsets for ssid, offsets in visits.items() if ssid in done}


def _by_truth(visits: Visits) -> int | None:
    smallest = None
    for offset in _offsets(visits):
        if not smallest or offset < smallest:
            smallest = offset
    return smallest


MISTAKES = Mistakes()

MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(_open(visits, done)), default=next_offset),
    cause="It leaves out what this batch emits. A batch that is killed after its first record has "
    "the others nowhere but in the source: they'd be lost.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: next_offset,
    cause="It's where reading goes on. The open visits are before it, in a state that the new "
    "release can't read.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(_emitted(visits, done)), default=next_offset),
    cause="It looks at the emitted visits only. Those that stay open aren't in the sink at all.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: max(_offsets(visits), default=next_offset),
    cause="It's the largest offset. Everything before it that's open would never be read again.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: max(_offsets(_emitted(visits, done)), default=next_offset),
    lambda visits, done, next_offset: max(_offsets(_open(visits, done)), default=next_offset),
    cause="It's a largest offset, of some of the visits. The smallest one of all decides.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: max((min(o) for o in visits.values()), default=next_offset),
    lambda visits, done, next_offset: max((o[0] for o in visits.values()), default=next_offset),
    cause="It begins with the visit that was opened last. Those opened before it are open, too.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min((max(o) for o in visits.values()), default=next_offset),
    lambda visits, done, next_offset: min((o[-1] for o in visits.values()), default=next_offset),
    cause="It looks at the newest message of each visit. The older ones belong to it, too, and "
    "the state that held them is gone.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: next((o[0] for o in visits.values()), next_offset),
    lambda visits, done, next_offset: next((min(o) for o in visits.values()), next_offset),
    cause="It takes the first visit of the dictionary. A state keeps no order: compare all.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: visits[min(visits)][0] if visits else next_offset,
    cause="It takes the visit with the smallest ssid. Its name says nothing about its offsets.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(visits), default=None) or next_offset,
    lambda visits, done, next_offset: _by_truth(visits) or next_offset,
    cause="Offset 0 is taken for nothing. Does an `or` or an `if` ask whether the number is true?",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(visits), default=next_offset) or None,
    cause="An offset of 0 becomes None. It's the first record of a partition, and known.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(visits), default=0),
    cause="With no visits it gives 0, and a restart would read the whole partition again. Reading "
    "may go on at `next_offset`.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(visits), default=None),
    cause="With no visits it gives None, as if nothing had ever come. Reading may go on at "
    "`next_offset`.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(visits), default=-1),
    lambda visits, done, next_offset: min(_offsets(visits), default=-2),
    cause="With no visits it gives a negative number, which is no offset of this partition. "
    "Reading may go on at `next_offset`.",
)


@MISTAKES.add("It raises where there are no visits. Return `next_offset` there.")
def no_default(visits: Visits, done: Done, next_offset: int | None) -> int:
    return min(_offsets(visits))


MISTAKES += same_idea(
    lambda visits, done, next_offset: next_offset if next_offset is None
    else min(_offsets(visits), default=next_offset - 1),
    cause="With no visits it's one too small: the record before `next_offset` was read, and "
    "nothing of it is open.",
)  # fmt: skip
MISTAKES += same_idea(
    lambda visits, done, next_offset: next_offset if not visits else min(_offsets(visits)) + 1,
    cause="It's one too large. A commit names the record after the last one that is done; here "
    "the message of the smallest offset itself is read again.",
)  # fmt: skip

MISTAKES += same_idea(
    lambda visits, done, next_offset: next_offset if not visits
    else max(min(_offsets(visits)) - 1, 0),
    lambda visits, done, next_offset: next_offset if not visits else min(_offsets(visits)) - 1,
    cause="It's one too small: the message before belongs to nothing that's open.",
)  # fmt: skip
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(visits, key=lambda v: min(visits[v]))
    if visits else next_offset,
    cause="It returns the name of a visit. We want the offset of its message.",
)  # fmt: skip
MISTAKES += same_idea(
    lambda visits, done, next_offset: {ssid: min(o) for ssid, o in visits.items()},
    lambda visits, done, next_offset: [min(o) for o in visits.values()],
    cause="It returns an offset for each visit. A restart begins at one: the smallest of all.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(visits.values()) if visits else next_offset,
    cause="It returns a list of offsets: the smallest of several lists is a list. We want one "
    "number.",
)
