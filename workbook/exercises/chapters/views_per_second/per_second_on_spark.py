"""Chapter 02: Views per second on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.events.reasons import Reason
from workbook.exercises.chapters.views_per_second.per_second_on_spark_mistakes import MISTAKES
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.frames import Row, by_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SECOND = 1_700_000_000


def views_per_second(clicks: DataFrame) -> DataFrame:
    pages = clicks.where("click_type = 'Page' AND reason IS NULL")
    seconds = pages.selectExpr("timestamp div 1000 AS second")
    return seconds.groupBy("second").count().withColumnRenamed("count", "views")


_MS = SECOND * 1000
_SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING, reason STRING"
)
_ROWS: list[Row] = [
    (1, "Page", "/home", _MS, "Firefox", "t1", None),
    (2, "Page", "/home", _MS + 999, "Firefox", "t1", None),
    (2, "Page", "/home", _MS + 999, "Firefox", "t1", None),
    (3, "Page", "/shoes", _MS + 1_200, "Safari", None, None),
    (4, "Action", "buy", _MS + 1_300, "Safari", None, None),
    (5, "Page", "hats", _MS + 1_800, "Firefox", "t1", None),
    (6, "Action", "/buy", _MS + 2_400, "Firefox", "t1", None),
    (7, "Page", "/home", _MS + 60_100, "Chrome", "t2", None),
    (8, "Page", "/home", _MS + 600_000, "Firefox", "t2", str(Reason.FUTURE)),
    (9, "Page", "/hats", -5_000, "Chrome", None, str(Reason.NEGATIVE)),
    (None, None, None, None, None, None, str(Reason.MALFORMED)),
]

per_second_on_spark = Problem(
    name="Views per second on Spark",
    task="Write a function from a DataFrame of clicks (`event_id`, `click_type`, `name`, "
    "`timestamp` in ms, `browser`, `tab_id`, `reason`) to one with the page views of each second: "
    "columns `second` (a whole number, seconds since 1970) and `views`. A rejected record has a "
    "`reason`; leave it out. Views at 10,000, 10,999 and 11,200 ms give the rows `10, 2` and "
    "`11, 1`, in any order.",
    stub="def views_per_second(clicks):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "second BIGINT, views BIGINT",
        [(SECOND, 3), (SECOND + 1, 2), (SECOND + 60, 1)],
        MISTAKES,
        "Compare the rows: which views are in a wrong second, and which are counted too often or "
        "not at all?",
    ),
    hints=(
        "It is chapter 01's query with another key: which rows stay, what belongs together, what "
        "is counted. How do you get from milliseconds to a second?",
        "In Spark `/` gives a double, as in Python. SQL has `div` for whole numbers, and there is "
        "`floor`. Make the second a column first, then group by its name.",
        "`pages.selectExpr('timestamp div 1000 AS second')` is the step in the middle; the one "
        "before it and the one after it are yours.",
    ),
    reference=views_per_second,
    discussion="Order does not matter here: a late click simply makes its second's number larger, "
    "and nobody emits anything twice in a batch. (`div` cuts towards zero, which is right because "
    "negative timestamps were rejected.)\n\n"
    "On a stream the price is the state: to Spark a bigint is a number like any other, so each "
    "second stays in the state for ever. A `window` over `timestamp_millis(timestamp)` gives the "
    "same counts, and together with a watermark it tells Spark which seconds may be forgotten.",
)
