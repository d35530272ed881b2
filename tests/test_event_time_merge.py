"""Two topics merged on Spark: what both complete is emitted, once, whatever stands still."""

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from brokers import produce
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
from workbook.kafka.partitioning import require_alike
from workbook.kafka.readers import read_dead_letters
from workbook.sinks.merged import TOO_LARGE_VISIT
from workbook.spark.runner import OnPoint
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import (
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
from workbook.systems.base import Job, Started
from workbook.topics import Topic, new_topic

SYSTEM = SYSTEMS["event_time_merge"]
NOW = int(time.time() * 1000)
A, B = TrackingMessage(1, "a", NOW - 300_000, "/"), TrackingMessage(2, "b", NOW - 10_000, "/")


class Streams:
    """Two topics, a place for what is merged, and a run of the system that merges them."""

    def __init__(self, broker: Broker, checkpoint: Path) -> None:
        self.broker, self.config, self.facts = broker, broker.client_config(), list[pd.DataFrame]()
        self.tracking = new_topic("tracking", "merge", 2)
        name, self.checkpoint = self.tracking.name, checkpoint
        self.orders, self.visits = Topic(f"{name}.orders", 2), Topic(f"{name}.visits", 2)
        broker.create(self.tracking, self.orders, self.visits, self.tracking.dead_letters)
        self.words = ["--in", name, "--orders", self.orders.name, "--out", self.visits.name]
        self.words += ["--timeout", "1 minute", "--checkpoint", str(checkpoint)]

    def send(self, topic: Topic, *messages: VisitMessage | Heartbeat) -> None:
        """Send messages by their key, a heartbeat to every partition."""
        records: list[tuple[Any, ...]] = []
        for message in messages:
            value, at = message.to_json(), message.timestamp
            if isinstance(message, Heartbeat):
                records += [(value, None, partition, at) for partition in (0, 1)]
            else:
                records.append((value, message.ssid.encode(), -1, at))
        produce(self.config, topic.name, *records)

    def generate(self, stream: VisitStream, count: int) -> None:
        topic = self.tracking if stream.kind is Kind.TRACKING else self.orders
        placed = stream.ending_by(NOW - 120_000, count)
        generate(self.config, topic.name, placed, count)
        self.facts.append(placed.expected(0, count))

    @contextmanager
    def merging(self, spark: SparkSession, *words: str) -> Iterator[Started]:
        """Run the system on the checkpoint, from the beginning or from where it was."""
        options = SYSTEM.options([*self.words, *words])
        started = SYSTEM.start(Job(spark, self.broker, options, self.checkpoint, OnPoint()))
        with started.running:
            yield started

    def emitted(self) -> list[tuple[int, Merged]]:
        return read_merged(self.config, self.visits.name)

    def letters(self) -> pd.DataFrame:
        return read_dead_letters(self.config, self.tracking.dead_letters.name)

    def judge(self) -> MergeVerdict:
        rejected = read_no_visits(self.config, self.tracking.dead_letters.name)
        return MergeLedger(pd.concat(self.facts)).judge(self.emitted(), rejected)


@pytest.fixture
def streams(broker: Broker, tmp_path: Path) -> Streams:
    return Streams(broker, tmp_path / "checkpoint")


def beats(streams: Streams, at: int) -> None:
    streams.send(streams.tracking, Heartbeat(at))
    streams.send(streams.orders, Heartbeat(at))


def test_every_visit_comes_whole_and_once_across_restarts(spark, streams) -> None:
    shared: dict[str, Any] = {"partitions": 2, "visit_s": 20.0, "bad_share": 0.05, "seed": 5}
    streams.generate(VisitStream(rate=100.0, duplicate_share=0.05, **shared), 3000)
    streams.generate(
        VisitStream(kind=Kind.ORDERS, rate=20.0, tracking_rate=100.0, orphan_share=0.1, **shared),
        600,
    )
    with streams.merging(spark, "--max-per-batch", "600") as first:
        until(lambda: first.running.progress.batches > 2, "some micro-batches")
    beats(streams, NOW)
    with streams.merging(spark) as second:
        second.running.process_all()
    verdict = streams.judge()
    assert verdict.whole, str(verdict)
    assert verdict.expected > 550
    rejected = pd.concat(streams.facts)["reason"].notna().sum()
    letters = streams.letters()
    records = letters[letters["reason"] != str(Reason.NO_VISIT)]
    assert len(records.drop_duplicates(["topic", "partition", "offset"])) == rejected
    assert second.sinks[-1].counts()["open"] == 0


def test_the_clamp_bounds_what_is_open_whatever_the_lead(spark, streams) -> None:
    """A visit a second, for an hour, while orders have come to the first minute only."""
    hour_ago = NOW - 3_600_000
    visits = [TrackingMessage(n, f"v{n}", hour_ago + n * 1000, "/") for n in range(3500)]
    streams.send(streams.tracking, *visits)
    streams.send(streams.orders, Heartbeat(hour_ago), Heartbeat(hour_ago + 60_000))
    with streams.merging(spark, "--max-per-batch", "500", "--max-lead", "10 seconds") as started:
        started.running.process_all()
        assert 60 <= started.sinks[-1].counts()["open"] <= 100
        minutes = [Heartbeat(hour_ago + minute * 60_000) for minute in range(2, 61)]
        streams.send(streams.orders, *minutes)
        streams.send(streams.tracking, Heartbeat(NOW))
        started.running.process_all()
    emitted = streams.emitted()
    assert len(emitted) == len([v for v in visits if v.timestamp < NOW - 60_000])
    for partition in (0, 1):
        newest = [visit.newest for p, visit in emitted if p == partition]
        assert newest == sorted(newest)


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
    with streams.merging(spark) as started:
        started.running.process_all()
    assert [visit for _, visit in streams.emitted()] == [Merged("a", (A,))]
    letters = streams.letters()
    assert letters["reason"].tolist() == [TOO_LARGE_VISIT]
    assert Merged.from_json(letters["value"][0]).tracking == tuple(many)


def test_keys_of_bad_records_and_of_heartbeats_are_not_compared(streams) -> None:
    shared: dict[str, Any] = {"partitions": 2, "visit_s": 20.0}
    streams.generate(VisitStream(rate=100.0, bad_share=0.2, **shared), 1000)
    streams.generate(VisitStream(kind=Kind.ORDERS, rate=20.0, **shared), 200)
    beat = (Heartbeat(NOW).to_json(), b"heartbeat")
    produce(streams.config, streams.orders.name, *((*beat, p, NOW) for p in (0, 1)))
    options = SYSTEM.options(streams.words)
    SYSTEM.check_topics(streams.broker, options)
    three = Topic(f"{streams.tracking.name}.three", 3)
    streams.broker.create(three)
    with pytest.raises(PartitionedApart, match="same number of partitions"):
        require_alike(streams.config, [streams.tracking.name, three.name])
    other = Topic(f"{streams.tracking.name}.other", 2)
    streams.broker.create(other)
    orders = (OrderMessage(n, f"v{n:08}", NOW, f"o{n}", 5) for n in range(60))
    records = ((order.to_json(), order.ssid.encode(), -1, NOW) for order in orders)
    produce({**streams.config, "partitioner": "consistent"}, other.name, *records)
    options.orders = other.name
    with pytest.raises(PartitionedApart, match=r"is in partition \d of .*tracking"):
        SYSTEM.check_topics(streams.broker, options)


def test_partitions_that_are_added_later_end_the_query(spark, streams) -> None:
    orders = streams.orders.name
    failed = "keep its 2 partitions, but it has 3 now"
    with suppress(StreamingQueryException), streams.merging(spark) as started:
        beats(streams, NOW)
        started.running.process_all()
        admin = AdminClient(streams.config)
        admin.create_partitions([NewPartitions(orders, 3)])[orders].result()
        listed = partial(admin.list_topics, orders, timeout=10)
        until(lambda: len(listed().topics[orders].partitions) == 3, "three partitions")
        streams.send(streams.tracking, B)
        with pytest.raises(StreamingQueryException, match=failed):
            started.running.process_all()
    for name in (streams.tracking.name, streams.visits.name):
        admin.create_partitions([NewPartitions(name, 3)])[name].result()
    with pytest.raises(PartitionedApart, match=failed):  # nor does it start again
        SYSTEM.check_topics(streams.broker, SYSTEM.options(streams.words))


def test_records_of_others_are_passed_over_and_a_visit_with_another_time_is_not(
    broker: Broker, topic: Callable[..., Topic]
) -> None:
    config, visits = broker.client_config(), topic("visits")
    message = {"event_id": 1, "timestamp": 5, "page": "/"}
    visit = {"ssid": "v1", "timestamp": 5, "fragment": 0, "tracking": [message], "orders": []}
    foreign = (None, b"{}", b"no JSON", b"[1]", b'{"ssid":"v0","tracking":[{}],"orders":[]}')
    produce(config, visits.name, *((v, b"v") for v in (*foreign, json.dumps(visit).encode())))
    found = Merged("v1", (TrackingMessage(1, "v1", 5, "/"),))
    assert read_merged(config, visits.name) == [(0, found)]
    produce(config, visits.name, (json.dumps({**visit, "timestamp": 6}).encode(), b"v1"))
    with pytest.raises(ValueError, match="newest message, 5, but got 6"):
        read_merged(config, visits.name)
