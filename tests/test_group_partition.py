"""The partition of ``__consumer_offsets`` that has a group, as Kafka's broker computes it."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, TopicPartition

from workbook.events import group_records
from workbook.kafka.broker import Broker
from workbook.kafka.group_partition import java_hash, offsets_partition
from workbook.kafka.probe import require_topic
from workbook.kafka.readers import read_messages

KNOWN = {  # computed by Java, and by Utils.abs of kafka-clients 4.3.1
    "": (0, 0),
    "a": (97, 47),
    "billing": (-109829509, 9),  # a mask, & 0x7fffffff, would make it 39
    "orders-service": (23943117, 17),
    "console-consumer-8010": (836602008, 8),
    "polygenelubricants": (-(2**31), 0),
    "größe": (98762257, 7),
    "caf🚀": (96189355, 5),  # a surrogate pair is two units
    "\ud83d": (55357, 7),  # half of one
}


@pytest.mark.parametrize("group", KNOWN)
def test_a_group_has_java_s_hash_and_kafka_s_partition(group: str) -> None:
    assert (java_hash(group), offsets_partition(group)) == KNOWN[group]


def test_the_number_of_partitions_counts() -> None:
    assert offsets_partition("billing", 7) == 109829509 % 7
    assert {offsets_partition(group, 1) for group in KNOWN} == {0}


def test_the_broker_keeps_each_group_where_it_was_computed(broker: Broker) -> None:
    groups, config, topic = (
        set(KNOWN) - {"", "\ud83d"},
        broker.client_config(),
        "__consumer_offsets",
    )
    for group in groups:
        member = Consumer({**config, "group.id": group})
        member.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
        member.close()
    number = require_topic(config, topic)
    found = {}
    for message in read_messages(config, topic):
        key = group_records.read_key(message.key() or b"")
        found[getattr(key, "group", None)] = message.partition()
    assert {group: found[group] for group in groups} == {
        group: offsets_partition(group, number) for group in groups
    }
