"""The identity of a topic: created again under the same name, it's another topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from workbook.errors import TopicMissing
from workbook.kafka.probe import ANSWER_S, LOOKING, require_topic, unreachable


def topic_facts(config: Mapping[str, Any], topic: str, timeout: float = ANSWER_S) -> dict[str, str]:
    """Return what a checkpoint must remember of a topic: ``topic``, ``topic id``, ``cluster``.

    Offsets mean something only for the very topic, on the very cluster, that they were read from.
    Raises ``BrokerUnreachable`` after ``timeout`` seconds, ``TopicMissing`` at once.
    """
    require_topic(config, topic, timeout)
    admin = AdminClient(dict(config) | LOOKING)
    try:
        asked = admin.describe_topics(TopicCollection([topic]), request_timeout=timeout)
        described = asked[topic].result()
        cluster = admin.list_topics(topic, timeout=timeout).cluster_id
    except KafkaException as failure:
        raise unreachable(config, timeout) from failure
    return {"topic": topic, "topic id": str(described.topic_id), "cluster": str(cluster)}


def topics_facts(
    config: Mapping[str, Any], topics: Sequence[str], timeout: float = ANSWER_S
) -> dict[str, str]:
    """Return the same of several topics, each fact with those of all: "tracking, orders"."""
    each = [topic_facts(config, topic, timeout) for topic in topics]
    joined = {name: ", ".join(facts[name] for facts in each) for name in ("topic", "topic id")}
    return {**joined, "cluster": each[0]["cluster"]}


def topic_ids(
    config: Mapping[str, Any], topics: Sequence[str], timeout: float = ANSWER_S
) -> dict[str, str]:
    """Return the topics' ids, by one question; raise as ``topic_facts``."""
    admin = AdminClient(dict(config) | LOOKING)
    try:
        asked = admin.describe_topics(TopicCollection(list(topics)), request_timeout=timeout)
        return {topic: str(asked[topic].result().topic_id) for topic in topics}
    except KafkaException as failure:
        for topic in topics:
            require_topic(config, topic, timeout)
        raise unreachable(config, timeout) from failure


def written_facts(config: Mapping[str, Any], topics: Iterable[str]) -> dict[str, list[str]]:
    """Return what a checkpoint must remember of the topics it writes: ``writes``, by their ids.

    Another topic would get only what changes from now on. Raises as ``topic_facts``, but for a
    topic that is missing.
    """
    return {"writes": [f"{topic} ({_id(config, topic)})" for topic in topics]}


def _id(config: Mapping[str, Any], topic: str) -> str:
    try:
        return topic_facts(config, topic)["topic id"]
    except TopicMissing:
        return "which isn't there"
