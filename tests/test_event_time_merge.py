"""Two topics merged on Spark: what both complete is emitted, once, whatever stands still."""

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from brokers import OwnBroker
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
)
from labs import until
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from workbook.errors import PartitionedApart
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.partitioning import require_alike
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_dead_letters
from workbook.pipelines.event_time_merge import merged_visits
from workbook.pipelines.event_time_merge.columns import Limits
from workbook.sinks.merged import TOO_LARGE_VISIT, MergedTopic
from workbook.sources.kafka import clamped_stream, kafka_stream
from workbook.spark.runner import Batch, OnPoint, Running, Sink, start_query
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import (
    CLOCK,
    Heartbeat,
    Merged,
    OrderMessage,
    TrackingMessage,
    VisitMessage,
)
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.ledgers.merges import MergeLedger, MergeVerdict, read_merged, read_no_visits
from workbook.streams.stream_producer import generate
from workbook.systems import SYSTEMS
from workbook.topics import Topic, new_topic

LIMITS = Limits(timeout=60_000, max_age=600_000, horizon=600_000)
NOW = int(time.time() * 1000)
AWAY_S = 10.0


class Seen(Sink):
    """Notes the rows of kind clock."""

    def __init__(self, clocks: list[dict[str, Any]]) -> None:
        self.clocks = clocks

    def write(self, rows: pa.Table, batch: Batch) -> None:
        self.clocks.extend(row for row in rows.to_pylist() if row["kind"] == CLOCK)


