"""Exercises of chapter 10: what is true now?"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.events.positions import US
from workbook.exercises.chapters.positions_table import wrong_models, wrong_models_on_spark
from workbook.exercises.engine.choice import Option, choice
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import one_after_another, smallest_first
from workbook.exercises.engine.frames import Row, by_rows
from workbook.exercises.engine.judging import Case, NotYet, by_cases

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Fields = Mapping[str, Any]
"""The fields of a position, as its record's value holds them."""

# --- one record ---------------------------------------------------------------------------------


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


def _told_if_given_back(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the step: where it returns the very table it was given, return a ``_TheVeryTable``."""

    @functools.wraps(step)
    def call(table: Any, key: Any, value: Any) -> Any:
        after = step(table, key, value)
        return _TheVeryTable() if after is table else after

    return call


def _in_a_new_dictionary(answer: Any) -> NotYet | None:
    """Check for a new table even where nothing changes; the answer is known to give tables."""
    told = (
        "The table after this record is right, but it's the one that was given, and a new "
        "dictionary is asked for. Whoever changes one of the two later would change both."
    )
    unchanged: tuple[tuple[dict[str, Fields], str, Fields | None], ...] = (
        ({"p1": BOB}, "p9", None),
        ({}, "p1", None),
        ({"p1": BOB, "p2": ALICE}, "p2", ALICE),
    )
    cases = [Case(args, next_table(*args), told) for args in unchanged]
    return by_cases(cases)(_told_if_given_back(answer))


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
        "A tombstone for a position that is not there. Nothing changes.",
    ),
    Case(
        ({"p1": BOB, "p2": ALICE}, "p2", ALICE),
        {"p1": BOB, "p2": ALICE},
        "The same record came twice. It says what is true, and that is true already.",
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
    "with `None` gives `{'p1': bob}`. For a position that is not there, there is nothing to close.",
    stub="def next_table(table, key, value):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_RECORDS, wrong_models.ONE_RECORD),
        by_cases(smallest_first(_drawn_records())),
        _in_a_new_dictionary,
    ),
    hints=(
        "There are two kinds of records. What does each of them do to the key it names?",
        "Copy the table first. Then either set the key, or take it out; and taking out must bear "
        "that there is nothing.",
        "`after = dict(table)` is a copy, and `after.pop(key, None)` takes a key out if it is "
        "there.",
    ),
    reference=next_table,
    discussion="This is all there is to a table: a fold, like the count of chapter 01, with a "
    "dictionary in the place of the number. Applying a record twice gives the same as once, so at "
    "least once is good enough. Counting had no such luck.\n\n"
    "What the step forgets is the price. It cannot say who held `p1` an hour ago, nor that there "
    "ever was a `p2`. (A copy for each record is fine for five rows; a program that keeps millions "
    "changes its table in place.)",
)

# --- a filter -----------------------------------------------------------------------------------

DELETE = "delete"


def told_downstream(old: Fields | None, new: Fields | None, keeps: Callable[[Fields], bool]) -> Any:
    before = old is not None and keeps(old)
    after = new is not None and keeps(new)
    if not after:
        return DELETE if before else None
    return None if old == new else new


@dataclass(frozen=True)
class Condition:
    """A condition of the cases: a function with a name that can be shown."""

    name: str
    holds: Callable[[Fields], bool]

    def __call__(self, row: Fields | None) -> bool:
        if row is None:
            raise TypeError("asked of None, and there is not always an old row, nor a new one")
        return self.holds(row)

    def __repr__(self) -> str:
        return self.name


is_us = Condition("is_us", lambda row: row["exchange"] in US)
_OTHERS = (
    Condition("is_large", lambda row: row["amount"] >= 25),
    Condition("is_german", lambda row: row["exchange"] == "XETRA"),
    Condition("is_bobs", lambda row: row["client"] == "Bob"),
)


def _at(exchange: str, amount: int = 20, ticker: str = "AAPL") -> dict[str, Any]:
    return {"client": "Bob", "ticker": ticker, "amount": amount, "exchange": exchange}


def _drawn_changes() -> Iterator[Case]:
    """Yield pairs of rows that differ in a field or two, under one condition or another."""
    draw = random.Random(11)
    fields = {
        "client": ("Bob", "Ida"),
        "ticker": ("V", "KO"),
        "amount": (20, 30),
        "exchange": ("NYSE", "XETRA", "NEO"),
    }
    for keeps in (*_OTHERS, is_us) * 12:
        old = {name: draw.choice(values) for name, values in fields.items()}
        name = draw.choice(list(fields))
        new = {**old, name: draw.choice(fields[name])}
        rows = draw.choice(((None, new), (old, None), (old, new), (old, new), (old, new)))
        yield Case(
            (*rows, keeps),
            told_downstream(rows[0], rows[1], keeps),
            "The condition is another one here. Did it hold before, and does it hold now?",
        )


_TEACHING_CHANGES = [
    Case(
        (None, _at("NYSE"), is_us),
        _at("NYSE"),
        "A new US share: downstream has to have the row.",
    ),
    Case(
        (None, _at("XETRA"), is_us),
        None,
        "A new position, and no US share. Downstream never hears of it.",
    ),
    Case(
        (_at("NYSE"), _at("NYSE", 30), is_us),
        _at("NYSE", 30),
        "It was a US share and still is, with another amount: downstream has 20.",
    ),
    Case(
        (_at("NYSE"), _at("XETRA"), is_us),
        DELETE,
        "It is no US share any more, and downstream still has the old row.",
    ),
    Case(
        (_at("NYSE"), None, is_us),
        DELETE,
        "It was closed, and downstream still has the row.",
    ),
    Case(
        (_at("XETRA"), _at("NASDAQ"), is_us),
        _at("NASDAQ"),
        "It becomes a US share. Downstream hears of it for the first time.",
    ),
    Case(
        (_at("XETRA"), _at("LSE"), is_us),
        None,
        "It was none and is none. Downstream has no row to change or delete.",
    ),
    Case(
        (_at("XETRA"), None, is_us),
        None,
        "It was closed, but downstream never had it.",
    ),
    Case((None, None, is_us), None, "A tombstone for something that never was."),
    Case(
        (_at("NYSE"), _at("NYSE"), is_us),
        None,
        "The same record came twice. Downstream has this very row.",
    ),
    Case(
        (_at("NYSE"), _at("NASDAQ"), is_us),
        _at("NASDAQ"),
        "It moves from one US exchange to another. The row has changed.",
    ),
    Case(
        (_at("NYSE", ticker="KO"), _at("NYSE", ticker="IBM"), is_us),
        _at("NYSE", ticker="IBM"),
        "Only the ticker has changed, and so the row has. Downstream still has KO.",
    ),
]

filtered_table = Problem(
    name="A filter on a table",
    task="Somebody downstream keeps a table of US shares, and is told of each change by a filter. "
    "Write the filter. It gets the row as it was (`None` if there was none), the row as it is now "
    "(`None` if there is none any more) and a function that says whether a row is to be kept. "
    "Return what is told downstream: the new row; or `'delete'`; or `None` if there is nothing to "
    "tell, because the table downstream is right already.\n\n"
    "For a position in New York that moves to Frankfurt, "
    "`told_downstream(row_at_nyse, row_at_xetra, is_us)` is `'delete'`.",
    stub="def told_downstream(old, new, keeps):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_CHANGES, wrong_models.TOLD),
        by_cases(smallest_first(_drawn_changes()), wrong_models.TOLD_SHORTCUTS),
    ),
    hints=(
        "Draw a square: did the condition hold before, does it hold now? What does downstream have "
        "in each of the four corners, and what should it have?",
        "Two truth values decide: whether there was an old row that was kept, and whether there is "
        "a new one to keep. Ask the condition only of a row that exists.",
        "`before = old is not None and keeps(old)` is one of the two. In which corner is the "
        "delete?",
    ),
    reference=told_downstream,
    discussion="A filter on a stream of events looks at one record and lets it pass or not. A "
    "filter on a table needs the old row too, for only that says whether there is something to "
    "take back. So it has to remember: a filter with state!\n\n"
    "It can do with less memory and more talk. A delete for everything that does not match is "
    "right too, if downstream bears deletes of what it never had. In Kafka Streams you meet "
    "both, depending on whether the old value is at hand.",
)

# --- the latest row on Spark --------------------------------------------------------------------


def latest(changelog: DataFrame) -> DataFrame:
    return changelog.sparkSession.sql(
        """
        SELECT position, row.client, row.ticker, row.amount
        FROM (SELECT position, max_by(struct(*), offset) AS row FROM {changelog} GROUP BY position)
        WHERE NOT row.deleted
        """,
        changelog=changelog,
    )


_SCHEMA = (
    "position STRING, client STRING, ticker STRING, amount BIGINT, deleted BOOLEAN, offset BIGINT"
)
_ROWS: list[Row] = [
    # Not in the order of the offsets: rows of a DataFrame have none.
    ("less", "Bob", "AAPL", 5, False, 7),
    ("opened", "Bob", "AAPL", 40_000, False, 0),
    ("less", "Bob", "AAPL", 20, False, 0),  # in another partition
    ("moved", "Carol", "IBM", 7, False, 2),
    ("moved", "Alice", "IBM", 6, False, 8),
    ("swapped", "Dave", "SAP", 3, False, 3),
    ("swapped", "Dave", "BMW", 4, False, 10),
    ("closed", "Erin", "KO", 9, False, 4),
    ("closed", None, None, None, True, 9),
    ("reopened", None, None, None, True, 11),
    ("reopened", "Frank", "V", 2, False, 5),
    ("reopened", "Frank", "V", 6, False, 12),
    ("never", None, None, None, True, 6),
    ("twice", "Bob", "GE", 8, False, 13),
    ("twice", "Bob", "GE", 8, False, 14),
]

_NAMES = {name: f"p{at}" for at, name in enumerate(dict.fromkeys(row[0] for row in _ROWS))}


def _renamed(row: Row) -> Row:
    return (_NAMES[row[0]], *row[1:])


latest_on_spark = Problem(
    name="The latest row on Spark",
    task="Write a function from a changelog of positions, as a DataFrame, to the table that is "
    "true now: `position`, `client`, `ticker`, `amount`, a row for each open position. In: those "
    "columns, `deleted` (true for a tombstone, whose other columns are null) and `offset`. Of each "
    "position the row with the highest offset counts. Other positions may have the same offset, in "
    "another partition. The rows come in any order, for a DataFrame has none.\n\n"
    "The positions of the check are named for what happened to them: `moved` to another client, "
    "`closed`, `reopened`, `never` there at all.",
    stub="def latest(changelog):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "position STRING, client STRING, ticker STRING, amount BIGINT",
        [
            ("opened", "Bob", "AAPL", 40_000),
            ("less", "Bob", "AAPL", 5),
            ("moved", "Alice", "IBM", 6),
            ("swapped", "Dave", "BMW", 4),
            ("reopened", "Frank", "V", 6),
            ("twice", "Bob", "GE", 8),
        ],
        wrong_models_on_spark.LATEST,
        "Look at the name of each position that differs: it says what happened to it.",
        streams=False,
        renamed=_renamed,
    ),
    hints=(
        "Two things have to be done: find the newest record of each position, and leave out the "
        "tombstones. Which one first?",
        "Spark's aggregate `max_by(what, by)` gives one value from the row where another is "
        "largest. A whole row is one value too, as a `struct`.",
        "`max_by(struct(*), offset) AS row`, grouped by position, is the newest record, tombstone "
        "or not. Then look at `row.deleted`.",
    ),
    reference=latest,
    discussion="The order is the point: newest first, then the tombstones. The other way round a "
    "closed position comes back to life, with the last row it had.\n\n"
    "The offset can serve as order because all records of a key lie in one partition. And as a "
    "stream this query has a flaw that a table with an end does not show. Which one? Part 3.",
)

# --- a prediction -------------------------------------------------------------------------------

what_is_left = choice(
    name="What is left",
    task="A compacted topic was given six records:\n\n"
    "offset 0: `p1` Bob, 20 AAPL\noffset 1: `p2` Alice, 5 SAP\noffset 2: `p1` Bob, 30 AAPL\n"
    "offset 3: `p2` null\noffset 4: `p3` Carol, 7 IBM\noffset 5: `p1` Bob, 15 AAPL\n\n"
    "All of them have been cleaned, and the time for which tombstones are kept is long over. A new "
    "reader begins at the beginning. Which offsets does it get?",
    options=(
        Option(
            "all of them, 0 to 5: Kafka never deletes a record of a topic that is kept for ever",
            "That is what `cleanup.policy=delete` with a retention without end does. A "
            "compacted topic keeps what is needed to know the latest value of each key, and may "
            "drop the rest.",
        ),
        Option(
            "0, 1 and 4: of each key the record that came first",
            "Those are the oldest ones. A reader wants to know what is true now.",
        ),
        Option(
            "3, 4 and 5: of each key the last record, and the tombstone is one",
            "So it was right after the cleaning. How long must a tombstone stay, and what "
            "for? Read once more how long ago all this was.",
        ),
        Option("4 and 5: of each key the last record, unless it is a tombstone"),
        Option(
            "4 and 5, numbered anew as 0 and 1",
            "The records are right. But what would become of all who have noted offset 5 as "
            "their place?",
        ),
    ),
    hints=(
        "Of each key the last record is needed. Is a tombstone needed for ever?",
        "A tombstone stays long enough for every reader to hear of it. Once no older record of its "
        "key is left, what would a reader lose without it?",
        "The last ones are 5 for p1, 3 for p2, 4 for p3; and 3 is a tombstone. Offsets are never "
        "given twice.",
    ),
    discussion="A reader who builds a table from 4 and 5 gets the same table as one who saw all "
    "six. A reader who counts the records does not.\n\n"
    "The tombstone has a time limit, `delete.retention.ms`. A reader that was away for longer has "
    "a row that was closed meanwhile, and nobody tells it. After so long it has to begin at the "
    "beginning, with an empty table.",
)

problems = (one_record, latest_on_spark, filtered_table, what_is_left)
