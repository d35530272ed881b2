"""Counts page views on Spark, in all and per second."""

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


def views_per_second(parsed: DataFrame, lateness: str = "5 seconds") -> DataFrame:
    """Count views per second of event time: ``second`` (bigint, since 1970), ``views`` (bigint).

    The watermark follows the newest accepted event time of all partitions at a distance of
    ``lateness``. A second behind it is final and leaves the state. A click that comes even later is
    dropped: also one that is in order on a partition slower than others, and a good one after a
    click whose time was up to five minutes ahead. Only the query's progress counts it
    (``numRowsDroppedByWatermark``, in rows of partial counts). ``completed_views`` waits for the
    slowest partition, and names the late events.
    """
    seen = parsed.where(F.col("reason").isNull() & (F.col("click_type") == ClickType.PAGE.value))
    counts = (
        seen.select(F.timestamp_millis("timestamp").alias("event_time"))
        .withWatermark("event_time", lateness)
        .groupBy(F.window("event_time", "1 second"))
        .agg(F.count("*").alias("views"))
    )
    return counts.select(F.unix_seconds("window.start").alias("second"), "views")
