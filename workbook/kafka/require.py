"""Asks the broker what it has, before anything is started: topics, rights, sizes, settings.

Each question is answered within seconds, or ends in an error that names what to check.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient, ConfigResource, ResourceType

from workbook.errors import BrokerUnreachable, RightMissing, TopicMissing, WorkbookError
from workbook.topics import CONSUMER_OFFSETS, PREFIX

T = TypeVar("T")

ANSWER_S = 6.0
"""Seconds that a broker may take to answer before we say that it is down."""

PATIENCE_S = 60.0
"""Seconds for which a running loop or query retries a silent broker."""

ABSENT = "isn't there"
ANYBODY = "NAME"
"""Stands for a user whom no setting names: a certificate or a token does."""

UNKNOWN = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC}
DAY_MS, MEGABYTE = 86_400_000, 1_048_588
"""Kafka's defaults of ``delete.retention.ms`` and ``max.message.bytes``."""


def admin(config: Mapping[str, Any]) -> AdminClient:
    """Return a new admin client: one that outlives a broker's restart may be refused for ever.

    Keep it until its answers are there: without the client none ever comes.
    """
    # Asking for a topic must not create it.
    return AdminClient({**config, "log_level": "0", "allow.auto.create.topics": False})


def patiently(ask: Callable[[], T], lasts: Callable[[Any], float], every: float = 0.1) -> T:
    """Return an answer; ask again for as many seconds as ``lasts`` says of an error, then raise."""
    began = time.monotonic()
    while True:
        try:
            return ask()
        except (KafkaException, TopicMissing) as failure:
            if time.monotonic() - began >= lasts(failure):
                raise
            time.sleep(every)


def require_topic(config: Mapping[str, Any], topic: str, timeout: float = ANSWER_S) -> int:
    """Return the number of the topic's partitions.

    Raises ``BrokerUnreachable`` after ``timeout`` seconds, ``TopicMissing`` at once, as
    ``RightMissing`` without the right to DESCRIBE it.
    """
    try:
        found = admin(config).list_topics(topic, timeout=timeout).topics[topic]
    except KafkaException as failure:
        raise unreachable(config, timeout) from failure
    if found.error is None:
        return len(found.partitions)
    if found.error.code() in UNKNOWN:
        raise missing(config, topic)
    if found.error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        raise not_allowed(config, "DESCRIBE", topic, "refuses that")
    raise KafkaException(found.error)


def topic_ids(
    config: Mapping[str, Any],
    reads: Iterable[str],
    writes: Iterable[str] = (),
    timeout: float = ANSWER_S,
) -> dict[str, str]:
    """Return the topics' ids, by one question: offsets mean nothing in a topic that was recreated.

    A topic of ``writes`` that isn't there has ``ABSENT`` in place of its id. Raises
    ``RightMissing`` unless this user may READ ``reads`` and WRITE ``writes``, ``TopicMissing`` if
    one of ``reads`` isn't there, ``BrokerUnreachable`` after ``timeout`` seconds.
    """
    needs = {**dict.fromkeys(writes, AclOperation.WRITE), **dict.fromkeys(reads, AclOperation.READ)}
    client, ids = admin(config), dict[str, str]()
    asked = client.describe_topics(
        TopicCollection([*needs]), include_authorized_operations=True, request_timeout=timeout
    )
    for topic, right in needs.items():
        try:
            found = asked[topic].result()
        except KafkaException as failure:
            code = failure.args[0].code()
            if code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                raise not_allowed(config, right.name, topic, "doesn't show it") from None
            if code not in UNKNOWN:
                raise unreachable(config, timeout) from failure
            if right == AclOperation.READ:
                raise missing(config, topic) from None
            ids[topic] = ABSENT
            continue
        rights = found.authorized_operations  # None: an old broker doesn't answer that
        if rights is not None and right not in rights:
            allowed = " and ".join(sorted(each.name for each in rights)) or "nothing"
            raise not_allowed(config, right.name, topic, f"allows {allowed} only")
        ids[topic] = str(found.topic_id)
    return ids


# --- settings of a topic ----------------------------------------------------------------------


def require_compacted(config: Mapping[str, Any], topic: str) -> None:
    """Raise ``WorkbookError`` unless the topic keeps each key's latest record for good.

    Does nothing if there's no such topic yet, or if the broker doesn't let us ask.
    """
    policy = settings_of(config, topic).get("cleanup.policy", "compact")
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
    settings = settings_of(config, topic)
    if "compact" not in settings.get("cleanup.policy", "compact").split(","):
        return None
    return int(settings.get("delete.retention.ms", DAY_MS))


