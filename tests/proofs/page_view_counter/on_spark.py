"""Answers to "Views per name on Spark", right and wrong, as learners may write them."""

from __future__ import annotations

import os
from collections import Counter

from proof import Catalogue
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812


def only_pages(clicks: DataFrame) -> DataFrame:
    return clicks.filter(F.col("click_type") == "Page")


def count_by(clicks: DataFrame, *names: str) -> DataFrame:
    return clicks.groupBy(*names).agg(F.count("*").alias("views"))


def in_sql(clicks):
    clicks.createOrReplaceTempView("clicks_of_an_exercise")
    return clicks.sparkSession.sql(
        "SELECT count(1) AS views, name FROM clicks_of_an_exercise "
        "WHERE click_type = 'Page' GROUP BY name"
    )


def with_zeros(clicks):
    is_page = F.when(F.col("click_type") == "Page", 1).otherwise(0)
    return clicks.where("name IS NOT NULL").groupBy("name").agg(F.sum(is_page).alias("views"))


def actions_too(clicks):
    return count_by(clicks.dropna(), "name")


def shows(clicks):
    count_by(only_pages(clicks), "name").show()


def right(clicks):
    return count_by(only_pages(clicks), "name")


def collected(clicks):
    rows = Counter(row.name for row in only_pages(clicks).collect())
    return clicks.sparkSession.createDataFrame(list(rows.items()), ["name", "views"])


def over_a_window(clicks):
    views = F.count("*").over(Window.partitionBy("name"))
    return only_pages(clicks).select("name", views.alias("views")).distinct()


def distinct_ids(clicks):
    return only_pages(clicks).groupBy("name").agg(F.countDistinct("event_id").alias("views"))


def each_group_in_pandas(clicks):
    def count(group):
        return group.head(1).assign(views=len(group))[["name", "views"]]

    return only_pages(clicks).groupBy("name").applyInPandas(count, "name string, views long")


def in_two_steps(clicks):
    by_event = count_by(only_pages(clicks), "name", "event_id")
    return by_event.groupBy("name").agg(F.sum("views").alias("views"))


def raises_on_a_worker(clicks):
    @F.udf("string")
    def upper(name):
        return name.uper()

    return count_by(only_pages(clicks).withColumn("name", upper("name")), "name")


def without_brackets(clicks):
    return count_by(clicks.where(clicks.click_type == "Page" & clicks.name.isNotNull()), "name")


def with_and(clicks):
    return count_by(clicks.where(clicks.click_type == "Page" and clicks.name.isNotNull()), "name")


def named_as_page(clicks):
    return count_by(clicks.where("name LIKE '/%'"), "name")


def two_by_hand(spark):
    """A copy of what the difference shows."""
    rows = [("/home", 4), ("/shoes", 1), ("Start", 1)]
    return spark.createDataFrame(rows, "name string, views long")


def by_event_too(clicks):
    return count_by(only_pages(clicks), "name", "event_id").drop("event_id")


def by_offset_too(clicks):
    return count_by(only_pages(clicks), "name", "offset").drop("offset")


def in_windows(clicks):
    second = F.window(F.timestamp_millis("timestamp"), "1 second").alias("second")
    counted = only_pages(clicks).groupBy("name", second).agg(F.count("*").alias("views"))
    return counted.drop("second")


def by_day_with_a_watermark(clicks):
    timed = only_pages(clicks).withColumn("time", F.timestamp_millis("timestamp"))
    days = timed.withWatermark("time", "5 seconds").groupBy("name", F.window("time", "1 day"))
    return days.agg(F.count("*").alias("views")).drop("window")


def estimates(clicks):
    return only_pages(clicks).groupBy("name").agg(F.approx_count_distinct("offset").alias("views"))


def small_letters(clicks):
    return count_by(clicks.where("click_type = 'page'"), "name")


def zeros_and_null(clicks):
    is_page = F.when(F.col("click_type") == "Page", 1).otherwise(0)
    return clicks.groupBy("name").agg(F.sum(is_page).alias("views"))


def sums_truths(clicks):
    is_page = (F.col("click_type") == "Page").cast("int")
    return clicks.groupBy("name").agg(F.sum(is_page).alias("views"))


def counts_pages_in_groups(clicks):
    return clicks.groupBy("name").agg(F.count_if(F.col("click_type") == "Page").alias("views"))


def made_of_nothing(clicks):
    return clicks.sparkSession.createDataFrame([], "name string, views long")


def lists(clicks):
    ids = F.collect_list("event_id").alias("views")
    return only_pages(clicks).groupBy("name").agg(ids)


