"""Chapter 03: Records on Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from workbook.classroom.core import Problem
from workbook.classroom.frames import Row, by_rows
from workbook.lessons.metrics_topic.records_on_spark_mistakes import MISTAKES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SECOND = 1_700_000_000


def as_records(counts: DataFrame) -> DataFrame:
    return counts.selectExpr("string(unix_seconds(window.start)) AS key", "string(views) AS value")


def _row(second: int, views: int) -> Row:
    ends = datetime.fromtimestamp(second, UTC), datetime.fromtimestamp(second + 1, UTC)
    return ends, views


_SCHEMA = "window STRUCT<start:TIMESTAMP,end:TIMESTAMP>, views BIGINT"
_COUNTS = [
    (SECOND, 42),
    (SECOND + 1, 7),
    (SECOND + 1, 9),
    (SECOND + 1, 9),
    (SECOND + 5, 1_234),
    (5, 1),
    (4_000_000_000, 3_000_000_000),
]
_ROWS: list[Row] = [_row(second, views) for second, views in _COUNTS]

records_on_spark = Problem(
    name="Records on Spark",
    task="Write the function that turns the query's counts into records for Spark's Kafka sink. "
    "It gets a DataFrame with `window` (a struct of two timestamps, `start` and `end`) and `views` "
    "(BIGINT), and returns one with the columns `key` and `value`, both STRING, in the format that "
    "you published by hand. The window from 22:13:20 to 22:13:21 on 14 November 2023 (UTC) with 42 "
    'views gives the row `"1700000000", "42"`.\n\n'
    "It runs on a stream in update mode, where a window comes again when its count has changed: "
    "each row gives a row.",
    stub="def as_records(counts):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "key STRING, value STRING",
        [(str(second), str(views)) for second, views in _COUNTS],
        MISTAKES,
        "Compare the rows: is each key the decimal text of its window's start, in seconds since "
        "1970, and does each row give a row?",
    ),
    hints=(
        "Nothing is counted any more. Each row stays a row: two new columns are made of the old "
        "ones, by name and by type.",
        "A timestamp as text is a date. Which function of Spark gives the seconds since 1970? A "
        "field of a struct has a dot before its name: `window.start`.",
        "`string(unix_seconds(window.start)) AS key` is one half, inside a `selectExpr`.",
    ),
    reference=as_records,
    discussion="Spark's Kafka sink looks at the names of columns: `key`, `value`, and if you like "
    "`topic`, `partition`, `headers`. It takes STRING and BINARY and refuses a BIGINT, because it "
    "couldn't know which bytes you mean.\n\n"
    "Its weakness: a window of a minute, or one of another partition, would get the same key as "
    "the second that it begins with. What makes a number unique belongs in its key.",
)
