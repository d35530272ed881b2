"""What is said about a group: its state, its client ids, who shares it."""

from typing import Any

import pytest

from workbook.streams.events.group_health import (
    LONGEST,
    QUIET_MS,
    application,
    default_of,
    findings,
    state,
    topics,
)

NOW = 1_700_000_000_000
UUID = "7f9d23c7-a627-41cd-ade9-3919164bc363"


def details(*client_ids: str) -> dict[str, Any]:
    """A group with these members, who subscribe to orders."""
    members = [{"client_id": c, "topics": ["orders"], "assigned": []} for c in client_ids]
    return {"group": "g", "protocol": "classic", "members": members}


def test_members_that_commit_are_active_and_quiet_ones_idle() -> None:
    assert state(1, NOW - QUIET_MS + 1, NOW, 0) == "active"
    assert state(1, NOW - QUIET_MS, NOW, NOW) == "idle"
    assert state(1, None, NOW, NOW - 1000) == "active"  # it's new
    assert state(1, None, NOW, NOW - QUIET_MS) == "idle"
    assert (state(0, NOW, NOW, NOW), state(None, NOW, NOW, NOW)) == ("empty", "unknown")


def test_topics_are_those_wanted_assigned_and_committed() -> None:
    made = details("b", "a")
    made["members"][0]["assigned"] = [{"topic": "clicks", "partitions": [0]}]
    assert topics(made, ["old"]) == ["clicks", "old", "orders"]
    made["protocol"] = "consumer"  # has topic ids in its assignments
    assert topics(made, []) == ["orders"]
    assert topics(None, []) == []


@pytest.mark.parametrize(
    ("client_id", "client"),
    [
        ("rdkafka", "librdkafka"),
        ("consumer-g-210", "Kafka's Java client"),
        ("consumer-17", "Kafka's Java client"),
        (f"consumer-spark-kafka-source-{UUID}-12-driver-0-1", "Spark"),
        (f"holders-{UUID}-StreamThread-1-consumer", "Kafka Streams"),
        ("main@host-3 (github.com/segmentio/kafka-go)", "kafka-go"),
        ("kafka-python-2.0.2", "kafka-python"),
        ("console-consumer", "Kafka's console consumer"),
        *((own, None) for own in ("billing", "billing-1", "rdkafka-billing", "consumer-billing-1")),
        *((own, None) for own in ("consumer-g-", "consumer-g-1a", "consumer-17-orders")),
        *((own, None) for own in ("kafka-python", "holders-StreamThread-1-consumer", "")),
    ],
)
def test_a_default_is_told_from_an_id_that_somebody_has_set(client_id, client) -> None:
    assert default_of(client_id, "g") == client
    assert len(findings("g", details(client_id))) == (client is not None)


def test_a_static_member_s_default_ends_with_its_instance_id() -> None:
    assert default_of("consumer-g-till-7", "g", "till-7") == "Kafka's Java client"
    assert default_of("consumer-g-1", "g", "till-7") is None
    assert default_of("consumer-g-till-7", "g") is None


@pytest.mark.parametrize(
    ("client_id", "name"),
    [
        ("billing", "billing"),
        ("billing_2.13", "billing"),
        (f"billing-{UUID}-StreamThread-12-consumer", "billing"),
        ("billing-6d4cf56db6-x2k9p", "billing"),
        ("billing-x2k9p", "billing"),
        ("billing@host-7.example.org", "billing"),
        ("billing-0a1b2c3d", "billing"),
        ("billing-facade", "billing-facade"),
        (UUID, ""),
    ],
)
def test_an_application_is_named_without_its_instance(client_id: str, name: str) -> None:
    assert application(client_id) == name


@pytest.mark.parametrize("piece", ["1", "-", "@", "a-1", "-b2c4d"])
def test_a_client_id_of_any_length_takes_no_time(piece: str) -> None:
    assert len(application(piece * 32_767 + "x")) <= LONGEST
    assert default_of(piece * 32_767 + "x", "g") is None


def test_a_default_names_its_client_and_how_many_have_it() -> None:
    first = findings("g", details("billing", "rdkafka", "rdkafka", "kgo"))[0]
    assert first.startswith("3 of 4 members have the default client id of franz-go and librdkafka:")
    assert findings("g", details("rdkafka"))[0].startswith("Its member has the default client id")


def test_two_applications_in_a_group_are_named_as_a_maybe() -> None:
    assert findings("g", details("billing-1", "billing-2")) == []
    assert findings("g", details("billing-1", "billing-2", "shipping-1")) == [
        "Maybe 2 applications share this group id: client ids billing and shipping. A rolling "
        "deployment has both for a while."
    ]
    assert findings("g", None) == []
