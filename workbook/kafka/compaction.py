"""Asks a topic for its settings of compaction: what it keeps for good, and tombstones how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from workbook.errors import WorkbookError
from workbook.kafka.probe import ANSWER_S, require_topic

DAY_MS = 86_400_000
"""Kafka's default of ``delete.retention.ms``."""


def require_compacted(config: Mapping[str, Any], topic: str) -> None:
    """Raise ``WorkbookError`` unless the topic keeps each key's latest record for good.

    Where the broker doesn't let us ask, it's taken for granted. Raises ``TopicMissing`` as ever.
    """
    require_topic(config, topic)
    settings = _settings(config, topic)
    policy = settings["cleanup.policy"] if settings else "compact"
    if policy != "compact":
        raise WorkbookError(
            f"Expected {topic!r} to be compacted, since it holds a table, but its cleanup.policy "
            f"is {policy!r}: rows that don't change would be gone after a while. Choose another "
            "topic, or one that doesn't exist yet: it will be created as it must be."
        )


def tombstones_kept(config: Mapping[str, Any], topic: str) -> int | None:
    """Return for how many ms a tombstone is kept at least; None for a topic that isn't compacted.

    Where the broker doesn't let us ask, it's taken for a compacted one with Kafka's default.
    """
    settings = _settings(config, topic)
    if settings is None:
        return DAY_MS
    is_compacted = "compact" in settings["cleanup.policy"].split(",")
    return int(settings["delete.retention.ms"]) if is_compacted else None


def _settings(config: Mapping[str, Any], topic: str) -> dict[str, str] | None:
    """Return a topic's settings; None where the broker doesn't let us ask."""
    admin, resource = AdminClient(dict(config)), ConfigResource(ResourceType.TOPIC, topic)
    [found] = admin.describe_configs([resource], request_timeout=ANSWER_S).values()
    try:
        return {name: each.value for name, each in found.result().items()}
    except KafkaException as failure:
        if failure.args[0].code() != KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise
        return None
