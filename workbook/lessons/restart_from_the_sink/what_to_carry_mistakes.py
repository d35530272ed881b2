"""Wrong answers to "What an emitted message carries"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea
from workbook.classroom.numpy_numbers import numpy_number

Visits = Mapping[str, Sequence[int]]
Done = Sequence[str]
Of = Callable[..., Any]


def _offsets(visits: Visits) -> list[int]:
    return [offset for offsets in visits.values() for offset in offsets]


def _open(visits: Visits, done: Done) -> Visits:
    return {ssid: offsets for ssid, offsets in visits.items() if ssid not in done}


def _emitted(visits: Visits, done: Done) -> Visits:
    return {ssid: offsets for ssid, offsets in visits.items() if ssid in done}


def _firsts(visits: Visits) -> list[int]:
    return [offsets[0] for offsets in visits.values()]


def _smallest(visits: Visits, next_offset: int | None) -> int | None:
    return min(_offsets(visits), default=next_offset)


def _by_truth(offsets: Sequence[int]) -> int | None:
    smallest = None
    for offset in offsets:
        if not smallest or offset < smallest:
            smallest = offset
    return smallest


MISTAKES = Mistakes()

MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(_open(visits, done)), default=next_offset),
    cause="It leaves out what this batch emits. None of it counts as safe before the whole batch "
    "is written: the records that aren't in the sink when it's killed would be lost.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: _smallest(_open(visits, done[:1]), next_offset),
    cause="It leaves out the first visit of `done`, as if its record were written first. The "
    "records may be written in any order.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: _smallest(_open(visits, done[-1:]), next_offset),
    cause="It leaves out the last visit of `done`. The records may be written in any order, and "
    "that one may be missing when the loop is killed.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: _smallest(
        _open(visits, done if len(done) == 1 else []), next_offset
    ),
    cause="It makes an exception where `done` is a single visit. Nothing is lost by that, but the "
    "task has no exception: no visit counts as safe before the whole batch is written.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: 0 if visits else next_offset,
    lambda visits, done, next_offset: 0,
    cause="It reads more than is needed: it gives 0, whatever the visits' offsets. (A loop that "
    "begins with `low = 0` finds nothing smaller.)",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: 1,
    lambda visits, done, next_offset: 1 if visits else next_offset,
    cause="It gives 1, whatever is asked: that's the example's value only.",
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
    lambda visits, done, next_offset: [next_offset, *(o[0] for o in visits.values())][-1],
    cause="It takes the last visit of the dictionary, as a loop does that keeps what it saw last. "
    "A state keeps no order: compare all.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: [next_offset, *_offsets(visits)][-1],
    cause="It takes the last message of the dictionary's last visit. The smallest offset of all "
    "decides.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: visits[min(visits)][0] if visits else next_offset,
    cause="It takes the visit with the smallest ssid. Its name says nothing about its offsets.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(_offsets(visits), default=None) or next_offset,
    lambda visits, done, next_offset: _by_truth(_offsets(visits)) or next_offset,
    lambda visits, done, next_offset: _by_truth(_firsts(visits)) or next_offset,
    lambda visits, done, next_offset: _by_truth(_offsets(visits)) if visits else next_offset,
    lambda visits, done, next_offset: _by_truth(_firsts(visits)) if visits else next_offset,
    lambda visits, done, next_offset: _by_truth(_offsets(visits)),
    lambda visits, done, next_offset: _by_truth(_firsts(visits)),
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
    lambda visits, done, next_offset: min(_offsets(visits), default=float("inf")),
    cause="With no visits it gives infinity, where its loop begins. Reading may go on at "
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
    lambda visits, done, next_offset: {ssid: min(o) for ssid, o in visits.items()},
    lambda visits, done, next_offset: [min(o) for o in visits.values()],
    cause="It returns an offset for each visit. A restart begins at one: the smallest of all.",
)
MISTAKES += same_idea(
    lambda visits, done, next_offset: min(visits.values()) if visits else next_offset,
    cause="It returns a list of offsets: the smallest of several lists is a list. We want one "
    "number.",
)


def form(value: Any, visits: Visits, *args: Any) -> str:
    """Return what is wrong with the form of a value that should be an offset; or ''."""
    if isinstance(value, str) and value in visits:
        return "It returns the name of a visit. We want the offset of its message."
    if isinstance(value, dict):
        return "It returns a dictionary. We want the one number, without a name for it."
    if isinstance(value, (set, frozenset)):
        return "It returns a set. We want the one number, and no braces around it."
    if type(value) is int and visits and value < min(_offsets(visits)):
        return "It begins before the first message that isn't safe, and so reads more than it must."
    return numpy_number(value)
