"""The dashboard's model: rows worst first, with what is known of their lag."""

import json
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Producer
from labs import until

from workbook.kafka.application import Loop
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import EndOffsets
from workbook.streams.groups import Dashboard
from workbook.systems.active_groups import COLUMNS, MOST, groups_table
from workbook.topics import new_topic
from workbook.views.groups import GroupsBoard

START = 1_700_000_000.0
P = ("orders", 0)


class Ends(EndOffsets):
    """A broker whose ends the test sets; it answers at each look, unless it's ``away``."""

    def __init__(self) -> None:
        self.now, self.asked, self.away, self.silent = START, 0.0, False, False
        self.here, self.ends, self.denied = {P: 100}, {P: 100}, set()
        self.wanted: dict[tuple[str, int], int] = {}

    def take(self) -> bool:
        self.ends = {place: self.here[place] for place in self.wanted if place in self.here}
        return bool(self.ends or self.denied) and not self.away

    def ask(self, partitions: Iterable[tuple[str, int]] = ()) -> bool:
        assert isinstance(partitions, dict)
        self.wanted, self.asked = partitions, self.now
        return True


class World:
    """A dashboard, and what it looks at."""

    def __init__(self) -> None:
        self.rows, self.ends = list[dict[str, Any]](), Ends()
        self.dashboard = Dashboard(lambda: self.rows, self.ends, clock=lambda: self.ends.now)

    def look(self, after: float = 1.0) -> list[dict[str, Any]]:
        """Let the broker answer, and look at what it said."""
        self.dashboard.look()
        self.ends.now += after
        self.dashboard.look()
        if not self.ends.wanted:
            self.dashboard._refresh()
        return self.dashboard.rows()

    def group(
        self, name: str, members: int | None = 1, committed: int | None = None, **more: Any
    ) -> None:
        """Put a group's latest row into the store; without a number of members it's unknown."""
        now = int(self.ends.now * 1000)
        ids = [f"{name}-{n}" for n in range(members or 0)]
        each = [{"client_id": i, "topics": ["orders"], "assigned": []} for i in ids]
        details = None if members is None else json.dumps({"group": name, "members": each})
        offsets = [] if committed is None else [commit(0, committed, now)]
        row = {"group": name, "details": details, "offsets": offsets, "changed_at": now, **more}
        self.rows = [*(r for r in self.rows if r["group"] != name), row]


def commit(partition: int, offset: int, at: int = int(START * 1000)) -> dict[str, Any]:
    return {"topic": "orders", "partition": partition, "offset": offset, "committed_at": at}


@pytest.fixture
def world() -> World:
    return World()


def test_rows_have_lag_state_and_age_and_the_worst_stands_first(world: World) -> None:
    world.group("near", members=2, committed=90)
    world.group("far", committed=50)
    world.group("done", committed=100)
    world.look()
    world.ends.here = {P: 200}
    rows = world.look(10)
    assert [(row["group"], row["lag"]) for row in rows] == [
        *(("far", 150), ("near", 110), ("done", 100)),
    ]
    assert rows[1] == {
        "group": "near",
        "state": "active",
        "members": 2,
        "client_ids": ["near-0", "near-1"],
        "topics": ["orders"],
        "lag": 110,
        "seconds": 11.0,
        "at_least": True,
        "commit_age": 11.0,
        "changed_at": int(START * 1000),
        "remarks": [],
    }
    assert not rows[2]["at_least"]
    assert str(world.dashboard) == "3 groups, 3 active, most behind: far, 150"
    world.ends.silent = True
    assert str(world.dashboard).endswith(" (the broker doesn't answer)")


def test_the_broker_is_asked_with_the_highest_commit_of_each_partition(world: World) -> None:
    for name, offset in (("a", 7), ("b", 9), ("c", 8)):
        world.group(name, offsets=[commit(0, offset), commit(1, 20 - offset)])
    world.look()
    assert world.ends.wanted == {P: 9, ("orders", 1): 13}


def test_a_quiet_group_is_idle_and_no_commit_is_of_the_future(world: World) -> None:
    world.group("former", committed=90)
    world.look()
    world.rows.clear()
    world.group("quiet", committed=90)
    world.group("ahead", offsets=[commit(0, 90, int(START * 1000) + 4_000_000)])
    states = {row["group"]: (row["state"], row["commit_age"]) for row in world.look(3600)}
    assert states == {"quiet": ("idle", 3600.0), "ahead": ("active", 0)}
    assert world.dashboard._known.keys() == states.keys()  # nothing more is kept of the former one


def test_the_lag_on_a_denied_topic_is_unknown_and_the_rest_is_known(world: World) -> None:
    lost = [{**commit(0, 7), "topic": topic} for topic in "dcba"]
    world.group("g", offsets=[commit(0, 90), *lost])
    [row] = world.look()
    assert (row["lag"], row["remarks"]) == (10, [])  # maybe it hasn't been asked for yet
    world.ends.denied = {(topic, 0) for topic in "abcd"}
    [row] = world.look()
    assert row["lag"] == 10
    assert row["remarks"][0].startswith("The lag on a, b, c and 1 more is unknown: deleted")


def test_without_an_answer_the_rows_are_read_every_two_seconds(world: World) -> None:
    read = []
    world.dashboard = Dashboard(
        lambda: read.append(world.ends.now) or (), world.ends, lambda: world.ends.now
    )
    for after in (0.2, 0.2, 1.9, 0.3, -500.0):  # the clock was set back
        world.ends.now += after
        world.dashboard.look()
    assert [round(now - START, 1) for now in read] == [0.2, 2.3, -497.4]


@pytest.mark.parametrize(("away", "lag"), [(False, 10), (True, None)])
def test_at_the_end_it_waits_for_the_first_answer_about_a_partition(world, away, lag) -> None:
    world.dashboard.look()
    world.group("a", committed=90)
    world.ends.away = away
    world.dashboard.settle(0.3)
    assert [row["lag"] for row in world.dashboard.rows()] == [lag]


def test_the_terminals_table_has_its_columns_and_the_first_rows(world: World) -> None:
    world.group("a", committed=90)
    world.group("b", members=None)
    for number in range(MOST):
        world.group(f"g{number}", members=0)
    shown = groups_table(world.look(180))
    assert (shown.columns, len(shown.rows), shown.more) == (COLUMNS, MOST, 2)
    assert shown.rows[0] == ("a", "active", "1", "orders", "10", "≥ 180.0", "3 minutes ago")
    assert shown.rows[1][1:] == ("unknown", "0", "", "?", "?", "never")


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
