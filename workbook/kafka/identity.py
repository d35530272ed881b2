"""The identity of a topic: created again under the same name, it's another topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from workbook.errors import TopicMissing
from workbook.kafka.probe import ANSWER_S, LOOKING, require_topic, unreachable


def topic_ids(
    config: Mapping[str, Any], topics: Sequence[str], *, missing: str | None = None
) -> dict[str, str]:
    """Return the topics' ids, by one question: offsets mean nothing in a topic that was recreated.

    Raises ``BrokerUnreachable``, and ``TopicMissing`` for a topic that isn't there, unless
    ``missing`` says what stands for its id.
    """
    if not topics:
        return {}
    admin = AdminClient(dict(config) | LOOKING)
    asked = admin.describe_topics(TopicCollection(list(topics)), request_timeout=ANSWER_S)
    return {topic: _id(config, topic, asked[topic], missing) for topic in topics}


def _id(config: Mapping[str, Any], topic: str, asked: Future[Any], missing: str | None) -> str:
    try:
        return str(asked.result().topic_id)
    except KafkaException as failure:
        try:
            require_topic(config, topic)
        except TopicMissing:
            if missing is None:
                raise
            return missing
        raise unreachable(config, ANSWER_S) from failure
