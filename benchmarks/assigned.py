"""Measures the assigned source: its rate, and what a micro-batch costs that has one record.

    .venv/bin/python benchmarks/assigned.py [--records 2000000] [--runs 1] [--commits 50]

The rate: small records in 50 partitions, counted with all their bytes; the first run warms up. The
delay: from a group's commit to its row in ``foreachBatch``, read from ``__consumer_offsets``.
"""

import argparse
import os
import secrets
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from views_per_second import Cost, cost, floor, report

from workbook.kafka.broker import Broker
from workbook.sources.kafka import assigned_stream, kafka_stream
from workbook.spark import session
from workbook.stack.addresses import kafka
from workbook.topics import CONSUMER_OFFSETS, Topic, new_topic

PARTITIONS = 50
WITHIN_S = 30.0


def filled(broker: Broker, records: int) -> Topic:
    """Write records as large as commits: keys of 40 bytes, values of 30."""
    topic = new_topic("clicks", "bench", PARTITIONS)
    broker.create(topic)
    producer = Producer({**broker.client_config(), "linger.ms": 50, "batch.size": 1 << 20})
    for number in range(records):
        while True:
            try:
                producer.produce(topic.name, bytes(30), b"%040d" % number, number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()
    return topic


def counted(rows: Any) -> int:
    """Count what a source gives, micro-batch by micro-batch."""
    counts: list[int] = []

    def count(batch: Any, number: int) -> None:
        counts.append(batch.selectExpr("count(length(key) + length(value))").first()[0])

    place = str(session.checkpoint("assigned"))
    writer = rows.writeStream.foreachBatch(count).option("checkpointLocation", place)
    writer.trigger(availableNow=True).start().awaitTermination()
    return sum(counts)


def rates(spark: Any, broker: Broker, records: int, runs: int) -> None:
    topic = filled(broker, records)
    print("| | records/s, best | median | CPU µs per record |\n| --- | --- | --- | --- |")
    report(
        "raw consumer, nothing parsed", [cost(lambda: floor(broker, topic, records))[0]], records
    )
    sources = {"Spark's own source": kafka_stream, "assigned source": assigned_stream}
    figures: dict[str, list[Cost]] = {name: [] for name in sources}
    for number in range(runs + 1):
        for name, stream in sources.items():
            spent, found = cost(lambda: counted(stream(spark, broker, topic.name)))  # noqa: B023
            assert found == records, f"{name}: {found} of {records}"
            if number:  # the first run warms up
                figures[name].append(spent)
    for name, costs in figures.items():
        report(name, costs, records)


def delays(spark: Any, broker: Broker, commits: int) -> None:
    seen: dict[int, float] = {}
    topic = new_topic("clicks", "delay")
    broker.create(topic)
    member = Consumer({**broker.client_config(), "group.id": "app", "enable.auto.commit": False})

    def commit(offset: int) -> float:
        began = time.monotonic()
        member.commit(offsets=[TopicPartition(topic.name, 0, offset)], asynchronous=False)
        return began

    def keep(batch: Any, number: int) -> None:
        for row in batch.select("value").collect():
            if row.value is not None and topic.name.encode() not in row.value:
                seen.setdefault(int.from_bytes(row.value[2:10], "big"), time.monotonic())

    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        try:
            commit(1)
            break
        except KafkaException:  # its coordinator is loading
            time.sleep(0.1)
    rows = assigned_stream(spark, broker, CONSUMER_OFFSETS)
    place = str(session.checkpoint("delays"))
    query = rows.writeStream.foreachBatch(keep).option("checkpointLocation", place).start()
    found = []
    for offset in range(1_000_000, 1_000_000 + commits):
        began, deadline = commit(offset), time.monotonic() + WITHIN_S
        while offset not in seen and time.monotonic() < deadline:
            time.sleep(0.002)
        found.append(seen[offset] - began)
    durations = [p.durationMs for p in query.recentProgress if p.numInputRows]
    query.stop()
    member.close()
    found = sorted(found[5:])
    print(f"delay: median {statistics.median(found):.3f} s, longest {found[-1]:.3f} s")
    for name in ("triggerExecution", "latestOffset", "queryPlanning", "addBatch", "walCommit"):
        each = [d[name] for d in durations[5:] if name in d]
        print(f"{name}: median {statistics.median(each):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--commits", type=int, default=50)
    options = parser.parse_args()
    broker = kafka("bench")
    spark = session.spark_session(quiet=True)
    rates(spark, broker, options.records, options.runs)
    delays(spark, broker, options.commits)
    session.stop_spark(spark)


if __name__ == "__main__":
    main()
