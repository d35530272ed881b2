"""Dead letters and rows of any size, on topics of any limit: taken, cut, or said to be gone."""

import json
import pickle
import random
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pytest
from brokers import message as record_of
from confluent_kafka import Message

from workbook.errors import BrokerUnreachable, RecordRefused, Rejected
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.producer import HEADERS, DeliveringProducer
from workbook.kafka.readers import FAST_PLAIN, PatientConsumer, read_dead_letters, read_messages
from workbook.kafka.require import MEGABYTE
from workbook.pipelines.page_views.metrics import commit_on_delivery
from workbook.sinks.topics import ROW_TOO_LARGE, TableTopic
from workbook.spark.runner import Batch
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.reasons import Reason
from workbook.streams.metrics import MetricsProducer
from workbook.topics import Topic, compacted, new_topic

PLACE = {"topic": "clicks", "partition": 3, "offset": 4, "arrival": 1_700_000_000_000}
HALF = (MEGABYTE - HEADERS) // 2
"""Where key and value are cut, in a topic with Kafka's default."""


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


def test_a_letter_is_cut_only_where_it_must_be_and_says_so(broker, limited) -> None:
    topic, config = limited(), broker.client_config()
    wide, key, fits = noise(2_500_000), noise(1_300_000, seed=2), noise(1_000_000, seed=3)
    with DeadLetters(config, topic) as letters:
        for k, value in [(b"a", fits), (None, wide), (key, b"1"), (b"", None)]:
            letters.send({"key": k, "value": value, **PLACE}, "too bad")
    found = read_messages(config, topic)
    assert [(m.key(), m.value()) for m in found] == [
        (b"a", fits), (None, wide[:HALF]), (key[:HALF], b"1"), (b"", None)
    ]  # fmt: skip
    said = [{n: v for n, v in headers(m).items() if n.startswith(("key", "value"))} for m in found]
    assert said == [
        {},
        {"value-length": "2500000", "value-sha256": sha256(wide).hexdigest()},
        {"key-length": "1300000", "key-sha256": sha256(key).hexdigest()},
        {},
    ]
    rows = read_dead_letters(config, topic)
    assert list(rows.length) == [1_000_000, 2_500_000, 1, 0]
    assert set(rows.reason) == {"too bad"}
    assert set(rows.offset) == {4}


def test_letters_arrive_at_a_topic_with_a_small_limit(broker: Broker, limited: Limited) -> None:
    """A broker's limit is for a batch: many small letters at once must not exceed it."""
    topic, config = limited(3000), broker.client_config()
    values = [noise(300, seed) for seed in range(60)] + [noise(5000, 99)]
    with DeadLetters(config, topic) as letters:
        for value in values:
            letters.send({"key": None, "value": value, **PLACE}, "too bad")
    rows = read_dead_letters(config, topic)
    assert sorted(rows.value) == sorted([*values[:60], values[60][:1000]])


@pytest.mark.parametrize(
    ("settings", "why"), [({"most": 60}, "too large"), ({"cleanup.policy": "compact"}, "validate")]
)
def test_letters_that_a_topic_never_takes_are_an_error_that_says_why(
    broker: Broker, limited: Limited, settings: dict[str, Any], why: str
) -> None:
    letters = DeadLetters(broker.client_config(), limited(**settings))
    letters.send({"key": None, "value": b"1", **PLACE}, "too bad")
    with pytest.raises(RecordRefused, match=f"1 more dead letters into .*{why}"):
        letters.close()


