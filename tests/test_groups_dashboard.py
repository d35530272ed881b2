"""The dashboard's model: rows worst first, lag over time, and what has left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from workbook.kafka.groups import HISTORY_MOST, LEFT_MS, Dashboard
from workbook.systems.groups_table import COLUMNS, MOST, ago, groups_table

from workbook.kafka.lag import EndSamples
from workbook.spark.runner import Batch

START = 1_700_000_000.0


class Sampler:
    """A broker whose ends the test sets; they're sampled at each look.

    While it's ``slow``, it answers when it's waited for only, or never if it's ``away``.
    """

    def __init__(self, clock: Clock) -> None:
        self.samples, self.silent, self.ends = EndSamples(), False, dict[tuple[str, int], int]()
        self.asked: Mapping[tuple[str, int], int] = {}
        self.unanswered, self.slow, self.away, self.waited = 0, False, False, list[float]()
        self._news, self._clock = False, clock

    def take(self) -> bool:
        news, self._news = self._news, False
        if news or not self.slow:
            self.samples.add(int(self._clock() * 1000), self.ends, self.asked)
        return news

    def ask(self, committed: Mapping[tuple[str, int], int]) -> None:
        self.asked = committed
        left = committed.keys() - self.samples.ends.keys()
        self.unanswered = len(left) if self.slow else 0

    def wait(self, seconds: float) -> bool:
        self.waited.append(seconds)
        self._news = not self.away and self.unanswered > 0
        return self._news


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


class World:
    """A dashboard, and what it looks at."""

    def __init__(self) -> None:
        self.clock, self.rows = Clock(), list[dict[str, Any]]()
        self.sampler = Sampler(self.clock)
        self.dashboard = Dashboard(lambda: self.rows, self.sampler, clock=self.clock)

    def look(self, after: float = 1.0) -> list[dict[str, Any]]:
        self.clock.now += after
        self.dashboard.look()
        return self.dashboard.rows()

    def group(
        self, name: str, members: int | None = 1, committed: int | None = None, **more: Any
    ) -> None:
        """Put a group's latest row into the store; without a number of members it's unknown."""
        now = int(self.clock() * 1000)
        ids = [f"{name}-{n}" for n in range(members or 0)]
        each = [{"client_id": i, "topics": ["orders"], "assigned": []} for i in ids]
        details = None if members is None else json.dumps({"group": name, "members": each})
        where = {"topic": "orders", "partition": 0, "committed_at": now}
        offsets = [] if committed is None else [{**where, "offset": committed}]
        row = {"group": name, "details": details, "offsets": offsets, "changed_at": now, **more}
        self.rows = [*(r for r in self.rows if r["group"] != name), row]


@pytest.fixture
def world() -> World:
    made = World()
    made.sampler.ends = {("orders", 0): 100}
    return made


def test_rows_have_lag_state_and_age_and_the_worst_stands_first(world: World) -> None:
    world.group("near", members=2, committed=90)
    world.group("far", committed=50)
    world.group("done", committed=100)
    world.look()
    world.sampler.ends = {("orders", 0): 200}
    rows = world.look(10)
    assert [row["group"] for row in rows] == ["far", "near", "done"]
    assert [row["lag"] for row in rows] == [150, 110, 100]
    assert rows[1] == {
        "group": "near",
        "state": "active",
        "members": 2,
        "client_ids": ["near-0", "near-1"],
        "topics": ["orders"],
        "lag": 110,
        "seconds": 10.0,
        "at_least": True,
        "commit_age": 11.0,
        "remarks": [],
    }
    assert not rows[2]["at_least"]
    assert str(world.dashboard) == "3 groups, 3 active, most behind: far, 150"
    assert world.dashboard.partitions("near")[0]["end"] == 200
    assert world.sampler.asked == {("orders", 0): 100}


def test_more_seconds_come_first_then_more_messages_then_the_name(world: World) -> None:
    world.group("b", committed=100)
    world.group("a", committed=100)
    world.group("none")
    world.look()
    world.sampler.ends = {("orders", 0): 300}
    world.look(10)
    world.group("fast", committed=200, offsets=[_commit(0, 200), _commit(1, 0)])
    world.sampler.ends = {("orders", 0): 300, ("orders", 1): 900}
    world.look()
    rows = world.look()
    assert [row["group"] for row in rows] == ["a", "b", "fast", "none"]
    assert rows[2]["lag"] > rows[0]["lag"]
    assert rows[2]["seconds"] < rows[0]["seconds"]


def _commit(partition: int, offset: int) -> dict[str, Any]:
    at = int(START * 1000)
    return {"topic": "orders", "partition": partition, "offset": offset, "committed_at": at}


def test_a_group_s_partitions_have_all_that_is_known_of_them(world: World) -> None:
    world.group("a", offsets=[_commit(0, 70), _commit(1, 5)])
    world.look()
    world.look(10)
    known = {"committed": 70, "end": 100, "lag": 30, "seconds": 10.0, "at_least": True}
    unknown = {"committed": 5, "end": None, "lag": None, "seconds": None, "at_least": False}
    assert world.dashboard.partitions("a") == [
        {"topic": "orders", "partition": 0, **known},
        {"topic": "orders", "partition": 1, **unknown},
    ]
    world.group("a", committed=100)
    world.look()
    [partition] = world.dashboard.partitions("a")
    assert (partition["lag"], partition["at_least"]) == (0, False)
    assert world.dashboard.partitions("nobody") == []


def test_the_broker_is_asked_with_the_highest_commit_of_each_partition(world: World) -> None:
    for name, offset in (("a", 7), ("b", 9), ("c", 8)):
        world.group(name, offsets=[_commit(0, offset), _commit(1, 20 - offset)])
    world.look()
    assert world.sampler.asked == {("orders", 0): 9, ("orders", 1): 13}


def test_the_line_names_who_is_behind_and_says_when_the_broker_is_away(world: World) -> None:
    assert str(world.dashboard) == "0 groups"
    world.group("a", committed=100)
    world.look()
    assert str(world.dashboard) == "1 group, 1 active"
    world.sampler.silent = True
    assert str(world.dashboard) == "1 group, 1 active (the broker doesn't answer)"


def test_of_a_group_that_is_gone_nothing_is_kept(world: World) -> None:
    world.group("a", committed=90)
    world.look()
    world.rows = []
    world.look()
    assert not world.dashboard._made._known
    assert world.dashboard.partitions("a") == []


def test_a_group_without_metadata_does_not_vanish(world: World) -> None:
    world.group("tool", members=None, committed=10)
    [row] = world.look()
    assert (row["state"], row["members"], row["lag"]) == ("unknown", 0, 90)


def test_a_quiet_group_with_something_to_read_is_idle_and_maybe_stuck(world: World) -> None:
    world.group("quiet", committed=90)
    world.look()
    [row] = world.look(3600)
    assert row["state"] == "idle"
    assert row["remarks"][0].startswith("It has members and 10 messages to read,")


def test_who_reads_a_group_without_members_is_not_said_while_somebody_commits(world: World) -> None:
    world.group("tool", members=0, committed=90)
    world.group("old", members=0, committed=90, described_at=int(world.clock() * 1000) + 1)
    said = {row["group"]: row["remarks"] for row in world.look()}
    assert [remark[:41] for remark in said["tool"]] == ["Commits within the last ten minutes by no"]
    assert said["old"] == ["Nobody reads it: its lag can only grow."]
    assert {row["remarks"][0][:15] for row in world.look(600)} == {"Nobody reads it"}


def test_the_end_of_a_deleted_topic_is_unknown_and_said_to_be(world: World) -> None:
    world.group("gone", committed=7)
    world.sampler.ends = {("clicks", 0): 3}
    [row] = world.look()
    assert row["lag"] is row["seconds"] is None
    assert row["remarks"] == []  # maybe it hasn't been asked for yet
    world.sampler.samples.lose([("orders", 0)])
    [row] = world.look()
    assert row["lag"] is row["seconds"] is None
    assert "The end of orders is unknown: deleted" in row["remarks"][-1]


def test_a_commit_beyond_the_end_is_no_lag_of_nothing(world: World) -> None:
    world.group("a", committed=90)
    world.look()
    world.sampler.ends = {("orders", 0): 5}
    [row] = world.look()
    assert row["lag"] is row["seconds"] is None
    assert row["remarks"] == [
        "What it has committed of orders lies beyond the end: probably made anew or truncated "
        "since, and a consumer will be reset by auto.offset.reset."
    ]
    [partition] = world.dashboard.partitions("a")
    assert (partition["committed"], partition["end"], partition["lag"]) == (90, 5, None)
    assert world.dashboard.history()["a"][-1][1] == 10
    world.group("a", committed=5)
    assert [row["remarks"] for row in world.look()] == [[]]


def test_a_group_whose_members_change_is_described_anew(world: World) -> None:
    world.group("a", committed=90)
    world.look()
    world.group("a", members=3, committed=90)
    [row] = world.look()
    assert (row["members"], len(row["client_ids"])) == (3, 3)
    world.group("a", members=3, committed=90, details=None)
    assert world.look()[0]["state"] == "unknown"


def test_details_are_read_once_for_as_long_as_they_and_the_topics_stay(world: World) -> None:
    read = []

    def deserialise(details: str) -> Any:
        read.append(details)
        return json.loads(details)

    world.dashboard = Dashboard(lambda: world.rows, world.sampler, deserialise, world.clock)
    world.group("a", committed=90)
    world.look()
    world.look()
    world.group("a", committed=95)
    [row] = world.look()
    assert (row["lag"], row["commit_age"]) == (5, 1.0)
    assert len(read) == 1
    clicks = {**_commit(0, 7), "topic": "clicks"}
    world.group("a", offsets=[clicks])
    [row] = world.look()
    assert row["topics"] == ["clicks", "orders"]
    assert len(read) == 2


def test_nothing_to_read_is_no_reason_for_a_remark(world: World) -> None:
    world.group("idle", committed=100)
    world.group("empty", members=0, committed=100)
    world.group("unknown", members=0, offsets=[_commit(7, 100)])
    assert [row["remarks"] for row in world.look(3600)] == [[], [], []]


def test_a_group_is_active_while_it_is_new_and_no_commit_is_of_the_future(world: World) -> None:
    world.group("new")
    world.group("ahead", offsets=[{**_commit(0, 90), "committed_at": int(START * 1000) + 5000}])
    ahead, new = world.look()
    assert (new["state"], new["commit_age"]) == ("active", None)
    assert ahead["commit_age"] == 0


def test_of_partly_unknown_lags_the_rest_is_known_and_each_topic_named(world: World) -> None:
    places = [("d", 0), ("c", 0), ("b", 0), ("a", 0)]
    lost = [{**_commit(0, 7), "topic": topic} for topic, _ in places]
    beyond = [{**_commit(0, 50), "topic": f"short-{topic}"} for topic, _ in places]
    world.group("g", offsets=[_commit(0, 90), *lost, *beyond])
    world.sampler.ends |= {(commit["topic"], 0): 5 for commit in beyond}
    world.look()
    world.sampler.samples.lose(places)
    [row] = world.look()
    assert row["lag"] == 10
    unknown, cut = row["remarks"]
    assert unknown.startswith("The end of a, b, c and 1 more is unknown")
    assert cut.startswith("What it has committed of short-a, short-b, short-c and 1 more lies")


def test_it_is_made_anew_once_a_second_and_after_a_clock_was_set_back(world: World) -> None:
    made = []
    world.dashboard = Dashboard(
        lambda: made.append(world.clock()) or (), world.sampler, clock=world.clock
    )
    for after in (0.2, 0.2, 0.9, 0.3, -500.0):
        world.look(after)
    assert [round(now - START, 1) for now in made] == [0.2, 1.3, -498.4]


def test_at_the_end_it_waits_for_the_first_answer_about_a_partition(world: World) -> None:
    world.sampler.slow = True
    world.look()
    world.group("a", committed=90)
    assert world.look(0.1) == []  # the second isn't over
    world.dashboard.settle(5)
    [row] = world.dashboard.rows()
    assert row["lag"] == 10
    assert [round(seconds, 1) for seconds in world.sampler.waited] == [5, 5]


def test_at_the_end_a_broker_that_is_away_leaves_the_lag_unknown(world: World) -> None:
    world.sampler.slow = world.sampler.away = True
    world.group("a", committed=90)
    world.dashboard.settle(0.0)
    assert [row["lag"] for row in world.dashboard.rows()] == [None]


def test_the_first_answer_about_a_partition_is_shown_at_once(world: World) -> None:
    world.sampler.slow = True
    world.group("a", committed=90)
    assert world.look()[0]["lag"] is None
    assert world.look(0.1)[0]["lag"] is None
    world.sampler.wait(0)
    assert world.look(0.1)[0]["lag"] == 10


# --- what has left ------------------------------------------------------------------------------


def test_a_group_that_loses_its_members_or_is_deleted_is_kept_for_ten_minutes(world: World) -> None:
    world.group("killed", committed=90)
    world.group("removed", committed=80)
    world.look()
    world.group("killed", members=0, committed=90)
    world.rows = [row for row in world.rows if row["group"] != "removed"]
    world.look()
    world.clock.now += 5
    keys = ("group", "how", "client_ids", "lag", "ago")
    assert [tuple(gone[key] for key in keys) for gone in world.dashboard.gone()] == [
        ("removed", "deleted", ("removed-0",), 20, 5.0),  # since the look that missed it
        ("killed", "lost its last member", ("killed-0",), 10, 6.0),  # by its row
    ]
    assert [row["state"] for row in world.dashboard.rows()] == ["empty"]
    world.look(LEFT_MS / 1000)
    assert world.dashboard.gone() == []


@pytest.mark.parametrize(("changed_at", "ago"), [(-120_000, 121.0), (5_000, 0.0), (None, 0.0)])
def test_a_group_lost_its_last_member_when_its_row_says_but_not_ahead_of_us(
    world: World, changed_at: int | None, ago: float
) -> None:
    world.group("killed", committed=90)
    world.look()
    at = None if changed_at is None else int(world.clock() * 1000) + changed_at
    world.group("killed", members=0, committed=90, changed_at=at)
    world.look()
    assert world.dashboard.gone()[0]["ago"] == ago


def test_a_row_that_says_deleted_has_left_and_one_that_comes_back_has_not(world: World) -> None:
    world.group("a", committed=90)
    world.look()
    world.group("a", deleted=True)
    assert world.look() == []
    assert [gone["group"] for gone in world.dashboard.gone()] == ["a"]
    world.group("a", committed=90)
    world.look()
    assert world.dashboard.gone() == []


def test_who_was_empty_from_the_start_has_not_left(world: World) -> None:
    world.group("old", members=0, committed=5)
    world.look()
    world.look()
    assert world.dashboard.gone() == []


def test_a_group_that_is_deleted_later_keeps_its_client_ids_and_one_that_is_back_is_not_gone(
    world: World,
) -> None:
    world.group("a", committed=90)
    world.look()
    world.group("a", members=0, committed=90)
    world.look()
    world.rows = []
    world.look()
    [gone] = world.dashboard.gone()
    assert (gone["how"], gone["client_ids"]) == ("deleted", ("a-0",))
    world.group("a", members=0, committed=90)
    world.look()
    assert world.dashboard.gone() == []
    world.group("a", committed=90)
    world.look()
    world.group("a", members=0, committed=90)
    world.look()
    assert [gone["how"] for gone in world.dashboard.gone()] == ["lost its last member"]
    world.group("a", committed=90)
    world.look()
    assert world.dashboard.gone() == []


def test_the_latest_that_left_comes_first_and_goes_after_exactly_ten_minutes(world: World) -> None:
    for name in ("b", "a", "z"):
        world.group(name, committed=90)
    world.look()
    world.rows = [row for row in world.rows if row["group"] == "z"]
    world.look()
    world.rows = []
    world.look()
    assert [gone["group"] for gone in world.dashboard.gone()] == ["z", "a", "b"]
    world.look(LEFT_MS / 1000 - 2)
    assert len(world.dashboard.gone()) == 3
    world.look()
    assert [gone["group"] for gone in world.dashboard.gone()] == ["z"]


# --- over time ----------------------------------------------------------------------------------


def test_the_history_covers_ten_minutes_and_stays_small(world: World) -> None:
    world.group("a", committed=0)
    for second in range(1200):
        world.sampler.ends = {("orders", 0): 100 + second**2}
        world.look()
    points = world.dashboard.history()["a"]
    assert len(points) <= HISTORY_MOST
    assert points[0][0] / 1000 == pytest.approx(world.clock() - 600, abs=60)
    assert points[-1][1] == pytest.approx(1200**2, rel=0.02)
    world.rows = []
    world.look(5)
    assert world.dashboard.history() == {}


def test_the_lag_is_noted_every_five_seconds_and_after_a_clock_was_set_back(world: World) -> None:
    world.group("a", committed=0)
    began = world.clock.now
    for second, after in enumerate([1.0] * 11):
        world.sampler.ends = {("orders", 0): 100 + second}
        world.look(after)
    points = world.dashboard.history()["a"]
    assert [round(at / 1000 - began) for at, _ in points] == [1, 6, 11]
    assert [lag for _, lag in points] == [100, 105, 110]
    world.look(-8)
    assert [round(at / 1000 - began) for at, _ in world.dashboard.history()["a"]] == [1, 3]


def test_it_reads_a_store_and_another_serialiser(tmp_path: Path, world: World) -> None:
    import pyarrow as pa

    from workbook.sinks.store import Store

    store = Store(tmp_path / "store.db", "group")
    changes = pa.Table.from_pylist(
        [
            {
                "group": "a",
                "details": "billing",
                "offsets": [
                    {"topic": "orders", "partition": 0, "offset": 7, "committed_at": int(START)}
                ],
                "changed_at": int(START * 1000),
                "deleted": False,
            }
        ]
    )
    store.write(changes, Batch("query", 0))

    def read(text: str) -> dict[str, Any]:
        return {"members": [{"client_id": text, "topics": ["orders"], "assigned": []}]}

    world.dashboard = Dashboard(store.all, world.sampler, read, world.clock)
    world.look()
    [row] = world.look()
    assert (row["client_ids"], row["lag"]) == (["billing"], 93)


# --- the terminal -------------------------------------------------------------------------------


def test_the_terminals_table_has_its_columns(world: World) -> None:
    world.group("a", committed=90)
    world.group("b", members=None)
    world.look()
    shown = groups_table(world.look())
    assert shown.columns == COLUMNS
    assert all(len(row) == len(COLUMNS) for row in shown.rows)
    first, second = shown.rows
    assert first[:7] == ("a", "active", "1", "orders", "10", "≥ 1.0", "2 s ago")
    assert second[3:7] == ("", "?", "?", "never")


def test_the_terminals_table_writes_out_the_first_rows_only(world: World) -> None:
    for number in range(MOST + 3):
        world.group(f"g{number}")
    shown = groups_table(world.look())
    assert (len(shown.rows), shown.more) == (MOST, 3)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59, "59 s"), (180, "3 min"), (7200, "2 h"), (4e5, "5 d")]
)
def test_an_age_is_written_in_its_largest_unit(seconds: float, words: str) -> None:
    assert ago(seconds) == words
