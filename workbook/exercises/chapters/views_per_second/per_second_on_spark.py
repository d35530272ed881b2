"""Chapter 02: Views per second on Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.core import Problem
from workbook.classroom.frames import Row, by_rows
from workbook.exercises.chapters.views_per_second.per_second_on_spark_mistakes import MISTAKES
from workbook.exercises.chapters.views_per_second.per_second_on_spark_stream import on_a_real_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from workbook.classroom.judging import NotYet

SECOND = 1_700_000_000


def views_per_second(clicks: DataFrame) -> DataFrame:
    pages = clicks.where("click_type = 'Page'")
    timed = pages.withColumn("time", F.timestamp_millis("timestamp"))
    windows = timed.withWatermark("time", "5 seconds").groupBy(F.window("time", "1 second"))
    counted = windows.agg(F.count("*").alias("views"))
    return counted.select(F.unix_seconds("window.start").alias("second"), "views")


_MS = SECOND * 1000
_SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING, arrival TIMESTAMP"
)


def _at(ms: int) -> datetime:
    return datetime.fromtimestamp((_MS + ms) / 1000, UTC)


_ROWS: list[Row] = [
    (1, "Page", "/home", _MS, "Firefox", "t1", _at(40)),
    (2, "Page", "/home", _MS + 999, "Firefox", "t1", _at(1_020)),
    (2, "Page", "/home", _MS + 999, "Firefox", "t1", _at(1_030)),
    (3, "Page", "/shoes", _MS + 1_200, "Safari", None, _at(3_300)),
    (4, "Action", "buy", _MS + 1_300, "Safari", None, _at(1_310)),
    (5, "Page", "hats", _MS + 1_800, "Firefox", "t1", _at(1_850)),
    (6, "Action", "/buy", _MS + 2_400, "Firefox", "t1", _at(2_430)),
    (7, "Page", "/home", _MS + 66_100, "Chrome", "t2", _at(66_150)),
    (8, "PageLeave", "/home", _MS + 66_900, "Chrome", "t2", _at(66_960)),
    (9, "Scroll", "/home", _MS + 66_950, "Chrome", "t2", _at(66_990)),
    (None, None, None, None, None, None, _at(67_000)),
    (10, "Page", "/home", _MS + 66_970, "Chrome", "t2", _at(186_970)),  # two minutes on its way
]

_on_a_table = by_rows(
    _SCHEMA,
    _ROWS,
    "second BIGINT, views BIGINT",
    [(SECOND, 3), (SECOND + 1, 2), (SECOND + 66, 2)],
    MISTAKES,
    "Compare the rows: which views are in a wrong second, and which are counted too often or "
    "not at all?",
)


def _diagnose(answer: Any, spark: SparkSession | None = None) -> NotYet | None:
    found = _on_a_table(answer, spark=spark)
    if found is not None or spark is None:
        return found
    return on_a_real_stream(answer, spark, _SCHEMA, SECOND)


per_second_on_spark = Problem(
    name="Views per second on Spark",
    task="Write a function from a DataFrame of clicks (`event_id`, `click_type`, `name`, "
    "`timestamp` in ms, `browser`, `tab_id`, `arrival`) to one with the page views of each second: "
    "columns `second` (a whole number, seconds since 1970) and `views`. A record that is no click "
    "is a row of nulls, and counts for nothing. Views at 10,000, 10,999 and 11,200 ms give the "
    "rows `10, 2` and `11, 1`, in any order.\n\n"
    "It runs on a stream next, for as long as the shop is open: use a `window` of one second and a "
    "watermark with a delay of five seconds, so that its state ends.",
    stub="def views_per_second(clicks):\n    ...  # your code\n",
    diagnose=_diagnose,
    hints=(
        "It's the query above with three changes: which rows stay, how long a window is, what the "
        "columns are called.",
        "The order matters: the rows to keep, a column of the type timestamp, the watermark on it, "
        "the window of it, the count. `window.start` is a timestamp, and `F.unix_seconds` makes a "
        "number of it.",
        "`timed.withWatermark('time', '5 seconds').groupBy(F.window('time', '1 second'))` is the "
        "step in the middle; the ones before and after it are yours.",
    ),
    reference=views_per_second,
    discussion="The window does two things. It counts, as `timestamp div 1000` would. And it tells "
    "Spark that the group is a piece of time, which the watermark can pass: then the second leaves "
    "the state. The check has run your query over six micro-batches: a page view that was not "
    "quite five seconds late counted there, and one that was a little later was dropped.",
)
