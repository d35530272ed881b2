"""What is said about a group: its state, its client ids, who shares it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workbook.streams.events.client_ids import LONGEST, application, default_of

from workbook.streams.events.group_health import (
    QUIET_MS,
    STATES,
    client_ids,
    commits_alone,
    findings,
    last_commit,
    named,
    state,
    topics,
)

NOW = 1_700_000_000_000
UUID = "7f9d23c7-a627-41cd-ade9-3919164bc363"


def details(*client_ids: str, topics: tuple[str, ...] = ("orders",)) -> dict[str, Any]:
    """A group with these members, who subscribe to the same topics."""
    return {
        "group": "g",
        "protocol": "classic",
        "members": [member(c, *topics) for c in client_ids],
    }


def member(client_id: str, *topics: str) -> dict[str, Any]:
    return {"client_id": client_id, "topics": list(topics), "assigned": []}


def commit(ago: int, topic: str = "orders") -> dict[str, Any]:
    return {"topic": topic, "partition": 0, "offset": 7, "committed_at": NOW - ago}


# --- the state ----------------------------------------------------------------------------------


def test_members_that_commit_are_active_and_quiet_ones_idle_however_long() -> None:
    assert state(1, NOW - QUIET_MS + 1, NOW) == state(2, NOW + QUIET_MS - 1, NOW) == "active"
    assert state(1, NOW - QUIET_MS, NOW) == state(1, NOW + QUIET_MS, NOW) == "idle"
    assert state(1, NOW - 10_000 * QUIET_MS, NOW, NOW) == "idle"


def test_members_that_have_never_committed_are_active_while_they_are_new() -> None:
    assert state(1, None, NOW, changed_at=NOW - 1000) == "active"
    assert state(1, None, NOW, changed_at=NOW - QUIET_MS) == "idle"
    assert state(1, None, NOW) == "idle"


def test_empty_unknown_and_left() -> None:
    assert state(0, NOW, NOW) == "empty"
    assert state(None, NOW, NOW) == "unknown"
    assert state(1, NOW, NOW, deleted=True) == "left"
    assert last_commit([commit(3), commit(1), commit(2)]) == NOW - 1
    assert last_commit([]) is None


def test_topics_are_those_wanted_assigned_and_committed() -> None:
    made = details("b", "a", "a")
    made["members"][0]["assigned"] = [{"topic": "clicks", "partitions": [0]}]
    assert topics(made, [commit(0, "old")]) == ["clicks", "old", "orders"]
    assert client_ids(made) == ["a", "b"]
    assert topics(None, []) == client_ids(None) == []


# --- client ids ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client_id", "client"),
    [
        ("rdkafka", "librdkafka"),
        ("consumer-g-1", "Kafka's Java client"),
        ("consumer-g-210", "Kafka's Java client"),
        ("consumer-17", "Kafka's Java client"),
        (f"consumer-spark-kafka-source-{UUID}-12-driver-0-1", "Spark"),
        (f"holders-{UUID}-StreamThread-1-consumer", "Kafka Streams"),
        ("sarama", "sarama"),
        ("kgo", "franz-go"),
        ("main@host-3 (github.com/segmentio/kafka-go)", "kafka-go"),
        ("kafka-python-2.0.2", "kafka-python"),
        ("aiokafka-0.12.0", "aiokafka"),
        ("faust-1.10.4", "faust"),
        ("kafkajs", "kafkajs"),
        ("console-consumer", "Kafka's console consumer"),
        ("", "no client"),
    ],
)
def test_defaults_are_known_by_their_client(client_id: str, client: str) -> None:
    assert default_of(client_id, "g") == client
    assert len(findings("g", details(client_id))) == 1


@pytest.mark.parametrize(
    "client_id",
    [
        "billing",
        "billing-1",
        "rdkafka-billing",
        "consumer-billing-1",
        "consumer-g-",
        "consumer-g-orders",
        "consumer-g-1a",
        "consumer-g-1-2",
        "consumer-17-orders",
        "kafka-python",
        "holders-StreamThread-1-consumer",
        "connector-consumer-sink-0",
    ],
)
def test_an_id_that_somebody_has_set_is_no_default(client_id: str) -> None:
    assert default_of(client_id, "g") is None
    assert findings("g", details(client_id)) == []


def test_a_static_member_s_default_ends_with_its_instance_id() -> None:
    made = details("consumer-g-till-7", "consumer-g-orders", "consumer-g-1")
    for each in made["members"]:
        each["instance_id"] = "till-7"
    assert findings("g", made)[0].startswith("1 of 3 members has the default client id of Kafka's")
    assert default_of("consumer-g-1", "g", "till-7") is None
    assert default_of("consumer-g-till-7", "g") is None
    assert default_of(f"consumer-{'g' * LONGEST}-1", "g" * LONGEST) == "Kafka's Java client"


@pytest.mark.parametrize(
    ("client_id", "name"),
    [
        ("billing", "billing"),
        ("billing-1", "billing"),
        ("billing_2.13", "billing"),
        ("billing1", "billing"),
        ("kafka-python-2.0.2", "kafka-python"),
        (f"billing-{UUID}", "billing"),
        (f"billing-{UUID}-StreamThread-12-consumer", "billing"),
        ("billing-6d4cf56db6-x2k9p", "billing"),
        ("billing-x2k9p", "billing"),
        ("billing@host-7.example.org", "billing"),
        ("billing-0a1b2c3d", "billing"),
        ("billing-facade", "billing-facade"),
        ("consumer-g-3", "consumer-g"),
        (UUID, ""),
        ("17", ""),
        ("", ""),
    ],
)
def test_an_application_is_named_without_its_instance(client_id: str, name: str) -> None:
    assert application(client_id) == name


@given(st.text())
def test_any_text_has_an_application(client_id: str) -> None:
    name = application(client_id)
    assert client_id.startswith(name)
    assert application(name) == name


@pytest.mark.parametrize("piece", ["1", "-", "@", "a-1", "-b2c4d"])
def test_a_client_id_of_any_length_takes_no_time(piece: str) -> None:
    assert len(application(piece * 32_767 + "x")) <= LONGEST
    assert default_of(piece * 32_767 + "x", "g") is None


# --- findings -----------------------------------------------------------------------------------


def test_a_default_names_its_client_and_how_many_have_it() -> None:
    assert findings("g", details("rdkafka")) == [
        "Its member has the default client id of librdkafka: set client.id to the application's "
        "name."
    ]
    first = findings("g", details("billing", "rdkafka", "rdkafka", "kgo"))[0]
    assert first.startswith("3 of 4 members have the default client id of franz-go and librdkafka:")
    assert findings("g", details(""))[0].startswith("Its member has no client id:")


def test_instances_of_an_application_share_their_group_rightly() -> None:
    assert findings("g", details("billing-1", "billing-2", "billing-2")) == []


def test_two_applications_in_a_group_are_named_as_a_maybe() -> None:
    assert findings("g", details("billing-1", "billing-2", "shipping-1")) == [
        "Maybe 2 applications share this group id: client ids billing and shipping. A rolling "
        "deployment has both for a while."
    ]


def test_a_group_without_metadata_says_where_it_may_come_from() -> None:
    [sentence] = findings("g", None)
    assert sentence.startswith("Commits without members: maybe")


def test_a_commit_to_a_group_without_members_is_nobody_s_for_ten_minutes() -> None:
    said = commits_alone(NOW - 3000, NOW, NOW - 3001)
    assert said.startswith("Commits within the last ten minutes by nobody who is a member: maybe")
    assert commits_alone(NOW - 3000, NOW, None) == said
    assert commits_alone(NOW - QUIET_MS + 1, NOW, 0) == said
    assert commits_alone(NOW - QUIET_MS, NOW, 0) == ""
    assert commits_alone(None, NOW, NOW) == ""


def test_a_member_s_last_commit_before_it_left_is_its_own() -> None:
    assert commits_alone(NOW - 3000, NOW, NOW - 3000) == ""


def test_many_names_are_counted() -> None:
    assert named(["a"]) == "a"
    assert named(list("abc")) == "a, b and c"
    assert named(list("abcdefg")) == "a, b, c and 4 more"
    assert set(STATES) == {"active", "idle", "empty", "unknown", "left"}
