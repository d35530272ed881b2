"""Positions in a compacted topic: the stream and a record by hand share a key's partition."""

import time
from typing import Any

import pandas as pd
from labs import until

from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_all
from workbook.streams.events.positions import Position
from workbook.streams.generators.positions import PositionStream
from workbook.streams.stream_producer import BackgroundStream
from workbook.topics import new_compacted_topic

BOB = Position("Bob", "AAPL", 10, "NASDAQ")
ALICE = Position("Alice", "AAPL", 12, "NASDAQ")


def table(records: pd.DataFrame) -> dict[bytes, bytes]:
    """Of each key the last value, where it isn't a tombstone."""
    last = dict(zip(records["key"], records["value"], strict=True))
    return {key: value for key, value in last.items() if value is not None}


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
