"""Chapter 01: Views per name on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.classroom.core import Problem
from workbook.classroom.frames import Row, by_rows
from workbook.lessons.page_view_counter.on_spark_mistakes import MISTAKES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NOON = 1_700_000_000_000


def views_per_name(clicks: DataFrame) -> DataFrame:
    pages = clicks.where("click_type = 'Page'")
    return pages.groupBy("name").count().withColumnRenamed("count", "views")


_SCHEMA = "offset BIGINT, event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT"
_ROWS: list[Row] = [
    (0, 1, "Page", "/home", NOON),
    (1, 1, "Page", "/home", NOON),  # delivered twice: each row counts
    (2, 2, "Page", "/home", NOON + 4_000),
    (3, 3, "Page", "/shoes", NOON),
    (4, 4, "Action", "/shoes", NOON),
    (5, 5, "Action", "add-to-basket", NOON),
    (6, 6, "Page", "Start", NOON),
    (7, None, None, None, None),
    (8, 8, "PageLeave", "/home", NOON + 900),
    (9, 9, "Hover", "/hats", NOON + 900),
    (10, 10, "page", "/socks", NOON + 900),
    (11, 11, "Page", "/home", NOON + 86_400_000),  # on the next day
]


on_spark = Problem(
    name="Views per name on Spark",
    task="Write a function from a DataFrame of clicks (`offset`, `event_id`, `click_type`, `name`, "
    "`timestamp`) to one with the page views of each name: columns `name` and `views`. Only rows "
    "of the type `Page` count, and each of them does, even one that came before. A record that is "
    "no click is a row of nulls. Two views of /home and one of /shoes give the rows `/home, 2` and "
    "`/shoes, 1`, in any order. It runs on a stream later, so it must leave running to the caller.",
    stub="def views_per_name(clicks):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "name STRING, views BIGINT",
        [("/home", 4), ("/shoes", 1), ("Start", 1)],
        MISTAKES,
        "Compare the rows: which clicks are counted too often, or not at all?",
    ),
    hints=(
        "It takes three steps: which rows stay, what belongs together, what is counted.",
        "Use `where` for the rows, then `groupBy` and a count; give its column the name that is "
        "asked for.",
        "`pages.groupBy('name').count().withColumnRenamed('count', 'views')` counts; `pages` is "
        "for you.",
    ),
    reference=views_per_name,
    discussion="The function opens no session and no topic, so the same lines run over this small "
    "table and over an endless stream. On a stream the counts are Spark's state.\n\n"
    "There is no window: each name stays in the state for ever, and a visitor who makes up names "
    "makes it grow (chapter 02 bounds it).",
)
