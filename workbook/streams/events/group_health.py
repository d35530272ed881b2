"""What is to be said about a consumer group: its state, and what in it should be looked at.

``details`` are ClientDetails as a dictionary, None where no record describes the group.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ACTIVE, IDLE, EMPTY, UNKNOWN, LEFT = "active", "idle", "empty", "unknown", "left"
STATES = (ACTIVE, IDLE, EMPTY, UNKNOWN)
"""docs/active-groups.md says what they mean. A group that was deleted has left."""

QUIET_MS = 600_000
NAMED = 3
"""Of more names than these only the number is given."""

LONGEST = 256
"""The characters of a client id that are looked at: it may have 32,767."""

Details = Mapping[str, Any]


def state(members: int | None, committed_at: int | None, now: int, changed_at: int) -> str:
    """Return one of ``STATES``; all times are in ms.

    ``members`` is None where no record describes the group, ``committed_at`` where it has never
    committed: then ``changed_at`` counts, the time of its newest record.
    """
    if members is None:
        return UNKNOWN
    if not members:
        return EMPTY
    newest = changed_at if committed_at is None else committed_at
    return ACTIVE if now - newest < QUIET_MS else IDLE


def topics(details: Details | None, committed: Iterable[str]) -> list[str]:
    """Return the topics that the group subscribes to, has been assigned or has ``committed``."""
    found = {*committed}
    for member in _members(details):
        found.update(member["topics"])
        if details and details.get("protocol") != "consumer":  # whose assignments have topic ids
            found.update(each["topic"] for each in member["assigned"])
    return sorted(found)


def client_ids(details: Details | None) -> list[str]:
    """Return the members' client ids, each once, in order."""
    return sorted({member["client_id"] for member in _members(details)})


def findings(group: str, details: Details | None) -> list[str]:
    """Return what should be looked at, each as a sentence; [] for a group that is in order."""
    found = [_defaults(group, details), _applications(details)]
    return [sentence for sentence in found if sentence]


def named(names: Sequence[str]) -> str:
    """Write names as "a", "a and b", "a, b and c"; of more than three the number of the rest."""
    shown = list(names[:NAMED])
    if len(names) > NAMED:
        shown.append(f"{len(names) - NAMED:,} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _members(details: Details | None) -> Sequence[Mapping[str, Any]]:
    return details["members"] if details is not None else ()


def _defaults(group: str, details: Details | None) -> str:
    members = _members(details)
    found = [default_of(m["client_id"], group, m.get("instance_id")) for m in members]
    clients = [client for client in found if client is not None]
    if not clients:
        return ""
    which = f"the default client id of {named(sorted(set(clients)))}"
    who = f"{len(clients):,} of {len(members):,} members" if len(members) > 1 else "Its member"
    return (
        f"{who} {'have' if len(clients) > 1 else 'has'} {which}: set client.id to the "
        "application's name."
    )


def _applications(details: Details | None) -> str:
    """Find client ids that differ in more than an instance."""
    names = sorted({application(each) or each for each in client_ids(details)})
    if len(names) < 2:
        return ""
    return (
        f"Maybe {len(names):,} applications share this group id: client ids {named(names)}. "
        "A rolling deployment has both for a while."
    )


# --- client ids -------------------------------------------------------------------------------

_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_POD = r"[bcdfghjklmnpqrstvwxz2456789]"
"""The letters of Kubernetes' random names."""

DEFAULTS = {
    "librdkafka": r"rdkafka",
    "Spark": r"consumer-spark-kafka-.*",
    "Kafka Streams": rf".+-{_UUID}-StreamThread-\d+(-.*)?",
    "Kafka's Java client": r"consumer-\d+",
    "Kafka's console consumer": r"console-consumer",
    "sarama": r"sarama",
    "franz-go": r"kgo",
    "kafka-go": r".+@.+ \(github\.com/segmentio/kafka-go\)",
    "kafka-python": r"kafka-python-\d.*",
    "aiokafka": r"aiokafka-\d.*",
    "kafkajs": r"kafkajs",
}
"""Clients with the pattern of their default client ids, from their sources."""

_INSTANCE = re.compile(
    rf"""(
      -StreamThread-\d+(-.*)?             # a thread of Kafka Streams
    | @.*                                 # a host
    | [-_.:/\#]?{_UUID}
    | -{_POD}{{8,10}}-{_POD}{{5}}         # a pod of a Kubernetes deployment
    | -{_POD}{{5}}                        # or of a daemon set
    | [-_.:/\#](?=\D*\d)[0-9a-f]{{6,}}    # a random number
    | [-_.:/\#]*\d+
    )$""",
    re.VERBOSE,
)


def default_of(client_id: str, group: str, instance_id: str | None = None) -> str | None:
    """Return the client whose default this is; None where somebody has set it.

    Kafka's Java client appends a static member's ``instance_id``, or a number, to the group.
    """
    for client, pattern in DEFAULTS.items():
        if re.fullmatch(pattern, client_id[:LONGEST]):
            return client
    own = client_id.removeprefix(f"consumer-{group}-")
    is_of_java = own == instance_id if instance_id else own.isdecimal()
    return "Kafka's Java client" if own != client_id and is_of_java else None


def application(client_id: str) -> str:
    """Return a client id without what tells instances apart: numbers, UUIDs, hosts, pods.

    '' where nothing else is in it.
    """
    client_id = client_id[:LONGEST]
    while shorter := _INSTANCE.search(client_id):
        client_id = client_id[: shorter.start()]
    return client_id
