"""Measures who reads what: the decoder's rate, the way to the dashboard, the stores' answers.

    .venv/bin/python benchmarks/active_groups.py [--records 5000000] [--runs 3] [--commits 100]

The records are those that 70 real groups have left in ``__consumer_offsets``, again and again in a
topic of as many partitions. No figure is printed before each run has counted every record.
"""

import argparse
import os
import secrets
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

import numpy as np
from confluent_kafka import Consumer, TopicPartition
from views_per_second import Cost, cost, report

from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_messages
from workbook.pipelines.active_groups import active_groups
from workbook.sources.consumer_offsets import decode
from workbook.sources.kafka import assigned_stream
from workbook.spark import session
from workbook.spark.runner import OnPoint
from workbook.spark.settings import in_rocksdb
from workbook.stack.addresses import kafka
from workbook.streams.generators.groups import GroupWorkload
from workbook.systems.active_groups import ActiveGroups
from workbook.systems.base import Job
from workbook.topics import CONSUMER_OFFSETS, Topic, new_topic

PARTITIONS = 50


def replayed(broker: Broker, records: int) -> Topic:
    """Write real records into a topic of their own, again and again, each into its partition."""
    config = broker.client_config()
    clicks = new_topic("clicks", "bench", 3)
    broker.create(clicks)
    GroupWorkload(config, clicks.name, 3).run()
    real = [
        (message.value(), message.key(), message.partition() or 0, 0)
        for message in read_messages(config, CONSUMER_OFFSETS)
    ]
    copy = new_topic("offsets", "bench", PARTITIONS)
    broker.create(copy)
    with DeliveringProducer(config, copy.name) as producer:
        for begin in range(0, records, len(real)):
            producer.produce_all(real[: records - begin])
    print(f"{len(real):,} real records became {records:,}.")
    return copy


def counted(rows: Any, counts: list[int]) -> None:
    """Run a query over all that's there, and count its rows."""
    spark = rows.sparkSession
    with in_rocksdb(spark):
        query = (
            rows.writeStream.foreachBatch(lambda batch, _: counts.append(batch.count()))
            .outputMode("update")
            .trigger(availableNow=True)
            .option("checkpointLocation", str(session.checkpoint("bench")))
            .start()
        )
        query.awaitTermination()


def decoded(spark: Any, broker: Broker, topic: Topic, per_batch: int) -> int:
    counts: list[int] = []
    raw = assigned_stream(spark, broker, topic.name, max_per_batch=per_batch)
    counted(decode(raw), counts)
    return sum(counts)


def table(spark: Any, broker: Broker, topic: Topic, per_batch: int) -> int:
    counts: list[int] = []
    raw = assigned_stream(spark, broker, topic.name, max_per_batch=per_batch)
    counted(active_groups(decode(raw)), counts)
    return sum(counts)


def live(spark: Any, broker: Broker, commits: int) -> None:
    """Measure from a commit to the store, and the stores' answers while the stream runs."""
    from workbook.sinks.store import Store
    from workbook.sinks.windowed_store import WindowedStore

    config, system = broker.client_config(), ActiveGroups()
    checkpoint = session.checkpoint("bench")
    started = system.start(Job(spark, broker, system.options(()), checkpoint, OnPoint()))
    clicks = new_topic("clicks", "bench", 1)
    broker.create(clicks)
    store = Store(checkpoint / "groups.db", "group", reading=True)
    windows = WindowedStore(checkpoint / "windows.db", "group", reading=True)
    mine = f"{clicks.name}.live"
    consumer = Consumer({**config, "group.id": mine, "log_level": 0})
    delays, asks = list[float](), defaultdict[str, list[float]](list)
    for offset in range(1, commits + 1):
        place = TopicPartition(clicks.name, 0, offset)
        consumer.commit(offsets=[place], asynchronous=False)
        began = time.monotonic()
        while not (row := store.get(mine)) or row["offsets"][0]["offset"] < offset:
            assert time.monotonic() < began + 60, "no commit in the store after 60 s"
            time.sleep(0.005)
        delays.append(time.monotonic() - began)
        now = int(time.time() * 1000)
        questions: dict[str, Callable[..., object]] = {
            "get": lambda: store.get(mine),
            "all": store.all,
            "fetch": lambda now=now: list(windows.fetch(mine, now - 600_000, now)),
            "fetch_all": lambda now=now: list(windows.fetch_all(now - 60_000, now)),
        }
        for name, ask in questions.items():
            began_ask = time.perf_counter()
            ask()
            asks[name].append((time.perf_counter() - began_ask) * 1000)
    started.running.stop()
    consumer.close()
    print(f"\n{len(store)} groups. | | p50 | p99 |\n| --- | --- | --- |")
    first, last = np.percentile(delays[5:] or delays, [50, 99])
    print(f"| from a commit to the store, s | {first:.2f} | {last:.2f} |")
    for name, took in asks.items():
        first, last = np.percentile(took, [50, 99])
        print(f"| {name}, ms | {first:.2f} | {last:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--per-batch", type=int, default=1_000_000)
    parser.add_argument("--commits", type=int, default=100)
    options = parser.parse_args()
    broker = kafka("bench")
    topic = replayed(broker, options.records)
    spark = session.spark_session(quiet=True)
    print("| | records/s, best | median | CPU µs per record |\n| --- | --- | --- | --- |")
    for name, run in (("decoded", decoded), ("table of groups", table)):
        costs: list[Cost] = []
        for number in range(options.runs + 1):
            spent, found = cost(lambda: run(spark, broker, topic, options.per_batch))  # noqa: B023
            assert found == options.records or run is table, f"{found} of {options.records}"
            if number:
                costs.append(spent)
            else:
                report(f"{name}, cold", [spent], options.records)
        report(f"{name}, warm", costs, options.records)
    live(spark, broker, options.commits)
    session.stop_spark(spark)


if __name__ == "__main__":
    main()
