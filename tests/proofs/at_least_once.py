"""Chapter 04's exercises: wrong and right answers as learners may write them."""

from __future__ import annotations

from itertools import takewhile

from proof import Catalogue

from workbook.exercises.chapters.at_least_once.wrong_models import LAST_VALUE as LAST_VALUE_MODELS
from workbook.exercises.chapters.at_least_once.wrong_models import OFFSET_TO_COMMIT as OFFSET_MODELS

# --- the offset to commit -----------------------------------------------------------------------


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


def stops_at(state, only_delivered):
    def answer(sends):
        offset = None
        for send in sends:
            if send.delivered is state:
                break
            if send.delivered or not only_delivered:
                offset = send.next_offset
        return offset

    return answer


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


def removes(sends):
    offset = None
    while sends and sends[0].delivered:
        offset = sends.pop(0).next_offset
    return offset


def prints_the_offset(sends):
    print(as_list(sends))


OFFSET_TO_COMMIT = Catalogue(
    right=[as_list, by_return, by_index],
    wrong=[
        (newest, "takes the newest delivered metric"),
        (lambda sends: sends[-1].next_offset if sends else None, "To have sent"),
        (stops_at(False, True), "passes one that is still on its way"),
        (stops_at(False, False), "takes one that is on its way as delivered"),
        (stops_at(None, True), "passes one that failed"),
        (stops_at(None, False), "takes a failed one as delivered"),
        (assigns_first, "that is not delivered. That offset"),
        (first_of_all, "stays at the first delivered"),
        (returns_inside, "stays at the first metric"),
        (all_or_nothing, "only when all are delivered"),
        (from_zero, "gives a number"),
        (lambda sends: run(sends)[-1].next_offset, "no last one of none"),
        (lambda sends: as_list(sends) and as_list(sends) - 1, "takes one off"),
        (lambda sends: as_list(sends) and as_list(sends) + 1, "adds one"),
        (lambda sends: run(sends)[-1] if run(sends) else None, "whole send"),
        (lambda sends: [send.next_offset for send in run(sends)] or None, "all safe offsets"),
        (lambda sends: [send.next_offset for send in run(sends)], "a list of the safe offsets"),
        (lambda sends: len(run(sends)), "counts the delivered"),
        (turned_round, "not delivered. Is a condition"),
        (lambda sends: min((s.next_offset for s in sends), default=None), "smallest offset"),
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
    models=OFFSET_MODELS,
    same=[
        (newest_only, newest),
        (lambda sends: max((s.next_offset for s in sends if s.delivered), default=None), newest),
        (lambda sends: as_list(sends) or -1, from_zero),
    ],
)

# --- the reader ---------------------------------------------------------------------------------


def number(text):
    return int(text) if text and text.isdigit() else None


def by_digits(records):
    good = [r for r in records if number(r.key) is not None and number(r.value) is not None]
    return {int(record.key): int(record.value) for record in good}


def by_match(records):
    known = {}
    for record in records:
        match number(record.key), number(record.value):
            case int(second), int(views):
                known[second] = views
    return known


def caught_both(records):
    known = {}
    for record in records:
        try:
            if int(record.value) >= 0:
                known[int(record.key)] = int(record.value)
        except (TypeError, ValueError):
            pass
    return known


def loop(put=lambda known, second, views: known.update({second: views}), bad=None, stops=False):
    """The reader with its usual slips: what it does with a value, and what with a bad one."""

    def answer(records):
        known = {}
        for record in records:
            second, views = number(record.key), number(record.value)
            if second is not None and views is not None:
                put(known, second, views)
            elif stops:
                return known
            elif second is not None and bad:
                bad(known, second)
        return known

    return answer


def read_by(read_value, caught=(TypeError, ValueError), read_key=int):
    def answer(records):
        known = {}
        for record in records:
            try:
                second, views = read_key(record.key), read_value(record.value)
            except caught:
                continue
            if views is not None and views >= 0:
                known[second] = views
        return known

    return answer


def value_checked_only(records):
    known = {}
    for record in records:
        views = number(record.value)
        second = int(record.key)
        if views is not None:
            known[second] = views
    return known


def by_isdigit(records):
    return {int(r.key): int(r.value) for r in records if r.key.isdigit() and r.value.isdigit()}


def decoded(records):
    known = {}
    for record in records:
        key, value = (record.key or b"").decode(), (record.value or b"").decode()
        if key.isdigit() and value.isdigit():
            known[int(key)] = int(value)
    return known


def not_zero(records):
    known = {}
    for record in records:
        if views := number(record.value):
            second = number(record.key)
            if second:
                known[second] = views
    return known


def fills(value):
    return lambda known, second: known.update({second: value})


def returned_in_the_loop(records):
    known = {}
    for record in records:
        second, views = number(record.key), number(record.value)
        if second is None or views is None:
            continue
        return known
    return known


def texts(key, value):
    return lambda records: {key(s): value(v) for s, v in by_digits(records).items()}


def as_bytes(whole):
    return b"%d" % whole


def prints_known(records):
    print(by_digits(records))


def least_of_minus_one(records):
    """One beside the bound."""
    return {**by_digits(records), **{int(r.key): -1 for r in records if r.value == b"-1"}}


LAST_VALUE = Catalogue(
    right=[by_digits, by_match, caught_both, read_by(int)],
    wrong=[
        (loop(lambda known, s, v: known.setdefault(s, v)), "The first value wins"),
        (loop(lambda known, s, v: known.update({s: max(v, known.get(s, 0))})), "The largest"),
        (loop(lambda known, s, v: known.update({s: v + known.get(s, 0)})), "adds up the values"),
        (loop(lambda known, s, v: known.setdefault(s, []).append(v)), "a list of values"),
        (loop(bad=lambda known, second: known.pop(second, None)), "removes the good one"),
        (loop(bad=fills(0)), "A bad value becomes 0"),
        (loop(bad=fills(None)), "becomes `None`"),
        (read_by(lambda value: int(value or 0)), "none at all, becomes 0"),
        (loop(stops=True), "stops at the first bad record"),
        (lambda records: {int(r.key): int(r.value) for r in records}, "believes every record"),
        (value_checked_only, "keys are not"),
        (read_by(int, caught=ValueError), "not a `ValueError`"),
        (by_isdigit, "asks `None`"),
        (decoded, "decodes before it checks"),
        (read_by(lambda value: abs(int(value))), "no -3 page views, and"),
        (not_zero, "leaves out 0"),
        (read_by(float), "with a fraction"),
        (read_by(lambda value: int(float(value))), "makes 4 of"),
        (read_by(int, read_key=lambda key: key), "Keys are taken as they come"),
        (texts(as_bytes, int), "the keys are still"),
        (texts(int, str), "their values are still"),
        (texts(str, str), "keys and values are still"),
        (lambda records: list(by_digits(records).items()), "list of pairs"),
        (lambda records: list(by_digits(records).values()), "views alone"),
        (lambda records: sum(by_digits(records).values()), "adds up all seconds"),
        (returned_in_the_loop, "Nothing is ever known"),
        (prints_known, "prints the value"),
        (lambda key, value: {int(key): int(value)}, "Keep the parameters"),
        ({10: 3}, "without parentheses"),
    ],
    shortcuts=[
        (lambda rs: by_digits([r for r in rs if r.key and len(r.key) == 10]), "drawn by chance"),
        (least_of_minus_one, "drawn by chance"),
    ],
    models=LAST_VALUE_MODELS,
)

catalogues = (
    OFFSET_TO_COMMIT,
    LAST_VALUE,
)
