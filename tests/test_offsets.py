"""Where partitions begin and end, how far a group has come, and how many records wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from workbook.kafka import offsets
from workbook.kafka.offsets import PartitionOffsets, Unread, partition_offsets
from workbook.topics import Topic


def test_the_lag_begins_at_the_first_record_or_at_the_last_commit(
    broker: Any, topic: Callable[..., Topic]
) -> None:
    made, config = topic("clicks", partitions=2), broker.client_config()
    producer = Producer(config)
    for number in range(10):
        producer.produce(made.name, b"1", partition=number % 2)
    assert producer.flush(20) == 0
    admin = AdminClient(config)
    gone = admin.delete_records([TopicPartition(made.name, 0, 2)])
    assert all(future.result(30) for future in gone.values())
    group = Consumer({**config, "group.id": made.name})
    group.commit(offsets=[TopicPartition(made.name, 1, 4)], asynchronous=False)
    group.close()
    assert partition_offsets(config, made.name, made.name) == [
        PartitionOffsets(0, begin=2, end=5, committed=None, lag=3),
        PartitionOffsets(1, begin=0, end=5, committed=4, lag=1),
    ]
    assert [place.committed for place in partition_offsets(config, made.name)] == [None, None]


class Answering:
    """A consumer whose coordinator answers with these errors first."""

    def __init__(self, *errors: int) -> None:
        self.errors = list(errors)

    def committed(self, wanted: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        if self.errors:
            raise KafkaException(KafkaError(self.errors.pop(0)))
        return wanted


class Electing:
    """A consumer of a partition whose leader is elected meanwhile."""

    def __init__(self, *errors: int) -> None:
        self.errors = list(errors)

    def get_watermark_offsets(self, partition: TopicPartition, timeout: float) -> tuple[int, int]:
        if self.errors:
            raise KafkaException(KafkaError(self.errors.pop(0)))
        return 3, 7


def test_a_new_partition_without_a_leader_is_asked_again() -> None:
    wanted, reader = TopicPartition("clicks", 0), Electing(KafkaError.NOT_LEADER_FOR_PARTITION)
    assert offsets.begin_and_end(reader, wanted, until=float("inf")) == (3, 7)  # type: ignore[arg-type]
    reader = Electing(KafkaError.NOT_LEADER_FOR_PARTITION)
    with pytest.raises(KafkaException):
        offsets.begin_and_end(reader, wanted, until=0)  # type: ignore[arg-type]
    reader = Electing(*[KafkaError.TOPIC_AUTHORIZATION_FAILED] * 2)
    with pytest.raises(KafkaException):
        offsets.begin_and_end(reader, wanted, until=float("inf"))  # type: ignore[arg-type]
    assert len(reader.errors) == 1, "asked once"


def test_a_coordinator_that_is_starting_is_asked_again() -> None:
    starting = (KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
    wanted = [TopicPartition("clicks", 0, 7)]
    reader: Any = Answering(*starting)
    assert offsets._committed(reader, wanted) == wanted
    reader = Answering(KafkaError.GROUP_AUTHORIZATION_FAILED)
    with pytest.raises(KafkaException):
        offsets._committed(reader, wanted)
    assert not reader.errors, "asked once"


def test_where_nobody_answers_more_records_wait_than_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that took silence for the end of its partition would put good clicks aside."""
    monkeypatch.setattr(offsets, "ANSWER_S", 0.2)
    assert Unread({"bootstrap.servers": "127.0.0.1:1"}, "clicks")(0, 5) > 10**15
