"""Asks whether the broker answers and has the topic, before anything is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient

from workbook.errors import BrokerUnreachable, RightMissing, TopicMissing
from workbook.topics import CONSUMER_OFFSETS

ANSWER_S = 6.0
"""How long a broker may take to answer before we say that it is down."""

LOOKING = {"log_level": "0", "allow.auto.create.topics": False}
"""Settings of an admin client that only looks: asking for a topic must not make it."""

UNKNOWN = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC}


def require_topic(config: Mapping[str, Any], topic: str, timeout: float = ANSWER_S) -> int:
    """Return the number of the topic's partitions.

    Raises ``BrokerUnreachable`` after ``timeout`` seconds, ``TopicMissing`` at once, as
    ``RightMissing`` without the right to DESCRIBE it.
    """
    admin = AdminClient(dict(config) | LOOKING)
    try:
        found = admin.list_topics(topic, timeout=timeout).topics[topic]
    except KafkaException as failure:
        raise unreachable(config, timeout) from failure
    if found.error is not None and found.error.code() in UNKNOWN:
        raise missing(config, topic)
    if found.error is not None and found.error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        raise _not_allowed(config, topic, "DESCRIBE", "refuses that")
    if found.error is not None:
        raise KafkaException(found.error)
    return len(found.partitions)


def require_readable(config: Mapping[str, Any], topic: str, timeout: float = ANSWER_S) -> None:
    """Raise ``RightMissing`` unless this user may READ the topic, and as ``require_topic``."""
    require_topic(config, topic, timeout)
    admin = AdminClient(dict(config) | LOOKING)
    asked = admin.describe_topics(
        TopicCollection([topic]), include_authorized_operations=True, request_timeout=timeout
    )
    try:
        rights = asked[topic].result().authorized_operations
    except KafkaException as failure:
        raise unreachable(config, timeout) from failure
    if rights is not None and AclOperation.READ not in rights:  # an old broker doesn't answer that
        allowed = " and ".join(sorted(right.name for right in rights)) or "nothing"
        raise _not_allowed(config, topic, "READ", f"allows {allowed} only")


def require_broker(config: Mapping[str, Any], timeout: float = ANSWER_S) -> None:
    """Raise ``BrokerUnreachable`` unless the broker answers within ``timeout`` seconds."""
    try:
        AdminClient(dict(config) | LOOKING).list_topics(timeout=timeout)
    except KafkaException as failure:
        raise unreachable(config, timeout) from failure


def unreachable(config: Mapping[str, Any], seconds: float) -> BrokerUnreachable:
    """Return the error for a broker that did not answer for ``seconds``."""
    return BrokerUnreachable(
        f"Expected a Kafka broker at {config.get('bootstrap.servers')}, but none answered for "
        f"{seconds:.0f} s. Check that it runs (python -m workbook doctor), and the address and "
        "security settings in KAFKA_BOOTSTRAP_SERVERS and KAFKA_SECURITY_PROTOCOL."
    )


def _not_allowed(config: Mapping[str, Any], topic: str, right: str, answer: str) -> RightMissing:
    user = config.get("sasl.username", "ANONYMOUS")
    return RightMissing(
        f"Expected the right to {right} the topic {topic!r} for the user {user}, but the broker at "
        f"{config.get('bootstrap.servers')} {answer}. Ask for it: kafka-acls --bootstrap-server "
        f"... --add --allow-principal User:{user} --operation Describe --operation Read --topic "
        f"{topic}. Or check KAFKA_SASL_USERNAME."
    )


def missing(config: Mapping[str, Any], topic: str) -> TopicMissing:
    """Return the error for a topic that the broker does not have, with the names it may be."""
    if topic == CONSUMER_OFFSETS:
        return TopicMissing(
            f"Expected the topic {topic!r}, but the broker at {config.get('bootstrap.servers')} "
            "has none yet: it makes it for the first consumer group, and none has joined or "
            "committed. Start a consumer with a group.id, then run this again."
        )
    known = _known(config)
    advice = "Check the name, and that this is the broker you mean"
    if topic in known:
        advice = "It has been created since: start again"
    elif near := near_misses(topic, known):
        advice = f"Did you mean {' or '.join(near)}"
    elif not known:
        advice += (
            ": it has no topic at all. Those of the lab's own broker end with it, once nobody "
            "uses it (`python -m workbook up` keeps it)"
        )
    end = "?" if advice.startswith("Did") else "."
    return TopicMissing(
        f"Expected a topic {topic!r}, but the broker at {config.get('bootstrap.servers')} has "
        f"none of this name. {advice}{end} A topic is made in a notebook by the cell that sends "
        "to it first, in a terminal by `python -m workbook generate`, or `run` with --out."
    )


def near_misses(topic: str, known: Iterable[str]) -> list[str]:
    """Return up to three topics whose name, or the part before its first dot, is alike."""
    stems = {name: name.partition(".")[0] for name in known if not name.endswith(".dead-letters")}
    alike = get_close_matches(topic, {*stems, *stems.values()}, n=3, cutoff=0.7)
    names = [name for name in alike if name in stems]
    return [*names, *(n for n in stems if stems[n] in alike and n not in names)][:3]


def _known(config: Mapping[str, Any]) -> list[str]:
    """Return the broker's topic names except Kafka's own; none where it no longer answers."""
    try:
        listed = AdminClient(dict(config) | LOOKING).list_topics(timeout=ANSWER_S)
    except KafkaException:
        return []
    return [name for name in listed.topics if not name.startswith("__")]
