"""Compaction on a real broker: what goes, what stays, and how long it takes."""

import time
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from compacting import roll, wait_until_compacted
from labs import until

from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_all
from workbook.streams.events.positions import Position
from workbook.streams.generators.positions import PositionStream
from workbook.streams.stream_producer import BackgroundStream, generate
from workbook.topics import Topic, new_compacted_topic

BOB = Position("Bob", "AAPL", 10, "NASDAQ")
ALICE = Position("Alice", "AAPL", 12, "NASDAQ")


@pytest.fixture
def topic(broker: Any) -> Topic:
    made = new_compacted_topic("positions", "test-compaction", soon=True)
    broker.create(made)
    return made


@pytest.fixture
def producer(broker: Any, topic: Topic) -> Iterator[DeliveringProducer]:
    with DeliveringProducer(broker.client_config(), topic.name) as opened:
        yield opened


def keys(records: pd.DataFrame) -> list[str]:
    return [key.decode() for key in records["key"]]


def table(records: pd.DataFrame) -> dict[bytes, bytes]:
    """Of each key the last value, where it isn't a tombstone."""
    last = dict(zip(records["key"], records["value"], strict=True))
    return {key: value for key, value in last.items() if value is not None}


def test_the_latest_record_stays_and_a_tombstone_takes_the_older_records_and_then_goes_itself(
    broker: Any, topic: Topic, producer: DeliveringProducer
) -> None:
    producer.send_now(BOB.to_json(), b"1")
    producer.send_now(BOB.to_json(), b"2")
    producer.send_now(ALICE.to_json(), b"2")
    producer.send_now(None, b"1")
    producer.send_now(None, b"3")  # for a key that never was
    config = broker.client_config()
    rolled = roll(config, topic.name)
    after = wait_until_compacted(config, topic.name, rolled, tombstones=True)
    assert (keys(after), list(after["value"])) == (["2"], [ALICE.to_json()])
    assert list(after["offset"]) == [2], "offsets keep their numbers"


def test_many_partitions_are_each_compacted_and_the_table_stays_the_same(broker: Any) -> None:
    topic = new_compacted_topic("positions", "test-compaction", 3, soon=True)
    broker.create(topic)
    config, count = broker.client_config(), 3000
    stream = PositionStream(
        seed=3, rate=2000, partitions=3, positions=80, clients=9, bad_share=0.1
    ).ending_by(int(time.time() * 1000), count)
    generate(config, topic.name, stream, count)
    before = table(read_all(config, topic.name))
    rolled = roll(config, topic.name)
    after = wait_until_compacted(config, topic.name, rolled)
    assert set(rolled) == {0, 1, 2}
    assert len(after) < 400  # 80 ids, and the bad keys, of which each is one more
    assert table(after) == before


def test_a_position_sent_by_hand_lands_where_the_stream_puts_it(broker: Any) -> None:
    topic = new_compacted_topic("positions", "test-compaction", 5)
    broker.create(topic)
    stream = PositionStream(partitions=5, positions=40)
    placed = stream.expected(0, 200).set_index("position")["partition"]
    with DeliveringProducer(broker.client_config(), topic.name) as producer:
        for position in placed.index.unique():
            assert (
                producer.send_now(BOB.to_json(), position.encode()).partition
                == placed.loc[[position]].iloc[0]
            )


def test_traders_keep_coming_until_they_are_stopped(broker: Any) -> None:
    topic = new_compacted_topic("positions", "test-traders", 2)
    broker.create(topic)
    stream = PositionStream(rate=2000, partitions=2, positions=50, clients=5, bad_share=0.05)
    stream = stream.ending_by(int(time.time() * 1000), 1, speed=1)
    traders = BackgroundStream(broker.client_config(), topic.name, stream)
    until(lambda: traders.sent.events >= 300, "300 events", 30)
    sent = traders.stop()
    found = read_all(broker.client_config(), topic.name)
    assert len(found) == sent.messages >= 300
    assert table(found) == table(stream.block(0, sent.events).to_pandas())
