"""A broker of one's own: used, and never harmed."""

from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from workbook.errors import NotOurServer, TopicMissing
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


OURS = "workbook-positions.21-us-share-holders.k3f9"
KNOWN = ["metrics", "clicks", "clicks.dead-letters", OURS]


@pytest.mark.parametrize(
    ("typed", "near"),
    [
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
