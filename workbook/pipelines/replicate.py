"""Replicate a short-lived topic into a long-lived one: same bytes, a key by content, the arrival.

FINN.no keeps a message for 3 days where it is produced, and for 90 days where it is counted.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.streams.events.ad_actions import ARRIVAL

VERSION = 1


def replicated(raw: DataFrame) -> DataFrame:
    """Return a record per record: its SHA-1 as ``key`` (20 bytes), the same ``value``, ``headers``.

    In: the columns of Spark's Kafka source, headers included. So all records with the same bytes
    are in the same partition, where an aggregator can tell that they are the same. The last of the
    ``headers`` has the record's arrival (its timestamp in ms, as digits): Spark's Kafka sink can't
    set a timestamp. A null value stays null, and gets no key.
    """
    arrival = F.unix_millis("timestamp").cast("string").cast("binary")
    headers = F.coalesce("headers", F.expr("array()"))
    return raw.select(
        F.unhex(F.sha1("value")).alias("key"),
        "value",
        F.array_append(
            headers, F.struct(F.lit(ARRIVAL).alias("key"), arrival.alias("value"))
        ).alias("headers"),
    )
