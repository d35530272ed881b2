"""One state per ssid: the same merged contents as the merge by hand, on Spark and without it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from labs import until
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import TwsTester

from workbook.decoding.visits import parse
from workbook.events.merged import Merged
from workbook.events.visits import Heartbeat, OrderMessage, TrackingMessage, VisitMessage, plain
from workbook.generators.visits import Kind, VisitStream
from workbook.kafka.broker import Broker
from workbook.kafka.stream_producer import generate
from workbook.pipelines.event_time_merge.by_hand import Limits, MergeByHand
from workbook.pipelines.event_time_merge.readable import SessionMerge, merged_sessions
from workbook.spark.source import kafka_stream
from workbook.spark.state_store import in_rocksdb
from workbook.topics import Topic, new_topic

LIMITS = Limits(timeout=20, max_age=60, horizon=50)
FIELDS = ("type", "timestamp", "event_id", "ssid", "page", "order_id", "cents")


def row(message: VisitMessage | Heartbeat) -> Row:
    fields = plain(message)
    return Row(**{name: getattr(fields, name) for name in FIELDS})


def as_merged(found: Any) -> Merged:
    ssid = found["ssid"]
    return Merged(
        ssid,
        tuple(TrackingMessage(m[0], ssid, *m[1:]) for m in found["tracking"]),
        tuple(OrderMessage(m[0], ssid, *m[1:]) for m in found["orders"]),
        found["fragment"],
    )


A, B = TrackingMessage(1, "a", 10, "/"), TrackingMessage(2, "a", 25, "/cart")
ORDER = OrderMessage(3, "a", 28, "o3", 700)
LATER = TrackingMessage(4, "a", 60, "/")


def test_a_processor_can_be_tried_without_spark() -> None:
    by_hand = MergeByHand(["one"], LIMITS)
    tester = TwsTester(
        SessionMerge(LIMITS), timeMode="EventTime", eventTimeExtractor=lambda row: row["timestamp"]
    )
    found = []
    for message in (A, B, ORDER, B):
        assert tester.test("a", [row(message)]) == []
        by_hand.take("one", message)
    for clock in (48, 49):
        by_hand.take("one", Heartbeat(clock))
        expected = by_hand.emit()
        found = [as_merged(each) for each in tester.setWatermark(clock)]
        assert found == expected
    assert found == [Merged("a", (A, B), (ORDER,))]
    tester.test("a", [row(LATER)])
    by_hand.take("one", LATER)
    by_hand.take("one", Heartbeat(90))
    assert [as_merged(each) for each in tester.setWatermark(90)] == by_hand.emit()


def test_a_processor_counts_the_parts_and_forgets_the_ssid_after_the_horizon() -> None:
    tester = TwsTester(
        SessionMerge(LIMITS), timeMode="EventTime", eventTimeExtractor=lambda row: row["timestamp"]
    )

    def emitted(number: int, clock: int) -> tuple[int, int]:
        tester.test("a", [row(TrackingMessage(number, "a", clock - 22, "/"))])
        tester.test("a", [row(OrderMessage(number, "a", clock - 21, "o", 1))])
        [visit] = tester.setWatermark(clock)
        return visit["fragment"], clock - visit["timestamp"]

    assert [emitted(n, clock) for n, clock in enumerate((49, 80, 110))] == [
        *((0, 21), (1, 21), (2, 21)),
    ]
    assert tester.setWatermark(159) == []
    assert tester.peekValueState("visit", "a") is not None
    assert tester.setWatermark(161) == []
    assert tester.peekValueState("visit", "a") is None
    assert emitted(4, 200) == (0, 21)


@pytest.mark.parametrize("seed", [1, 2])
def test_both_engines_merge_the_same(
    spark: SparkSession, broker: Broker, tmp_path: Path, seed: int
) -> None:
    """Without lateness the contents are those of the ledger; order and clock are its own."""
    now, config = int(time.time() * 1000), broker.client_config()
    tracking = new_topic("tracking", "readable", 2)
    orders = Topic(f"{tracking.name}.orders", 2)
    broker.create(tracking, orders)
    shared: dict[str, Any] = {"partitions": 2, "visit_s": 10.0, "seed": seed}
    limits = Limits(timeout=30_000, max_age=600_000, horizon=60_000)
    by_hand = {partition: MergeByHand(["t", "o"], limits) for partition in (0, 1)}
    streams = (
        (tracking, "t", VisitStream(rate=50.0, **shared), 600),
        (orders, "o", VisitStream(kind=Kind.ORDERS, rate=10.0, tracking_rate=50.0, **shared), 120),
    )
    for topic, name, stream, count in streams:
        placed = stream.ending_by(now - 100_000, count)
        generate(config, topic.name, placed, count)
        _end(config, topic, now)
        for facts in placed.expected(0, count).to_dict("records"):
            by_hand[facts["partition"]].take(name, _of(facts))
    for merge in by_hand.values():
        merge.take("t", Heartbeat(now))
        merge.take("o", Heartbeat(now))
    expected = [visit for merge in by_hand.values() for visit in merge.emit()]
    sides = []
    for topic in (tracking, orders):
        raw = kafka_stream(spark, broker, topic.name)
        rows = parse(raw, None, FIELDS).withColumn("time", F.timestamp_millis("timestamp"))
        sides.append(rows.withWatermark("time", "0 seconds"))
    found: list[Any] = []
    with in_rocksdb(spark):
        query = (
            merged_sessions(sides[0].unionByName(sides[1]), limits)
            .writeStream.outputMode("append")
            .option("checkpointLocation", str(tmp_path / "readable"))
            .foreachBatch(lambda batch, _: found.extend(batch.collect()))
            .start()
        )
    try:
        until(lambda: len(found) >= len(expected) or not query.isActive, "all visits")
    finally:
        query.stop()
    assert query.exception() is None
    assert sorted(map(as_merged, found), key=str) == sorted(expected, key=str)
    assert not any(visit.fragment for visit in expected)


def _of(facts: dict[str, Any]) -> VisitMessage:
    if facts["type"] == "tracking":
        return TrackingMessage(facts["event_id"], facts["ssid"], facts["timestamp"], facts["page"])
    return OrderMessage(
        *(facts["event_id"], facts["ssid"], facts["timestamp"]),
        facts["order_id"],
        int(facts["cents"]),
    )


def _end(config: dict[str, str], topic: Topic, now: int) -> None:
    from workbook.kafka.producer import DeliveringProducer

    with DeliveringProducer(config, topic.name) as producer:
        for partition in range(topic.partitions):
            producer.produce(Heartbeat(now).to_json(), None, partition, timestamp=now)
