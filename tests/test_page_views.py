"""Page views on Spark: per page, per second, and as records of the metrics topic."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

from workbook.pipelines.page_views import page_views
from workbook.pipelines.page_views.metrics import metric_records
from workbook.sources.records import CLICKS
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.metrics import Metric
from workbook.streams.metrics import record

ARRIVAL = 1_700_000_000_000
CLICK = Click(7, ClickType.PAGE, "home", ARRIVAL - 5, "Firefox", "t1")
IN_2099 = 4_070_908_800_000
SCHEMA = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"


def test_what_to_json_writes_is_read_the_fast_way() -> None:
    """Else it would be right, yet slow."""
    for c in (CLICK, replace(CLICK, tab_id=None), replace(CLICK, event_id=-3, name="Müsli 😀")):
        assert msgspec.json.decode(c.to_json(), type=Click) == c


def click(name: str, kind: ClickType = ClickType.PAGE, timestamp: int = ARRIVAL) -> Click:
    return Click(1, kind, name, timestamp, "Firefox")


MIXED = [
    click("home"), click("home", timestamp=IN_2099), click("shoes"), click("x", ClickType.ACTION),
    click("home", timestamp=ARRIVAL - 10**9), click("shoes", timestamp=-1),
]  # fmt: skip


def parsed(spark: SparkSession, *values: Click | bytes | None) -> DataFrame:
    """Clicks and other values as Spark's Kafka source hands them over, read."""
    arrived = datetime.fromtimestamp(ARRIVAL / 1000, UTC)
    rows = [
        (None, v.to_json() if isinstance(v, Click) else v, "clicks", 0, offset, arrived)
        for offset, v in enumerate(values)
    ]
    return CLICKS.parse(spark.createDataFrame(rows, SCHEMA))


def test_spark_counts_accepted_page_views_only(spark: SparkSession) -> None:
    counted = page_views(parsed(spark, *MIXED, b"junk", None)).collect()
    assert {row["name"]: row.views for row in counted} == {"home": 2, "shoes": 1}


@pytest.mark.parametrize("events", [True, False])
def test_a_row_becomes_the_record_that_the_loop_would_send(
    spark: SparkSession, events: bool
) -> None:
    ids = [7, -1, 2**63 - 1]
    row: dict[str, Any] = {"second": ARRIVAL // 1000, "views": 3}
    schema = "second BIGINT, views BIGINT"
    if events:
        row, schema = row | {"event_ids": ids}, schema + ", event_ids ARRAY<BIGINT>"
    found = metric_records(spark.createDataFrame([tuple(row.values())], schema)).collect()[0]
    wanted = record(Metric(ARRIVAL // 1000, 3), ids if events else ())
    assert (found.key.encode(), found.value.encode()) == (wanted["key"], wanted["value"])
    headers = {h.key: bytes(h.value) for h in found.headers} if events else {}
    assert headers == wanted["headers"]
