"""Chapter 20: The latest row on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.exercises.chapters.positions_table.latest_on_spark_mistakes import MISTAKES
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.frames import Row, by_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    "another partition. The rows come in any order, because a DataFrame has none.\n\n"
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
        MISTAKES,
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
