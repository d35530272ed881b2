"""Readers on a real broker: whole topics, empty ones, missing ones, brokers that are down."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from brokers import produce
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from labs import until

from workbook.errors import BrokerUnreachable, TopicMissing
from workbook.kafka.broker import Broker
from workbook.kafka.readers import (
    PatientConsumer,
    consumer,
    read_all,
    read_messages,
    records,
    reread,
)
from workbook.sources.kafka import kafka_stream
from workbook.sources.kafka_reader import KafkaReader, Part
from workbook.sources.options import Settings
from workbook.topics import Topic

ARRIVAL = 1_700_000_000_000


@pytest.fixture
def topic(topic: Callable[..., Topic]) -> Topic:
    return topic(partitions=3)


def send(broker: Any, topic: Topic, number: int, first: int = 0) -> None:
    """Numbers as values, into partitions 0 and 1 in turn; the last partition stays empty."""
    numbers = range(first, first + number)
    rows = ((b"%d" % n, None, n % 2, ARRIVAL + n) for n in numbers)
    produce(broker.client_config(), topic.name, *rows)


def test_read_all_gives_what_is_there_now(broker: Any, topic: Topic) -> None:
    send(broker, topic, 5)
    table = read_all(broker.client_config(), topic.name)
    assert table.values.tolist() == [
        [n % 2, n // 2, ARRIVAL + n, None, b"%d" % n] for n in (0, 2, 4, 1, 3)
    ]
    send(broker, topic, 2, first=5)
    assert len(read_messages(broker.client_config(), topic.name)) == 7


def test_read_all_sees_committed_transactions_to_their_end(broker: Any, topic: Topic) -> None:
    # A transaction ends in a marker that takes an offset but is no record.
    producer = Producer({**broker.client_config(), "transactional.id": topic.name})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce(topic.name, b"1", partition=0)
    producer.commit_transaction(10)
    # The broker writes the marker after its answer, and shows the record only then.
    until(lambda: len(read_all(broker.client_config(), topic.name)), "the end of the transaction")
    assert list(read_all(broker.client_config(), topic.name).value) == [b"1"]
    send(broker, topic, 1)  # behind the marker: not part of a range that ends with it
    found = records(broker.client_config(), topic.name, {0: (0, 2)})
    assert [message.offset() for message in found] == [0]


def test_offsets_that_the_topic_does_not_have_are_skipped(broker: Any, topic: Topic) -> None:
    # As in a topic that was recreated with fewer records, or cut.
    send(broker, topic, 6)
    config = broker.client_config()
    found = [
        (m.partition(), m.offset()) for m in records(config, topic.name, {0: (2, 9), 1: (5, 9)})
    ]
    assert found == [(0, 2)]
    assert list(reread(config, topic.name, {1: [7], 2: [0]})) == []


# --- what is missing, and what is down --------------------------------------------------------


def test_a_missing_topic_and_a_broker_that_is_down_are_named_in_ten_seconds(broker, spark) -> None:
    for read in (
        lambda at, topic: kafka_stream(spark, at, topic),
        lambda at, topic: consumer(at.client_config(), topic),
    ):
        start = time.monotonic()
        with pytest.raises(TopicMissing, match=r"a topic 'no-such-topic'.*Check the name"):
            read(broker, "no-such-topic")
        with pytest.raises(BrokerUnreachable, match=r"127\.0\.0\.1:1, but none .*Check that it"):
            read(Broker("127.0.0.1:1"), "clicks")
        assert time.monotonic() - start < 10


def test_a_silent_broker_is_given_up_after_the_patience() -> None:
    now = [0.0]
    reader = PatientConsumer(NOWHERE, patience=60, clock=lambda: now[0])
    reader.subscribe(["clicks"])
    until(lambda: reader.poll(0.1) or reader._down_since is not None, "the client's complaint")
    now[0] = 59
    assert reader.poll(0.1) is None  # still patient
    now[0] = 61
    with pytest.raises(BrokerUnreachable, match="for 60 s"):
        reader.poll(0.1)
    reader.close()


def test_a_broker_that_comes_back_is_forgiven(broker: Any, topic: Topic) -> None:
    now = [0.0]
    config = {**broker.client_config(), "group.id": topic.name}
    reader = PatientConsumer(config, patience=60, clock=lambda: now[0])
    reader.subscribe([topic.name])
    reader.list_topics(timeout=30)  # a busy machine takes longer to connect than its look may
    reader._trouble(KafkaError(KafkaError._ALL_BROKERS_DOWN))
    now[0] = 61
    assert reader.poll(0.1) is None
    assert reader._down_since is None
    reader.close()


class Given(Consumer):
    """Librdkafka's part of a reader: ``messages`` are what it polls."""

    messages: ClassVar[list[Any]] = []

    def poll(self, timeout: float = -1) -> Message | None:
        return self.messages.pop(0) if self.messages else None


class Reader(PatientConsumer, Given):
    """A patient consumer over that part."""


NOWHERE = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": "0"}


def test_patience_begins_anew_after_a_message() -> None:
    now = [0.0]
    reader = Reader(NOWHERE, patience=60, clock=lambda: now[0])
    reader._trouble(KafkaError(KafkaError._ALL_BROKERS_DOWN))
    Given.messages.append(SimpleNamespace(error=lambda: None))
    assert reader.poll(0) is not None
    now[0] = 100
    reader._trouble(KafkaError(KafkaError._ALL_BROKERS_DOWN))
    assert reader.poll(0) is None


def test_a_right_to_the_group_is_missed_only_by_who_joins_it() -> None:
    denied = KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)
    said, reader = SimpleNamespace(error=lambda: denied), Reader(NOWHERE)
    Given.messages.append(said)
    assert reader.poll(0) is None
    reader.subscribe(["clicks"])
    Given.messages.append(said)
    with pytest.raises(KafkaException, match="GROUP_AUTHORIZATION_FAILED"):
        reader.poll(0)


def test_a_small_batch_that_unpacks_to_120_megabytes_is_read_by_the_sources_too() -> None:
    settings = {"batch.size": 200 << 20, "message.max.bytes": 200 << 20, "linger.ms": 5_000}
    mock = {"test.mock.num.brokers": 1, "compression.type": "zstd", "log_level": 0}
    sender = Producer({**mock, **settings})
    places = sender.list_topics(timeout=10).brokers.values()
    servers = ",".join(f"{each.host}:{each.port}" for each in places)
    for _ in range(120):
        sender.produce("wide", bytes(1_000_000), partition=0)
    assert sender.flush(30) == 0
    given = {"kafka.bootstrap.servers": servers, "subscribe": "wide"}
    reader = KafkaReader(Settings(given, 1, "one"))
    assert sum(map(len, reader.read(Part("wide", {0: (0, 120)})))) == 120
