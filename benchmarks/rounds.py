"""A program of Spark that works in rounds (harness.py), each with a checkpoint of its own.

It reads lines of words: ``run SYSTEM OPTIONS``, a system of the package as `workbook run` starts
it; ``floor TOPIC …``, the bytes of topics into nothing; ``window TOPIC OUT``, page views by
Spark's own window; ``source NAME TOPIC …``, what a source reads into a count.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import Answer
from pyspark.sql import functions as F  # noqa: N812

from workbook.kafka.broker import Broker
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.require import require_topic
from workbook.sources import assigned, clamped
from workbook.sources.kafka import kafka_stream
from workbook.spark import session
from workbook.spark.runner import OnPoint
from workbook.stack.addresses import kafka
from workbook.systems import SYSTEMS
from workbook.systems.accounts import Sums
from workbook.systems.base import Job, Started, letters_of


@contextmanager
def started(spark: Any, broker: Broker, words: str) -> Iterator[tuple[Started, Namespace, Path]]:
    """Start a system by its name and the options of `workbook run`; stop it behind the block."""
    name, *options = words.split()
    system, place = SYSTEMS[name], session.checkpoint(name)
    chosen = system.options(options)
    partitions = max(require_topic(broker.client_config(), it) for it in system.sources(chosen))
    if made := [*letters_of(chosen), *system.results(chosen, partitions)]:
        broker.create(*made)
    begun = system.start(Job(spark, broker, chosen, place, OnPoint()))
    try:
        yield begun, chosen, place
    finally:
        begun.running.stop()


@contextmanager
def run(spark: Any, broker: Broker, words: str) -> Iterator[Answer]:
    with started(spark, broker, words) as (begun, chosen, place):
        if isinstance(sums := begun.sinks[-1], Sums):  # page views: its clocks never rest
            places = partition_offsets(broker.client_config(), chosen.source)
            records = sum(at.end for at in places)
            while sums.now["read"] < records or sums.now["open"]:
                begun.running.wait(0.02)
        else:
            begun.running.process_all()
        yield {"checkpoint": str(place)}


@contextmanager
def floor(spark: Any, broker: Broker, words: str) -> Iterator[Answer]:
    options = {**broker.spark_options(), "subscribe": ",".join(words.split())}
    rows = spark.read.format("kafka").options(**options).load()
    rows.select("value").write.format("noop").mode("overwrite").save()
    yield {}


@contextmanager
def window(spark: Any, broker: Broker, words: str) -> Iterator[Answer]:
    """Count page views by one watermark; a replay's partitions run apart, by less than a day."""
    source, out = words.split()
    from_json = "from_json(CAST(value AS STRING), 'click_type STRING, timestamp BIGINT') AS click"
    parsed = kafka_stream(spark, broker, source).selectExpr(from_json)
    pages = parsed.selectExpr("click.*").where("click_type = 'Page'")
    timed = pages.selectExpr("timestamp_millis(timestamp) AS event_time")
    late = timed.withWatermark("event_time", "1 day")
    windows = late.groupBy(F.window("event_time", "1 second"))
    text = "CAST(unix_seconds(window.start) AS STRING) AS key", "CAST(count AS STRING) AS value"
    records = windows.count().selectExpr(*text)
    writer = records.writeStream.format("kafka").outputMode("update")
    writer = writer.options(**broker.spark_options(), topic=out)
    query = writer.option("checkpointLocation", str(session.checkpoint("window"))).start()
    query.processAllAvailable()
    yield {}
    query.stop()


@contextmanager
def source(spark: Any, broker: Broker, words: str) -> Iterator[Answer]:
    """Count what a source gives, with all bytes of it, micro-batch by micro-batch."""
    name, *topics = words.split()
    clamped.register(spark)
    assigned.register(spark)
    options = {**broker.spark_options(), "subscribe": ",".join(topics)}
    options |= {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "1000000"}
    options |= {"maxLead": "10 seconds"} if name == "kafka-clamped" else {}
    rows = spark.readStream.format(name).options(**options).load()
    counts: list[int] = []

    def count(batch: Any, number: int) -> None:
        counts.append(batch.selectExpr("count(length(value))", "max(timestamp)").first()[0])

    place = str(session.checkpoint("source"))
    writer = rows.writeStream.foreachBatch(count).option("checkpointLocation", place)
    writer.trigger(availableNow=True).start().awaitTermination()
    yield {"records": sum(counts)}


WORK: dict[str, Callable[..., Any]] = {f.__name__: f for f in (run, floor, window, source)}


def main() -> None:
    broker, spark = kafka("bench"), session.spark_session(quiet=True)
    print("ready", flush=True)
    for line in sys.stdin:
        kind, _, words = line.strip().partition(" ")
        with WORK[kind](spark, broker, words) as answer:
            print(json.dumps(answer), flush=True)
        print("ready", flush=True)
    session.stop_spark(spark)


if __name__ == "__main__":
    main()
