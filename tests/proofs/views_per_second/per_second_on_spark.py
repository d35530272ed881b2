"""Answers to "Views per second on Spark", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def accepted_pages(clicks: DataFrame) -> DataFrame:
    return clicks.filter((F.col("click_type") == "Page") & F.col("reason").isNull())


def count_by(clicks: DataFrame, second: str, *more: str) -> DataFrame:
    """Views by an SQL expression for the second, and by more columns where a mistake does so."""
    with_second = clicks.withColumn("second", F.expr(second))
    counted = with_second.groupBy("second", *more).agg(F.count("*").alias("views"))
    return counted.select("second", "views")


def whole(clicks: DataFrame) -> DataFrame:
    return count_by(clicks, "timestamp div 1000")


def by_window(clicks):
    stamped = accepted_pages(clicks).withColumn("time", F.timestamp_millis("timestamp"))
    counted = stamped.groupBy(F.window("time", "1 second")).count()
    return counted.select(
        F.unix_seconds("window.start").alias("second"), F.col("count").alias("views")
    )


def in_sql(clicks):
    return clicks.sparkSession.sql(
        "SELECT count(*) AS views, floor(timestamp / 1000) AS second FROM {clicks} "
        "WHERE click_type = 'Page' AND reason IS NULL GROUP BY 2",
        clicks=clicks,
    )


def by_floor(clicks):
    second = F.floor(F.col("timestamp") / 1000).alias("second")
    return accepted_pages(clicks).groupBy(second).agg(F.count("*").alias("views"))


def window_of_milliseconds(clicks):
    stamped = accepted_pages(clicks).withColumn("time", F.col("timestamp").cast("timestamp"))
    counted = stamped.groupBy(F.window("time", "1 second").alias("w")).count()
    return counted.selectExpr("CAST(w.start AS BIGINT) AS second", "count AS views")


def zeros_for_actions(clicks):
    is_page = F.when(F.col("click_type") == "Page", 1).otherwise(0)
    seconds = clicks.where("reason IS NULL").withColumn("second", F.expr("timestamp div 1000"))
    return seconds.groupBy("second").agg(F.sum(is_page).alias("views"))


def fills_the_axis(clicks):
    views = whole(accepted_pages(clicks))
    axis = views.agg(F.min("second").alias("a"), F.max("second").alias("b")).selectExpr(
        "explode(sequence(a, b)) AS second"
    )
    return axis.join(views, "second", "left").fillna(0, ["views"])


def distinct_ids(clicks):
    seconds = accepted_pages(clicks).withColumn("second", F.expr("timestamp div 1000"))
    return seconds.groupBy("second").agg(F.countDistinct("event_id").alias("views"))


def shows(clicks):
    whole(accepted_pages(clicks)).show()


def on_pages(second, *more):
    return lambda clicks: count_by(accepted_pages(clicks), second, *more)


FROM_MS = "timestamp_millis(timestamp)"

catalogue = Catalogue(
    right=[
        by_window,
        in_sql,
        on_pages("CAST(timestamp / 1000 AS BIGINT)"),
        by_floor,
        on_pages(f"unix_seconds(date_trunc('SECOND', {FROM_MS}))"),
    ],
    wrong=[
        (on_pages("timestamp / 1000"), "gives a double"),
        (window_of_milliseconds, "still in milliseconds"),
        (on_pages("round(timestamp / 1000)"), "It rounds:"),
        (on_pages("ceil(timestamp / 1000)"), "It rounds up"),
        (on_pages(f"second({FROM_MS})"), "second of the minute"),
        (lambda c: whole(c.where("reason IS NULL")), "actions as well"),
        (lambda c: whole(c.where("click_type = 'Page'")), "counts rejected"),
        (whole, "all rows"),
        (on_pages("unix_seconds(current_timestamp())"), "clock on the wall"),
        (distinct_ids, "counts distinct values"),
        (lambda c: whole(c).withColumn("views", F.lit(1)), "Compare the rows"),
        (lambda c: whole(accepted_pages(c)).withColumn("views", F.lit(1)), "has one view"),
        (zeros_for_actions, "only actions appears with 0"),
        (fills_the_axis, "were made up"),
        (on_pages("timestamp div 1000", "name"), "several rows"),
        (on_pages(f"date_trunc('SECOND', {FROM_MS})"), "the second is a timestamp"),
        (on_pages(f"window({FROM_MS}, '1 second')"), "whole window"),
        (on_pages("from_unixtime(timestamp div 1000)"), "the second is text"),
        (lambda c: whole(c.where("click_type = 'Page' AND reason = NULL")), "Nothing is left"),
        (lambda c: whole(accepted_pages(c)).withColumnRenamed("views", "n"), "not asked for n"),
        (lambda c: accepted_pages(c).groupBy("timestamp").count(), "missing second, views"),
        (lambda c: whole(accepted_pages(c)).count(), "of type int"),
        (on_pages("arrival div 1000"), "no column `arrival`"),
        (on_pages("double(timestamp div 1000)"), "`second` is DOUBLE"),
        (lambda c: on_pages("timestamp div 1000")(c).orderBy("second"), "can't be sorted"),
        (lambda c: whole(c.where("name LIKE '/%' AND reason IS NULL")), "judges by the name"),
        (shows, "It prints"),
    ],
    spark=True,
)
