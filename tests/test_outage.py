"""A broker that is away for twenty seconds: the loop and the Spark query wait, and go on."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from brokers import OwnBroker
from labs import until
from pyspark.sql import DataFrame, SparkSession

from workbook.kafka.application import Loop
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.readers import FAST_PLAIN, PatientConsumer, read_dead_letters
from workbook.pipelines.page_views.completed import completed_views
from workbook.pipelines.page_views.metrics import Seconds, commit_on_delivery, metric_records
from workbook.sinks.topics import LateLetters, SparkTopic
from workbook.sources.kafka import kafka_stream
from workbook.spark.runner import Running, start_query
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.metrics import COMPLETE
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.metrics import MetricsProducer, read_metrics
from workbook.streams.stream_producer import StreamProducer
from workbook.systems.accounts import Sums
from workbook.topics import Topic

OUTAGE_S = 20
COUNT = 8_000
HALF = COUNT // 2
CLICKS = Topic("clicks")
BY_HAND, BY_SPARK = Topic("metrics.by-hand"), Topic("metrics.by-spark")
GROUP = "by-hand"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OwnBroker]:
    with OwnBroker(tmp_path) as started:
        topics = [CLICKS, BY_HAND, BY_SPARK, BY_HAND.dead_letters, BY_SPARK.dead_letters]
        Broker(started.bootstrap).create(*topics)
        yield started


def send_clicks(config: dict[str, str], stream: ClickStream, first: int, last: int) -> None:
    """These events; behind the last one a page view that completes all seconds before it."""
    with StreamProducer(config, CLICKS.name) as producer:
        producer.send_block(stream.block(first, last))
        if last == COUNT:
            newest = int(stream.arrivals(stream.expected(last - 1, last).event_id.to_numpy())[0])
            closing = Click(COUNT, ClickType.PAGE, "/home", newest + 60_000, "Firefox")
            producer.produce(closing.to_json(), timestamp=closing.timestamp)


def start_loop(config: dict[str, str], at: Callable[[str], None]) -> Loop:
    """The hand-written loop, at least once, in the background."""

    def count_by_hand(reader: Any, over: Callable[[], bool]) -> None:
        metrics = MetricsProducer(config, BY_HAND.name, with_events=True)
        with DeadLetters(config, BY_HAND.dead_letters.name) as letters:
            commit_on_delivery(reader, metrics, over, letters, at)
            metrics.close()

    own = {"group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
    reader = PatientConsumer({**FAST_PLAIN, **config, **own})
    reader.subscribe([CLICKS.name])
    return Loop(count_by_hand, reader)


def counting(spark: SparkSession, broker: Broker, place: Path, sums: Sums) -> Running:
    """The Spark query; small micro-batches, so that the outage comes between two of them."""
    config = broker.client_config()
    letters = DeadLetters(config, BY_SPARK.dead_letters.name)
    clicks = kafka_stream(spark, broker, CLICKS.name, max_per_batch=HALF // 10)
    views = completed_views(clicks, letters, with_events=True)
    sinks = [
        LateLetters(config, CLICKS.name, letters),
        SparkTopic(spark, broker, BY_SPARK.name, records, COMPLETE),
        sums,
    ]
    return start_query(views, sinks, place, every="1 second")


def records(seconds: DataFrame) -> DataFrame:
    return metric_records(seconds.select("second", "views", "event_ids"))


def require_all(config: dict[str, str], stream: ClickStream, metrics: Topic) -> None:
    """What a reader knows who keeps the last metric of each second, and looks at each letter once.

    At least once allows more: a letter or a metric that came twice.
    """
    latest = read_metrics(config, metrics.name).drop_duplicates("second", keep="last")
    assert (latest["views"] == latest["event_ids"].map(len)).all()
    letters = read_dead_letters(config, metrics.dead_letters.name)
    letters = letters.drop_duplicates(["partition", "offset"])
    sent = stream.expected(0, COUNT)
    bad, page = sent["reason"].notna(), sent["click_type"] == ClickType.PAGE
    assert sorted(latest["event_ids"].explode()) == sorted(sent["event_id"][page & ~bad])
    assert sorted(letters["reason"]) == sorted(sent["reason"][bad])


@pytest.mark.slow
def test_a_broker_away_for_twenty_seconds_costs_no_event(server, spark, tmp_path) -> None:
    broker, stopped, sends = Broker(server.bootstrap), Event(), []
    config = broker.client_config()
    stream = ClickStream(seed=5, rate=200, bad_share=0.05)
    stream = stream.ending_by(int(time.time() * 1000), COUNT)

    def at(point: str) -> None:
        """The loop itself stops the broker: with metrics sent, and many clicks still to count."""
        sends.extend([point] * (point == "before-send"))
        if len(sends) == 5 and not stopped.is_set():
            server.kill()
            stopped.set()

    send_clicks(config, stream, 0, HALF)
    sums = Sums()
    query = counting(spark, broker, tmp_path / "checkpoint", sums)
    until(lambda: query.query.lastProgress, "a first micro-batch")
    loop = start_loop(config, at)
    assert stopped.wait(30)
    began = time.monotonic()
    time.sleep(OUTAGE_S)  # the time itself is what this test is about
    server.start()
    print(f"the broker answers again {time.monotonic() - began:.1f} s after it was stopped")
    send_clicks(config, stream, HALF, COUNT)
    end = partition_offsets(config, CLICKS.name)[0].end

    def committed() -> int | None:
        query.check()
        return partition_offsets(config, CLICKS.name, GROUP)[0].committed

    until(lambda: committed() == end - 1, "the loop to commit all but the open second")
    print(f"the loop has committed all after {time.monotonic() - began:.1f} s")
    loop.stop()

    def counted() -> bool:
        query.check()
        return sums.now["read"] == end and sums.now["open"] <= 1

    until(counted, "the query to count all but the last click")
    assert sums.now["too late"] == 0
    print(f"the query has processed all after {time.monotonic() - began:.1f} s")
    query.stop()
    for metrics in (BY_HAND, BY_SPARK):
        require_all(config, stream, metrics)


def test_a_second_that_is_read_again_is_counted_anew() -> None:
    """After a long outage the group is made anew, and its reader is back at the last commit."""

    def page(event_id: int, second: int) -> Click:
        return Click(event_id, ClickType.PAGE, "/home", second * 1000, "Firefox")

    seconds, clicks = Seconds(), [page(1, 7), page(2, 7), page(3, 8), page(4, 8), page(5, 9)]
    told = [
        seconds.step(clicks[offset], CLICKS.name, 0, offset)
        for offset in (0, 1, 2, 3, 2, 3, 4, 0, 1, 2)
    ]
    assert [done.event_ids for done in told if done] == [(1, 2), (3, 4), (1, 2)]
