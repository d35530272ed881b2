"""Chapter 20: One record."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, NotYet, by_cases
from workbook.lessons.positions_table.one_record_mistakes import MISTAKES

Fields = Mapping[str, Any]
"""The fields of a position, as its record's value holds them."""


def next_table(table: dict[str, Fields], key: str, value: Fields | None) -> dict[str, Fields]:
    after = dict(table)
    if value is None:
        after.pop(key, None)
    else:
        after[key] = value
    return after


def _held(client: str, ticker: str, amount: int, **more: str) -> dict[str, Any]:
    return {"client": client, "ticker": ticker, "amount": amount, **more}


BOB, ALICE, CAROL = _held("Bob", "AAPL", 20), _held("Alice", "SAP", 5), _held("Carol", "IBM", 7)


def _drawn_records() -> Iterator[Case]:
    draw = random.Random(10)
    keys = ("p1", "p10", "17", "a", "Bob", "client", "")
    for size in range(18):
        rows = [
            _held(draw.choice(("Bob", "Ida")), draw.choice(("SAP", "KO")), draw.randrange(3))
            for _ in range(4)
        ]
        table: dict[str, Fields] = dict(zip(draw.sample(keys, size % 4), rows, strict=False))
        key, value = draw.choice(keys), draw.choice((None, rows[3]))
        yield Case(
            (table, key, value),
            next_table(table, key, value),
            "This record was drawn by chance. It changes its own key, and nothing else.",
        )


@dataclass(frozen=True)
class _TheVeryTable:
    """What stands in for a table that was given back, and not copied."""

    def __repr__(self) -> str:
        return "the very dictionary that was given"


def _marked_if_given_back(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the step: where it returns the very table it was given, return a ``_TheVeryTable``."""

    @functools.wraps(step)
    def call(table: Any, key: Any, value: Any) -> Any:
        after = step(table, key, value)
        return _TheVeryTable() if after is table else after

    return call


def _in_a_new_dictionary(answer: Any) -> NotYet | None:
    """Check for a new table even where nothing changes; the answer is known to give tables."""
    cause = (
        "The table after this record is right, but it's the one that was given, and a new "
        "dictionary is asked for. Whoever changes one of the two later would change both."
    )
    unchanged: tuple[tuple[dict[str, Fields], str, Fields | None], ...] = (
        ({"p1": BOB}, "p9", None),
        ({}, "p1", None),
        ({"p1": BOB, "p2": ALICE}, "p2", ALICE),
    )
    cases = [Case(args, next_table(*args), cause) for args in unchanged]
    return by_cases(cases)(_marked_if_given_back(answer))


_KEYS_OF_THEIR_OWN = [
    Case(
        ({"p1": BOB, "p2": ALICE}, "".join(("p", name)), value),
        after,
        "The key of a record is another text object than the one in the table, though they are "
        "equal. `is` compares objects; keys are compared by `==`.",
    )
    for name, value, after in (("2", None, {"p1": BOB}), ("1", CAROL, {"p1": CAROL, "p2": ALICE}))
]

_TEACHING_RECORDS = [
    Case(
        ({}, "p1", BOB),
        {"p1": BOB},
        "The first row of an empty table: `p1` is its key, and the row stands there just as it "
        "came.",
    ),
    Case(
        ({"p1": BOB}, "p2", ALICE),
        {"p1": BOB, "p2": ALICE},
        "Another position. The row that is there stays as it is.",
    ),
    Case(
        ({"p1": BOB, "p2": ALICE}, "p1", _held("Bob", "AAPL", 15)),
        {"p1": _held("Bob", "AAPL", 15), "p2": ALICE},
        "Bob had 20 and has 15 now. The new row takes the place of the old one.",
    ),
    Case(
        ({"p1": BOB, "p2": ALICE}, "p1", _held("Bob", "AAPL", 30)),
        {"p1": _held("Bob", "AAPL", 30), "p2": ALICE},
        "Bob had 20 and has 30 now. The new row takes the place of the old one.",
    ),
    Case(
        ({"p1": BOB, "p2": ALICE}, "p1", _held("Alice", "AAPL", 20)),
        {"p1": _held("Alice", "AAPL", 20), "p2": ALICE},
        "The position goes from Bob to Alice. Its id is still `p1`.",
    ),
    Case(
        ({"p1": _held("Bob", "AAPL", 20, note="joint account")}, "p1", BOB),
        {"p1": BOB},
        "The new row has no note any more. It is the whole row as it is from now on.",
    ),
    Case(
        ({"p1": BOB, "p2": ALICE, "p3": CAROL}, "p2", None),
        {"p1": BOB, "p3": CAROL},
        "A tombstone for `p2`: that row goes, and the others stay.",
    ),
    Case(
        ({"p1": BOB, "p2": BOB, "p3": _held("Bob", "KO", 3)}, "p1", None),
        {"p2": BOB, "p3": _held("Bob", "KO", 3)},
        "Bob has three positions, and two of their rows are equal. Only `p1` is closed: the key "
        "alone says which row goes.",
    ),
    Case(
        ({"p1": BOB, "p10": ALICE, "xp1": CAROL}, "p1", None),
        {"p10": ALICE, "xp1": CAROL},
        "A tombstone for `p1`. `p10` and `xp1` are other positions, though `p1` is a part of their "
        "names.",
    ),
    Case(
        ({"p1": BOB, "p2": ALICE}, "p9", None),
        {"p1": BOB, "p2": ALICE},
        "A tombstone for a position that isn't there. Nothing changes.",
    ),
    Case(
        ({"p1": BOB, "p2": ALICE}, "p2", ALICE),
        {"p1": BOB, "p2": ALICE},
        "The same record came twice. It states what is true, and that is true already.",
    ),
    Case(({"p1": BOB}, "p1", None), {}, "The last row goes, and the table is empty."),
    Case(({}, "p1", None), {}, "A tombstone, and an empty table: it stays empty."),
]

one_record = Problem(
    name="One record",
    task="Write the step that brings one record into the table. The table is a dictionary from "
    "position id to row; the record has a key, the position id, and a value: the whole row as it "
    "is from now on, or `None`, a tombstone, if the position was closed. Return the table as "
    "it is afterwards, in a new dictionary.\n\n"
    "With `table = {'p1': bob}`: key `'p2'` with `alice` gives `{'p1': bob, 'p2': alice}`; key "
    "`'p1'` with `alice` gives `{'p1': alice}`; key `'p1'` with `None` gives `{}`; and key `'p9'` "
    "with `None` gives `{'p1': bob}`: where there's no such position, there's nothing to close.",
    stub="def next_table(table, key, value):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_RECORDS, MISTAKES),
        by_cases(smallest_first(_drawn_records())),
        by_cases(_KEYS_OF_THEIR_OWN),
        _in_a_new_dictionary,
    ),
    hints=(
        "There are two kinds of records. What does each of them do to the key it names?",
        "Copy the table first. Then either set the key, or take it out; and taking out must work "
        "where nothing is.",
        "`after = dict(table)` is a copy, and `after.pop(key, None)` takes a key out if it is "
        "there.",
    ),
    reference=next_table,
    discussion="A table is a fold, like the count of chapter 01, with a dictionary in the place "
    "of the number. Applying a record twice gives the same as once, so at least once is good "
    "enough. Counting had no such luck.\n\n"
    "The price is what the step forgets: who held `p1` an hour ago, and that there ever was a "
    "`p2`. (A copy for each record is fine for five rows; a program that keeps millions changes "
    "its table in place.)",
)
