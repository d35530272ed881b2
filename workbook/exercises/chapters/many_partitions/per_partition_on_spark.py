"""Chapter 05: Views per second and partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.events.reasons import Reason
from workbook.exercises.chapters.many_partitions.per_partition_on_spark_mistakes import MISTAKES
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.frames import Row, by_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SECOND = 1_700_000_000


def by_second_and_partition(clicks: DataFrame) -> DataFrame:
    pages = clicks.where("click_type = 'Page' AND reason IS NULL")
    seconds = pages.selectExpr("timestamp div 1000 AS second", "partition")
    return seconds.groupBy("second", "partition").count().withColumnRenamed("count", "views")


_MS = SECOND * 1000
_SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING, reason STRING, partition INT"
)
_ROWS: list[Row] = [
    (1, "Page", "/home", _MS, "Firefox", "t1", None, 0),
    (2, "Page", "/hats", _MS + 999, "Firefox", "t1", None, 0),
    (3, "Page", "/home", _MS + 400, "Safari", None, None, 3),
    (4, "Action", "/buy", _MS + 600, "Safari", None, None, 3),
    (5, "Page", "shoes", _MS + 1_200, "Safari", None, None, 3),
    (6, "Page", "/home", _MS + 1_800, "Firefox", "t1", None, 3),
    (6, "Page", "/home", _MS + 1_800, "Firefox", "t1", None, 3),
    (7, "Action", "buy", _MS + 2_400, "Firefox", "t1", None, 0),
    (8, "Page", "/home", _MS + 60_100, "Chrome", "t2", None, 12),
    (9, "Page", "/home", _MS + 600_000, "Firefox", "t2", str(Reason.FUTURE), 0),
    (None, None, None, None, None, None, str(Reason.MALFORMED), 12),
]

per_partition_on_spark = Problem(
    name="Views per second and partition",
    task="Write a function from a DataFrame of clicks (`event_id`, `click_type`, `name`, "
    "`timestamp` in ms, `browser`, `tab_id`, `reason`, `partition`) to one with the page views of "
    "each second in each partition: columns `second` (a whole number, seconds since 1970), "
    "`partition` and `views`. A rejected record has a `reason`; leave it out. Views at 10,000 and "
    "10,999 ms in partition 0 and at 10,500 ms in partition 3 give the rows `10, 0, 2` and "
    "`10, 3, 1`, in any order.",
    stub="def by_second_and_partition(clicks):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "second BIGINT, partition INT, views BIGINT",
        [
            (SECOND, 0, 2),
            (SECOND, 3, 1),
            (SECOND + 1, 3, 3),
            (SECOND + 60, 12, 1),
        ],
        MISTAKES,
        "Compare the rows: which views are in a wrong second or partition, and which are counted "
        "too often or not at all?",
    ),
    hints=(
        "It is chapter 02's query with a longer key. What makes up one group now?",
        "Take two columns with you, the second and the partition, and group by both. A column that "
        "you do not group by is gone after the count.",
        "`pages.selectExpr('timestamp div 1000 AS second', 'partition')` is the step in the "
        "middle.",
    ),
    reference=by_second_and_partition,
    discussion="This `partition` is that of the clicks' topic, and an ordinary column here. Spark "
    "has partitions of its own, into which it shuffles the groups, and the two have nothing to do "
    "with each other.\n\n"
    "Spark alone would not need it: one query sees all partitions and adds them up itself. It is "
    "for the format, so that loop and query can write to one topic. And the state grows by as many "
    "rows a second as there are partitions.",
)
