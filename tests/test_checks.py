"""A topic that is missing: which ones it may have been, and how one is made."""

from __future__ import annotations

from typing import Any

import pytest

from workbook.errors import TopicMissing
from workbook.kafka import probe
from workbook.kafka.probe import near_misses, require_topic
from workbook.topics import new_topic

KNOWN = ["metrics", "clicks", "clicks.dead-letters", "positions.21-us-share-holders.k3f9"]


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("clikcs", ["clicks"]),
        ("Clicks", ["clicks"]),
        ("metric", ["metrics"]),
        ("positons", ["positions.21-us-share-holders.k3f9"]),
        ("positions.21-us-share-holders.k3f8", ["positions.21-us-share-holders.k3f9"]),
        ("nowhere", []),
    ],
)
def test_topics_of_nearly_this_name_are_found(typed: str, near: list[str]) -> None:
    assert near_misses(typed, KNOWN) == near


def test_a_misspelt_topic_comes_with_the_right_one_and_the_next_step(broker: Any) -> None:
    topic = new_topic("clicks", "test-checks")
    broker.create(topic)
    with pytest.raises(TopicMissing) as missing:
        require_topic(broker.client_config(), topic.name.replace("clicks", "clikcs"))
    said = str(missing.value)
    assert f"Did you mean {topic.name}" in said
    assert "in a notebook by the cell" in said
    assert "in a terminal by `python -m workbook generate`" in said


def test_a_broker_without_topics_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_known", lambda config: [])
    said = str(probe.missing({"bootstrap.servers": "b:9"}, "clicks"))
    assert "the broker at b:9 has none of this name" in said
    assert "it has no topic at all" in said
    assert "`python -m workbook up` keeps it" in said
