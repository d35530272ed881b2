"""Chapter 03: Metrics on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.exercises.chapters.metrics_topic.metrics_on_spark_mistakes import MISTAKES
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.frames import Row, by_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SECOND = 1_700_000_000


def as_metrics(counts: DataFrame) -> DataFrame:
    return counts.selectExpr("CAST(second AS STRING) AS key", "CAST(views AS STRING) AS value")


_SCHEMA = "second BIGINT, views BIGINT"
_ROWS: list[Row] = [
    (SECOND, 42),
    (SECOND + 1, 7),
    (SECOND + 1, 9),
    (SECOND + 1, 9),
    (SECOND + 5, 1_234),
    (5, 0),
    (4_000_000_000, 3_000_000_000),
    (12_345_678_901, 1),
]

metrics_on_spark = Problem(
    name="Metrics on Spark",
    task="Write a function that turns counts into records for Spark's Kafka sink: from a DataFrame "
    "with `second` and `views`, both BIGINT, to one with the columns `key` and `value`, both "
    "STRING, and no other column. The format is the one you wrote by hand: second 1,700,000,000 "
    'with 42 views gives the row `"1700000000", "42"`.\n\n'
    "Each row gives a row. In update mode a second comes again when its count has changed.",
    stub="def as_metrics(counts):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "key STRING, value STRING",
        [(str(second), str(views)) for second, views in _ROWS],
        MISTAKES,
        "Compare the rows: is each number its own decimal text, and does each row give a row?",
    ),
    hints=(
        "Nothing is counted any more. Each row stays a row: what changes is the names of the two "
        "columns and their types.",
        "`select` or `selectExpr` make new columns from old ones. A number becomes text by a cast, "
        "and a column gets its name by `AS` or `alias`.",
        "`CAST(second AS STRING) AS key` is one half of it, inside a `selectExpr`.",
    ),
    reference=as_metrics,
    discussion="Spark's Kafka sink looks at names: `key`, `value`, and if you like `topic`, "
    "`partition` and `headers`. It takes STRING and BINARY, and refuses a BIGINT, because it "
    "wouldn't know which bytes you mean. Now nobody who reads the topic can tell which of the two "
    "programs produced a metric.\n\n"
    "In update mode the topic gets several values for one second, and all but the last are too "
    "small. This does no harm as long as readers let the last one win.",
)
