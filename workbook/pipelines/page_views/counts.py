"""Counts page views on Spark, in all and per second."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.streams.events.clicks import ClickType


def page_views(parsed: DataFrame) -> DataFrame:
    """Count views per page name so far: ``name`` (string), ``views`` (bigint).

    A running aggregate over everything that arrived: it needs no watermark, because it is never
    finished, and an event dated in the far future has been rejected before it gets here.
    """
    seen = parsed.where(F.col("reason").isNull() & (F.col("click_type") == ClickType.PAGE.value))
    return seen.groupBy("name").agg(F.count("*").alias("views"))


def views_per_second(
    parsed: DataFrame,
    lateness: str = "5 seconds",
    *,
    by_partition: bool = False,
    with_events: bool = False,
) -> DataFrame:
    """Count views per second of event time: ``second`` (bigint, since 1970), ``views`` (bigint).

    ``by_partition`` adds the ``partition`` of the clicks (int) and counts each for itself,
    ``with_events`` the ``event_ids`` (array of bigint) of what was counted.

    The watermark follows the newest accepted event time of all partitions at a distance of
    ``lateness``. A second behind it is final and leaves the state. A click that comes even later is
    dropped: also one that is in order on a partition slower than others, and a good one after a
    click whose time was up to five minutes ahead. Only the query's progress counts it
    (``numRowsDroppedByWatermark``, in rows of partial counts). ``completed_views`` waits for the
    slowest partition, and names what came too late.
    """
    seen = parsed.where(F.col("reason").isNull() & (F.col("click_type") == ClickType.PAGE.value))
    places = ["partition"] if by_partition else []
    events = ["event_id"] if with_events else []
    time = F.timestamp_millis("timestamp").alias("event_time")
    windows = (
        seen.select(time, *places, *events)
        .withWatermark("event_time", lateness)
        .groupBy(F.window("event_time", "1 second"), *places)
    )
    found = [F.collect_list("event_id").alias("event_ids")] if with_events else []
    counts = windows.agg(F.count("*").alias("views"), *found)
    second = F.unix_seconds("window.start").alias("second")
    return counts.select(second, *places, "views", *(["event_ids"] if with_events else []))
