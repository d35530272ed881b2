"""Answers to "What an emitted message carries", right and wrong, as learners may write them."""

from __future__ import annotations

from itertools import chain

import numpy as np
from proof import Catalogue

from workbook.lessons.restart_from_the_sink.what_to_carry_mistakes import MISTAKES


def by_loop(visits, done, next_offset):
    smallest = next_offset
    for offsets in visits.values():
        for offset in offsets:
            if offset < smallest:
                smallest = offset
    return smallest


def by_firsts(visits, done, next_offset):
    if not visits:
        return next_offset
    return min(offsets[0] for offsets in visits.values())


def by_chain(visits, done, next_offset):
    return min([*chain.from_iterable(visits.values()), next_offset])


def still_open(visits, done, next_offset):
    offsets = [o for ssid in visits if ssid not in done for o in visits[ssid]]
    return min(offsets) if offsets else next_offset


def but_the_first(visits, done, next_offset):
    return by_firsts({v: o for v, o in visits.items() if v not in done[:1]}, [], next_offset)


def but_the_last(visits, done, next_offset):
    return by_firsts({v: o for v, o in visits.items() if v not in done[-1:]}, [], next_offset)


def but_a_single_one(visits, done, next_offset):
    skip = done if len(done) == 1 else []
    return min((o[0] for v, o in visits.items() if v not in skip), default=next_offset)


def from_zero(visits, done, next_offset):
    return 0 if visits else next_offset


def zero_at_first(visits, done, next_offset):
    return next_offset or 0 if not visits else 0


def loop_from_zero(visits, done, next_offset):
    if not visits:
        return next_offset
    low = 0
    for offsets in visits.values():
        low = min(low, offsets[0])
    return low


def the_example(visits, done, next_offset):
    return 1


def position(visits, done, next_offset):
    return next_offset


def emitted(visits, done, next_offset):
    return min((o for ssid in done for o in visits[ssid]), default=next_offset)


def largest(visits, done, next_offset):
    smallest = next_offset
    if visits:
        smallest = max(max(offsets) for offsets in visits.values())
    return smallest


def largest_open(visits, done, next_offset):
    return max((max(o) for v, o in visits.items() if v not in done), default=next_offset)


def opened_last(visits, done, next_offset):
    if visits:
        return sorted(offsets[0] for offsets in visits.values())[-1]
    return next_offset


def newest(visits, done, next_offset):
    return min([offsets[-1] for offsets in visits.values()] or [next_offset])


def first_of_the_dictionary(visits, done, next_offset):
    for offsets in visits.values():
        return offsets[0]
    return next_offset


def last_of_the_dictionary(visits, done, next_offset):
    begin = next_offset
    for offsets in visits.values():
        begin = offsets[0]
    return begin


def last_message(visits, done, next_offset):
    return list(visits.values())[-1][-1] if visits else next_offset


def smallest_name(visits, done, next_offset):
    if not visits:
        return next_offset
    return visits[sorted(visits)[0]][0]


def by_truth(visits, done, next_offset):
    smallest = None
    for offsets in visits.values():
        if not smallest or offsets[0] < smallest:
            smallest = offsets[0]
    return smallest or next_offset


def by_truth_in_a_loop(visits, done, next_offset):
    low = None
    for offsets in visits.values():
        for o in offsets:
            if not low or o < low:
                low = o
    return next_offset if low is None else low


def by_truth_of_firsts(visits, done, next_offset):
    if not visits:
        return next_offset
    low = None
    for first, *_ in visits.values():
        if not low or first < low:
            low = first
    return low


def zero_is_none(visits, done, next_offset):
    return min([o for offsets in visits.values() for o in offsets], default=next_offset) or None


def zero(visits, done, next_offset):
    return min((o[0] for o in visits.values()), default=0)


def none(visits, done, next_offset):
    if visits:
        return min(o[0] for o in visits.values())
    return None


def earliest(visits, done, next_offset):
    return min((o[0] for o in visits.values()), default=-2)


