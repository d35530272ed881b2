"""Metrics as records: their format, their producer on a scripted client, and their reader."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pandas as pd
import psutil
import pyarrow as pa
import pytest
from confluent_kafka import Producer
from msgspec.structs import replace

from workbook.errors import BrokerUnreachable, Rejected
from workbook.pipelines.page_views.metrics import metric_records
from workbook.sinks.topics import SparkTopic
from workbook.spark.runner import Batch
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.metrics import COMPLETE, EVENTS, NOT_A_METRIC, Metric
from workbook.streams.metrics import MetricsProducer, read_metrics, record

SECOND = 1_700_000_000


@pytest.mark.parametrize(
    ("metric", "key", "value"),
    [
        (Metric(SECOND, 42), b"1700000000", b"42"),
        (Metric(SECOND, 0, 23), b"1700000000/23", b"0"),
        (Metric(0, 10**17, 0), b"0/0", b"100000000000000000"),
    ],
)
def test_a_metric_is_read_as_it_was_written(metric: Metric, key: bytes, value: bytes) -> None:
    assert (metric.key(), metric.value()) == (key, value)
    assert Metric.from_record(key, value) == metric


BAD_KEYS: list[bytes | None] = [
    None, b"", b" ", b"-1", b"+1", b"01", b"1.0", b"1e3", b"1 ", b" 1", b"1\n", b"a", b"1/", b"/1",
    b"1/-1", b"1/01", b"1/1/1", b"1/a", b"\xff", b"\x00\x00\x00\x01", "١".encode(), b"9" * 19,
    b"1/" + b"9" * 10,
]  # fmt: skip
BAD_VALUES: list[bytes | None] = [
    None, b"", b" ", b"-1", b"+1", b"01", b"1.0", b"1e3", b"NaN", b"many", b"1\n", b"1 ", b'"1"',
    b"0x1", b"1_000", b"\xff", b"\x00\x01", "١".encode(), b"9" * 19,
]  # fmt: skip
BAD = [*((key, b"1") for key in BAD_KEYS), *((b"1", value) for value in BAD_VALUES)]


def test_a_bad_key_or_value_is_rejected() -> None:
    for key, value in BAD:
        with pytest.raises(Rejected, match=NOT_A_METRIC):
            Metric.from_record(key, value)


# --- the producer -----------------------------------------------------------------------------


class Bench:
    """A MetricsProducer on a scripted client; the test decides what is delivered.

    ``done`` lists the seconds whose ``then`` ran.
    """

    def __init__(self) -> None:
        self.done, self.queue = list[int](), dict[bytes, Callable[..., None]]()
        config = {"bootstrap.servers": "b:9"}
        self.producer = MetricsProducer(config, "metrics", connect=lambda _: self)

    def produce(
        self, topic: str, value: bytes, key: bytes, place: int, *, on_delivery: Any, **rest: Any
    ) -> None:
        self.queue[key] = on_delivery

    def list_topics(self, topic: str, timeout: float) -> None:
        pass

    def poll(self, timeout: float) -> None:
        pass

    flush = poll

    def send(self, *seconds: int) -> None:
        for second in seconds:
            self.producer.send(Metric(second, 1), then=partial(self.done.append, second))

    def answer(self, second: int, error: object = None) -> None:
        """The broker took the record of this second, or refused it."""
        self.queue.pop(b"%d" % second)(error, None)


def test_then_is_called_once_and_in_order_whatever_the_order_of_deliveries() -> None:
    bench = Bench()
    bench.send(1, 2, 3)
    for second, done in ((3, []), (2, []), (1, [1, 2, 3])):
        bench.answer(second)
        bench.producer.serve()
        assert bench.done == done
    bench.producer.close()
    assert (bench.done, bench.producer.delivered) == ([1, 2, 3], 3)


def test_a_failed_delivery_is_an_error_and_nothing_behind_it_is_committed() -> None:
    bench = Bench()
    bench.send(1, 2, 3)
    bench.answer(1)
    bench.answer(3)
    bench.answer(2, "timed out")
    with pytest.raises(BrokerUnreachable, match=r"b:9 to take 2 metrics .*timed out"):
        bench.producer.serve()
    assert bench.done == [1]


# --- the reader -------------------------------------------------------------------------------

NONSENSE: list[tuple[bytes | None, bytes | None]] = [
    (b"5", b"many"), (None, b"1"), (b"5", None), (b"x", b"1"), (b"", b""),
]  # fmt: skip


def test_a_topic_of_metrics_is_read_without_what_is_none(broker, topic) -> None:
    metrics, config = topic("metrics").name, broker.client_config()
    raw = Producer(config)

    def send(metric: Metric, *ids: int) -> None:
        raw.produce(metrics, **record(metric, ids))

    assert read_metrics(config, metrics).empty
    send(Metric(SECOND, 2, 3), 7, 2**63 - 1)
    for key, value in NONSENSE:
        raw.produce(metrics, value, key)
    raw.produce(metrics, b"9", b"8", headers={EVENTS: b"x,\xff"})
    raw.produce(metrics, b"9", b"9", headers={EVENTS: b"1," + b"9" * 30})
    send(Metric(SECOND, 3, 3), 7, 8, 9)
    send(Metric(SECOND + 1, 1))
    assert raw.flush(10) == 0
    found = read_metrics(config, metrics)
    assert list(found.second) == [SECOND, 8, 9, SECOND, SECOND + 1]
    assert list(found.views) == [2, 9, 9, 3, 1]
    assert [None if pd.isna(p) else int(p) for p in found["partition"]] == [3, None, None, 3, None]
    assert [list(ids) for ids in found.event_ids] == [[7, 2**63 - 1], [], [], [7, 8, 9], []]
    assert list(found.offset) == [0, 6, 7, 8, 9]
    assert found.timestamp.is_monotonic_increasing


# --- a metric on Spark is the loop's ----------------------------------------------------------


ARRIVAL = 1_700_000_000_000
CLICK = Click(7, ClickType.PAGE, "home", ARRIVAL - 5, "Firefox", "t1")


def test_what_to_json_writes_is_read_the_fast_way() -> None:
    """Else it would be right, yet slow."""
    for c in (CLICK, replace(CLICK, tab_id=None), replace(CLICK, event_id=-3, name="Müsli 😀")):
        assert msgspec.json.decode(c.to_json(), type=Click) == c


@pytest.mark.parametrize("events", [True, False])
def test_a_row_becomes_the_record_that_the_loop_would_send(spark, events) -> None:
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


def test_a_write_ends_no_python_worker(spark, broker, topic) -> None:
    """Another one takes half a second to start, in each micro-batch."""
    rows = pa.table({"kind": [COMPLETE], "second": [7], "views": [3]})
    sink = SparkTopic(spark, broker, topic("metrics").name, metric_records, COMPLETE)

    def workers() -> set[int]:
        family = psutil.Process().children(recursive=True)
        return {each.pid for each in family if "python" in each.name()}

    sink.write(rows, Batch("query", 0))
    before = workers()
    sink.write(rows, Batch("query", 1))
    assert workers() == before
