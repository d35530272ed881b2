"""Answers to "Count on past bad records", right and wrong, as learners may write them."""

from __future__ import annotations

import time

from proof import Catalogue

from workbook.errors import Rejected
from workbook.events.clicks import Click, ClickType
from workbook.exercises.chapters.page_view_counter.bad_records_mistakes import MISTAKES


def read(record):
    return Click.from_json(record.value, record.arrival)


def fold(records):
    count, letters = 0, []
    for record in records:
        try:
            count += read(record).click_type == ClickType.PAGE
        except Rejected as e:
            letters.append((e.reason, record.partition, record.offset))
    return count, letters


def in_two_passes(records):
    def rejected(record):
        try:
            read(record)
        except Rejected as e:
            return str(e)

    bad = [(rejected(r), r.partition, r.offset) for r in records if rejected(r)]
    return sum(read(r).click_type == "Page" for r in records if not rejected(r)), bad


def empties_the_input(records):
    taken = []
    while records:
        taken.append(records.pop(0))
    return fold(taken)


def keeps_letters(records, letters=[]):  # noqa: B006  (the mistake)
    count, new = fold(records)
    letters.extend(new)
    return count, letters


def never_ends(records):
    at, count = 0, 0
    while at < len(records):
        try:
            count += read(records[at]).click_type == ClickType.PAGE
            at += 1
        except Rejected:
            continue
    return count, []


def wall_clock(records):
    now = time.time() * 1000
    return fold([r._replace(arrival=now) for r in records])


def yields(records):
    yield from fold(records)


def by_reason(records):
    count, letters = fold(records)
    return count, list({letter[0]: letter for letter in letters}.values())


def by_partition(records):
    count, letters = fold(records)
    return count, list({letter[1]: letter for letter in letters}.values())


def last_arrival(records):
    newest = max((r.arrival for r in records), default=0)
    return fold([r._replace(arrival=newest) for r in records])


def letters_by_offset(records):
    count, letters = in_two_passes(records)
    return count, list({letter[2]: letter for letter in letters}.values())


catalogue = Catalogue(
    right=[in_two_passes, fold, lambda records: fold(iter(records))],
    wrong=[
        (wall_clock, "own `arrival`"),
        (empties_the_input, "changes the input"),
        (keeps_letters, "default argument"),
        (never_ends, "does not come to an end"),
        (yields, "generator"),
        (lambda records: list(fold(records)), "Right contents in a list"),
        (lambda records: fold(records)[0], "around it count"),
        (by_reason, "one dead letter for each reason"),
    ],
    shortcuts=[
        (letters_by_offset, "an offset 0 of its own"),
        (last_arrival, "by the arrival of one"),
        (by_partition, "a dead letter of its own"),
    ],
    models=MISTAKES,
)
