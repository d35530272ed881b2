"""Answers to "The offset to commit", right and wrong, as learners may write them."""

from __future__ import annotations

from itertools import takewhile

from proof import Catalogue

from workbook.lessons.at_least_once.offset_to_commit_mistakes import MISTAKES


def run(sends):
    return list(takewhile(lambda send: send.delivered, sends))


def as_list(sends):
    offsets = [send.next_offset for send in run(sends)]
    return offsets[-1] if offsets else None


def by_return(sends):
    safe = None
    for send in sends:
        if send.delivered is not True:
            return safe
        safe = send.next_offset
    return safe


def by_index(sends):
    done = 0
    while done < len(sends) and sends[done].delivered:
        done += 1
    return sends[done - 1].next_offset if done else None


def recursive(sends):
    if not sends or not sends[0].delivered:
        return None
    further = recursive(sends[1:])
    return sends[0].next_offset if further is None else further


def newest(sends):
    offset = None
    for send in sends:
        if send.delivered:
            offset = send.next_offset
    return offset


def newest_only(sends):
    if sends and sends[-1].delivered:
        return sends[-1].next_offset
    return None


def passes_one_on_its_way(sends):
    offset = None
    for send in sends:
        if send.delivered is False:
            break
        if send.delivered:
            offset = send.next_offset
    return offset


def takes_one_on_its_way(sends):
    offset = None
    for send in sends:
        if send.delivered is False:
            return offset
        offset = send.next_offset
    return offset


def passes_a_failed_one(sends):
    offset = None
    for send in sends:
        if send.delivered is None:
            break
        if send.delivered:
            offset = send.next_offset
    return offset


def takes_a_failed_one(sends):
    offset = None
    for send in sends:
        if send.delivered is None:
            return offset
        offset = send.next_offset
    return offset


def assigns_first(sends):
    offset = None
    for send in sends:
        offset = send.next_offset
        if not send.delivered:
            break
    return offset


def first_of_all(sends):
    return next((send.next_offset for send in sends if send.delivered), None)


def returns_inside(sends):
    for send in sends:
        if not send.delivered:
            break
        return send.next_offset
    return None


def all_or_nothing(sends):
    return sends[-1].next_offset if sends and all(send.delivered for send in sends) else None


def from_zero(sends):
    offset = 0
    for send in run(sends):
        offset = send.next_offset
    return offset


def turned_round(sends):
    offset = None
    for send in sends:
        if not send.delivered:
            return send.next_offset
    return offset


def wraps_around(sends):
    for at, send in enumerate(sends):
        if not send.delivered:
            return sends[at - 1].next_offset
    return sends[-1].next_offset if sends else None


def counts_the_delivered(sends):
    count = sum(1 for send in sends if send.delivered)
    return sends[count - 1].next_offset if count else None


def leaves_out_those_on_their_way(sends):
    return as_list([send for send in sends if send.delivered is not None])


def nothing_after_a_failure(sends):
    if any(send.delivered is False for send in sends):
        return None
    return as_list(sends)


def removes(sends):
    offset = None
    while sends and sends[0].delivered:
        offset = sends.pop(0).next_offset
    return offset


def prints_the_offset(sends):
    print(as_list(sends))


catalogue = Catalogue(
    right=[as_list, by_return, by_index, recursive],
    wrong=[
        (newest, "takes the newest delivered metric"),
        (lambda sends: sends[-1].next_offset if sends else None, "To have sent"),
        (passes_one_on_its_way, "passes one that is still on its way"),
        (takes_one_on_its_way, "takes one that is on its way as delivered"),
        (passes_a_failed_one, "passes one that failed"),
        (takes_a_failed_one, "takes a failed one as delivered"),
        (assigns_first, "that is not delivered. That offset"),
        (first_of_all, "stays at the first delivered"),
        (returns_inside, "stays at the first metric"),
        (all_or_nothing, "only when all are delivered"),
        (from_zero, "gives a number"),
        (turned_round, "not delivered. Is a condition"),
        (wraps_around, "index -1"),
        (counts_the_delivered, "With a gap among them"),
        (nothing_after_a_failure, "Where any metric failed"),
        (removes, "changes the input"),
        (lambda sends: as_list(sends[:2]), "All three are delivered"),
        (lambda sends: sends.next_offset, "raised AttributeError"),
        (prints_the_offset, "prints the value"),
        (lambda offset, delivered: offset, "Keep the parameters"),
        (120, "without parentheses"),
    ],
    shortcuts=[
        (lambda sends: as_list(sends[:4]), "drawn by chance"),
        (lambda sends: as_list(sends) and min(as_list(sends), 1_000), "drawn by chance"),
    ],
    models=MISTAKES,
    same=[
        (newest_only, newest),
        (leaves_out_those_on_their_way, passes_one_on_its_way),
        (lambda sends: max((s.next_offset for s in sends if s.delivered), default=None), newest),
        (lambda sends: as_list(sends) or -1, from_zero),
    ],
)