def from_infinity(visits, done, next_offset):
    smallest = float("inf")
    for offsets in visits.values():
        smallest = min(smallest, offsets[0])
    return smallest


SMALLEST = []


def the_smallest_ever(visits, done, next_offset):
    SMALLEST.extend(o[0] for o in visits.values())
    return min(SMALLEST, default=next_offset)


def raises(visits, done, next_offset):
    return min(o[0] for o in visits.values())


def last_read(visits, done, next_offset):
    if next_offset is None:
        return None
    return min((o[0] for o in visits.values()), default=next_offset - 1)


def one_after(visits, done, next_offset):
    return min(o[0] for o in visits.values()) + 1 if visits else next_offset


def one_before(visits, done, next_offset):
    return min(o[0] for o in visits.values()) - 1 if visits else next_offset


def its_name(visits, done, next_offset):
    return min(visits, key=visits.get, default=next_offset)


def first_name(visits, done, next_offset):
    return min(visits) if visits else next_offset


def a_set(visits, done, next_offset):
    return {by_firsts(visits, done, next_offset)}


def named(visits, done, next_offset):
    return {"offset": by_firsts(visits, done, next_offset)}


def exchanged(done, visits, next_offset):
    return min((o[0] for o in visits.values()), default=next_offset)


def by_numpy(visits, done, next_offset):
    return np.min([o[0] for o in visits.values()]) if visits else next_offset


def by_array(visits, done, next_offset):
    return np.array(by_firsts(visits, done, next_offset)) if visits else next_offset


def for_each(visits, done, next_offset):
    return {ssid: offsets[0] for ssid, offsets in visits.items()}


def a_list(visits, done, next_offset):
    return min(visits.values(), default=next_offset)


def pops(visits, done, next_offset):
    smallest = min((o[0] for o in visits.values()), default=next_offset)
    for ssid in done:
        visits.pop(ssid)
    return smallest


catalogue = Catalogue(
    right=[by_loop, by_firsts, by_chain],
    wrong=[
        (still_open, "leaves out what this batch emits"),
        (position, "where reading goes on. The open visits"),
        (emitted, "the emitted visits only"),
        (largest, "It's the largest offset"),
        (largest_open, "a largest offset, of some"),
        (opened_last, "opened last"),
        (newest, "newest message of each"),
        (first_of_the_dictionary, "the first visit of the dictionary"),
        (smallest_name, "smallest ssid"),
        (by_truth, "taken for nothing"),
        (zero_is_none, "becomes None"),
        (zero, "it gives 0"),
        (none, "it gives None"),
        (earliest, "a negative number"),
        (from_infinity, "infinity"),
        (the_smallest_ever, "of the calls before is kept"),
        (raises, "raises where there are no visits"),
        (last_read, "With no visits it's one too small"),
        (one_after, "one too large"),
        (one_before, "It's one too small"),
        (its_name, "name of a visit"),
        (for_each, "an offset for each visit"),
        (a_list, "a list of offsets"),
        (pops, "changes the input"),
        (but_the_first, "leaves out the first visit of `done`"),
        (but_the_last, "leaves out the last visit of `done`"),
        (but_a_single_one, "an exception where `done` is a single"),
        (from_zero, "It reads more than is needed"),
        (zero_at_first, "reads more than it must"),
        (the_example, "It gives 1, whatever is asked"),
        (last_of_the_dictionary, "the last visit of the dictionary"),
        (last_message, "the dictionary's last visit"),
        (a_set, "returns a set"),
        (named, "returns a dictionary"),
        (exchanged, "have changed places"),
        (by_numpy, "numpy.int64"),
        (lambda visits, done: 0, "Keep the parameters"),
    ],
    models=MISTAKES,
    shortcuts=[(by_array, "put `int(...)` around it")],
    same=[
        (loop_from_zero, from_zero),
        (lambda visits, done, next_offset: 0, from_zero),
        (by_truth_in_a_loop, by_truth),
        (by_truth_of_firsts, by_truth),
        (first_name, its_name),
        (lambda visits, done, next_offset: 1 if visits else next_offset, the_example),
    ],
)
