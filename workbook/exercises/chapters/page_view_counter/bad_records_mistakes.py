"""Wrong answers to "Count on past bad records", from records to the count and the dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workbook.errors import Rejected
from workbook.events.clicks import Click, ClickType
from workbook.exercises.engine.mistakes import Mistake, Mistakes, same_idea


class Record(NamedTuple):
    """A raw record, as a poll loop gets it; ``arrival`` is the record timestamp in ms."""

    partition: int
    offset: int
    arrival: int
    value: bytes | None


Records = Sequence[Record]
Counted = tuple[int, list[Any]]


def _read(record: Record) -> Click:
    return Click.from_json(record.value, record.arrival)


def _rejected(records: Records) -> list[tuple[Rejected, Record]]:
    """Return the bad records, each with its error."""
    bad = []
    for record in records:
        try:
            _read(record)
        except Rejected as error:
            bad.append((error, record))
    return bad


def _good(records: Records) -> list[Click]:
    bad = [record for _, record in _rejected(records)]
    return [_read(record) for record in records if record not in bad]


def _views(records: Records) -> int:
    return sum(click.click_type == ClickType.PAGE for click in _good(records))


def _letters(records: Records) -> list[tuple[str, int, int]]:
    return [(error.reason, bad.partition, bad.offset) for error, bad in _rejected(records)]


def _count(records: Records) -> Counted:
    return _views(records), _letters(records)


MISTAKES = Mistakes()


@MISTAKES.add("Nothing catches `Rejected`: the first bad record ends the count.")
def catches_nothing(records: Records) -> Counted:
    count = 0
    for record in records:
        count += _read(record).click_type == ClickType.PAGE
    return count, []


@MISTAKES.add("It stops at the first bad record; what comes after it is lost.")
def try_around_the_loop(records: Records) -> Counted:
    count, letters = 0, []
    try:
        for record in records:
            count += _read(record).click_type == ClickType.PAGE
    except Rejected as error:
        letters.append((error.reason, record.partition, record.offset))
    return count, letters


@MISTAKES.add("A bad record sets the count back to 0.")
def resets(records: Records) -> Counted:
    count = 0
    for record in records:
        try:
            count += _read(record).click_type == ClickType.PAGE
        except Rejected:
            count = 0
    return count, _letters(records)


MISTAKES += [
    Mistake(
        lambda records: (_views(records) + len(_rejected(records)), _letters(records)),
        "It counts the rejected records too.",
    ),
    Mistake(
        lambda records: (len(_good(records)), _letters(records)),
        "It counts whatever can be read: actions are no page views.",
    ),
    Mistake(
        lambda records: (_views(records), []),
        "The count is right, but the rejected records disappear: nobody can repair them.",
    ),
    Mistake(
        lambda rs: (_views(rs), [(e.reason, r.offset, r.partition) for e, r in _rejected(rs)]),
        "Partition and offset are swapped in the dead letters.",
    ),
    Mistake(
        lambda rs: (
            _views(rs),
            [(e.reason, bad.partition, rs.index(bad)) for e, bad in _rejected(rs)],
        ),
        "It notes the place in the list where the offset belongs. The offset is where the "
        "broker keeps the record, and how it is found again.",
    ),
    Mistake(
        lambda rs: (_views(rs), [(e, r.partition, r.offset) for e, r in _rejected(rs)]),
        "It keeps the exception itself. A dead letter needs the text: its `reason`.",
    ),
    Mistake(
        lambda rs: (_views(rs), [("Rejected", r.partition, r.offset) for _, r in _rejected(rs)]),
        "It keeps the name of the exception, which is the same for all: use its `reason`.",
    ),
    Mistake(
        lambda records: (_views(records), [[*letter] for letter in _letters(records)]),
        "The dead letters are right, but each is a list: a tuple in round brackets is asked for.",
    ),
    Mistake(
        lambda records: (_views(records), [reason for reason, _, _ in _letters(records)]),
        "It keeps the reason alone. Without partition and offset the record cannot be found again.",
    ),
    Mistake(
        lambda records: _count([record._replace(arrival=2**62) for record in records]),
        "It does not judge by the record's own `arrival`, so a click from the future "
        "passes. The clock on the wall says nothing about when a record came.",
    ),
    *same_idea(
        lambda records: _count([r._replace(arrival=records[0].arrival) for r in records]),
        lambda records: _count([r._replace(arrival=records[-1].arrival) for r in records]),
        cause="It judges every record by the arrival of one. Each has an `arrival` of its own.",
    ),
    *same_idea(
        lambda rs: (_views(rs), list({letter[0]: letter for letter in _letters(rs)}.values())),
        lambda rs: (
            _views(rs),
            [r for n, r in enumerate(_letters(rs)) if r[0] not in [x[0] for x in _letters(rs)[:n]]],
        ),
        cause="It keeps one dead letter for each reason. Two records may be broken in the same "
        "way, and both have to be found again.",
    ),
    Mistake(
        lambda records: (_views(records), sorted(_letters(records))),
        "The dead letters are sorted. They are asked for in the order in which the records came.",
    ),
    Mistake(
        lambda records: _count([record._replace(arrival=0) for record in records]),
        "Each click seems to come from the future: pass the record's `arrival` on.",
    ),
]