def largest_record(config: Mapping[str, Any], topic: str) -> int:
    """Return how many bytes the broker takes as one record of a topic, headers included."""
    settings = settings_of(config, topic)
    limits = (settings.get("max.message.bytes", MEGABYTE), settings.get("segment.bytes", MEGABYTE))
    return min(map(int, limits))


def not_taken(config: Mapping[str, Any], topic: str) -> str:
    """Return why the broker takes no records for a topic, as far as it says, and what to do."""
    with suppress(KafkaException):
        known = admin(config).list_topics(topic, timeout=ANSWER_S).topics[topic]
        if known.error is not None:
            return f"{known.error.str()}; check the topic"
        told = settings_of(config, topic).get("min.insync.replicas", 99)  # or what the topic has
        for number, found in known.partitions.items():
            if len(found.isrs) < min(int(told), len(found.replicas)):
                return (
                    f"not enough replicas: partition {number} of {topic} has {len(found.isrs)} of "
                    f"{len(found.replicas)} in sync; start the brokers that are down"
                )
        return (
            "it answers now, so it was away, or a quota slows this user down; write less at once, "
            "or ask for a higher quota (producer_byte_rate)"
        )
    return "it doesn't answer; check that it runs, and that its disk isn't full"


def settings_of(config: Mapping[str, Any], topic: str) -> dict[str, str]:
    """Return a topic's settings; none where there's no topic, or the broker doesn't let us ask."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    client = admin(config)
    [found] = client.describe_configs([resource], request_timeout=ANSWER_S).values()
    try:
        return {name: each.value for name, each in found.result().items()}
    except KafkaException as failure:
        if failure.args[0].code() not in (KafkaError.TOPIC_AUTHORIZATION_FAILED, *UNKNOWN):
            raise
        return {}


# --- errors -----------------------------------------------------------------------------------


def unreachable(config: Mapping[str, Any], seconds: float) -> BrokerUnreachable:
    """Return the error for a broker that did not answer for ``seconds``."""
    from workbook.kafka.config import typed  # not for each worker of Spark

    return BrokerUnreachable(
        f"Expected a Kafka broker at {config.get('bootstrap.servers')}, but none answered for "
        f"{seconds:.0f} s. Check that it runs (python -m workbook doctor), and "
        f"{typed('bootstrap.servers', 'security.protocol')}."
    )


def not_allowed(
    config: Mapping[str, Any], right: str, topic: str, answer: str, instead: str = ""
) -> RightMissing:
    """Return the error for a right that this user lacks, with the command that gives it."""
    user, at = config.get("sasl.username", ANYBODY), config.get("bootstrap.servers")
    return RightMissing(
        f"Expected the right to {right} the topic {topic!r} for the user {user}, but the broker at "
        f"{at} {answer}. Ask for it: kafka-acls --bootstrap-server {at} --add --allow-principal "
        f"User:{user} --operation {right.title()} --topic {topic}{instead}. Or check "
        "the user that KAFKA_SASL_USERNAME or KAFKA_CONFIG names."
    )


def missing(config: Mapping[str, Any], topic: str) -> TopicMissing:
    """Return the error for a topic that the broker does not have, with the names it may be."""
    server = config.get("bootstrap.servers")
    if topic == CONSUMER_OFFSETS:
        return TopicMissing(
            f"Expected the topic {topic!r}, but the broker at {server} has none yet: it creates it "
            "for the first consumer group, and none has joined or committed. Start a consumer "
            "with a group.id, then run this again."
        )
    known: list[str] | None = None
    with suppress(KafkaException):
        listed = admin(config).list_topics(timeout=ANSWER_S).topics
        known = [name for name in listed if not name.startswith("__")]
    advice = "Check the name, and that this is the broker you mean."
    if near := near_misses(topic, known or []):
        advice = f"Did you mean {' or '.join(near)}?"
    elif known == []:  # it has said so
        advice += (
            " It has no topic at all: those of the lab's own broker end with it, once nobody uses "
            "it (`python -m workbook up` keeps it)."
        )
    return TopicMissing(
        f"Expected a topic {topic!r}, but the broker at {server} has none of this name. {advice} "
        "A topic is made in a notebook by the cell that sends to it first, in a terminal by "
        "`python -m workbook generate`, or `run` with --out."
    )


def near_misses(topic: str, known: Iterable[str]) -> list[str]:
    """Return up to three topics whose name, or the part before its first dot, is alike."""
    names = {n: n.removeprefix(PREFIX) for n in known if not n.endswith(".dead-letters")}
    typed = topic.removeprefix(PREFIX)
    return [
        name
        for name, stem in names.items()
        if get_close_matches(typed, (stem, stem.partition(".")[0]), cutoff=0.7)
    ][:3]
