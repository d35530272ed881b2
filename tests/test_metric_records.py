"""Metrics from Spark: the same records as those of the loop, each completed second once."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from workbook.pipelines.page_views.counts import views_per_second
from workbook.pipelines.page_views.metrics import metric_records
from workbook.sources.clicks import parse
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.metrics import EVENTS, Metric
from workbook.streams.metrics import record

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
