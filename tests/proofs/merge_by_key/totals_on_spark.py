"""Answers to "Totals of each visit on Spark", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import functions as F  # noqa: N812


def by_sums(messages):
    known = messages.filter(F.col("ssid").isNotNull())
    return known.groupBy("ssid").agg(
        F.sum(F.when(F.col("type") == "tracking", 1).otherwise(0)).alias("pages"),
        F.sum(F.when(F.col("type") == "order", 1).otherwise(0)).alias("orders"),
        F.sum(F.coalesce("cents", F.lit(0))).alias("cents"),
    )


def in_sql(messages):
    messages.createOrReplaceTempView("all_messages")
    return messages.sparkSession.sql(
        "SELECT ssid, count(page) AS pages, count(order_id) AS orders, "
        "ifnull(sum(cents), 0) AS cents FROM all_messages WHERE ssid IS NOT NULL GROUP BY ssid"
    )


def totals(messages, pages=None, orders=None, cents=None):
    return messages.groupBy("ssid").agg(
        (F.count("page") if pages is None else pages).alias("pages"),
        (F.count("order_id") if orders is None else orders).alias("orders"),
        (F.coalesce(F.sum("cents"), F.lit(0)) if cents is None else cents).alias("cents"),
    )


def without_heartbeats(messages):
    return messages.where("ssid IS NOT NULL")


def with_heartbeats(messages):
    return totals(messages)


def null_cents(messages):
    return totals(without_heartbeats(messages), cents=F.sum("cents"))


def all_as_it_is(messages):
    return totals(messages, cents=F.sum("cents"))


def a_join(messages):
    tracked = messages.where("type = 'tracking'").select("ssid", "page")
    ordered = messages.where("type = 'order'").select("ssid", "order_id", "cents")
    return totals(tracked.join(ordered, "ssid"))


def a_left_join(messages):
    tracked = messages.where("type = 'tracking'").select("ssid", "page")
    ordered = messages.where("type = 'order'").select("ssid", "order_id", "cents")
    return totals(tracked.join(ordered, "ssid", "left"))


def by_the_column(messages):
    return totals(without_heartbeats(messages), orders=F.count_if(F.col("type") == "orders"))


def of_tracking(messages):
    return totals(messages.where("type = 'tracking'"))


def of_orders(messages):
    return totals(messages.where("cents IS NOT NULL"))


def with_orders_only(messages):
    return totals(without_heartbeats(messages)).where("orders > 0")


def tracked_only(messages):
    return totals(without_heartbeats(messages)).where("pages > 0")


def with_both(messages):
    return totals(without_heartbeats(messages)).where("pages > 0 AND orders > 0")


def all_pages(messages):
    return totals(without_heartbeats(messages), pages=F.count("*"))


def counts_conditions(messages):
    return totals(
        without_heartbeats(messages),
        pages=F.count(F.col("type") == "tracking"),
        orders=F.count(F.col("type") == "order"),
    )


def different_pages(messages):
    return totals(without_heartbeats(messages), pages=F.size(F.collect_set("page")).cast("bigint"))


def paid_only(messages):
    return totals(without_heartbeats(messages), orders=F.count_if(F.col("cents") > 0))


def largest(messages):
    return totals(without_heartbeats(messages), cents=F.max(F.coalesce("cents", F.lit(0))))


def other_names(messages):
    return totals(without_heartbeats(messages)).withColumnRenamed("pages", "views")


def sums_of_ones(messages, cents=None):
    ones = [F.sum(F.when(F.col("type") == kind, 1)) for kind in ("tracking", "order")]
    return totals(without_heartbeats(messages), *ones, cents)


def sums_alone(messages):
    return sums_of_ones(messages, F.sum("cents"))


def two_rows(messages):
    each = (
        without_heartbeats(messages)
        .groupBy("ssid", "type")
        .agg(
            F.count("page").alias("pages"),
            F.count("order_id").alias("orders"),
            F.coalesce(F.sum("cents"), F.lit(0)).alias("cents"),
        )
    )
    return each.drop("type")


def nothing_left(messages):
    return totals(messages.dropna())


def in_capitals(messages):
    return totals(without_heartbeats(messages), pages=F.count_if(F.col("type") == "Tracking"))


def exchanged(messages):
    return totals(without_heartbeats(messages), F.count("order_id"), F.count("page"))


def all_as_orders(messages):
    return totals(without_heartbeats(messages), orders=F.count("*"))


def both_types(messages):
    return totals(messages.where((F.col("type") == "tracking") & (F.col("type") == "order")))


def not_equal_to_none(messages):
    return totals(messages.where(F.col("ssid") != None))  # noqa: E711


def first_order(messages):
    first = F.coalesce(F.first("cents", ignorenulls=True), F.lit(0))
    return totals(without_heartbeats(messages), cents=first)


catalogue = Catalogue(
    right=[by_sums, in_sql],
    wrong=[
        (with_heartbeats, "row for `ssid` null"),
        (null_cents, "null for `cents`"),
        (all_as_it_is, "of the heartbeats, and `cents` is null"),
        (a_join, "each tracking message with each order"),
        (a_left_join, "a left join"),
        (by_the_column, "the type `order`"),
        (of_tracking, "Only the tracking messages are counted"),
        (of_orders, "Only the orders are counted"),
        (with_orders_only, "without an order are missing"),
        (tracked_only, "only an order has come"),
        (with_both, "both kinds of messages"),
        (all_pages, "counts all messages of the visit, its orders among them"),
        (counts_conditions, "use a condition"),
        (different_pages, "different pages"),
        (paid_only, "0 cents"),
        (largest, "the largest order"),
        (other_names, "views"),
        (sums_of_ones, "is null where a visit has none"),
        (sums_alone, "The same holds for `cents`."),
        (two_rows, "Group by `ssid` alone"),
        (nothing_left, "drops all of them"),
        (in_capitals, "`pages` is 0 in every row"),
        (exchanged, "have changed places"),
        (all_as_orders, "its pages among them"),
        (first_order, "Compare the rows"),
        (lambda messages: messages.collect(), "DataFrame"),
    ],
    spark=True,
    same=[(both_types, nothing_left), (not_equal_to_none, nothing_left)],
)
