"""What a client id says: the client's own default, or an application and one of its instances.

The defaults stand in the clients' sources: Apache Kafka (KafkaConsumer, GroupRebalanceConfig,
StreamThread, ConsoleConsumer), Spark (KafkaSourceProvider), librdkafka (CONFIGURATION.md), sarama
and franz-go (config.go), kafka-go (dialer.go), kafka-python, aiokafka, faust, kafkajs, kafka-node,
ruby-kafka.
"""

from __future__ import annotations

import re

LONGEST = 256
"""Of a client id only so many characters are looked at: it may have 32,767, of any kind."""

_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_POD = r"[bcdfghjklmnpqrstvwxz2456789]"
"""The letters of Kubernetes' random names."""

DEFAULTS = tuple(
    (client, re.compile(pattern))
    for client, pattern in (
        ("librdkafka", r"rdkafka"),
        ("Spark", r"consumer-spark-kafka-.*"),
        ("Kafka Streams", rf".+-{_UUID}-StreamThread-\d+(-.*)?"),
        ("Kafka's Java client", r"consumer-\d+"),
        ("Kafka's console consumer", r"console-consumer"),
        ("sarama", r"sarama"),
        ("franz-go", r"kgo"),
        ("kafka-go", r".+@.+ \(github\.com/segmentio/kafka-go\)"),
        ("kafka-python", r"kafka-python-\d.*"),
        ("aiokafka", r"aiokafka-\d.*"),
        ("faust", r"faust-\d.*"),
        ("kafkajs", r"kafkajs"),
        ("kafka-node", r"kafka-node-client"),
        ("ruby-kafka", r"ruby-kafka"),
    )
)

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

    ``instance_id`` is a static member's group.instance.id.
    """
    if not client_id:
        return "no client"
    for client, pattern in DEFAULTS:
        if pattern.fullmatch(client_id[:LONGEST]):
            return client
    return "Kafka's Java client" if _is_of_java(client_id, group, instance_id) else None


def _is_of_java(client_id: str, group: str, instance_id: str | None) -> bool:
    """Return whether an id has the group in it, and a static member's id or a number."""
    own = client_id.removeprefix(f"consumer-{group}-")
    return own != client_id and (own == instance_id if instance_id else own.isdecimal())


def application(client_id: str) -> str:
    """Return a client id without what tells instances apart: numbers, UUIDs, hosts, pods.

    '' where nothing else is in it.
    """
    client_id = client_id[:LONGEST]
    while shorter := _INSTANCE.search(client_id):
        client_id = client_id[: shorter.start()]
    return client_id
