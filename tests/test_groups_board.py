"""A board of groups beside a notebook: lag in messages and seconds, drawn while a loop samples."""

import json
from contextlib import closing
from typing import Any

from confluent_kafka import Producer
from labs import until

from workbook.kafka.application import Loop
from workbook.kafka.broker import Broker
from workbook.topics import new_topic
from workbook.views.groups import GroupsBoard


def row(topic: str, offset: int, members: int) -> dict[str, Any]:
    commit = {"topic": topic, "partition": 0, "offset": offset, "committed_at": 0}
    member = {"client_id": "till-app", "topics": [topic], "assigned": []}
    details = json.dumps({"members": [member] * members})
    return {"group": "till", "details": details, "offsets": [commit], "changed_at": 0}


def test_a_group_falls_behind_in_messages_and_in_seconds_and_leaves(broker: Broker) -> None:
    topic = new_topic("orders", "77_board")
    broker.create(topic)
    config, rows = broker.client_config(), [row(topic.name, 1, 1)]
    board = GroupsBoard(config, lambda: rows)
    assert board.behind("till") == (0, 0.0)
    looking = Loop(GroupsBoard.look_on, board, "looking")
    with closing(Producer(config)) as producer:
        for _ in range(5):
            producer.produce(topic.name, b"an order")
        assert producer.flush(30) == 0
        until(lambda: board.behind("till")[1] >= 2, "till to be two seconds behind", 60)
    assert board.behind("till")[0] == 4
    assert board.behind("nobody") == (0, 0.0)
    drawn = board.draw()
    assert drawn.words == "till: 4 behind."
    assert drawn.rows[0]["now"] == "4"
    rows[:] = [row(topic.name, 1, 0) | {"changed_at": 2**50}]  # ahead of our clock
    until(lambda: "lost its last member" in board.draw().below, "it to lose its member", 30)
    rows.clear()
    until(lambda: "deleted" in board.draw().below, "it to be deleted", 30)
    assert "till-app" in board.draw().below
    rows[:] = [row(topic.name, 1, 1)]
    until(lambda: "till" not in board.draw().below, "it to be back", 30)
    rows[0] = None  # type: ignore[call-overload]
    until(lambda: "⚠ AttributeError" in board.draw().figure, "the error to be seen", 30)
    rows[:] = [row(topic.name, 1, 1)]
    until(lambda: "⚠" not in board.draw().figure, "it to look on", 30)
    looking.stop()
    board._note({}, 2**50)
    board._note({}, 2**51)
    assert not board._history
