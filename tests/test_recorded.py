"""The pictures' data from a real topic and query: the crosses are exactly what Spark drops."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from labs import until
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.recorded import LiveClocks, recorded, rewind, rewind_clocks
from workbook.errors import WorkbookError
from workbook.kafka.broker import Broker
from workbook.spark.checkpoints import offset_log
from workbook.streams.events.clicks import Click, ClickType
from workbook.topics import Topic
from workbook.views.event_time import event_time
from workbook.views.runs import EARLIER, WAITING, dropped

BASE = 1_700_000_000_000


class Sent:
    """Sends page views with rising ids."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self._producer, self.topic = Producer(broker.client_config()), topic
        self.places: list[tuple[int, int]] = []
        """Partition and offset by id."""

    def at(self, *ms: int, partition: int = 0, kind: str = "Page") -> None:
        for time in ms:
            click = {"event_id": len(self.places), "click_type": kind, "timestamp": BASE + time}
            self.raw(json.dumps(click).encode(), partition)

    def raw(self, value: bytes, partition: int = 0) -> None:
        self.places.append((partition, sum(p == partition for p, _ in self.places)))
        self._producer.produce(self.topic, value, partition=partition)
        self._producer.flush()


def counting(
    spark: SparkSession, broker: Broker, topic: str, folder: Path, each: Callable[..., None]
) -> Any:
    """Start the query of chapter 05, whose rows here name their events, and hand it ``each``."""
    source = spark.readStream.format("kafka").options(**broker.spark_options())
    source = source.option("subscribe", topic).option("startingOffsets", "earliest")
    fields = "event_id BIGINT, click_type STRING, timestamp BIGINT"
    click = F.from_json(F.col("value").cast("string"), fields).alias("click")
    pages = source.load().select(click).select("click.*").where("click_type = 'Page'")
    timed = pages.withColumn("time", F.timestamp_millis("timestamp"))
    windows = timed.withWatermark("time", "5 seconds").groupBy(F.window("time", "1 second"))
    counted = windows.agg(F.collect_list("event_id").alias("ids"))
    starting = counted.writeStream.outputMode("update").foreachBatch(each)
    return starting.option("checkpointLocation", str(folder)).start()


def test_the_crosses_are_exactly_the_clicks_that_spark_has_not_counted(
    broker: Broker, spark: SparkSession, topic: Callable[..., Topic], tmp_path: Path
) -> None:
    clicks = Sent(broker, topic(partitions=2).name)
    clicks.at(100, 15_000, -BASE - 1)  # before 1970, and before any watermark
    ids: set[int] = set()

    def keep(batch: DataFrame, number: int) -> None:
        ids.update(event for row in batch.collect() for event in row.ids)

    query = counting(spark, broker, clicks.topic, tmp_path, keep)
    bites: list[tuple[int, ...]] = [
        (9_000, 9_999, 10_000, 10_001, 8_999),  # the watermark is 10.000
        (15_999,),
        (10_000, 10_998, 10_999, 11_000),
        (16_000,),
        (10_500, 11_000),
        (4_070_908_800_000 - BASE,),
        (16_500, 17_000),
    ]
    for n, times in enumerate(bites):
        query.processAllAvailable()
        clicks.at(*times, partition=n % 2)
    clicks.at(3_000, kind="Action")
    clicks.raw(b"no click")
    query.processAllAvailable()
    run = recorded(broker.client_config(), query)
    (tmp_path / "commits" / "99").write_text("v1")  # its file of offsets is gone
    by_log_alone = recorded(broker.client_config(), _Forgetful(query), clicks.topic)
    query.stop()
    clicks.at(18_000)
    later = recorded(broker.client_config(), query, clicks.topic)

    lost = {place for n, place in enumerate(clicks.places[:-3]) if n not in ids}
    assert len(lost) == 7
    crossed = run.clicks[dropped(run)]
    assert set(zip(crossed["partition"], crossed["offset"], strict=True)) == lost
    assert f"Dropped: {len(lost)}. 1 record couldn't be read." in event_time(run).words
    known = len(by_log_alone.batches)
    assert 8 <= known < len(run.batches), "the log keeps about ten"
    assert list(by_log_alone.batches) == list(run.batches)[-known:]
    later_ones = run.clicks["batch"] >= run.batches[-known].number
    assert by_log_alone.clicks[later_ones].equals(run.clicks[later_ones])
    assert set(by_log_alone.clicks[~later_ones]["batch"]) == {EARLIER}
    assert later.clicks["batch"].tolist().count(WAITING) == 1
    assert len(rewind(run)._steps) == len(run.batches)


class _Forgetful:
    """A query whose reports are gone, as after a long silence."""

    def __init__(self, query: Any) -> None:
        self._jsq, self.isActive, self.recentProgress = query._jsq, True, []


def test_a_query_that_has_failed_says_so_and_what_it_had_read(
    broker: Broker, spark: SparkSession, topic: Callable[..., Topic], tmp_path: Path
) -> None:
    clicks = Sent(broker, topic().name)
    clicks.at(100, 200)

    def fail(batch: DataFrame, number: int) -> None:
        raise ValueError("the sink is full")

    query = counting(spark, broker, clicks.topic, tmp_path, fail)
    with pytest.raises(Exception, match="the sink is full"):
        query.awaitTermination(60)
    assert offset_log(object(), clicks.topic) == {}  # its Spark is closed
    with pytest.raises(WorkbookError, match="Name the topic"):
        recorded(broker.client_config(), query)
    shown = rewind(recorded(broker.client_config(), query, clicks.topic))
    assert "The query has failed: " in shown.picture.words
    assert "the sink is full" in shown.picture.words
    assert "Waiting to be read: 2 page views." in shown.picture.words


def test_live_clocks_follow_a_topic_and_know_who_never_had_a_record(broker, topic) -> None:
    night = Sent(broker, topic(partitions=4).name)
    draw = LiveClocks(broker.client_config(), night.topic)
    assert draw().words.startswith("Partitions with a clock: 0 of 4.")
    for partition in range(3):
        night.at(1_000, 9_000, partition=partition)
    night.raw(b"no click", partition=3)
    words = _until(draw, "Partitions with a clock: 3 of 4")
    assert "minimum: 0 of 2 windows." in words
    night.at(9_500, partition=3, kind="Action")
    assert "Closed by the minimum: 1 of 2 windows." in _until(draw, "4 of 4")
    assert draw() is draw(), "nothing came: nothing is drawn anew"


def _until(draw: Callable[[], Any], words: str) -> str:
    until(lambda: words in draw().words, words)
    return str(draw().words)


def test_the_clocks_of_what_was_polled_have_a_step_for_every_few_records() -> None:
    click = Click(1, ClickType.PAGE, "/home", BASE, "Firefox")
    shown = rewind_clocks([(n % 3, click) for n in range(100)], 4, at=0.5)
    assert (shown.slider.label, len(shown._steps)) == ("after 50 records", 25)
    shown.move(100)
    assert shown.slider.label == "after 100 records"
