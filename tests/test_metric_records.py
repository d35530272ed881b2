"""Metrics from Spark: the same records as those of the loop, each completed second once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from confluent_kafka import Producer
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from workbook.spark.queries import QueryGroup, start_metrics

from workbook.decoding.clicks import parse
from workbook.events.clicks import Click, ClickType
from workbook.events.metrics import EVENTS, Metric
from workbook.events.reasons import Reason
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.metrics_producer import record
from workbook.kafka.metrics_reader import read_metrics
from workbook.kafka.readers import read_dead_letters
from workbook.pipelines.page_views.counts import views_per_second
from workbook.pipelines.page_views.metrics import metric_records
from workbook.spark.source import kafka_stream
from workbook.topics import Topic

START = 1_700_000_000
ARRIVAL = (START + 60) * 1000
IN_2099 = 4_070_908_800
FIELDS = ("partition", "event_id", "click_type", "timestamp", "reason")


def click(second: int, event_id: int, kind: ClickType = ClickType.PAGE) -> bytes:
    return Click(event_id, kind, "home", (START + second) * 1000 + 500, "Firefox").to_json()


# --- tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize("events", [True, False])
@pytest.mark.parametrize("partition", [None, 0, 23])
def test_a_row_becomes_the_record_that_the_loop_would_send(
    spark: SparkSession, partition: int | None, events: bool
) -> None:
    ids = [7, -1, 2**63 - 1]
    row: dict[str, Any] = {"second": START, "views": 3}
    schema = "second BIGINT, views BIGINT"
    if partition is not None:
        row, schema = row | {"partition": partition}, schema + ", partition INT"
    if events:
        row, schema = row | {"event_ids": ids}, schema + ", event_ids ARRAY<BIGINT>"
    found = metric_records(spark.createDataFrame([tuple(row.values())], schema)).collect()[0]
    wanted = record(Metric(START, 3, partition), ids if events else ())
    assert (found.key.encode(), found.value.encode()) == (wanted["key"], wanted["value"])
    headers = {h.key: bytes(h.value) for h in found.headers} if events else {}
    assert headers == wanted["headers"]
    assert (EVENTS in headers) == events


def table(spark: SparkSession, rows: list[tuple[int, bytes]]) -> DataFrame:
    """Partitions and values as Spark's Kafka source hands them over."""
    arrived = datetime.fromtimestamp(ARRIVAL / 1000, UTC)
    records = [
        (None, bytearray(value), "clicks", partition, offset, arrived)
        for offset, (partition, value) in enumerate(rows)
    ]
    schema = (
        "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"
    )
    return spark.createDataFrame(records, schema)


def test_counts_by_partition_add_up_to_the_whole(spark: SparkSession) -> None:
    rows = [(n % 3, click(n % 5, n)) for n in range(40)] + [
        (0, b"junk"), (1, click(2, 90, ClickType.ACTION)), (2, click(IN_2099 - START, 91))
    ]  # fmt: skip
    parsed = parse(table(spark, rows), fields=FIELDS)
    whole = {row.second: row.views for row in views_per_second(parsed).collect()}
    assert whole == {START + second: 8 for second in range(5)}
    parts = views_per_second(parsed, by_partition=True, with_events=True).collect()
    added: Counter[int] = Counter()
    for row in parts:
        added[row.second] += row.views
        due = [n for n in range(40) if (n % 3, START + n % 5) == (row.partition, row.second)]
        assert (sorted(row.event_ids), row.views) == (due, len(due))
    assert added == whole
    assert len(parts) == 15


# --- streams ----------------------------------------------------------------------------------