def test_a_loop_passes_records_of_any_size(broker: Broker, topic: Callable[..., Topic]) -> None:
    """The second one is larger, unpacked, than a reader's default limit."""
    clicks, metrics, config = topic("clicks"), topic("metrics"), broker.client_config()
    with DeliveringProducer(config, clicks.name) as producer:
        for value in (b"x" * 5_000_000, bytes(105 << 20)):
            producer.send_now(value)
        for second in (1, 2):
            page = Click(second, ClickType.PAGE, "home", second * 1000, "Firefox")
            producer.send_now(page.to_json())
    own = {"group.id": "counter", "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
    reader = PatientConsumer({**FAST_PLAIN, **config, **own})
    reader.subscribe([clicks.name])
    told = MetricsProducer(config, metrics.name)
    deadline = time.monotonic() + 60

    def over() -> bool:
        assert time.monotonic() < deadline
        return told.delivered > 0

    with DeadLetters(config, clicks.dead_letters.name) as letters:
        commit_on_delivery(reader, told, over, letters)
    reader.close()
    assert partition_offsets(config, clicks.name, "counter")[0].committed == 3
    rows = read_dead_letters(config, clicks.dead_letters.name)
    assert [(len(v), n) for v, n in zip(rows.value, rows.length, strict=True)] == [
        (HALF, 5_000_000), (HALF, 105 << 20)
    ]  # fmt: skip


def test_a_single_record_that_no_topic_takes_is_refused(broker: Broker, limited: Limited) -> None:
    with (
        DeliveringProducer(broker.client_config(), limited()) as producer,
        pytest.raises(RecordRefused, match=r"exceeds the topic's max.message.bytes"),
    ):
        producer.send_now(noise(2_000_000))


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


def test_where_a_row_is_too_large_the_former_one_does_not_stay(broker: Broker, out: Topic) -> None:
    config, huge = broker.client_config(), words(1_100_000)
    letters = DeadLetters(config, out.dead_letters.name)
    topic = TableTopic(config, out.name, "client", dead_letters=letters)
    topic.write(table(("Bob", "fine"), ("Al", "fine")), Batch("query", 0))
    topic.write(table(("Bob", huge), ("Al", "good")), Batch("query", 1))
    assert topic.written == 4, "all of it is delivered on return"
    assert told(broker, out.name) == [("Bob", 4), ("Al", 4), ("Bob", None), ("Al", 4)]
    row = json.dumps({"client": "Bob", "note": huge}, separators=(",", ":")).encode()
    assert headers(read_messages(config, out.name)[2]) == {"reason": ROW_TOO_LARGE}
    [letter] = read_dead_letters(config, out.dead_letters.name).itertuples()
    assert (letter.reason, letter.topic, letter.key) == (ROW_TOO_LARGE, out.name, b"Bob")
    assert letter.length == len(row)
    assert row.startswith(letter.value)
    topic.write(table(("Bob", "small again")), Batch("query", 2))
    assert told(broker, out.name)[-1] == ("Bob", 11)


def test_the_last_step_of_a_key_stays_the_last(broker: Broker, out: Topic) -> None:
    huge = words(1_100_000)
    rows = table(("Bob", "a"), ("Bob", huge), ("Al", "c"), ("Bob", "de"), step=[0, 1, 0, 2])
    TableTopic(broker.client_config(), out.name, "client").write(rows, Batch("query", 0))
    found = told(broker, out.name)
    assert [note for client, note in found if client == "Bob"] == [1, None, 2]


# --- letters that nobody takes ----------------------------------------------------------------


def test_letters_that_nobody_takes_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once: who goes on starts anew. In a task of Spark they are a copy, as patient as here."""
    config, letter = {"bootstrap.servers": "127.0.0.1:1"}, (record_of(b"1"), Rejected(Reason.EMPTY))
    here = DeadLetters(config, "x.dead-letters", patience=2)
    copy = pickle.loads(pickle.dumps(here))
    with pytest.raises(BrokerUnreachable, match=r"none answered for 2 s"):
        copy(*letter)
    copy.close()
    # The broker goes when it has said how large a letter may be.
    monkeypatch.setattr("workbook.kafka.dead_letters.bounded", lambda *_: (MEGABYTE, {}))
    monkeypatch.setattr("workbook.kafka.producer.not_taken", lambda *_: "it's gone")
    here(*letter)
    with pytest.raises(BrokerUnreachable, match=r"to take 1 more .* within 2 s"):
        here.close()
    here.close()
