"""Dead letters and rows of any size, on topics of any limit: taken, cut, or said to be gone."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, Message
from pyspark.sql import SparkSession

from workbook.errors import BrokerUnreachable, RecordRefused
from workbook.kafka import dead_letters
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import MOST, DeadLetters, Letter
from workbook.kafka.loops import within
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import consumer, read_dead_letters, read_messages
from workbook.kafka.record_producer import RecordProducer
from workbook.pipelines.page_views.metrics import commit_on_delivery
from workbook.sinks import row_sender, table_topic
from workbook.sinks.row_sender import ROW_TOO_LARGE
from workbook.sinks.table_topic import TableTopic
from workbook.spark.runner import Batch
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.metrics import MetricsProducer
from workbook.topics import Topic, compacted, new_topic

ARRIVAL = 1_700_000_000_000
PLACE = {"topic": "clicks", "partition": 3, "offset": 4, "arrival": ARRIVAL}


def noise(length: int, seed: int = 1) -> bytes:
    """Bytes that nothing makes shorter."""
    return random.Random(seed).randbytes(length)


def headers(message: Message) -> dict[str, str]:
    return {
        name: bytes(value or b"").decode() for name, value in dict(message.headers() or []).items()
    }


Limited = Callable[..., str]


@pytest.fixture
def limited(broker: Broker) -> Limited:
    """Make a topic that takes so many bytes: ``limited(2000)``, by name."""

    def make(most: int | None = None, **more: str) -> str:
        made = new_topic("limited", "test-sizes")
        own = {} if most is None else {"max.message.bytes": str(most)}
        broker.create(replace(made, config={**made.config, **own, **more}))
        return made.name

    return make


# --- dead letters -----------------------------------------------------------------------------


def test_a_letter_is_cut_only_where_it_must_be_and_says_so(
    broker: Broker, limited: Limited
) -> None:
    topic, config = limited(), broker.client_config()
    wide, long_key = noise(2_500_000), noise(1_300_000, seed=2)
    with DeadLetters(config, topic) as letters:
        for key, value in [(b"a", b"x" * 5_000_000), (None, wide), (long_key, b"1"), (b"", None)]:
            letters.send({"key": key, "value": value, **PLACE}, "too bad")
    assert (letters.asked, letters.sent) == (4, 4)
    by_length = {len(m.value() or b""): m for m in read_messages(config, topic)}
    whole, cut = by_length[5_000_000], by_length[625_000]
    assert (whole.key(), headers(whole).keys() & {"value-length", "value-sha256"}) == (b"a", set())
    assert (cut.key(), cut.value()) == (None, wide[:625_000])
    assert headers(cut)["value-length"] == "2500000"
    assert headers(cut)["value-sha256"] == sha256(wide).hexdigest()
    key = by_length[1]
    assert (key.key(), headers(key)["key-length"]) == (long_key[:650_000], "1300000")
    assert headers(key)["key-sha256"] == sha256(long_key).hexdigest()
    assert "value-length" not in headers(key)
    assert (by_length[0].key(), by_length[0].value()) == (b"", None)
    rows = read_dead_letters(config, topic).set_index("length").sort_index()
    assert list(rows.index) == [0, 1, 2_500_000, 5_000_000]
    assert set(rows.reason) == {"too bad"}
    assert set(rows.offset) == {4}


def test_a_batch_that_is_too_large_is_no_reason_to_cut(broker: Broker, limited: Limited) -> None:
    topic, config = limited(3000), broker.client_config()
    values = [noise(300, seed) for seed in range(60)] + [noise(5000, 99)]
    with DeadLetters(config, topic) as letters:
        for value in values:
            letters.send({"key": None, "value": value, **PLACE}, "too bad")
    assert letters.sent == 61
    rows = read_dead_letters(config, topic)
    assert sorted(rows.value) == sorted([*values[:60], values[60][:2500]])


class Batching:
    """A client that sends two records as one batch, or what is left; a batch holds 10 bytes."""

    def __init__(self) -> None:
        self.waiting: list[tuple[bytes, Callable[..., None]]] = []
        self.taken: list[bytes] = []

    def produce(self, topic: str, value: bytes, *place: Any, on_delivery: Any, **rest: Any) -> None:
        self.waiting.append((value, on_delivery))

    def list_topics(self, topic: str, timeout: float) -> None:
        pass

    def poll(self, seconds: float) -> None:
        if len(self.waiting) > 2:
            self.flush(seconds)

    def flush(self, seconds: float) -> int:
        batch, self.waiting = self.waiting[:2], self.waiting[2:]
        fits = sum(len(value) for value, _ in batch) <= 10
        self.taken += [value for value, _ in batch if fits]
        for _, report in batch:
            report(None if fits else KafkaError(KafkaError.MSG_SIZE_TOO_LARGE), None)
        return len(self.waiting)


def test_a_letter_is_sent_again_by_itself_also_where_others_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = Batching()
    batching = partial(DeliveringProducer, connect=lambda config: client)
    monkeypatch.setattr(dead_letters, "DeliveringProducer", batching)
    with DeadLetters({}, "clicks.dead-letters") as letters:
        for value in (b"first--", b"second-", b"third--"):
            letters.send({"key": None, "value": value, **PLACE}, "too bad")
    assert sorted(client.taken) == [b"first--", b"second-", b"third--"]


def test_a_letter_that_no_segment_of_its_topic_can_hold_is_cut_too(
    broker: Broker, limited: Limited
) -> None:
    topic = limited(8_000_000, **{"segment.bytes": str(1 << 20)})
    with DeadLetters(broker.client_config(), topic) as letters:
        letters.send({"key": None, "value": noise(1_500_000), **PLACE}, "too bad")
    [letter] = read_dead_letters(broker.client_config(), topic).itertuples()
    assert (len(letter.value), letter.length) == (750_000, 1_500_000)


def test_beyond_a_bound_a_letter_is_cut_before_it_is_sent() -> None:
    letter = Letter(None, bytes(MOST + 1), {"reason": "x"})
    assert len(letter.cut(MOST).value or b"") == MOST
    assert letter.cut(MOST).headers["value-length"] == str(MOST + 1)
    assert letter.cut(MOST + 1).headers == {"reason": "x"}


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"most": 60}, "even without key and value"), ({"cleanup.policy": "compact"}, "validate")],
)
def test_letters_that_a_topic_never_takes_are_an_error_that_says_why(
    broker: Broker, limited: Limited, settings: dict[str, Any], why: str
) -> None:
    letters = DeadLetters(broker.client_config(), limited(**settings))
    letters.send({"key": None, "value": b"1", **PLACE}, "too bad")
    with pytest.raises(RecordRefused, match=rf"refuses them \(.*{why}.*isn't compacted"):
        letters.close()


def test_a_loop_passes_records_of_any_size(broker: Broker, topic: Callable[..., Topic]) -> None:
    """The second one is larger, unpacked, than a reader's default limit."""
    clicks, metrics, config = topic("clicks"), topic("metrics"), broker.client_config()
    with RecordProducer(config, clicks.name) as producer:
        for value in (b"x" * 5_000_000, bytes(105 << 20)):
            producer.send_bytes(value)
        for second in (1, 2):
            page = Click(second, ClickType.PAGE, "home", second * 1000, "Firefox")
            producer.send_bytes(page.to_json())
    reader = consumer({**config, "enable.auto.commit": "false"}, clicks.name, "counter")
    told = MetricsProducer(config, metrics.name)
    over = within(60, lambda _: told.delivered > 0)
    with DeadLetters(config, clicks.dead_letters.name) as letters:
        commit_on_delivery(reader, told, lambda: over("nothing"), letters)
    reader.close()
    assert partition_offsets(config, clicks.name, "counter")[0].committed == 3
    rows = read_dead_letters(config, clicks.dead_letters.name)
    assert [(len(v), n) for v, n in zip(rows.value, rows.length, strict=True)] == [
        (5_000_000, 5_000_000), (MOST, 105 << 20)
    ]  # fmt: skip


