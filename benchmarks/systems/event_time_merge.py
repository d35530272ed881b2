"""Visits merged from two topics: `run event_time_merge` and Kafka Streams.

Tracking messages and orders, four to one, in two topics of 4 partitions, at 2,500 a second of event
time, so that visits are opened and emitted all the time; heartbeats of now complete every visit.
The ledger has to find each visit whole and once. Kafka Streams keeps no maximum age, and leaves
orders without a visit, and the order within a partition, to its reader.
"""

import secrets
import time
from typing import Any

import pandas as pd
from harness import SPARK, Answer, Check, Comparison, Program, floor
from peers import kafka_streams
from peers.kafka_streams import DEFAULT, TUNED, Peer

from workbook.kafka.broker import Broker
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.producer import DeliveringProducer
from workbook.streams.events.visits import Heartbeat
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.ledgers.merges import MergeLedger, read_merged, read_no_visits
from workbook.streams.stream_producer import generate
from workbook.topics import Topic, new_topic

FULL, PARTITIONS, BEHIND_MS = 1_000_000, 4, 70_000
TIMEOUT_MS, HORIZON_MS = 60_000, 3_600_000
LEFT_TO_THE_READER = {"misjudged", "misrouted", "disordered"}


def filled(broker: Broker, messages: int) -> tuple[list[Topic], MergeLedger, int]:
    """Write both topics, and heartbeats; return them, the judge and the number of all records."""
    tracking = new_topic("tracking", "bench", PARTITIONS)
    orders = Topic(f"{tracking.name}.orders", PARTITIONS)
    broker.create(tracking, orders)
    shared: dict[str, Any] = {"partitions": PARTITIONS, "pages": 4, "visit_s": 30.0}
    visits = VisitStream(rate=2000.0, **shared)
    buys = VisitStream(kind=Kind.ORDERS, rate=500.0, tracking_rate=2000.0, **shared)
    facts, now, config = [], int(time.time() * 1000), broker.client_config()
    for topic, stream, part in ((tracking, visits, 4), (orders, buys, 1)):
        count = messages * part // 5
        placed = stream.ending_by(now - BEHIND_MS, count)
        generate(config, topic.name, placed, count)
        facts.append(placed.expected(0, count))
        with DeliveringProducer(config, topic.name) as producer:
            for partition in range(PARTITIONS):
                producer.produce(Heartbeat(now).to_json(), None, partition, timestamp=now)
    topics = [tracking, orders]
    records = sum(p.end for each in topics for p in partition_offsets(config, each.name))
    return topics, MergeLedger(pd.concat(facts, ignore_index=True)), records


def comparison(broker: Broker, messages: int, peers: bool) -> Comparison:
    config = broker.client_config()
    (tracking, orders), ledger, records = filled(broker, messages)

    def ours(_: int) -> tuple[str, Check]:
        out, letters = (f"{tracking.name}.{secrets.token_hex(4)}" for _ in range(2))
        words = f"run event_time_merge --in {tracking.name} --orders {orders.name} --out {out} "
        words += f"--dead-letters {letters} --timeout {TIMEOUT_MS // 1000}s --max-per-batch 250000"

        def check(_: Answer) -> None:
            lone = list(dict.fromkeys(read_no_visits(config, letters)))
            verdict = ledger.judge(read_merged(config, out), lone)
            assert verdict.whole, str(verdict)
            broker.delete([out, letters])

        return words, check

    def target() -> tuple[dict[str, str], Check]:
        out = Topic(f"{tracking.name}.{secrets.token_hex(4)}", PARTITIONS)
        broker.create(out)

        def check(_: Answer) -> None:
            verdict = ledger.judge(read_merged(config, out.name))
            wrong = {name for name, number in verdict.counts.items() if number}
            assert wrong <= LEFT_TO_THE_READER, str(verdict)
            broker.delete([out.name])

        return {"target": out.name}, check

    settings = {"source": tracking.name, "orders": orders.name}
    settings |= {"timeout": str(TIMEOUT_MS), "horizon": str(HORIZON_MS)}
    kinds = {
        "as it comes": ({**DEFAULT, "memory": "false"}, "at least once"),
        "tuned": ({**TUNED, "memory": "true"}, "at least once"),
    }
    peer = Peer(broker, "EventTimeMerge", settings, records, target)
    others = kafka_streams.programs(peer, kinds) if peers else []
    mine = Program("`run event_time_merge`", SPARK, ours, "at least once")
    return Comparison("merged visits", messages, [floor(tracking, orders), *others, mine])
