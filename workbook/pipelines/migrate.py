"""Read the old table's rows as counts, and sum up each day, so that two tables can be compared."""

from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.streams.events.ad_actions import PLAIN, TYPES
from workbook.streams.events.legacy_counts import DAY, DAY_FORMAT, MOST
from workbook.streams.events.reasons import Reason


def migrated(rows: DataFrame, before: date | None = None) -> DataFrame:
    """Parse the rows of ``sources.token_ranges.read_ranges``.

    Out, a row per row but those that could be accepted of a day that isn't ``before`` that one:
    ``first``, ``ad``, ``type``, ``source``, ``count``, ``failure`` and ``ended`` as they are;
    ``day`` (date, null where it can't be read); ``reason`` (string, null where accepted), and
    ``old``, the rejected row as JSON.
    """
    plain = rf"\A{PLAIN}\z"
    days = F.try_to_timestamp("day", F.lit(DAY_FORMAT)).cast("date")
    reason = (
        F.when(F.col("ended"), None)
        .when(F.col("day").isNull(), Reason.NO_DAY.value)
        .when(~(F.col("ad").rlike(plain) & F.col("source").rlike(plain)), Reason.NOT_PLAIN.value)
        .when(~F.col("type").isin(*TYPES), Reason.UNKNOWN_ACTION.value)
        .when(~F.coalesce(F.col("count").between(0, MOST), F.lit(False)), Reason.NOT_A_COUNT.value)
    )
    # As JSON, so that a letter can hold what PostgreSQL refuses in a text.
    old = F.to_json(F.struct("ad", "day", "type", "source", "count"))
    parsed = rows.withColumns(
        {"old": old, "day": F.when(F.col("day").rlike(rf"\A{DAY}\z"), days)}
    ).withColumn("reason", reason)
    rejected = F.col("reason").isNotNull()
    found = parsed.withColumn("old", F.when(rejected, F.col("old")))
    if before is None:
        return found
    return found.where(rejected | F.col("ended") | (F.col("day") < F.lit(before)))


def day_sums(counts: DataFrame) -> DataFrame:
    """Sum up counts by day.

    In: ``ad``, ``day`` (date), ``type``, ``source``, ``count``. Out, a row per ``day``: the number
    of ``rows``, the ``total`` of their counts, and a ``checksum`` (decimal) over all columns, which
    doesn't depend on the order of the rows. ``sinks.migration`` has the same in PostgreSQL's words.
    """
    text = F.concat_ws("|", "ad", F.col("day").cast("string"), "type", "source", "count")
    digits = F.conv(F.substring(F.md5(text.cast("binary")), 1, 15), 16, 10)
    return counts.groupBy("day").agg(
        F.count("*").alias("rows"),
        F.sum("count").alias("total"),
        F.sum(digits.cast("decimal(38, 0)")).alias("checksum"),
    )
