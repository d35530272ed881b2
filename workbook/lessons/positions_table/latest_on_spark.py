"""Chapter 20: The latest row on Spark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from workbook.classroom.core import Problem
from workbook.classroom.frames import Row, by_rows, described
from workbook.classroom.judging import NotYet
from workbook.lessons.positions_table.latest_on_spark_mistakes import MISTAKES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def latest(changelog: DataFrame) -> DataFrame:
    newest = changelog.sparkSession.sql(
        "SELECT max_by(struct(*), offset) AS row FROM {changelog} GROUP BY position",
        changelog=changelog,
    )
    return newest.select("row.*").drop("offset")


_SCHEMA = (
    "position STRING, client STRING, ticker STRING, amount BIGINT, exchange STRING, "
    "deleted BOOLEAN, offset BIGINT"
)
_ROWS: list[Row] = [
    # Not in the order of the offsets: rows of a DataFrame have none.
    ("less", "Bob", "AAPL", 5, "NASDAQ", False, 7),
    ("opened", "Bob", "AAPL", 40_000, "NASDAQ", False, 0),
    ("less", "Bob", "AAPL", 20, "NASDAQ", False, 0),  # in another partition
    ("moved", "Carol", "IBM", 7, "NYSE", False, 2),
    ("moved", "Alice", "IBM", 6, "NYSE", False, 8),
    ("swapped", "Dave", "SAP", 3, "XETRA", False, 3),
    ("swapped", "Dave", "BMW", 4, "XETRA", False, 10),
    ("closed", "Erin", "KO", 9, "NYSE", False, 4),
    ("closed", None, None, None, None, True, 9),
    ("reopened", None, None, None, None, True, 11),
    ("reopened", "Frank", "V", 2, "NYSE", False, 5),
    ("reopened", "Frank", "V", 6, "NYSE", False, 12),
    ("never", None, None, None, None, True, 6),
    ("twice", "Bob", "GE", 8, "NYSE", False, 13),
    ("twice", "Bob", "GE", 8, "NYSE", False, 14),
    ("more", "Gina", "T", 11, "NYSE", False, 15),
    ("more", "Gina", "T", 50_000, "NYSE", False, 16),
]

_NAMES = {name: f"p{at}" for at, name in enumerate(dict.fromkeys(row[0] for row in _ROWS))}


def _renamed(row: Row) -> Row:
    return (_NAMES[row[0]], *row[1:])


_OF_ROWS = by_rows(
    _SCHEMA,
    _ROWS,
    "position STRING, client STRING, ticker STRING, amount BIGINT, exchange STRING, "
    "deleted BOOLEAN",
    [
        ("opened", "Bob", "AAPL", 40_000, "NASDAQ", False),
        ("less", "Bob", "AAPL", 5, "NASDAQ", False),
        ("moved", "Alice", "IBM", 6, "NYSE", False),
        ("swapped", "Dave", "BMW", 4, "XETRA", False),
        ("closed", None, None, None, None, True),
        ("reopened", "Frank", "V", 6, "NYSE", False),
        ("never", None, None, None, None, True),
        ("twice", "Bob", "GE", 8, "NYSE", False),
        ("more", "Gina", "T", 50_000, "NYSE", False),
    ],
    MISTAKES,
    "Look at the name of each position that differs: it says what happened to it.",
    renamed=_renamed,
)
_IN_THE_PLAN = {
    r"\b(collect_list|collect_set|array_agg|listagg)\(": "The rows are right, but on a stream it "
    "collects every record that a position ever had, and the state keeps them all for ever. Which "
    "aggregate keeps a single row?",
    r"\b(current_\w+|now|localtimestamp)\(|precisetimestampconversion": "The rows are right, but "
    "it hangs on the time at which it runs, or groups by a window of time: on a stream a position "
    "gets a further row in each, and an old one stays. Its key is the position alone.",
}


def _diagnose(answer: Any, spark: SparkSession | None = None) -> NotYet | None:
    found = _OF_ROWS(answer, spark)
    if found or spark is None:
        return found
    tried = described(answer, spark.createDataFrame([], _SCHEMA))
    plan = tried.value._jdf.queryExecution().analyzed().toString()
    causes = (cause for piece, cause in _IN_THE_PLAN.items() if re.search(piece, plan))
    return next(map(NotYet, causes), None)


latest_on_spark = Problem(
    name="The latest row on Spark",
    task="Write a function from a changelog of positions, as a DataFrame, to the newest row of "
    "each position. In: `position`, `client`, `ticker`, `amount`, `exchange`, `deleted` (true for "
    "a tombstone, whose fields are null) and `offset`. Out: the same columns without `offset`, one "
    "row per position, closed ones too. The row with the highest offset counts; two "
    "partitions may both have that offset, but a position lies in one of them.\n\n"
    "The next cell starts your function as a streaming query, so it must run on a stream: "
    "records keep coming, in no order that you could rely on.\n\n"
    "The positions of the check are named for what happened to them: `moved` to another client, "
    "`closed`, `reopened`, `never` there at all.",
    stub="def latest(changelog):\n    ...  # your code\n",
    diagnose=_diagnose,
    hints=(
        "On a stream, `row_number` over a window is refused. A group and an aggregate aren't. "
        "Which aggregate picks a value by another one's size?",
        "Spark's `max_by(what, by)` takes one value from the row where another is largest. "
        "A whole row is one value too, as a `struct`.",
        "`F.max_by(F.struct('*'), 'offset').alias('row')`, grouped by position, is the newest "
        "record. `select('row.*')` makes columns of it again; `offset` is one too many.",
    ),
    reference=latest,
    discussion="`max_by` keeps one row per position in the state, and compares offsets, so records "
    "may come in any order. The offset can serve as the order because all records of a key lie in "
    "one partition.\n\n"
    "A closed position stays among the rows, with `deleted`: in update mode Spark emits rows that "
    "changed, and a row that's left out is never taken back. That has a price: what does the state "
    "keep of a closed position?",
)
