"""Chapter 10: Totals of each visit on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.core import Problem
from workbook.classroom.frames import Row, by_rows
from workbook.lessons.merge_by_key.totals_on_spark_mistakes import MISTAKES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def visit_totals(messages: DataFrame) -> DataFrame:
    of_visits = messages.where("type <> 'heartbeat'")
    return of_visits.groupBy("ssid").agg(
        F.count_if(F.col("type") == "tracking").alias("pages"),
        F.count_if(F.col("type") == "order").alias("orders"),
        F.coalesce(F.sum("cents"), F.lit(0)).alias("cents"),
    )


_SCHEMA = (
    "type STRING, timestamp BIGINT, event_id BIGINT, ssid STRING, page STRING, order_id STRING, "
    "cents BIGINT"
)
_AT = 1_700_000_000_000

_ROWS: list[Row] = [
    ("tracking", _AT, 1, "v1", "/", None, None),
    ("tracking", _AT + 700, 2, "v1", "/shoes", None, None),
    ("tracking", _AT + 900, 3, "v2", "/", None, None),
    ("order", _AT + 1_500, 1, "v1", None, "o1", 4_995),
    ("order", _AT + 1_600, 2, "v1", None, "o2", 9_000),
    ("order", _AT + 1_900, 5, "v1", None, "o5", 4_995),
    ("heartbeat", _AT + 2_000, None, None, None, None, None),
    ("heartbeat", _AT + 2_000, None, None, None, None, None),
    ("order", _AT + 2_100, 3, "v3", None, "o3", 250),  # its visit comes later, or never
    ("tracking", _AT + 2_400, 4, "v1", "/shoes", None, None),
    ("order", _AT + 2_500, 4, "v4", None, "o4", 0),
    ("tracking", _AT + 2_600, 5, "v4", "/hats", None, None),
]

totals_on_spark = Problem(
    name="Totals of each visit on Spark",
    task="`messages` is a DataFrame with the messages of both topics: `type` (`tracking`, `order` "
    "or `heartbeat`), `timestamp`, `event_id`, `ssid`, `page`, `order_id`, `cents`; what a message "
    "lacks is null. Write a function that returns a row per visit: `ssid`, `pages` (its tracking "
    "messages), `orders`, and `cents` (of all its orders; 0 where it has none). Heartbeats belong "
    "to no visit.\n\n"
    "Visit `v1` with three tracking messages and two orders of 4,995 cents gives `v1, 3, 2, 9990`. "
    "No message comes twice here.",
    stub="def visit_totals(messages):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "ssid STRING, pages BIGINT, orders BIGINT, cents BIGINT",
        [("v1", 3, 3, 18_990), ("v2", 1, 0, 0), ("v3", 0, 1, 250), ("v4", 1, 1, 0)],
        MISTAKES,
        "Compare the rows: which visit is missing, or has other numbers?",
    ),
    hints=(
        "No join: both topics are in one DataFrame already. What do the messages of a visit have "
        "in common?",
        "One `groupBy`, three aggregates. Two of them count rows that fulfil a condition; the "
        "third is null where there was nothing to add.",
        '`F.count_if(F.col("type") == "order")` counts the orders.',
    ),
    reference=visit_totals,
    discussion="No join is needed: a union and a `groupBy` bring together what belongs together, "
    "whichever topic was first. The state is three numbers per visit, whatever its length.\n\n"
    "But numbers forget which messages they're made of. A message that comes twice counts twice, "
    "and nobody can tell afterwards. And no visit ever ends: its row stays in the state for ever.",
)
