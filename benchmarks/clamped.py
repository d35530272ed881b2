"""Measures the clamped source against Spark's own on the same two topics, in one run.

    .venv/bin/python benchmarks/clamped.py [--messages 4000000] [--runs 3] [--per-batch 1000000]

Two topics of 4 partitions with events at the same rate, read from the earliest to the latest
offset, into a count. No figure is printed before each source has counted every message.
"""

import argparse
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from views_per_second import Cost, cost, floor, report

from workbook.kafka.broker import Broker
from workbook.kafka.offsets import partition_offsets
from workbook.sources.clamped import register
from workbook.spark import session
from workbook.stack.addresses import kafka
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.stream_producer import generate
from workbook.topics import Topic, new_topic

PARTITIONS = 4


def filled(broker: Broker, messages: int) -> tuple[Topic, Topic]:
    """Write as many tracking messages as orders, at the same times."""
    tracking = new_topic("tracking", "bench", PARTITIONS)
    orders = Topic(f"{tracking.name}.orders", PARTITIONS)
    broker.create(tracking, orders)
    now, half = int(time.time() * 1000), messages // 2
    for topic, kind in ((tracking, Kind.TRACKING), (orders, Kind.ORDERS)):
        stream = VisitStream(kind=kind, rate=5000.0, partitions=PARTITIONS)
        generate(broker.client_config(), topic.name, stream.ending_by(now, half), half)
    return tracking, orders


def read(spark: Any, broker: Broker, topics: tuple[Topic, Topic], how: dict[str, str]) -> int:
    """Count what a source gives, micro-batch by micro-batch."""
    counts: list[int] = []
    reader = spark.readStream.format(how["format"]).options(**{
        "kafka.bootstrap.servers": broker.bootstrap,
        "subscribe": ",".join(topic.name for topic in topics),
        "startingOffsets": "earliest",
        **{name: value for name, value in how.items() if name != "format"},
    })  # fmt: skip
    query = (
        reader.load()
        .selectExpr("length(value) AS n", "timestamp")
        .writeStream.foreachBatch(
            lambda batch, _: counts.append(
                batch.selectExpr("count(n)", "max(timestamp)").first()[0]
            )
        )
        .trigger(availableNow=True)
        .option("checkpointLocation", str(session.checkpoint("clamped")))
        .start()
    )
    query.awaitTermination()
    return sum(counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=4_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--per-batch", type=int, default=1_000_000)
    parser.add_argument("--lead", default="10 seconds")
    options = parser.parse_args()
    broker = kafka("bench")
    topics = filled(broker, options.messages)
    config = broker.client_config()
    records = sum(p.end for topic in topics for p in partition_offsets(config, topic.name))
    print("| | messages/s, best | median | CPU µs per message |\n| --- | --- | --- | --- |")
    one = sum(p.end for p in partition_offsets(config, topics[0].name))
    floors = [cost(lambda: floor(broker, topics[0], one))[0] for _ in range(options.runs)]
    report("raw consumer of one topic, nothing parsed", floors, one)
    limit = {"maxOffsetsPerTrigger": str(options.per_batch)}
    sources = {
        "Spark's own source": {"format": "kafka", **limit},
        "clamped source": {"format": "kafka-clamped", "maxLead": options.lead, **limit},
    }
    figures: dict[str, list[Cost]] = {name: [] for name in sources}
    spark = session.spark_session(quiet=True)
    register(spark)
    for number in range(options.runs + 1):
        for name, how in sources.items():
            spent, found = cost(lambda: read(spark, broker, topics, how))  # noqa: B023
            assert found == records, f"{name}: {found} of {records}"
            if number:  # the first run warms up
                figures[name].append(spent)
    for name, costs in figures.items():
        report(name, costs, records)
    session.stop_spark(spark)


if __name__ == "__main__":
    main()