def ends_its_worker(clicks):
    return right(clicks.where(F.udf(lambda name: os._exit(1), "boolean")("name")))


catalogue = Catalogue(
    right=[in_sql, lambda clicks: count_by(only_pages(clicks), "name")],
    wrong=[
        (lambda c: count_by(c.where("click_type IS NOT NULL"), "name"), "actions as well"),
        (lambda c: count_by(c, "name"), "all rows"),
        (lambda c: count_by(c.where("click_type = 'Action'"), "name"), "actions instead of pages"),
        (lambda c: count_by(c.where("click_type <> 'Action'"), "name"), "whatever else there is"),
        (lambda c: count_by(c.where("click_type LIKE 'Page%'"), "name"), "only begin with"),
        (with_zeros, "appear with 0"),
        (lambda c: count_by(only_pages(c).dropDuplicates(["name"]), "name"), "has one view"),
        (lambda c: count_by(c.where("click_type = NULL"), "name"), "Nothing is left"),
        (small_letters, "capital letter"),
        (lambda c: only_pages(c).groupBy("name").count(), "missing views; not asked for count"),
        (lambda c: count_by(only_pages(c)), "missing name. Check"),
        (lambda c: count_by(only_pages(c), "name", "event_id"), "not asked for event_id"),
        (lambda c: only_pages(c).count(), "of type int"),
        (lambda c: count_by(c.where("type = 'Page'"), "name"), "no column `type`"),
        (shows, "It prints"),
        (named_as_page, "It judges by the name"),
        (lambda c: right(c).orderBy("views"), "a stream can't be sorted"),
        (lambda c: right(c).limit(10), "`limit` has no meaning"),
        (collected, "runs the query itself"),
        (over_a_window, "no functions `over`"),
        (distinct_ids, "It counts distinct values"),
        (by_event_too, "several rows"),
        (lambda c: right(c.withColumn("name", F.lower("name"))), "small letters"),
        (made_of_nothing, "nothing filters"),
        (lambda c: c.writeStream.start(), "the notebook starts the query"),
        (lists, "is ARRAY<BIGINT>"),
        (lambda c: c.where("click_type = Page"), "put it in quotes in SQL: `'Page'`"),
        (ends_its_worker, "ended the worker"),
        (in_two_steps, "aggregates twice"),
        (estimates, "only an estimate"),
        (each_group_in_pandas, "one micro-batch alone"),
        (lambda c: right(c).withColumn("views", F.expr("double(views)")), "`views` is DOUBLE"),
        (lambda c: right(c).toPandas(), "DataFrame of pandas"),
        (raises_on_a_worker, "raised AttributeError: 'str' object has no attribute 'uper'"),
        (without_brackets, "put each condition in brackets"),
        (with_and, "not by `and`"),
        (lambda c: c.where(c.nmae == "/home"), "no column or method `nmae`"),
        (lambda c: right(c).select("name", "name", "views"), "more than one column: `name`"),
        (lambda c: c.groupBy("name"), "ends with `groupBy`"),
        (lambda c: c.selectExpr("lenth(name) AS name", "1 AS views"), "no function `lenth`"),
        (lambda c: c.groupBy("name").agg(F.col("timestamp")), "nor in an aggregate"),
        (lambda c: c.where("name = = 'x'"), "can't read this SQL"),
    ],
    shortcuts=[
        (lambda c: c.sparkSession.createDataFrame(right(c).toPandas()), "runs the query itself"),
        (lambda c: right(c).cache(), "runs the query itself"),
        (lambda c: right(c.dropDuplicates(["event_id"])), "distinct values or drops"),
        (
            lambda c: (
                only_pages(c)
                .groupBy("name")
                .agg(F.approx_count_distinct("event_id").alias("views"))
            ),
            "distinct values or drops",
        ),
        (
            lambda c: c.sparkSession.createDataFrame([("a", 1)], "name string, views long"),
            "Compare",
        ),
        (lambda c: two_by_hand(c.sparkSession), "of another table"),
    ],
    same=[
        (zeros_and_null, with_zeros),
        (sums_truths, with_zeros),
        (counts_pages_in_groups, with_zeros),
        (by_offset_too, by_event_too),
        (in_windows, by_event_too),
        (by_day_with_a_watermark, by_event_too),
        (lambda c: count_by(c.where("lower(click_type) = 'page'"), "name"), small_letters),
        (lambda c: count_by(c.where("name IS NOT NULL"), "name"), actions_too),
        (lambda c: count_by(c.where("event_id IS NOT NULL"), "name"), actions_too),
    ],
    spark=True,
)
