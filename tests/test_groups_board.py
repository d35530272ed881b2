"""A board of groups beside a notebook: lag in messages and seconds, drawn while a loop samples."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

from confluent_kafka import Producer

from workbook.classroom.groups_board import GroupsBoard
from workbook.kafka.broker import Broker
from workbook.kafka.loops import Loop
from workbook.topics import new_topic


def row(topic: str, offset: int) -> dict[str, Any]:
    commit = {"topic": topic, "partition": 0, "offset": offset, "committed_at": 0}
    return {"group": "till", "details": None, "offsets": [commit], "changed_at": 0}


def test_a_group_falls_behind_in_messages_and_in_seconds(broker: Broker) -> None:
    topic = new_topic("orders", "77_board")
    broker.create(topic)
    config = broker.client_config()
    board = GroupsBoard(config, lambda: [row(topic.name, 1)])
    assert board.behind("till") == (0, 0.0)
    looking = Loop(GroupsBoard.look_on, board, "looking")
    with closing(Producer(config)) as producer:
        for _ in range(5):
            producer.produce(topic.name, b"an order")
        assert producer.flush(30) == 0
        deadline = time.monotonic() + 60
        while board.behind("till")[1] < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
    assert board.behind("till")[0] == 4
    assert board.behind("till")[1] >= 2
    assert board.behind("nobody") == (0, 0.0)
    assert "till" in board.draw().figure
    looking.stop()
