"""``workbook run active_groups`` on a broker that wants a login, with the right to read only."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import broker_with_scram, commit, sees
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from labs import DEADLINE, end, read_until, until, workbook

from workbook.kafka.require import DAY_MS, tombstones_kept
from workbook.sinks.store import WindowedStore
from workbook.stack import jars
from workbook.topics import CONSUMER_OFFSETS

Users = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    """Settings of each user; the group ``billing`` has read 17 of 20 records of ``clicks``."""
    jars.prefetch()
    with broker_with_scram(tmp_path_factory.mktemp("scram")) as (_, users):
        admin = AdminClient(users["admin"])
        admin.create_topics([NewTopic("clicks", 1)])["clicks"].result(60)
        producer = Producer(users["admin"])
        for _ in range(20):
            producer.produce("clicks", b"x")
        assert producer.flush(60) == 0
        commit(users["admin"], "billing", "clicks", 17)
        until(lambda: sees(users["reader"], "clicks", CONSUMER_OFFSETS), "the rules to hold")
        yield users


def environment(config: dict[str, str]) -> dict[str, str]:
    """The variables of README for this user."""
    login = {f"KAFKA_{name.upper().replace('.', '_')}": value for name, value in config.items()}
    return {**os.environ, **login}


def test_a_reader_sees_the_groups_and_leaves_nothing_on_the_broker(
    users: Users, tmp_path: Path
) -> None:
    admin = AdminClient(users["admin"])
    before = {*admin.list_topics(timeout=30).topics}
    words = ("run", "active_groups", "--checkpoint", str(tmp_path / "state"))
    running = workbook(*words, env=environment(users["reader"]))
    read_until(running, "1 group, 1 unknown, most behind: billing, 3")  # its end was asked for
    said = end(running, signal.SIGINT)
    assert "billing: unknown, lag 3" in said
    assert {*admin.list_topics(timeout=30).topics} == before
    groups = admin.list_consumer_groups().result(30).valid
    assert [group.group_id for group in groups] == ["billing"]
    windows = WindowedStore(tmp_path / "state" / "windows.db", "group", reading=True)
    assert [row["group"] for _, row in windows.all()] == ["billing"]


def test_where_it_may_not_ask_a_topic_keeps_tombstones_for_a_day(users: Users) -> None:
    assert tombstones_kept(users["reader"], "clicks") == DAY_MS
    assert tombstones_kept(users["admin"], "clicks") is None  # it isn't compacted


def test_without_the_right_to_read_it_says_which_one_is_missing(users: Users) -> None:
    running = workbook("run", "active_groups", env=environment(users["watcher"]))
    said, _ = running.communicate(timeout=DEADLINE)
    assert running.returncode != 0
    assert "right to READ the topic '__consumer_offsets' for the user watcher" in said
    assert "Traceback" not in said