def test_a_single_record_that_no_topic_takes_is_refused(broker: Broker, limited: Limited) -> None:
    with (
        RecordProducer(broker.client_config(), limited()) as producer,
        pytest.raises(RecordRefused, match=r"larger than the topic's max.message.bytes"),
    ):
        producer.send_bytes(noise(2_000_000))


# --- rows -------------------------------------------------------------------------------------


def table(*rows: tuple[str, str | None], **more: list[Any]) -> pa.Table:
    """Clients and what is said of them; None where one goes."""
    clients, notes = zip(*rows, strict=True)
    gone = [note is None for note in notes]
    return pa.table({"client": clients, "note": notes, "deleted": gone, **more})


def words(length: int, seed: int = 1) -> str:
    return noise(length // 2, seed).hex()


@pytest.fixture
def out(broker: Broker) -> Topic:
    made = compacted(new_topic("holders", "test-sizes").name)
    broker.create(made, made.dead_letters)
    return made


def told(broker: Broker, topic: str) -> list[tuple[str, int | None]]:
    """Of each record its key and how long its note is; None for a tombstone."""
    found = []
    for message in read_messages(broker.client_config(), topic):
        value = message.value()
        note = None if value is None else len(json.loads(value)["note"])
        found.append((bytes(message.key() or b"").decode(), note))
    return found


def test_a_hundred_thousand_positions_fit_into_a_record(broker: Broker, out: Topic) -> None:
    tickers = [[f"SHARE{number:06d}" for number in range(100_000)]]
    rows = pa.table({"client": ["Bob"], "tickers": tickers, "deleted": [False]})
    TableTopic(broker.client_config(), out.name, "client").write(rows, Batch("query", 0))
    [message] = read_messages(broker.client_config(), out.name)
    assert len(message.value() or b"") > 1_400_000
    assert json.loads(message.value() or b"")["tickers"] == tickers[0]


def test_where_a_row_is_too_large_the_former_one_does_not_stay(broker: Broker, out: Topic) -> None:
    config, huge = broker.client_config(), words(6_000_000)
    letters = DeadLetters(config, out.dead_letters.name)
    topic = TableTopic(config, out.name, "client", dead_letters=letters)
    topic.write(table(("Bob", "fine"), ("Al", "fine")), Batch("query", 0))
    topic.write(table(("Bob", huge), ("Al", "good")), Batch("query", 1))
    assert topic.written == 4, "all of it is delivered on return"
    assert told(broker, out.name) == [("Bob", 4), ("Al", 4), ("Al", 4), ("Bob", None)]
    row = json.dumps({"client": "Bob", "note": huge}, separators=(",", ":")).encode()
    said = headers(read_messages(config, out.name)[-1])
    assert said == {
        "reason": ROW_TOO_LARGE,
        "value-length": str(len(row)),
        "value-sha256": sha256(row).hexdigest(),
    }
    [letter] = read_dead_letters(config, out.dead_letters.name).itertuples()
    assert (letter.reason, letter.topic, letter.key) == (ROW_TOO_LARGE, out.name, b"Bob")
    assert letter.length == len(row)
    assert row.startswith(letter.value)
    topic.write(table(("Bob", "small again")), Batch("query", 2))
    assert told(broker, out.name)[-1] == ("Bob", 11)


def test_executors_send_a_row_that_is_too_large_to_the_dead_letters(
    broker: Broker, spark: SparkSession, limited: Limited, out: Topic
) -> None:
    config, name = broker.client_config(), limited(3000)
    letters = DeadLetters(config, out.dead_letters.name)
    topic = TableTopic(config, name, "client", dead_letters=letters)
    rows = table(("Bob", words(20_000)), ("Al", "fine"))
    topic.on_executors().through(spark.createDataFrame(rows).coalesce(1)).collect()
    assert set(told(broker, name)) == {("Al", 4), ("Bob", None)}
    [letter] = read_dead_letters(config, out.dead_letters.name).itertuples()
    assert (letter.reason, letter.topic, letter.key) == (ROW_TOO_LARGE, name, b"Bob")


def test_the_last_step_of_a_key_stays_the_last(broker: Broker, out: Topic) -> None:
    huge = words(6_000_000)
    rows = table(("Bob", "a"), ("Bob", huge), ("Al", "c"), ("Bob", "de"), step=[0, 1, 0, 2])
    TableTopic(broker.client_config(), out.name, "client").write(rows, Batch("query", 0))
    found = told(broker, out.name)
    assert [note for client, note in found if client == "Bob"][-3:] == [1, None, 2]
    assert [note for client, note in found if client == "Al"] == [1]


def test_a_tombstone_in_a_batch_that_is_too_large_is_sent_again(
    broker: Broker, limited: Limited
) -> None:
    name = limited(3000)
    rows = [(f"c{number}", words(600, number)) for number in range(30)]
    gone = [(f"gone{number}", None) for number in range(30)]
    mixed = [row for pair in zip(rows, gone, strict=True) for row in pair]
    TableTopic(broker.client_config(), name, "client").write(table(*mixed), Batch("query", 0))
    assert sorted(told(broker, name), key=str) == sorted(
        [*gone, *((client, 600) for client, _ in rows)], key=str
    )


def test_a_batch_of_rows_that_is_too_large_is_sent_row_by_row(
    broker: Broker, limited: Limited
) -> None:
    name = limited(3000)
    rows = [(f"c{number}", words(600, number)) for number in range(30)]
    TableTopic(broker.client_config(), name, "client").write(table(*rows), Batch("query", 0))
    assert sorted(told(broker, name)) == sorted((client, 600) for client, _ in rows)


class Refusing:
    """A producer whose broker refuses all with a code (takes all with 0), or never answers."""

    def __init__(self, code: int | None) -> None:
        self.code = code

    def produce(self, *record: Any, on_delivery: Callable[..., None], **rest: Any) -> None:
        self.told = lambda: on_delivery(KafkaError(self.code) if self.code else None, None)

    def list_topics(self, topic: str, timeout: float) -> None:
        pass

    def flush(self, timeout: float) -> int:
        if self.code is None:
            return 1
        self.told()
        return 0


@pytest.mark.parametrize("code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, None])
def test_a_row_that_is_not_delivered_is_an_error_until_the_broker_takes_it(
    monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    monkeypatch.setattr(table_topic, "require_topic", lambda config, topic: 1)
    client = Refusing(code)
    refusing = partial(DeliveringProducer, connect=lambda config: client)
    monkeypatch.setattr(row_sender, "DeliveringProducer", refusing)
    topic = TableTopic({"bootstrap.servers": "b:9"}, "holders", "client", patience=2)
    why = "no answer" if code is None else ".*authorization failed"
    with pytest.raises(BrokerUnreachable, match=rf"b:9 to take .* within 2 s \({why}\)\. Check"):
        topic.write(table(("Bob", "fine")), Batch("query", 0))
    assert topic.written == 0
    client.code = 0
    topic.write(table(("Bob", "fine")), Batch("query", 0))
    assert topic.written == 1
