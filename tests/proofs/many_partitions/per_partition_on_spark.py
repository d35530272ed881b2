"""Answers to "Views per second and partition", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def accepted_pages(clicks: DataFrame) -> DataFrame:
    return clicks.filter((F.col("click_type") == "Page") & F.col("reason").isNull())


def count_by(clicks: DataFrame, second="timestamp div 1000", partition="partition", more=()):
    """Views by an SQL expression for the second and one for the partition."""
    keys = clicks.withColumns({"second": F.expr(second), "partition": F.expr(partition)})
    counted = keys.groupBy("second", "partition", *more).agg(F.count("*").alias("views"))
    return counted.select("second", "partition", "views")


def in_sql(clicks):
    return clicks.sparkSession.sql(
        "SELECT count(*) AS views, partition, floor(timestamp / 1000) AS second FROM {clicks} "
        "WHERE click_type = 'Page' AND reason IS NULL GROUP BY ALL",
        clicks=clicks,
    )


def by_window(clicks):
    stamped = accepted_pages(clicks).withColumn("time", F.timestamp_millis("timestamp"))
    counted = stamped.groupBy(F.window("time", "1 second"), "partition").count()
    return counted.selectExpr("unix_seconds(window.start) AS second", "partition", "count AS views")


def on_pages(*expressions, **more):
    return lambda clicks: count_by(accepted_pages(clicks), *expressions, **more)


def beside(aggregate):
    """Grouped by the second alone."""

    def answer(clicks):
        seconds = accepted_pages(clicks).withColumn("second", F.expr("timestamp div 1000"))
        return seconds.groupBy("second").agg(
            aggregate("partition").alias("partition"), F.count("*").alias("views")
        )

    return answer


def whole_seconds_beside(clicks):
    seconds = accepted_pages(clicks).withColumn("second", F.expr("timestamp div 1000"))
    views = seconds.groupBy("second").agg(F.count("*").alias("views"))
    return seconds.select("second", "partition").distinct().join(views, "second")


def distinct_ids(clicks):
    keys = accepted_pages(clicks).withColumn("second", F.expr("timestamp div 1000"))
    return keys.groupBy("second", "partition").agg(F.countDistinct("event_id").alias("views"))


def zeros_for_actions(clicks):
    keys = clicks.where("reason IS NULL").withColumn("second", F.expr("timestamp div 1000"))
    counted = F.count(F.when(F.col("click_type") == "Page", 1))
    return keys.groupBy("second", "partition").agg(counted.alias("views"))


def swapped(clicks):
    return on_pages()(clicks).select(
        F.col("partition").alias("second"), F.col("second").alias("partition"), "views"
    )


def shows(clicks):
    on_pages()(clicks).show()


FROM_MS = "timestamp_millis(timestamp)"

catalogue = Catalogue(
    right=[in_sql, by_window, on_pages("CAST(timestamp / 1000 AS BIGINT)")],
    wrong=[
        (beside(F.max), "by the second alone"),
        (beside(F.countDistinct), "how many partitions there are"),
        (whole_seconds_beside, "views of the whole second"),
        (on_pages(partition="0"), "All rows are in partition 0"),
        (on_pages("timestamp / 1000"), "gives a double"),
        (on_pages("timestamp"), "still in milliseconds"),
        (on_pages("round(timestamp / 1000)"), "It rounds"),
        (lambda c: count_by(c.where("reason IS NULL")), "counts actions"),
        (lambda c: count_by(c.where("click_type = 'Page'")), "counts rejected"),
        (count_by, "all rows"),
        (distinct_ids, "counts distinct values"),
        (lambda c: on_pages()(c).withColumn("views", F.lit(1)), "has one view"),
        (zeros_for_actions, "only actions appears with 0"),
        (on_pages(more=("name",)), "in several rows"),
        (on_pages(f"date_trunc('SECOND', {FROM_MS})"), "the second is a timestamp"),
        (on_pages(f"window({FROM_MS}, '1 second')"), "whole window"),
        (on_pages(partition="string(partition)"), "the partition is text"),
        (swapped, "The names are swapped"),
        (lambda c: count_by(c.where("click_type = 'page'")), "Nothing is left"),
        (lambda c: on_pages()(c).where("partition > 0"), "Compare the rows"),
        (lambda c: on_pages()(c).drop("partition"), "missing partition"),
        (lambda c: on_pages()(c).withColumnRenamed("views", "n"), "not asked for n"),
        (lambda c: on_pages()(c).count(), "of type int"),
        (on_pages(partition="number"), "no column `number`"),
        (lambda c: on_pages()(c).orderBy("second"), "can't be sorted"),
        (lambda c: on_pages()(c).withColumn("views", F.expr("views / 1")), "`views` is DOUBLE"),
        (lambda c: count_by(c.where("name LIKE '/%' AND reason IS NULL")), "judges by the name"),
        (shows, "It prints"),
    ],
    spark=True,
)
