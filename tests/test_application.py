"""Loops end and say what went wrong; an application joins a group, commits, leaves, is killed."""

from collections.abc import Callable, Iterator
from unittest.mock import Mock

import pytest
from brokers import produce
from confluent_kafka.admin import AdminClient
from labs import until

from workbook.errors import ServerFailed
from workbook.kafka.application import Application, Loop, stop_all
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import committed_offset
from workbook.stack.kafka import consumer_groups
from workbook.topics import Topic


@pytest.fixture
def admin(broker: Broker) -> AdminClient:
    return AdminClient(broker.client_config())


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    stop_all()


def filled(broker: Broker, name: str, records: int = 10) -> str:
    broker.create(Topic(name, 1))
    produce(broker.client_config(), name, *[(b"x",)] * records)
    return name


def members(admin: AdminClient, group: str) -> list[str]:
    (answer,) = admin.describe_consumer_groups([group]).values()
    return [member.client_id for member in answer.result(30).members]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_it_joins_reads_and_commits_then_leaves(broker, admin, protocol) -> None:
    topic = filled(broker, f"read-by-{protocol}")
    group = f"readers-{protocol}"
    with Application(broker.client_config(), group, topic, client_id="shop", protocol=protocol):
        until(lambda: committed_offset(broker.client_config(), topic, group) == 10, "its commit")
        assert members(admin, group) == ["shop"]
    assert members(admin, group) == []


def test_one_that_is_killed_stays_a_member_until_its_session_times_out(broker, admin) -> None:
    topic = filled(broker, "read-by-a-victim")
    victim = Application(broker.client_config(), "victims", topic)
    until(lambda: committed_offset(broker.client_config(), topic, "victims") == 10, "its commit")
    victim.kill()
    assert members(admin, "victims") == ["rdkafka"]
    until(lambda: members(admin, "victims") == [], "the session time-out")


def test_a_second_one_of_the_same_name_ends_the_first(broker: Broker) -> None:
    topic = filled(broker, "read-twice")
    first = Application(broker.client_config(), "twins", topic)
    second = Application(broker.client_config(), "twins", topic)
    assert second.runs
    assert not first.runs


def test_a_group_is_described_with_its_lag_and_its_client(broker: Broker) -> None:
    config, topic = broker.client_config(), filled(broker, "described", records=1)
    Application(config, "café", topic, client_id="till-1")
    until(lambda: committed_offset(config, topic, "café") == 1, "its commit")
    said = consumer_groups(broker, "--describe", "--group", "café").splitlines()
    [row] = [line.split() for line in said if "till-1" in line]
    assert row[:6] == ["café", "described", "0", "1", "1", "0"]


def test_a_tool_that_fails_says_why(broker: Broker) -> None:
    with pytest.raises(ServerFailed, match=r"kafka-consumer-groups failed: .*nonsense"):
        consumer_groups(broker, "--nonsense")


# --- loops ------------------------------------------------------------------------------------


def work(reader: Mock, until: Callable[[], bool]) -> None:
    while not until():
        pass


def test_a_loop_ends_the_one_of_its_name_and_a_stopped_one_has_closed_its_reader() -> None:
    readers, names = [Mock(), Mock(), Mock()], ["", "other", "work"]
    loops = [Loop(work, reader, name) for reader, name in zip(readers, names, strict=True)]
    assert [reader.close.called for reader in readers] == [True, False, False]
    with pytest.raises(TimeoutError, match="still runs"):
        loops[1].exception(timeout=0.01)
    for loop in loops:
        loop.stop()
    assert all(reader.close.called for reader in readers)


def test_an_error_is_told_and_raised_by_stop() -> None:
    reader = Mock()
    loop = Loop(Mock(side_effect=ValueError("a bad record")), reader, "failing")
    assert str(loop.exception(timeout=10)) == "a bad record"
    assert reader.close.called
    with pytest.raises(ValueError, match="a bad record"):
        loop.stop()
