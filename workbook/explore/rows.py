"""Reads the records by Spark, once, and keeps of each what the figures need: no value, no key.

A row: partition, offset, arrival (ms, the record's timestamp), size (bytes of key and value), why
(below), time (ms, of the event); own (the record's key), key, same: hashes, null for none.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.avro.functions import from_avro

from workbook.errors import WorkbookError
from workbook.explore.plan import Plan
from workbook.explore.sample import AVRO, JSON, Field, Sample
from workbook.explore.sql import AS_JSON, read_by, text_of, time_of
from workbook.kafka.broker import Broker
from workbook.streams.events.fields import MAX_AHEAD_MS

READ, EMPTY, UNREADABLE, TIMELESS, AHEAD = range(5)
"""Why a record counts, or doesn't."""

REASONS = {
    EMPTY: "no value",
    UNREADABLE: "another format than most",
    TIMELESS: "no time that can be read",
    AHEAD: "more than five minutes ahead of its arrival",
}
YEARS = (-62_135_596_800_000, 253_402_300_799_999)
"""The years 1 to 9999, in ms: Spark can't compute with every number."""

SLICE, SLICE_OF_ONE, SLICE_S, TASKS = 250_000, 1_000, 2.0, 64
"""Records of one read, and at least of each partition, as a partition's consumer takes a while to
start; where bytes per second are bounded, its seconds; and the tasks of a read at most."""


@dataclass(frozen=True)
class Choice:
    """The fields that are the event time, the key and the identity.

    Without one it's the record's timestamp, the record's key, and the whole value.
    """

    time: Field | None = None
    key: Field | None = None
    id: Field | None = None


def read(
    spark: SparkSession, broker: Broker, plan: Plan, sample: Sample, choice: Choice, folder: Path,
    at_most: float | None, say: Callable[[int, int], None],
) -> DataFrame:  # fmt: skip
    """Read what is planned into rows of a folder; ``say`` gets the offsets read, and of how many.

    ``at_most`` bounds the bytes per second, by the sample's mean. Raises ``WorkbookError`` if no
    record is left.
    """
    size = max(sample.mean_bytes, 1.0)
    step = max(SLICE, SLICE_OF_ONE * len(plan.ranges))
    if at_most is not None:
        step = max(int(at_most * SLICE_S / size), 1)
    began, done = time.monotonic(), 0
    spark.conf.set("spark.sql.variant.allowDuplicateKeys", True)  # JSON's last one counts
    for ranges in _slices(plan.ranges, step):
        raw = _raw(spark, broker, plan.topic, ranges)
        found = rows(raw, sample, choice).coalesce(TASKS)
        found.write.mode("append").parquet(str(folder / "rows"))
        done += sum(end - begin for begin, end in ranges.values())
        say(done, plan.offsets)
        if at_most is not None:
            time.sleep(max(began + done * size / at_most - time.monotonic(), 0))
    found = spark.read.parquet(str(folder / "rows"))
    if not found.head(1):
        raise WorkbookError(f"All records of {plan.topic!r} that were to be read have expired.")
    return found


def rows(raw: DataFrame, sample: Sample, choice: Choice) -> DataFrame:
    """Turn the columns of Spark's Kafka source into rows, see above."""
    if sample.format == JSON:
        raw = raw.withColumn("json", F.expr(AS_JSON))
        raw = raw.withColumn("read", F.col("json").isNotNull())
    elif sample.format == AVRO:
        raw = _with_avro(raw, sample.schemas)
    else:
        raw = raw.withColumn("read", F.lit(True))
    arrival = F.unix_millis("timestamp")
    at = F.expr(time_of(sample, choice.time)) if choice.time else arrival
    key = F.expr(text_of(sample, choice.key)) if choice.key else F.col("key")
    same = F.expr(text_of(sample, choice.id)) if choice.id else F.col("value")
    why = (
        F.when(F.col("value").isNull(), EMPTY)
        .when(~F.col("read"), UNREADABLE)
        .when(F.col("time").isNull() | ~F.col("time").between(*YEARS), TIMELESS)
        .when(F.col("time") > F.col("arrival") + MAX_AHEAD_MS, AHEAD)
        .otherwise(READ)
    )
    return (
        raw.withColumn("arrival", arrival)
        .withColumn("time", at)
        .select(
            "partition", "offset", "arrival", "time",
            (F.coalesce(F.length("key"), F.lit(0)) + F.coalesce(F.length("value"), F.lit(0)))
            .alias("size"),
            why.cast("tinyint").alias("why"),
            F.col("key").isNull().alias("keyless"),
            F.when(F.col("key").isNotNull(), F.xxhash64("key")).alias("own"),
            F.when(key.isNotNull(), F.xxhash64(key)).alias("key"),
            F.when(same.isNotNull(), F.xxhash64(same)).alias("same"),
        )
    )  # fmt: skip


def _slices(ranges: Mapping[int, tuple[int, int]], step: int) -> list[dict[int, tuple[int, int]]]:
    """Cut ranges into reads of about ``step`` offsets, each of all partitions."""
    total = sum(end - begin for begin, end in ranges.values())
    parts = max(-(-total // step), 1)
    found: list[dict[int, tuple[int, int]]] = [{} for _ in range(parts)]
    for number, (begin, end) in ranges.items():
        cuts = [begin + (end - begin) * part // parts for part in range(parts + 1)]
        for part, at in enumerate(pairwise(cuts)):
            found[part] |= {number: at} if at[1] > at[0] else {}
    return [each for each in found if each]


def _raw(
    spark: SparkSession, broker: Broker, topic: str, ranges: Mapping[int, tuple[int, int]]
) -> DataFrame:
    begins, ends = ({str(n): at[side] for n, at in ranges.items()} for side in (0, 1))
    options = {
        **broker.spark_options(),
        "assign": json.dumps({topic: [*ranges]}),
        "startingOffsets": json.dumps({topic: begins}),
        "endingOffsets": json.dumps({topic: ends}),
        "failOnDataLoss": "false",  # what expires meanwhile is counted as a gap
        "kafka.isolation.level": "read_committed",
        "kafka.max.partition.fetch.bytes": str(8 << 20),
        "kafka.max.poll.records": "5000",
        "minPartitions": str(spark.sparkContext.defaultParallelism),
        "includeHeaders": "false",
    }
    return spark.read.format("kafka").options(**options).load()


def _with_avro(raw: DataFrame, schemas: Mapping[int, str]) -> DataFrame:
    """Add a column per schema, null where a value names another one, or can't be read by it."""
    number = F.conv(F.hex(F.substring("value", 2, 4)), 16, 10).cast("bigint")
    for known, text in schemas.items():
        body = F.when(number == known, F.expr("substring(value, 6)"))
        raw = raw.withColumn(f"avro{known}", from_avro(body, text, {"mode": "PERMISSIVE"}))
    return raw.withColumn("read", F.expr(" OR ".join(read_by(*each) for each in schemas.items())))
