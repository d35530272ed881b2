"""Compaction on a real broker: what goes, what stays, and how long it takes."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
import pytest
from compacting import roll, wait_until_compacted

from workbook.errors import BrokerUnreachable
from workbook.kafka.readers import read_all
from workbook.kafka.record_producer import RecordProducer
from workbook.streams.background_stream import BackgroundStream
from workbook.streams.events.positions import Position
from workbook.streams.generators.positions import PositionStream
from workbook.streams.ledgers.tables import TableLedger, records_of
from workbook.streams.stream_producer import generate
from workbook.topics import Topic, new_compacted_topic

BOB = Position("Bob", "AAPL", 10, "NASDAQ")
ALICE = Position("Alice", "AAPL", 12, "NASDAQ")


@pytest.fixture
def topic(broker: Any) -> Topic:
    made = new_compacted_topic("positions", "test-compaction", soon=True)
    broker.create(made)
    return made


def test_a_tombstone_takes_the_older_records_and_then_goes_itself(
    broker: Any, topic: Topic
) -> None:
    config = broker.client_config()
    with RecordProducer(config, topic.name) as producer:
        for value, key in ((BOB.to_json(), b"1"), (ALICE.to_json(), b"2"), (None, b"1")):
            producer.send_bytes(value, key)
        producer.send_bytes(None, b"3")  # for a key that never was
    after = wait_until_compacted(config, topic.name, roll(config, topic.name), tombstones=True)
    assert (list(after["key"]), list(after["value"])) == ([b"2"], [ALICE.to_json()])


def test_a_compacted_topic_refuses_a_record_without_a_key_but_not_an_odd_one(
    broker: Any, topic: Topic
) -> None:
    config = broker.client_config()
    with (
        RecordProducer(config, topic.name) as producer,
        pytest.raises(BrokerUnreachable, match="not delivered"),
    ):
        producer.send_bytes(BOB.to_json(), None)
    with RecordProducer(config, topic.name) as again:
        assert again.send_bytes(BOB.to_json(), b"").partition == 0
        again.send_bytes(BOB.to_json(), b"\xff\xfe")
    assert list(read_all(config, topic.name)["key"]) == [b"", b"\xff\xfe"]


def test_many_partitions_are_each_compacted_and_the_table_stays_the_same(broker: Any) -> None:
    topic = new_compacted_topic("positions", "test-compaction", 3, soon=True)
    broker.create(topic)
    config, count = broker.client_config(), 3000
    stream = PositionStream(
        seed=3, rate=2000, partitions=3, positions=80, clients=9, bad_share=0.1
    ).ending_by(int(time.time() * 1000), count)
    generate(config, topic.name, stream, count)
    ledger = TableLedger(stream.expected(0, count))
    rolled = roll(config, topic.name)
    after = wait_until_compacted(config, topic.name, rolled)
    assert set(rolled) == {0, 1, 2}
    assert len(after) < 400  # 80 ids, and the bad keys, of which each is one more
    left = TableLedger(records_of(after))
    columns = ["position", "partition", "offset", "client", "ticker", "amount", "exchange"]
    pd.testing.assert_frame_equal(
        left.latest()[columns], ledger.latest()[columns], check_dtype=False
    )
    assert ledger.judge(left.holders()).clean


def test_a_position_sent_by_hand_lands_where_the_stream_puts_it(broker: Any) -> None:
    topic = new_compacted_topic("positions", "test-compaction", 5)
    broker.create(topic)
    stream = PositionStream(partitions=5, positions=40)
    placed = stream.expected(0, 200).set_index("position")["partition"]
    with RecordProducer(broker.client_config(), topic.name) as producer:
        for position in placed.index.unique():
            assert (
                producer.send_bytes(BOB.to_json(), position.encode()).partition
                == placed.loc[[position]].iloc[0]
            )


def test_traders_keep_coming_until_they_are_stopped(broker: Any) -> None:
    topic = new_compacted_topic("positions", "test-traders", 2)
    broker.create(topic)
    stream = PositionStream(rate=2000, partitions=2, positions=50, clients=5, bad_share=0.05)
    stream = stream.ending_by(int(time.time() * 1000), 1, speed=1)
    traders = BackgroundStream(broker.client_config(), topic.name, stream)
    deadline = time.monotonic() + 30
    while traders.sent.events < 300 and time.monotonic() < deadline:
        time.sleep(0.05)
    sent = traders.stop()
    expected = TableLedger(stream.expected(0, sent.events))
    found = TableLedger(records_of(read_all(broker.client_config(), topic.name)))
    assert len(found.records) == sent.messages >= 300
    assert expected.judge(found.holders()).clean
