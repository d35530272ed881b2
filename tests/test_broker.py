"""A broker of one's own: used, logged in to, and never harmed."""

import time
from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from workbook.errors import BrokerUnreachable, NotOurServer, TopicMissing
from workbook.kafka.broker import Broker
from workbook.kafka.require import near_misses, require_topic
from workbook.stack.addresses import kafka
from workbook.topics import new_topic


@pytest.fixture
def named(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Broker:
    """The same broker as if the user had brought it."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrap)
    return kafka()


def test_what_deletes_refuses_on_a_broker_that_the_lab_did_not_start(broker, named) -> None:
    topic = new_topic("clicks", "test-broker")
    named.create(topic)
    with pytest.raises(NotOurServer, match="Will not delete topics on 127"):
        named.delete([topic.name])
    broker.delete([topic.name])


def test_a_new_topic_is_there_once_its_partitions_answer(broker, monkeypatch) -> None:
    asked: list[int] = []
    ask = AdminClient.list_offsets

    def at_first_no_leader(admin: AdminClient, places: Any, **rest: Any) -> Any:
        asked.append(len(places))
        if len(asked) > 1:
            return ask(admin, places, **rest)
        answer: Future[Any] = Future()
        answer.set_exception(KafkaException(KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION)))
        return dict.fromkeys(places, answer)

    monkeypatch.setattr(AdminClient, "list_offsets", at_first_no_leader)
    topic = new_topic("clicks", "test-broker", partitions=3)
    broker.create(topic, topic.dead_letters)
    assert {*asked} == {4}
    assert len(asked) > 1, "on a busy machine its own broker answers so, too"


def test_a_broker_that_is_down_is_named_within_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1")
    began = time.monotonic()
    with pytest.raises(BrokerUnreachable, match=r"127\.0\.0\.1:1 .*Check KAFKA_BOOTSTRAP_SERVERS"):
        kafka()
    assert time.monotonic() - began < 10


LOGIN = {
    "KAFKA_BOOTSTRAP_SERVERS": "b:9",
    "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
    "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
    "KAFKA_SASL_USERNAME": "me",
    "KAFKA_SASL_PASSWORD": 'a"b\\c',
}


def test_the_login_reaches_both_clients_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbook.kafka.broker import external

    for name, value in LOGIN.items():
        monkeypatch.setenv(name, value)
    mine: Any = external()
    assert mine.client_config() == {
        "bootstrap.servers": "b:9",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": 'a"b\\c',
    }
    options = mine.spark_options()
    assert options["kafka.security.protocol"] == "SASL_SSL"
    assert options["kafka.sasl.jaas.config"] == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="me" password="a\\"b\\\\c";'
    )
    shown = repr([mine, {**mine.client_config()}, {**options}])
    assert not any(text in shown for text in ('a"b', "a\\", "password=")), shown


OURS = "workbook-positions.21-us-share-holders.k3f9"
KNOWN = ["metrics", "clicks", "clicks.dead-letters", OURS]


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("clikcs", ["clicks"]),
        ("Clicks", ["clicks"]),
        ("metric", ["metrics"]),
        ("positons", [OURS]),
        ("workbook-positions.21-us-share-holders.k3f8", [OURS]),
        ("nowhere", []),
    ],
)
def test_topics_of_nearly_this_name_are_found(typed: str, near: list[str]) -> None:
    assert near_misses(typed, KNOWN) == near


def test_a_misspelt_topic_comes_with_the_right_one_and_the_next_step(broker: Any) -> None:
    topic = new_topic("clicks", "test-checks")
    broker.create(topic)
    with pytest.raises(TopicMissing) as missing:
        require_topic(broker.client_config(), topic.name.replace("clicks", "clikcs"))
    said = str(missing.value)
    assert f"Did you mean {topic.name}" in said
    assert "in a notebook by the cell" in said
    assert "in a terminal by `python -m workbook generate`" in said
