"""Chapter 04: The last value wins."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from workbook.exercises.chapters.at_least_once.last_value_mistakes import MISTAKES, Record
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import one_after_another, smallest_first
from workbook.exercises.engine.judging import Case, by_cases

SECOND = 1_700_000_000


def _record(after: int | str, value: bytes | None) -> Record:
    """Build a metric of the second so far ``after`` the first, or one with this text as key."""
    key = str(SECOND + after) if isinstance(after, int) else after
    return Record(key.encode(), value)


def latest(records: Iterable[Record]) -> dict[int, int]:
    views_of: dict[int, int] = {}
    for record in records:
        try:
            second, views = int(record.key or b""), int(record.value or b"")
        except ValueError:
            continue
        if views >= 0:
            views_of[second] = views
    return views_of


def _drawn_records() -> Iterator[Case]:
    draw = random.Random(5)
    values = (b"0", b"7", b"7", b"42", b"1234567", b"", b"x7", b"-1", b"1.5", None)
    for size in range(1, 25):
        keys = [str(draw.choice((3, 10, SECOND)) + draw.randrange(3)).encode() for _ in range(size)]
        records = [Record(key, draw.choice(values)) for key in keys]
        yield Case(
            (records,),
            latest(records),
            "These records were drawn by chance. For each second, which is its last good value?",
        )


_TEACHING_RECORDS = [
    Case(
        ([_record(0, b"42"), _record(1, b"17"), _record(1, b"17")],),
        {SECOND: 42, SECOND + 1: 17},
        "The second metric was delivered again, with the same value. It is one second.",
    ),
    Case(
        ([_record(0, b"7"), _record(1, b"5"), _record(0, b"9")],),
        {SECOND: 9, SECOND + 1: 5},
        "The first second comes again with 9, so 9 is what holds.",
    ),
    Case(
        ([_record(0, b"9"), _record(0, b"100"), _record(0, b"12")],),
        {SECOND: 12},
        "The last one wins, be it larger or smaller than those before.",
    ),
    Case(
        ([_record(0, b"42"), _record(0, b"many"), _record(1, b"5")],),
        {SECOND: 42, SECOND + 1: 5},
        "`many` is no number. The 42 still holds, and the reader goes on.",
    ),
    Case(
        ([_record(0, b"42"), _record(0, b"-3"), _record(1, b"4.5"), _record(2, b"6")],),
        {SECOND: 42, SECOND + 2: 6},
        "There are no -3 page views, and no 4.5.",
    ),
    Case(
        ([_record(0, b"42"), _record(0, b""), _record(0, None), _record(1, b"5")],),
        {SECOND: 42, SECOND + 1: 5},
        "An empty value and no value at all are left out, like any other bad one.",
    ),
    Case(
        ([_record("noon", b"8"), Record(None, b"9"), Record(b"", b"4"), _record(3, b"1")],),
        {SECOND + 3: 1},
        "Three keys are no number, so nobody knows which second these values belong to.",
    ),
    Case(
        ([_record(0, b"3"), _record(0, b"0"), _record(1, b"\xff\xfe")],),
        {SECOND: 0},
        "0 is a whole number and not negative. The bytes of the other value are no text.",
    ),
    Case(([],), {}, "An empty topic gives an empty dictionary."),
]

last_value = Problem(
    name="The last value wins",
    task="After a crash a metric may stand in the topic twice. Write what a reader does about it. "
    'It gets a list of records with `.key`, such as `b"1700000000"`, and `.value`, such as '
    '`b"42"`, in the order of the topic. Return a dictionary from second to views, whole numbers '
    "both, in which the last value of a second wins.\n\n"
    "Others can write to this topic too. A record is left out if its value is no whole number, is "
    "negative, empty or `None`, or if its key is no number. It neither stops the reader nor "
    'removes what is known: `b"10"` with `b"3"` and then `b"10"` with `b"oops"` give `{10: 3}`.',
    stub="def latest(records):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_RECORDS, MISTAKES),
        by_cases(smallest_first(_drawn_records())),
    ),
    hints=(
        "Which Python container keeps one value per key, and lets the last one win by itself?",
        "Make both numbers first, and only then change the dictionary. What does `int` do with "
        '`b"many"`, what with `None`, and what with `b"-3"`?',
        "Put `int(record.key or b'')` and its sister inside a `try`, with `except ValueError:` and "
        "`continue`. Then there is one more thing to ask about the views.",
    ),
    reference=latest,
    discussion="A reader like this doesn't mind duplicates: 42 read twice is still 42. "
    "Writing to a key again, with the full value, is idempotent; adding would not be. That is why "
    "at least once is enough for these metrics.\n\n"
    "It trusts the order of the topic. If a second's partial value came after its full one, the "
    "partial value would win, so a writer must never begin in the middle of a second. And here a "
    "bad record disappears without a word; a careful reader counts it.",
)