@dataclass
class Streams:
    """Two topics, a place for what is merged, and a query that merges them."""

    broker: Broker
    checkpoint: Path
    partitions: int = 2
    clocks: list[dict[str, Any]] = field(default_factory=list)
    facts: list[pd.DataFrame] = field(default_factory=list)
    producers: dict[str, DeliveringProducer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tracking = new_topic("tracking", "merge", self.partitions)
        self.orders = Topic(f"{self.tracking.name}.orders", self.partitions)
        self.visits = Topic(f"{self.tracking.name}.visits", self.partitions)
        self.broker.create(self.tracking, self.orders, self.visits, self.tracking.dead_letters)
        self.config = self.broker.client_config()

    @property
    def topics(self) -> list[str]:
        return [self.tracking.name, self.orders.name]

    def send(self, topic: Topic, *messages: VisitMessage | Heartbeat) -> None:
        """Send messages by their key, a heartbeat to every partition."""
        if topic.name not in self.producers:  # a new one would connect anew
            self.producers[topic.name] = DeliveringProducer(self.config, topic.name)
        with self.producers[topic.name] as producer:
            for message in messages:
                value, at = message.to_json(), message.timestamp
                if isinstance(message, Heartbeat):
                    for partition in range(self.partitions):
                        producer.produce(value, None, partition, timestamp=at)
                else:
                    producer.produce(value, message.ssid.encode(), timestamp=at)

    def generate(self, stream: VisitStream, count: int) -> None:
        topic = self.tracking if stream.kind is Kind.TRACKING else self.orders
        placed = stream.ending_by(NOW - 120_000, count)
        generate(self.config, topic.name, placed, count)
        self.facts.append(placed.expected(0, count))

    @contextmanager
    def merging(self, spark: SparkSession, **options: Any) -> Iterator[Running]:
        """Run the query on the checkpoint, from the beginning or from where it was."""
        letters = DeadLetters(self.config, self.tracking.dead_letters.name)
        at = options.pop("at", None)
        if "max_lead" in options:
            raw = clamped_stream(spark, self.broker, self.topics, **options)
        else:
            raw = kafka_stream(spark, self.broker, self.topics, **options)
        rows = merged_visits(raw, letters, self.topics, self.partitions, LIMITS)
        topic = MergedTopic(self.config, self.visits.name, self.topics, letters)
        sinks = [topic, Seen(self.clocks)]
        with start_query(rows, sinks, self.checkpoint, at=at) as running:
            yield running

    def emitted(self) -> list[tuple[int, Merged]]:
        return read_merged(self.config, self.visits.name)

    def letters(self) -> pd.DataFrame:
        return read_dead_letters(self.config, self.tracking.dead_letters.name)

    def judge(self) -> MergeVerdict:
        rejected = read_no_visits(self.config, self.tracking.dead_letters.name)
        return MergeLedger(pd.concat(self.facts)).judge(self.emitted(), rejected)

    def last_clock(self, partition: int) -> dict[str, Any]:
        return [row for row in self.clocks if row["partition"] == partition][-1]


@pytest.fixture
def streams(broker: Broker, tmp_path: Path) -> Streams:
    return Streams(broker, tmp_path / "checkpoint")


def beats(streams: Streams, at: int) -> None:
    streams.send(streams.tracking, Heartbeat(at))
    streams.send(streams.orders, Heartbeat(at))


# --- whole streams ----------------------------------------------------------------------------


def test_every_visit_comes_whole_and_once_across_restarts(spark, streams) -> None:
    shared: dict[str, Any] = {"partitions": 2, "visit_s": 20.0, "bad_share": 0.05, "seed": 5}
    streams.generate(VisitStream(rate=100.0, duplicate_share=0.05, **shared), 3000)
    streams.generate(
        VisitStream(kind=Kind.ORDERS, rate=20.0, tracking_rate=100.0, orphan_share=0.1, **shared),
        600,
    )
    with streams.merging(spark, max_per_batch=600) as queries:
        until(lambda: len(streams.clocks) > 4, "some micro-batches")
    beats(streams, NOW)
    with streams.merging(spark, max_per_batch=2000) as queries:
        queries.process_all()
    verdict = streams.judge()
    assert verdict.whole, str(verdict)
    assert verdict.expected > 550
    rejected = pd.concat(streams.facts)["reason"].notna().sum()
    letters = streams.letters()
    records = letters[letters["reason"] != str(Reason.NO_VISIT)]
    assert len(records.drop_duplicates(["topic", "partition", "offset"])) == rejected
    assert sum(streams.last_clock(p)["open"] for p in (0, 1)) == 0


# --- what stands still ------------------------------------------------------------------------

A, B = TrackingMessage(1, "a", NOW - 300_000, "/"), TrackingMessage(2, "b", NOW - 10_000, "/")


@pytest.mark.slow
def test_a_broker_that_is_away_when_a_batch_begins_is_waited_for(spark, tmp_path) -> None:
    with OwnBroker(tmp_path) as server:
        streams = Streams(Broker(server.bootstrap), tmp_path / "checkpoint")
        streams.send(streams.tracking, A)
        beats(streams, NOW)
        away: list[Timer] = []

        class Kills(OnPoint):
            def __call__(self, point: str) -> None:
                if point == "before-compute" and not away:
                    server.kill()
                    away.append(Timer(AWAY_S, server.start))
                    away[0].start()

        with streams.merging(spark, at=Kills()) as queries:
            queries.process_all()
        away[0].join()
        assert [visit for _, visit in streams.emitted()] == [Merged("a", (A,))]


# --- one stream leads -------------------------------------------------------------------------


def test_the_clamp_bounds_what_is_open_whatever_the_lead(spark, streams) -> None:
    """A visit a second, for an hour, while orders have come to the first minute only."""
    hour_ago = NOW - 3_600_000
    visits = [TrackingMessage(n, f"v{n}", hour_ago + n * 1000, "/") for n in range(3500)]
    streams.send(streams.tracking, *visits)
    streams.send(streams.orders, Heartbeat(hour_ago), Heartbeat(hour_ago + 60_000))
    with streams.merging(spark, max_per_batch=500, max_lead="10 seconds") as queries:
        queries.process_all()
        still = sum(streams.last_clock(p)["open"] for p in (0, 1))
        assert 60 <= still <= 100
        minutes = [Heartbeat(hour_ago + minute * 60_000) for minute in range(2, 61)]
        streams.send(streams.orders, *minutes)
        streams.send(streams.tracking, Heartbeat(NOW))
        queries.process_all()
    emitted = streams.emitted()
    assert len(emitted) == len([v for v in visits if v.timestamp < NOW - 60_000])
    for partition in (0, 1):
        newest = [visit.newest for p, visit in emitted if p == partition]
        assert newest == sorted(newest)


# --- bad input --------------------------------------------------------------------------------


def test_a_visit_that_is_too_large_for_the_topic_goes_to_the_dead_letters(spark, streams) -> None:
    resource = ConfigResource("topic", streams.visits.name)
    resource.add_incremental_config(
        ConfigEntry("max.message.bytes", "3000", incremental_operation=AlterConfigOpType.SET)
    )
    admin = AdminClient(streams.config)
    admin.incremental_alter_configs([resource])[resource].result()
    draw = random.Random(1)
    pages = ["/" + draw.randbytes(300).hex() for _ in range(20)]
    many = [TrackingMessage(n, "large", NOW - 300_000 + n, p) for n, p in enumerate(pages)]
    streams.send(streams.tracking, *many, A)
    beats(streams, NOW)
    with streams.merging(spark) as queries:
        queries.process_all()
    assert [visit for _, visit in streams.emitted()] == [Merged("a", (A,))]
    letters = streams.letters()
    assert letters["reason"].tolist() == [TOO_LARGE_VISIT]
    assert Merged.from_json(letters["value"][0]).tracking == tuple(many)


# --- partitioned alike ------------------------------------------------------------------------


def test_keys_of_bad_records_and_of_heartbeats_are_not_compared(streams) -> None:
    shared: dict[str, Any] = {"partitions": 2, "visit_s": 20.0}
    streams.generate(VisitStream(rate=100.0, bad_share=0.2, **shared), 1000)
    streams.generate(VisitStream(kind=Kind.ORDERS, rate=20.0, **shared), 200)
    with DeliveringProducer(streams.config, streams.orders.name) as producer:
        for partition in (0, 1):
            producer.produce(Heartbeat(NOW).to_json(), b"heartbeat", partition, timestamp=NOW)
    options = SYSTEMS["event_time_merge"].options(
        ["--in", streams.tracking.name, "--orders", streams.orders.name]
    )
    SYSTEMS["event_time_merge"].check_topics(streams.broker, options)
    three = Topic(f"{streams.tracking.name}.three", 3)
    streams.broker.create(three)
    with pytest.raises(PartitionedApart, match="same number of partitions"):
        require_alike(streams.config, [streams.tracking.name, three.name])
    other = Topic(f"{streams.tracking.name}.other", 2)
    streams.broker.create(other)
    with DeliveringProducer(streams.config, other.name, {"partitioner": "consistent"}) as producer:
        for n in range(60):
            order = OrderMessage(n, f"v{n:08}", NOW, f"o{n}", 5)
            producer.produce(order.to_json(), order.ssid.encode(), timestamp=NOW)
    options.orders = other.name
    with pytest.raises(PartitionedApart, match=r"is in partition \d of .*tracking"):
        SYSTEMS["event_time_merge"].check_topics(streams.broker, options)


def test_partitions_that_are_added_later_end_the_query(spark, streams) -> None:
    orders = streams.orders.name
    failed = "keep its 2 partitions, but it has 3 now"
    with suppress(StreamingQueryException), streams.merging(spark) as queries:
        beats(streams, NOW)
        queries.process_all()
        admin = AdminClient(streams.config)
        admin.create_partitions([NewPartitions(orders, 3)])[orders].result()
        until(lambda: _size(streams) == 3, "three partitions")
        streams.send(streams.tracking, B)
        with pytest.raises(StreamingQueryException, match=failed):
            queries.process_all()
    for name in (streams.tracking.name, streams.visits.name):
        admin.create_partitions([NewPartitions(name, 3)])[name].result()
    asked = ["--in", streams.tracking.name, "--orders", orders, "--out", streams.visits.name]
    options = SYSTEMS["event_time_merge"].options([*asked, "--checkpoint", str(streams.checkpoint)])
    with pytest.raises(PartitionedApart, match=failed):  # nor does it start again
        SYSTEMS["event_time_merge"].check_topics(streams.broker, options)


def _size(streams: Streams) -> int:
    found = AdminClient(streams.config).list_topics(streams.orders.name, timeout=10)
    return len(found.topics[streams.orders.name].partitions)


# --- what is read of a topic of merged visits -------------------------------------------------


def test_records_of_others_are_passed_over_and_a_visit_with_another_time_is_not(
    broker: Broker, topic: Callable[..., Topic]
) -> None:
    config, visits = broker.client_config(), topic("visits")
    message = {"event_id": 1, "timestamp": 5, "page": "/"}
    visit = {"ssid": "v1", "timestamp": 5, "fragment": 0, "tracking": [message], "orders": []}
    foreign = (None, b"{}", b"no JSON", b"[1]", b'{"ssid":"v0","tracking":[{}],"orders":[]}')
    with DeliveringProducer(config, visits.name) as producer:
        for value in (*foreign, json.dumps(visit).encode()):
            producer.produce(value, b"v", 0)
    found = Merged("v1", (TrackingMessage(1, "v1", 5, "/"),))
    assert read_merged(config, visits.name) == [(0, found)]
    with DeliveringProducer(config, visits.name) as producer:
        producer.produce(json.dumps({**visit, "timestamp": 6}).encode(), b"v1", 0)
    with pytest.raises(ValueError, match="newest message, 5, but got 6"):
        read_merged(config, visits.name)
