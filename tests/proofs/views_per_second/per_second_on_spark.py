"""Answers to "Views per second on Spark", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import functions as F  # noqa: N812


def timed_pages(clicks):
    return clicks.filter(F.col("click_type") == "Page").withColumn(
        "time", F.timestamp_millis("timestamp")
    )


def in_windows(clicks, length="1 second", *more):
    """Views by window of the column `time`, which may have a watermark."""
    counted = clicks.groupBy(F.window("time", length), *more).agg(F.count("*").alias("views"))
    return counted.select(F.unix_seconds("window.start").alias("second"), "views")


def with_delay(delay):
    return lambda clicks: in_windows(timed_pages(clicks).withWatermark("time", delay))


def right(clicks):
    return in_windows(timed_pages(clicks).withWatermark("time", "5 seconds"))


def in_sql(clicks):
    clicks.selectExpr("*", "timestamp_millis(timestamp) AS happened").withWatermark(
        "happened", "5 seconds"
    ).createOrReplaceTempView("happened_clicks")
    return clicks.sparkSession.sql(
        "SELECT unix_seconds(window.start) AS second, count(*) AS views FROM happened_clicks "
        "WHERE click_type = 'Page' GROUP BY window(happened, '1 second')"
    )


def watermark_first(clicks):
    """The watermark before the filter, the count by `count()`, casts instead of functions."""
    stamped = clicks.withColumn("t", (F.col("timestamp") / 1000).cast("timestamp"))
    pages = stamped.withWatermark("t", "5000 milliseconds").where(F.col("click_type") == "Page")
    counted = pages.groupBy(F.window(F.col("t"), "1 second").alias("w")).count()
    return counted.selectExpr("CAST(w.start AS BIGINT) AS second", "count AS views")


def by_second(expression):
    """Views by an SQL expression for the second, with a watermark that is of no use."""

    def answer(clicks):
        timed = timed_pages(clicks).withWatermark("time", "5 seconds")
        return timed.groupBy(F.expr(expression).alias("second")).agg(F.count("*").alias("views"))

    return answer


def without_a_watermark(clicks):
    return in_windows(timed_pages(clicks))


def div(clicks):
    pages = clicks.where("click_type = 'Page'").selectExpr("timestamp div 1000 AS second")
    return pages.groupBy("second").agg(F.count("*").alias("views"))


def watermark_behind(clicks):
    counted = timed_pages(clicks).groupBy(F.window("time", "1 second")).count()
    started = counted.withColumn("start", F.col("window.start")).withWatermark("start", "5 seconds")
    return started.select(F.unix_seconds("start").alias("second"), F.col("count").alias("views"))


def watermark_on_arrival(clicks):
    return in_windows(timed_pages(clicks).withWatermark("arrival", "5 seconds"))


def watermark_on_a_copy(clicks):
    copied = timed_pages(clicks).withColumn("copy", F.col("time") + F.expr("INTERVAL 0 SECONDS"))
    return in_windows(copied.withWatermark("copy", "5 seconds"))


def by_text(clicks):
    timed = timed_pages(clicks).withWatermark("time", "5 seconds")
    second = F.unix_timestamp(F.date_format("time", "yyyy-MM-dd HH:mm:ss")).alias("second")
    return timed.groupBy(second).agg(F.count("*").alias("views"))


def cut_before_the_watermark(clicks):
    cut = timed_pages(clicks).withColumn("time", F.date_trunc("second", "time"))
    counted = cut.withWatermark("time", "5 seconds").groupBy("time").count()
    return counted.select(F.unix_seconds("time").alias("second"), F.col("count").alias("views"))


def by_arrival(clicks):
    timed = timed_pages(clicks).withColumn("time", F.col("arrival"))
    return in_windows(timed.withWatermark("time", "5 seconds"))


def soon_arrived(clicks):
    return right(clicks.where("unix_millis(arrival) - timestamp < 60000 OR arrival IS NULL"))


def window_of_milliseconds(clicks):
    stamped = timed_pages(clicks).withColumn("time", F.col("timestamp").cast("timestamp"))
    return in_windows(stamped.withWatermark("time", "5 seconds"))


def of_all(clicks):
    return clicks.withColumn("time", F.timestamp_millis("timestamp")).withWatermark(
        "time", "5 seconds"
    )


def zeros_for_actions(clicks):
    views = F.sum(F.when(F.col("click_type") == "Page", 1).otherwise(0)).alias("views")
    counted = of_all(clicks).groupBy(F.window("time", "1 second")).agg(views)
    return counted.select(F.unix_seconds("window.start").alias("second"), "views")


def distinct_ids(clicks):
    timed = timed_pages(clicks).withWatermark("time", "5 seconds")
    counted = timed.groupBy(F.window("time", "1 second"))
    counted = counted.agg(F.approx_count_distinct("event_id").alias("views"))
    return counted.select(F.unix_seconds("window.start").alias("second"), "views")


def the_start(clicks):
    counted = timed_pages(clicks).withWatermark("time", "5 seconds")
    counted = counted.groupBy(F.window("time", "1 second")).agg(F.count("*").alias("views"))
    return counted.select(F.col("window.start").alias("second"), "views")


def the_window(clicks):
    counted = timed_pages(clicks).withWatermark("time", "5 seconds")
    counted = counted.groupBy(F.window("time", "1 second").alias("second"))
    return counted.agg(F.count("*").alias("views"))


def unnamed(clicks):
    timed = timed_pages(clicks).withWatermark("time", "5 seconds")
    return timed.groupBy(F.window("time", "1 second")).count()


def shows(clicks):
    right(clicks).show()


def starts_it(clicks):
    return right(clicks).writeStream.outputMode("update").format("console").start()


catalogue = Catalogue(
    right=[in_sql, watermark_first, with_delay("5 seconds")],
    wrong=[
        (without_a_watermark, "without a `withWatermark`"),
        (watermark_behind, "behind the grouping"),
        (watermark_on_arrival, "isn't a `window` of the very column"),
        (with_delay("0 seconds"), "less than five seconds late"),
        (with_delay("10 minutes"), "still counted"),
        (cut_before_the_watermark, "ends too early"),
        (soon_arrived, "long on its way"),
        (by_arrival, "counts by `arrival`"),
        (window_of_milliseconds, "still in milliseconds"),
        (by_second("timestamp / 1000"), "gives a double"),
        (by_second("round(timestamp / 1000)"), "It rounds:"),
        (by_second("ceil(timestamp / 1000)"), "It rounds up"),
        (by_second("second(time)"), "second of the minute"),
        (by_second("unix_seconds(current_timestamp())"), "clock on the wall"),
        (lambda c: in_windows(of_all(c)), "counts every click"),
        (lambda c: in_windows(of_all(c.where("click_type <> 'Action'"))), "every other kind"),
        (lambda c: in_windows(of_all(c.where("click_type LIKE 'Page%'"))), "begins with `Page`"),
        (lambda c: in_windows(of_all(c.where("name LIKE '/%'"))), "judges by the name"),
        (lambda c: in_windows(of_all(c.where("click_type = 'page'"))), "Nothing is left"),
        (lambda c: div(c.withColumn("click_type", F.lit("Page"))), "counts all rows"),
        (lambda c: in_windows(of_all(c.where("click_type = 'Page'")), "10 seconds"), "ten seconds"),
        (lambda c: right(c).withColumn("views", F.lit(1).cast("long")), "has one view"),
        (lambda c: in_windows(timed_pages(c), "1 second", "name"), "several rows"),
        (distinct_ids, "counts distinct values"),
        (zeros_for_actions, "only actions appears with 0"),
        (the_start, "the second is a timestamp"),
        (the_window, "whole window"),
        (lambda c: right(c).withColumn("second", F.from_unixtime("second")), "the second is text"),
        (lambda c: right(c).withColumnRenamed("views", "n"), "not asked for n"),
        (unnamed, "missing second, views"),
        (lambda c: right(c).count(), "of type int"),
        (lambda c: in_windows(c.where("click_type = 'Page'")), "no column `time`"),
        (lambda c: right(c).withColumn("second", F.col("second") * 1.0), "`second` is D"),
        (lambda c: right(c).orderBy("second"), "can't be sorted"),
        (shows, "It prints"),
        (starts_it, "It starts a query"),
    ],
    spark=True,
    same=[
        (div, without_a_watermark),
        (by_second("timestamp div 1000"), watermark_on_arrival),
        (by_second("unix_seconds(date_trunc('SECOND', time))"), watermark_on_arrival),
        (by_text, watermark_on_arrival),
        (watermark_on_a_copy, watermark_on_arrival),
        (with_delay("4 seconds"), with_delay("0 seconds")),
        (with_delay("6 seconds"), with_delay("10 minutes")),
        (with_delay("4800 milliseconds"), with_delay("0 seconds")),
        (with_delay("5200 milliseconds"), with_delay("10 minutes")),
    ],
)
