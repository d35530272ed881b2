"""Where partitions begin and end, and how far a group has come."""

from typing import Any, ClassVar

import pytest
from brokers import commit, delete_before, produce
from confluent_kafka import (
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from labs import until

from workbook.errors import BrokerUnreachable
from workbook.kafka import offsets
from workbook.kafka.offsets import PartitionOffsets, committed_offset, partition_offsets


def test_the_lag_begins_at_the_first_record_or_at_the_last_commit(broker, topic) -> None:
    made, config = topic("clicks", partitions=2), broker.client_config()
    produce(config, made.name, *((b"1", None, number % 2) for number in range(10)))
    delete_before(config, made.name, 2)
    commit(config, made.name, made.name, 4, partition=1)
    assert partition_offsets(config, made.name, made.name) == [
        PartitionOffsets(0, begin=2, end=5, committed=None, lag=3),
        PartitionOffsets(1, begin=0, end=5, committed=4, lag=1),
    ]
    assert [place.committed for place in partition_offsets(config, made.name)] == [None, None]
    assert offsets.first_since(config, made.name, -1) == {0: 2, 1: 0}  # before 1970: all records


def test_a_committed_offset_does_not_wait_for_an_open_transaction(broker, topic) -> None:
    made, config = topic("clicks"), broker.client_config()
    assert committed_offset(config, made.name, made.name) is None
    group = Consumer({**config, "group.id": made.name})
    group.commit(offsets=[TopicPartition(made.name, 0, 1)], asynchronous=False)
    producer = Producer({**config, "transactional.id": made.name})
    producer.init_transactions(60)
    producer.begin_transaction()
    place = TopicPartition(made.name, 0, 2)
    producer.send_offsets_to_transaction([place], group.consumer_group_metadata(), 60)
    assert committed_offset(config, made.name, made.name) == 1
    producer.commit_transaction(60)  # the broker's markers come a moment later
    until(lambda: committed_offset(config, made.name, made.name) == 2, "the commit")
    group.close()


class Starting:
    """A consumer whose broker answers with these errors first."""

    errors: ClassVar[list[int]] = []

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config

    def offsets_for_times(self, places: list[TopicPartition], timeout: float) -> Any:
        if self.errors:
            raise KafkaException(KafkaError(self.errors.pop(0)))
        return [TopicPartition(place.topic, place.partition, 7) for place in places]

    def close(self) -> None:
        """Nothing is open."""


def test_a_partition_or_a_coordinator_that_is_starting_is_asked_again(monkeypatch) -> None:
    monkeypatch.setattr(offsets, "Consumer", Starting)
    monkeypatch.setattr(offsets, "require_topic", lambda config, topic: 1)
    Starting.errors = [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.COORDINATOR_LOAD_IN_PROGRESS]
    assert offsets.first_since({}, "clicks", 0) == {0: 7}
    Starting.errors = [KafkaError.TOPIC_AUTHORIZATION_FAILED] * 2
    with pytest.raises(KafkaException):
        offsets.first_since({}, "clicks", 0)
    assert len(Starting.errors) == 1, "asked once"


def test_a_record_that_comes_between_two_questions_is_the_first_one(monkeypatch) -> None:
    class Growing(Starting):
        """The partition has no record until its first question, and one after it."""

        end = 0

        def offsets_for_times(self, places: list[TopicPartition], timeout: float) -> Any:
            held, Growing.end = Growing.end, 1
            at = held if places[0].offset == OFFSET_END else held - 1
            return [TopicPartition(place.topic, place.partition, at) for place in places]

    monkeypatch.setattr(offsets, "Consumer", Growing)
    monkeypatch.setattr(offsets, "require_topic", lambda config, topic: 1)
    assert offsets.first_since({}, "clicks", 0) == {0: 0}, "not behind that record"


@pytest.mark.parametrize("name", ["_TIMED_OUT", "_TRANSPORT", "_ALL_BROKERS_DOWN"])
def test_a_broker_that_falls_silent_between_two_questions_is_named(monkeypatch, name) -> None:
    monkeypatch.setattr(offsets, "Consumer", Starting)
    monkeypatch.setattr(offsets, "require_topic", lambda config, topic: 1)
    monkeypatch.setattr(Starting, "errors", [getattr(KafkaError, name)])
    with pytest.raises(BrokerUnreachable, match="a Kafka broker at here:9092"):
        offsets.partition_offsets({"bootstrap.servers": "here:9092"}, "clicks")
