"""Measures how fast chapter 11 merges two topics by visit, timed out by both topics' clock.

    .venv/bin/python benchmarks/event_time_merge.py [--messages 1000000] [--runs 3]

Two topics of 4 partitions are written once: tracking messages and orders of 200,000 visits at
2,500 a second of event time, so that visits are opened and emitted all the time. In one run: a raw
consumer that parses nothing is the floor; the same merge in Kafka Streams (see benchmarks/peers);
ours in a fresh session (cold), and again in the same one (warm). No figure is printed before the
ledger has found each visit whole and once.
"""

import argparse
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from peers import kafka_streams
from views_per_second import Cost, cost, floor, peak_memory, report

from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.producer import DeliveringProducer
from workbook.pipelines.event_time_merge.columns import Limits
from workbook.pipelines.event_time_merge.fast import merged_visits
from workbook.sinks.merged import MergedTopic
from workbook.sources.kafka import kafka_stream
from workbook.spark import session
from workbook.spark.runner import start_query
from workbook.stack.addresses import kafka
from workbook.streams.events.merged import Merged
from workbook.streams.events.visits import Heartbeat
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.ledgers.merges import MergeLedger
from workbook.streams.records import read_merged, read_no_visits
from workbook.streams.stream_producer import generate
from workbook.systems.merge_run import Clocks
from workbook.topics import Topic, new_topic

PARTITIONS, PAGES = 4, 4
LIMITS = Limits(timeout=60_000)
BEHIND_MS = 70_000
"""The streams end so long ago: heartbeats of now complete every visit."""


@dataclass
class Input:
    """Two topics of visits, and the judge of what is made of them."""

    tracking: Topic
    orders: Topic
    messages: int
    ledger: MergeLedger

    @property
    def names(self) -> list[str]:
        return [self.tracking.name, self.orders.name]


def filled(broker: Broker, messages: int) -> Input:
    """Write tracking messages and orders, four to one, and heartbeats that complete all visits."""
    tracking = new_topic("tracking", "bench", PARTITIONS)
    orders = Topic(f"{tracking.name}.orders", PARTITIONS)
    broker.create(tracking, tracking.dead_letters, orders)
    shared: dict[str, Any] = {"partitions": PARTITIONS, "pages": PAGES, "visit_s": 30.0}
    streams = (
        (tracking, VisitStream(rate=2000.0, **shared), messages * 4 // 5),
        (
            orders,
            VisitStream(kind=Kind.ORDERS, rate=500.0, tracking_rate=2000.0, **shared),
            messages // 5,
        ),
    )
    facts, now = [], int(time.time() * 1000)
    for topic, stream, count in streams:
        placed = stream.ending_by(now - BEHIND_MS, count)
        generate(broker.client_config(), topic.name, placed, count)
        facts.append(placed.expected(0, count))
        with DeliveringProducer(broker.client_config(), topic.name) as producer:
            for partition in range(PARTITIONS):
                producer.produce(Heartbeat(now).to_json(), None, partition, timestamp=now)
    return Input(tracking, orders, messages, MergeLedger(pd.concat(facts, ignore_index=True)))


def fast(spark: Any, broker: Broker, given: Input, per_batch: int) -> Callable[[], list[Any]]:
    """Merge by partition, to a topic; return a function that judges, and gives the batches."""
    visits = Topic(f"{new_topic('visits', 'bench').name}", PARTITIONS)
    broker.create(visits)
    config, place = broker.client_config(), session.checkpoint(visits.name)
    letters = DeadLetters(config, given.tracking.dead_letters.name)
    raw = kafka_stream(spark, broker, given.names, max_per_batch=per_batch)
    rows = merged_visits(raw, letters, given.names, PARTITIONS, LIMITS)
    out = MergedTopic(config, visits.name, given.names, letters)
    with start_query(rows, [out, Clocks(given.names, PARTITIONS)], place) as running:
        running.process_all()
        batches = [json.loads(p.json) for p in running.query.recentProgress]

    def check() -> list[Any]:
        lone = read_no_visits(config, given.tracking.dead_letters.name)
        verdict = given.ledger.judge(read_merged(config, visits.name), list(dict.fromkeys(lone)))
        assert verdict.whole, str(verdict)
        broker.delete([visits.name])
        shutil.rmtree(place)
        return batches

    return check


PEERS = (
    ("as it comes, cold", kafka_streams.DEFAULT, 1),
    ("tuned, cold", kafka_streams.TUNED, 1),
    ("tuned, warm (third run in one JVM)", kafka_streams.TUNED, 3),
)


def peer(broker: Broker, given: Input, settings: Mapping[str, str], rounds: int) -> Cost:
    """Kafka Streams: seconds of the last round, its merged visits judged."""
    name = new_topic("visits", "peer").name
    targets = [Topic(f"{name}-{number}", PARTITIONS) for number in range(1, rounds + 1)]
    broker.create(*targets)
    config = broker.client_config()
    records = sum(p.end for topic in given.names for p in partition_offsets(config, topic))
    limits = {"timeout": LIMITS.timeout, "horizon": LIMITS.horizon}
    seconds = kafka_streams.event_time_merge(
        *(broker.bootstrap, given.names, name, records, limits), settings=settings, rounds=rounds
    )
    _judge_all(given, read_merged(config, targets[-1].name))
    broker.delete([target.name for target in targets])
    return Cost(seconds, float("nan"))


def _judge_all(given: Input, merged: list[tuple[int, Merged]]) -> None:
    """Judge what leaves orders without a visit, and the order in a partition, to its reader."""
    verdict = given.ledger.judge(merged)
    wrong = {name for name, n in verdict.counts.items() if n}
    assert wrong <= {"misjudged", "misrouted", "disordered"}, str(verdict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-peer", dest="peer", action="store_false")
    options = parser.parse_args()
    broker = kafka("bench")
    given = filled(broker, options.messages)
    visits = len(given.ledger.ssids)
    print(f"{options.messages:,} messages of {visits:,} visits in {PARTITIONS} partitions\n")
    print("| | messages/s, best | median | CPU µs per message |\n| --- | --- | --- | --- |")
    floors = [
        cost(lambda: floor(broker, given.tracking, given.messages * 4 // 5))[0]
        for _ in range(options.runs)
    ]
    report("raw consumer of the larger topic, nothing parsed", floors, given.messages * 4 // 5)
    if options.peer:
        kafka_streams.classpath()
        for name, settings, rounds in PEERS:
            costs = [peer(broker, given, settings, rounds) for _ in range(options.runs)]
            report(f"Kafka Streams, {name}", costs, given.messages)
    figures: dict[str, list[Cost]] = {}
    state: dict[str, int] = {}
    for _ in range(options.runs):
        spark = session.spark_session(quiet=True)
        for name in ("cold", "warm"):
            spent, check = cost(lambda: fast(spark, broker, given, 250_000))  # noqa: B023
            batches = check()
            figures.setdefault(f"fast engine, {name}", []).append(spent)
            state = _most_state(batches)
        print(f"<!-- Spark's Java: {peak_memory():.1f} GB at its peak -->")
        session.stop_spark(spark)
    for name, costs in figures.items():
        report(name, costs, given.messages)
    print("\nState of the fast engine, at most:", state)


def _most_state(batches: list[Any]) -> dict[str, int]:
    operators = [operator for batch in batches for operator in batch["stateOperators"]]
    return {
        "values": max(operator["numRowsTotal"] for operator in operators),
        "bytes in memory": max(operator["memoryUsedBytes"] for operator in operators),
    }


if __name__ == "__main__":
    main()
