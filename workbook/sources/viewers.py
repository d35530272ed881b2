"""Read the table of viewers on Spark: the newest record of each user in a compacted topic."""

from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.kafka.broker import Broker
from workbook.kafka.require import require_topic
from workbook.sources.kafka import FAST, WAITING
from workbook.streams.events.viewers import PLACES, TRAITS


def viewer_groups(spark: SparkSession, broker: Broker, topic: str) -> DataFrame:
    """Return the table of viewers: ``user`` (bigint) and ``traits`` (int), a row per user.

    It's a batch read, so as the static side of a join Spark reads it again in each micro-batch, up
    to the offsets that are the topic's end at that time. Raises as ``kafka_stream``.
    """
    require_topic(broker.client_config(), topic)
    options = {**FAST, **WAITING, **broker.spark_options(), "subscribe": topic}
    return newest(spark.read.format("kafka").options(**options).load())


def newest(raw: DataFrame) -> DataFrame:
    """Return the table that the records of a compacted topic describe.

    In: the columns of Spark's Kafka source. Out as ``viewer_groups``. ``traits`` has a digit to
    the base 8 for each trait (``PLACES``): the number of its value in ``TRAITS``, from 1 on, or 0
    if it is none of these. A user whose newest record has no value has no row. The newest record is
    the one with the largest offset; if a user has records in several partitions, because some were
    added, it is the one with the latest timestamp. A record is ignored if its key isn't a
    whole number in decimal digits.
    """
    text = F.col("key").cast("string")
    user = text.try_cast("bigint")
    place = ("partition", "offset", "timestamp")
    rows = raw.select(user.alias("user"), *place, _traits().alias("traits"), text.alias("text"))
    known = rows.where(F.col("user").cast("string") == F.col("text"))  # "7" and "07" are two keys
    # Of fixed width: Spark would sort the records if a text were aggregated.
    last, latest = F.max_by("traits", "offset"), F.max_by("traits", "timestamp")
    traits = F.when(F.min("partition") == F.max("partition"), last).otherwise(latest)
    return known.groupBy("user").agg(traits.alias("traits")).where(F.col("traits").isNotNull())


def _traits() -> Column:
    """Return the code of the traits in the column ``value``; null for a tombstone."""
    schema = ", ".join(f"{trait} STRING" for trait in TRAITS)
    read = F.from_json(F.col("value").cast("string"), schema)
    digits = (
        F.coalesce(F.array_position(F.array(*map(F.lit, values)), read[trait]), F.lit(0))
        * PLACES[trait]
        for trait, values in TRAITS.items()
    )
    return F.when(F.col("value").isNotNull(), reduce(add, digits).cast("int"))
