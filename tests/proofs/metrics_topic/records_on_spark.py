"""Answers to "Records on Spark", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import functions as F  # noqa: N812


def by_columns(counts):
    return counts.select(
        F.col("views").cast("string").alias("value"),
        F.unix_seconds(F.col("window.start")).cast("string").alias("key"),
    )


def as_new_columns(counts):
    key, value = F.expr("CAST(unix_timestamp(window.start) AS STRING)"), F.expr("string(views)")
    return counts.withColumn("key", key).withColumn("value", value).drop("window", "views")


def records(key="string(unix_seconds(window.start))", value="string(views)"):
    return lambda counts: counts.selectExpr(f"{key} AS key", f"{value} AS value")


def merged(function):
    def answer(counts):
        return by_columns(counts.groupBy("window").agg(function("views").alias("views")))

    return answer


def shows(counts):
    by_columns(counts).show()


catalogue = Catalogue(
    right=[
        by_columns,
        as_new_columns,
        records("format_string('%d', bigint(window.start))", "format_string('%d', views)"),
        records("string(unix_millis(window.start) div 1000)"),
    ],
    wrong=[
        (records("unix_seconds(window.start)", "views"), "Both columns are still numbers"),
        (records(key="unix_seconds(window.start)"), "The key is still a number"),
        (records(value="views"), "The value is still a number"),
        (records("string(views)", "string(unix_seconds(window.start))"), "swapped"),
        (records(key="string(window.start)"), "The key is a date"),
        (records(key="string(window)"), "whole window as text"),
        (records(key="string(second(window.start))"), "second of the minute"),
        (records(key="string(unix_seconds(window.end))"), "The key is the window's end"),
        (records(key="string(unix_millis(window.start))"), "in milliseconds"),
        (records(key="string(double(window.start))"), "was a double"),
        (records(key="window.start"), "`key` is TIMESTAMP"),
        (
            records("binary(string(unix_seconds(window.start)))", "binary(string(views))"),
            "The bytes are right",
        ),
        (records(value="format_number(views, 0)"), "formatted for people"),
        (records(value="to_json(struct(views))"), "JSON. The number"),
        (
            records(value="to_json(struct(unix_seconds(window.start) AS second, views))"),
            "repeats the second",
        ),
        (merged(F.max), "merged into one row"),
        (merged(F.sum), "added up"),
        (lambda counts: by_columns(counts).distinct(), "Equal rows were dropped"),
        (lambda counts: by_columns(counts.where("views IS NULL")), "Nothing is left"),
        (lambda counts: by_columns(counts.where("views < 1000")), "Compare the rows"),
        (lambda counts: counts, "missing key, value; not asked for window, views"),
        (lambda counts: by_columns(counts).withColumn("topic", F.lit("metrics")), "for topic"),
        (lambda counts: by_columns(counts).collect(), "of type list"),
        (records(key="string(second)"), "no column `second`"),
        (lambda counts: by_columns(counts).orderBy("key"), "can't be sorted"),
        (lambda counts: by_columns(counts).toPandas(), "of pandas"),
        (lambda counts: by_columns(counts).writeStream.start(), "the notebook starts the query"),
        (shows, "It prints"),
    ],
    shortcuts=[
        (records(key="to_json(window)"), "whole window as text"),
        (records(key="string(window.end)"), "The key is the window's end"),
        (records(key="string(unix_millis(window.start) / 1000)"), "was a double"),
        (records(key="date_format(window.start, 'yyyy-MM-dd HH:mm:ss')"), "The key is a date"),
    ],
    spark=True,
)
