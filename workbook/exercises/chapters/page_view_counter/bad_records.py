"""Chapter 01: Count on past bad records."""

from __future__ import annotations

from collections.abc import Iterable

from workbook.errors import Rejected
from workbook.events.clicks import Click, ClickType
from workbook.events.reasons import Reason
from workbook.exercises.chapters.page_view_counter.bad_records_mistakes import MISTAKES, Record
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.judging import Case, by_cases

NOON = 1_700_000_000_000


DeadLetter = tuple[str, int, int]


def _click(event_id: int, click_type: ClickType, name: str, timestamp: int = NOON) -> Click:
    return Click(event_id, click_type, name, timestamp, "Firefox")


def _record(partition: int, offset: int, what: Click | bytes | None) -> Record:
    value = what.to_json() if isinstance(what, Click) else what
    return Record(partition, offset, NOON + 1_000, value)


PAGE = _click(1, ClickType.PAGE, "/home")


ACTION = _click(2, ClickType.ACTION, "add-to-basket")


def count_records(records: Iterable[Record]) -> tuple[int, list[DeadLetter]]:
    count = 0
    dead_letters: list[DeadLetter] = []
    for record in records:
        try:
            click = Click.from_json(record.value, record.arrival)
        except Rejected as rejected:
            dead_letters.append((rejected.reason, record.partition, record.offset))
            continue
        if click.click_type == ClickType.PAGE:
            count += 1
    return count, dead_letters


_HOME = _record(0, 5, PAGE)
_TOO_NEW = _click(3, ClickType.PAGE, "/home", NOON + 600_000)
_BEFORE_1970 = _click(4, ClickType.PAGE, "/home", -1)

bad_records = Problem(
    name="Count on past bad records",
    task="Read raw records (`partition`, `offset`, `arrival`, `value`) with `Click.from_json`, "
    "which raises `Rejected` for what it cannot read. Return `(count, dead_letters)`: the number "
    "of page views, and for each rejected record `(reason, partition, offset)`. Two page views "
    "around a broken record at offset 42 of partition 1 give "
    '`(2, [("malformed JSON", 1, 42)])`.',
    stub="def count_records(records):\n    ...  # your code\n",
    diagnose=by_cases(
        [
            Case(
                ([_HOME, _record(1, 42, b'{"event_id":'), _HOME._replace(offset=6)],),
                (2, [(Reason.MALFORMED.value, 1, 42)]),
                "One record in the middle is broken; both page views around it count.",
            ),
            Case(
                ([_HOME, _record(0, 6, ACTION), _HOME._replace(offset=7)],),
                (2, []),
                "All three can be read, and two of them are page views.",
            ),
            Case(
                ([_record(0, 8, None), _record(2, 9, _BEFORE_1970), _record(0, 10, PAGE)],),
                (1, [(Reason.EMPTY.value, 0, 8), (Reason.NEGATIVE.value, 2, 9)]),
                "An empty value and a negative timestamp both are dead letters, in this order.",
            ),
            Case(
                ([_HOME, _record(0, 6, _TOO_NEW)],),
                (1, [(Reason.FUTURE.value, 0, 6)]),
                "The second click lies ten minutes after its arrival, and is a dead letter.",
            ),
            Case(
                ([_record(2, 7, b"{"), _record(0, 9, b"["), _record(2, 8, None), _HOME],),
                (
                    1,
                    [
                        (Reason.MALFORMED.value, 2, 7),
                        (Reason.MALFORMED.value, 0, 9),
                        (Reason.EMPTY.value, 2, 8),
                    ],
                ),
                "Three broken records, each a dead letter of its own, in the order of arrival.",
            ),
            Case(
                (
                    [
                        *(_HOME, _record(0, 6, _TOO_NEW)),
                        _record(0, 7, _TOO_NEW)._replace(arrival=NOON + 600_000),
                    ],
                ),
                (2, [(Reason.FUTURE.value, 0, 6)]),
                "The same click comes twice. The second time it comes ten minutes later, just when "
                "it was made, and isn't from the future.",
            ),
            Case(
                ([_record(0, 0, b"{"), _record(1, 0, b"{"), _HOME],),
                (1, [(Reason.MALFORMED.value, 0, 0), (Reason.MALFORMED.value, 1, 0)]),
                "Two partitions begin with a broken record. Each has an offset 0 of its own, and "
                "there are two dead letters.",
            ),
            Case(([],), (0, []), "No records give a count of 0 and no dead letters."),
        ],
        MISTAKES,
    ),
    hints=(
        "Where can reading a record fail, and which lines must still run for the next record?",
        "Put `try` and `except` inside the loop, around the reading only. The exception brings "
        "its reason; the record knows where it came from.",
        "In the `except`, append `(rejected.reason, record.partition, record.offset)` and go on.",
    ),
    reference=count_records,
    discussion="Nothing that arrives stops the count or disappears: page views, actions and dead "
    "letters together are all the records.\n\n"
    "The list of dead letters grows in memory and forgets the original bytes. The chapter sends "
    "both to a topic of their own, where they outlive the program.",
)
