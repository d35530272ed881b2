"""Metrics as records: their format, their producer on a scripted client, and their readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from confluent_kafka import Producer

from workbook.errors import BrokerUnreachable, Rejected
from workbook.streams.events.metrics import EVENTS, NOT_A_METRIC, Metric
from workbook.streams.metrics import MetricsProducer, read_metrics, record
from workbook.topics import Topic

SECOND = 1_700_000_000


@pytest.mark.parametrize(
    ("metric", "key", "value"),
    [
        (Metric(SECOND, 42), b"1700000000", b"42"),
        (Metric(SECOND, 42, 0), b"1700000000/0", b"42"),
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


@pytest.mark.parametrize("key", BAD_KEYS)
def test_a_bad_key_is_rejected(key: bytes | None) -> None:
    with pytest.raises(Rejected, match=NOT_A_METRIC):
        Metric.from_record(key, b"1")


@pytest.mark.parametrize("value", BAD_VALUES)
def test_a_bad_value_is_rejected(value: bytes | None) -> None:
    with pytest.raises(Rejected, match=NOT_A_METRIC):
        Metric.from_record(b"1", value)


# --- the producer -----------------------------------------------------------------------------


class Client:
    """A producer of Kafka whose deliveries the test decides: ``answer`` in any order."""

    def __init__(self, room: int = 100) -> None:
        self.room, self.tries = room, 0
        self.queue: list[tuple[bytes, Callable[..., None]]] = []
        self.heard: list[Callable[[], None]] = []
        self.log: list[bytes] = []
        self.on_full: Callable[[], None] = lambda: None

    def produce(
        self, topic: str, value: bytes, key: bytes, place: int, *, on_delivery: Any, **rest: Any
    ) -> None:
        self.tries += 1
        if len(self.queue) >= self.room:
            raise BufferError
        self.queue.append((key, on_delivery))

    def answer(self, key: bytes, error: object = None) -> None:
        """The broker took the oldest record with this key, or refused it; told by ``poll``."""
        place = [k for k, _ in self.queue].index(key)
        _, told = self.queue.pop(place)
        if error is None:
            self.log.append(key)
        self.heard.append(lambda: told(error, None))

    def list_topics(self, topic: str, timeout: float) -> None:
        pass

    def poll(self, timeout: float) -> None:
        if timeout:
            self.on_full()
        heard, self.heard = self.heard, []
        for tell in heard:
            tell()

    def flush(self, timeout: float) -> None:
        self.poll(timeout)


class Bench:
    """A MetricsProducer on a scripted client and clock; ``done`` lists whose ``then`` ran."""

    def __init__(self, room: int = 100) -> None:
        self.client, self.now, self.done = Client(room), 0.0, list[int]()
        self.producer = MetricsProducer(
            {"bootstrap.servers": "b:9"},
            "metrics",
            patience=60,
            clock=lambda: self.now,
            connect=lambda config: self.client,
        )

    def send(self, *seconds: int) -> None:
        for second in seconds:
            then = lambda second=second: self.done.append(second)  # noqa: E731
            self.producer.send(Metric(second, 1), then=then)

    def answer(self, second: int, error: object = None) -> list[int]:
        self.client.answer(b"%d" % second, error)
        self.producer.serve()
        return self.done


def test_then_is_called_in_order_whatever_the_order_of_deliveries() -> None:
    bench = Bench()
    bench.send(1, 2, 3)
    assert (bench.answer(3), bench.answer(2), bench.producer.delivered) == ([], [], 2)
    assert bench.answer(1) == [1, 2, 3]


def test_a_failed_delivery_stops_all_that_follow_until_it_is_made_good() -> None:
    bench = Bench()
    bench.send(1, 2, 3)
    assert bench.answer(1) == [1]
    assert bench.answer(2, "refused") == [1]
    bench.send(4)
    assert (bench.answer(3)[:], bench.answer(4)[:]) == ([1], [1])
    assert bench.answer(2, "refused again") == [1]
    assert [key for key, _ in bench.client.queue] == [b"2"], "it is tried again"
    assert bench.answer(2) == [1, 2, 3, 4]
    assert (bench.client.queue, bench.producer.delivered) == ([], 4)


def test_each_then_is_called_once() -> None:
    bench = Bench()
    bench.send(1)
    bench.answer(1)
    bench.producer.serve()
    bench.producer.close()
    assert bench.done == [1]


@pytest.mark.parametrize("refused", [True, False])
def test_patience_ends_whether_the_broker_refuses_or_is_silent(refused: bool) -> None:
    bench = Bench()
    bench.send(1, 2)
    if refused:
        bench.answer(1, "refused")
    bench.answer(2)
    bench.now = 60
    bench.producer.serve()
    bench.now = 60.1
    why = "refused" if refused else "no answer"
    told = rf"b:9 to take 2 metrics into 'metrics'.*60 s \({why}\)"
    with pytest.raises(BrokerUnreachable, match=told):
        bench.producer.serve()
    assert bench.done == [], "nothing was committed"


def test_patience_counts_for_each_metric_and_not_from_the_first_trouble_on() -> None:
    bench = Bench()
    for second in range(5):
        bench.send(second)
        bench.now += 50
        bench.answer(second, "refused")
        bench.answer(second)
    assert bench.done == [0, 1, 2, 3, 4]
    bench.now += 1000
    bench.producer.serve()  # idle is no trouble


def test_a_full_queue_is_waited_for_and_nothing_is_left_out() -> None:
    bench = Bench(room=2)
    bench.client.on_full = lambda: bench.client.answer(bench.client.queue[0][0])
    bench.send(1, 2, 3, 4)
    assert bench.client.log == [b"1", b"2"]
    bench.client.on_full = lambda: None
    bench.answer(3)
    assert bench.answer(4) == [1, 2, 3, 4]


def test_a_queue_that_stays_full_ends_with_patience() -> None:
    bench = Bench(room=1)

    def wait() -> None:
        bench.now += 10

    bench.client.on_full = wait
    bench.send(1)
    with pytest.raises(BrokerUnreachable, match="to take 2 metrics"):
        bench.send(2)


def test_what_has_been_delivered_costs_no_patience_while_the_queue_is_full() -> None:
    bench = Bench(room=1)
    bench.send(1)
    bench.now = 50

    def deliver() -> None:
        bench.now = 61
        bench.client.answer(b"1")

    bench.client.on_full = deliver
    bench.send(2)
    assert bench.done == [1]


def test_many_refusals_with_a_full_queue_do_not_pile_up() -> None:
    """A retry within the callback would call itself through poll, as deep as the queue is long."""
    bench = Bench(room=3000)
    bench.send(*range(3000))
    for second in range(3000):
        bench.client.answer(b"%d" % second, "refused")
    bench.producer.serve()
    assert len(bench.client.queue) == 3000
    for second in range(3000):
        bench.client.answer(b"%d" % second)
    bench.producer.serve()
    assert bench.done == list(range(3000))


def test_close_waits_for_the_last_delivery_and_its_then() -> None:
    bench = Bench()
    bench.send(1)
    waits = []

    def deliver() -> None:
        waits.append(1)
        if len(waits) == 3:
            bench.client.answer(b"1")

    bench.client.on_full = deliver
    bench.producer.close()
    assert (bench.done, len(waits)) == ([1], 3)


def test_close_gives_up_in_time() -> None:
    bench = Bench()
    bench.send(1)

    def wait() -> None:
        bench.now += 7

    bench.client.on_full = wait
    with pytest.raises(BrokerUnreachable, match="to take 1 metrics"):
        bench.producer.close()
    assert bench.now < 75


# --- the readers ------------------------------------------------------------------------------

NONSENSE: list[tuple[bytes | None, bytes | None]] = [
    (b"5", b"many"), (None, b"1"), (b"5", None), (b"x", b"1"), (b"", b""),
]  # fmt: skip


@pytest.fixture
def metrics(broker: Any, topic: Callable[..., Topic]) -> Topic:
    """Metrics with and without event ids, one of them twice, nonsense between."""
    made = topic("metrics")
    sender = MetricsProducer(broker.client_config(), made.name, with_events=True)
    raw = Producer(broker.client_config())
    sender.send(Metric(SECOND, 2, 3), [7, 2**63 - 1])
    sender.close()
    for key, value in NONSENSE:
        raw.produce(made.name, value, key)
    raw.produce(made.name, b"9", b"8", headers={EVENTS: b"x,\xff"})
    raw.produce(made.name, b"9", b"9", headers={EVENTS: b"1," + b"9" * 30})
    assert raw.flush(10) == 0
    sender.send(Metric(SECOND, 3, 3), [7, 8, 9])
    sender.send(Metric(SECOND + 1, 1))
    sender.close()
    assert sender.delivered == 3
    return made


def test_a_topic_of_metrics_is_read_without_what_is_none(broker: Any, metrics: Topic) -> None:
    found = read_metrics(broker.client_config(), metrics.name)
    assert list(found.second) == [SECOND, 8, 9, SECOND, SECOND + 1]
    assert list(found.views) == [2, 9, 9, 3, 1]
    assert [None if pd.isna(p) else int(p) for p in found["partition"]] == [3, None, None, 3, None]
    assert [list(ids) for ids in found.event_ids] == [[7, 2**63 - 1], [], [], [7, 8, 9], []]
    assert list(found.offset) == [0, 6, 7, 8, 9]
    assert found.timestamp.is_monotonic_increasing


def test_an_empty_topic_gives_an_empty_table(broker: Any, topic: Callable[..., Topic]) -> None:
    found = read_metrics(broker.client_config(), topic("metrics").name)
    assert found.empty
    assert "event_ids" in found


def test_without_the_lab_a_metric_has_no_header() -> None:
    assert record(Metric(1, 2))["headers"] == {}
    client = Client()
    sent: list[dict[str, Any]] = []
    client.produce = lambda *record, **rest: sent.append(rest)  # type: ignore[method-assign]
    MetricsProducer({}, "m", connect=lambda _: client).send(Metric(1, 2), [4, 5])
    MetricsProducer({}, "m", connect=lambda _: client, with_events=True).send(Metric(1, 2), [4, 5])
    assert [one["headers"] for one in sent] == [{}, {EVENTS: b"4,5"}]
