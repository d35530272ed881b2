"""Answers to "Metrics on Spark", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import functions as F  # noqa: N812


def by_columns(counts):
    return counts.select(
        F.col("views").cast("string").alias("value"), F.col("second").cast("string").alias("key")
    )


def renamed(counts):
    as_text = counts.withColumns({name: F.col(name).cast("string") for name in counts.columns})
    return as_text.withColumnsRenamed({"second": "key", "views": "value"})


def metrics(key="CAST(second AS STRING)", value="CAST(views AS STRING)"):
    return lambda counts: counts.selectExpr(f"{key} AS key", f"{value} AS value")


def merged(function):
    def answer(counts):
        return renamed(counts.groupBy("second").agg(function("views").alias("views")))

    return answer


def shows(counts):
    renamed(counts).show()


catalogue = Catalogue(
    right=[by_columns, renamed, metrics("format_string('%d', second)", "string(views)")],
    wrong=[
        (metrics("second", "views"), "Both columns are still numbers"),
        (metrics(key="second"), "The key is still a number"),
        (metrics(value="views"), "The value is still a number"),
        (metrics("string(views)", "string(second)"), "swapped"),
        (metrics("CAST(second AS BINARY)", "CAST(views AS BINARY)"), "cannot cast"),
        (metrics("binary(string(second))", "binary(string(views))"), "The bytes are right"),
        (metrics(key="string(second * 1000)"), "in milliseconds"),
        (metrics(key="string(double(second))"), "was a double"),
        (metrics(key="string(timestamp_seconds(second))"), "a date and a time"),
        (metrics(value="format_number(views, 0)"), "formatted for people"),
        (metrics(value="to_json(struct(views))"), "JSON. The number"),
        (metrics(value="to_json(struct(second, views))"), "repeats the second"),
        (merged(F.max), "merged into one row"),
        (merged(F.sum), "added up"),
        (lambda counts: renamed(counts).distinct(), "Equal rows were dropped"),
        (lambda counts: renamed(counts.where("views IS NULL")), "Nothing is left"),
        (lambda counts: renamed(counts.where("views < 1000")), "Compare the rows"),
        (lambda counts: counts, "missing key, value; not asked for second, views"),
        (lambda counts: counts.selectExpr("*", "string(second) AS key"), "missing value"),
        (lambda counts: renamed(counts).withColumn("topic", F.lit("metrics")), "for topic"),
        (lambda counts: renamed(counts).collect(), "of type list"),
        (metrics(key="string(window.start)"), "no column `window`"),
        (lambda counts: renamed(counts).orderBy("key"), "can't be sorted"),
        (lambda counts: renamed(counts).toPandas(), "of pandas"),
        (shows, "It prints"),
    ],
    spark=True,
)
