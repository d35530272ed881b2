"""Measures what the merge keeps while one stream leads by an hour, with and without the clamp.

    .venv/bin/python benchmarks/lead.py [--hours 1] [--rate 100] [--leads "10 seconds" "5 minutes"]

Tracking has come for so many hours; orders are stuck after their first minute. Each source reads
what it may; then the rest of the orders comes. For each: the most visits that were open after a
micro-batch, and the state's bytes on disk then. No figure is printed before the ledger has found
each visit whole and once.
"""

import argparse
import os
import secrets
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.producer import DeliveringProducer
from workbook.pipelines.event_time_merge.columns import Limits
from workbook.pipelines.event_time_merge.fast import merged_visits
from workbook.sinks.merged import MergedTopic
from workbook.sources.kafka import clamped_stream, kafka_stream
from workbook.spark import session
from workbook.spark.runner import Batch, start_query
from workbook.stack.addresses import kafka
from workbook.streams.events.visits import Heartbeat
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.ledgers.merges import MergeLedger
from workbook.streams.records import read_merged, read_no_visits
from workbook.streams.stream_producer import StreamProducer, generate
from workbook.systems.merge_run import Clocks
from workbook.topics import Topic, new_topic

PARTITIONS, PER_BATCH = 4, 20_000
LIMITS = Limits(timeout=60_000)
BEHIND_MS = 120_000
"""The streams end so long ago: heartbeats of now complete every visit."""


class Streams:
    """Two topics: tracking for so many seconds, orders stuck after the first minute."""

    def __init__(self, broker: Broker, seconds: float, rate: float) -> None:
        self.config, self.now = broker.client_config(), int(time.time() * 1000)
        self.tracking = new_topic("tracking", "bench", PARTITIONS)
        self.orders = Topic(f"{self.tracking.name}.orders", PARTITIONS)
        broker.create(self.tracking, self.tracking.dead_letters, self.orders)
        shared: dict[str, Any] = {"partitions": PARTITIONS, "visit_s": 30.0}
        tracked, ordered = round(seconds * rate), round(seconds * rate / 10)
        visits = VisitStream(rate=rate, **shared).ending_by(self.now - BEHIND_MS, tracked)
        buys = VisitStream(kind=Kind.ORDERS, rate=rate / 10, tracking_rate=rate, **shared)
        self.buys = buys.ending_by(self.now - BEHIND_MS, ordered)
        self.stuck, self.ordered = round(rate * 6), ordered
        generate(self.config, self.tracking.name, visits, tracked)
        generate(self.config, self.orders.name, self.buys, self.stuck)
        facts = [visits.expected(0, tracked), self.buys.expected(0, ordered)]
        self.ledger = MergeLedger(pd.concat(facts, ignore_index=True))

    @property
    def names(self) -> list[str]:
        return [self.tracking.name, self.orders.name]

    def go_on(self) -> None:
        """Send the rest of the orders, and heartbeats that complete all visits."""
        producer = StreamProducer(self.config, self.orders.name)
        producer.send_block(self.buys.block(self.stuck, self.ordered))
        producer.close()
        for topic in self.names:
            with DeliveringProducer(self.config, topic) as beats:
                for partition in range(PARTITIONS):
                    beat = Heartbeat(self.now).to_json()
                    beats.produce(beat, None, partition, timestamp=self.now)


class Most(Clocks):
    """The clocks, and the ``most`` visits that were open after a micro-batch."""

    most = 0

    def write(self, rows: pa.Table, batch: Batch) -> None:
        super().write(rows, batch)
        self.most = max(self.most, self.sum_of("open"))


def merge(spark: Any, broker: Broker, streams: Streams, lead: str | None) -> tuple[int, int, float]:
    """Return the most visits open, the state's bytes then, and the seconds for all."""
    visits = Topic(new_topic("visits", "bench").name, PARTITIONS)
    broker.create(visits)
    config, place = broker.client_config(), session.checkpoint(visits.name)
    letters = DeadLetters(config, streams.tracking.dead_letters.name)
    shared = (spark, broker, streams.names)
    if lead is None:
        raw = kafka_stream(*shared, max_per_batch=PER_BATCH)
    else:
        raw = clamped_stream(*shared, lead, max_per_batch=PER_BATCH)
    rows = merged_visits(raw, letters, streams.names, PARTITIONS, LIMITS)
    clocks = Most(streams.names, PARTITIONS)
    out = MergedTopic(config, visits.name, streams.names, letters)
    began = time.monotonic()
    with start_query(rows, [out, clocks], place) as running:
        running.process_all()
        kept = _kept(running.query)
        streams.go_on()
        running.process_all()
        seconds = time.monotonic() - began
    lone = read_no_visits(config, streams.tracking.dead_letters.name)
    verdict = streams.ledger.judge(read_merged(config, visits.name), list(dict.fromkeys(lone)))
    assert verdict.whole, str(verdict)
    broker.delete([visits.name])
    shutil.rmtree(place)
    return clocks.most, kept, seconds


def _kept(query: Any) -> int:
    reports = [p for p in query.recentProgress if p.stateOperators]
    return max(p.stateOperators[0].customMetrics["rocksdbSstFileSize"] for p in reports)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=100.0, help="tracking messages a second")
    parser.add_argument("--leads", nargs="*", default=["10 seconds", "5 minutes"])
    options = parser.parse_args()
    broker, spark = kafka("lead"), session.spark_session(quiet=True)
    print("| | most visits open | MB of state on disk | seconds for all |\n| --- |" + " ---: |" * 3)
    for lead in (None, *options.leads):
        streams = Streams(broker, options.hours * 3600, options.rate)
        most, kept, seconds = merge(spark, broker, streams, lead)
        name = "Spark's own source" if lead is None else f"clamped, maxLead {lead}"
        print(f"| {name} | {most:,} | {kept / 1e6:.2f} | {seconds:.0f} |", flush=True)
        broker.delete([*streams.names, streams.tracking.dead_letters.name])
    session.stop_spark(spark)


if __name__ == "__main__":
    main()
