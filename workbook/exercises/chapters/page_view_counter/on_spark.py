"""Chapter 01: Views per name on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.events.reasons import Reason
from workbook.exercises.chapters.page_view_counter.on_spark_mistakes import MISTAKES
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.frames import Row, by_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NOON = 1_700_000_000_000


def views_per_name(clicks: DataFrame) -> DataFrame:
    pages = clicks.where("click_type = 'Page' AND reason IS NULL")
    return pages.groupBy("name").count().withColumnRenamed("count", "views")


_SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING, reason STRING"
)
_ROWS: list[Row] = [
    (1, "Page", "/home", NOON, "Firefox", "t1", None),
    (1, "Page", "/home", NOON, "Firefox", "t1", None),  # delivered twice: each row counts
    (2, "Page", "/home", NOON + 400, "Safari", "t3", None),
    (3, "Page", "/shoes", NOON, "Safari", None, None),
    (4, "Action", "/shoes", NOON, "Safari", None, None),
    (5, "Action", "add-to-basket", NOON, "Safari", None, None),
    (6, "Page", "Start", NOON, "Safari", None, None),
    (7, "Page", "/home", NOON + 600_000, "Firefox", "t2", str(Reason.FUTURE)),
    (8, "Page", "/hats", -1, "Chrome", None, str(Reason.NEGATIVE)),
    (None, None, None, None, None, None, str(Reason.MALFORMED)),
]


on_spark = Problem(
    name="Views per name on Spark",
    task="Write a function from a DataFrame of clicks (`event_id`, `click_type`, `name`, "
    "`timestamp`, `browser`, `tab_id`, `reason`) to one with the page views of each name: columns "
    "`name` and `views`. A rejected record has a `reason`; leave it out. Every row counts, "
    "even one that came before. Two views of home and one of shoes give the rows `/home, 2` and "
    "`/shoes, 1`, in any order.",
    stub="def views_per_name(clicks):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "name STRING, views BIGINT",
        [("/home", 3), ("/shoes", 1), ("Start", 1)],
        MISTAKES,
        "Compare the rows: which clicks are counted too often, or not at all?",
    ),
    hints=(
        "It takes three steps: which rows stay, what belongs together, what is counted.",
        "Use `where` for the rows (mind that null is compared with `IS NULL`), then `groupBy` and "
        "a count; give its column the name that is asked for.",
        "`pages.groupBy('name').count().withColumnRenamed('count', 'views')` counts; `pages` is "
        "for you.",
    ),
    reference=views_per_name,
    discussion="The function opens no session and no topic, so the same lines run over this small "
    "batch and over an endless stream. On a stream the counts are Spark's state.\n\n"
    "There is no window: each name stays in the state for ever, and a visitor who makes up names "
    "makes it grow (chapters 02 and 05).",
)