@dataclass
class Bench:
    """Clicks in two partitions, their metrics and dead letters, and the query between."""

    broker: Any
    spark: SparkSession
    clicks: Topic
    metrics: Topic
    checkpoint: Path

    def send(self, partition: int, *values: bytes) -> None:
        producer = Producer(self.broker.client_config())
        for value in values:
            producer.produce(self.clicks.name, value, partition=partition, timestamp=ARRIVAL)
        assert producer.flush(10) == 0

    def start(self, at: Callable[[str], None] = lambda point: None) -> QueryGroup:
        letters = DeadLetters(self.broker.client_config(), self.clicks.dead_letters.name)
        raw = kafka_stream(self.spark, self.broker, self.clicks.name)
        counts = views_per_second(
            parse(raw, letters, FIELDS), "2 seconds", by_partition=True, with_events=True
        )
        records = metric_records(counts)
        return start_metrics(records, self.broker, self.metrics.name, self.checkpoint, at)

    def found(self) -> pd.DataFrame:
        return read_metrics(self.broker.client_config(), self.metrics.name)

    def ids(self) -> dict[tuple[int, int], list[int]]:
        """Event ids by second (from START) and partition; no metric came twice."""
        found = self.found()
        assert not found.duplicated(["second", "partition"]).any()
        assert list(found.views) == [len(ids) for ids in found.event_ids]
        return {
            (r.second - START, int(r.partition)): sorted(r.event_ids) for r in found.itertuples()
        }


@pytest.fixture
def bench(broker: Any, spark: SparkSession, topic: Callable[..., Topic], tmp_path: Path) -> Bench:
    return Bench(broker, spark, topic("clicks", partitions=2), topic("metrics"), tmp_path / "1")


def watermark(running: QueryGroup) -> str:
    progress = running.queries[0].lastProgress
    assert progress is not None
    return str(progress["eventTime"]["watermark"])


def test_each_completed_second_is_told_once_also_over_a_restart(bench: Bench) -> None:
    bench.send(0, *(click(second, second) for second in range(10)))
    bench.send(1, click(IN_2099 - START, 98), click(3, 30), click(8, 80), b"junk")
    points: list[str] = []
    with bench.start(points.append) as running:
        running.process_all()
        # The newest page view is of 9.5 s: seconds that ended before 7.5 s are complete.
        assert bench.ids() == {**{(s, 0): [s] for s in range(7)}, (3, 1): [30]}
        assert watermark(running).startswith(f"{datetime.fromtimestamp(START + 7, UTC):%FT%T}.500")
    letters = read_dead_letters(bench.broker.client_config(), bench.clicks.dead_letters.name)
    assert sorted(letters.reason) == sorted([Reason.FUTURE, Reason.MALFORMED])
    assert set(points) == {"before-send", "before-checkpoint"}
    assert points[::2] == ["before-send"] * (len(points) // 2), "in turn, batch by batch"
    bench.send(0, click(9, 90), click(20, 200))
    with bench.start() as running:
        running.process_all()
    assert bench.ids() == {
        **{(s, 0): [s] for s in range(9)}, (9, 0): [9, 90], (3, 1): [30], (8, 1): [80]
    }  # fmt: skip


class Crash(Exception):
    """The end of a program in the middle of something."""


@pytest.mark.parametrize("point", ["before-send", "before-checkpoint"])
def test_a_batch_that_was_not_committed_comes_again(bench: Bench, point: str) -> None:
    bench.send(0, click(0, 1), click(0, 2), click(9, 3))
    # The first batch brings the clicks; the one that crashes is the one that has a second to tell.
    passed: list[str] = []

    def crash(where: str) -> None:
        passed.append(where)
        if (where, passed.count(where)) == (point, 2):
            raise Crash(where)

    running = bench.start(crash)
    with pytest.raises(StreamingQueryException, match=point):
        running.process_all()
    with bench.start() as running:
        running.process_all()
    found = bench.found()
    times = {"before-send": 1, "before-checkpoint": 2}[point]
    assert list(found.second) == [START] * times
    assert [sorted(ids) for ids in found.event_ids] == [[1, 2]] * times
    assert list(found["partition"]) == [0] * times


def test_an_empty_topic_gives_no_metrics_and_the_query_goes_on(bench: Bench) -> None:
    with bench.start() as running:
        running.process_all()
        assert bench.ids() == {}
        bench.send(1, click(0, 1), click(5, 2))
        running.process_all()
        assert bench.ids() == {(0, 1): [1]}
