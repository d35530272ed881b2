"""Where rejected records go: ``<topic>.dead-letters``, from Spark and from a loop by hand.

A dead letter keeps key and value of the record byte for byte, null and empty told apart. What we
know about it stands in the Kafka headers, as text: ``reason``, ``topic``, ``partition``,
``offset``, ``arrival`` (ms since 1970). So a repaired reader can take the value as it is.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from workbook.errors import BrokerUnreachable, Rejected


class DeadLetters:
    """Sends rejected records to a topic: call it with a message and why, or ``send``; close it.

    ``asked`` counts the letters handed in, ``sent`` those the broker has confirmed. ``close()``
    (or the end of a ``with``) waits until the broker has every letter; it raises
    ``BrokerUnreachable`` if one was not delivered within ``patience`` seconds. A copy made by
    pickle, as Spark makes one for each task, counts for itself.
    """

    def __init__(self, config: dict[str, str], topic: str, patience: float = 60.0) -> None:
        self.topic, self.asked, self.sent = topic, 0, 0
        self._patience, self._lost = patience, 0
        self._config = config
        self._producer: Producer | None = None  # most tasks meet no bad record and need none

    def __call__(self, message: Message, why: Rejected) -> None:
        """Send one message of a consumer."""
        record = {
            "key": message.key(),
            "value": message.value(),
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "arrival": message.timestamp()[1],
        }
        self.send(record, str(why.reason))

    def send(self, record: dict[str, Any], reason: str) -> None:
        """Send one record: key, value (bytes), topic, partition, offset, arrival (ms).

        A full queue of the producer is waited for.
        """
        headers = {"reason": reason, **{name: str(record[name]) for name in _PLACE}}
        self._producer = self._producer or self._connect()
        try:
            self._produce(self._producer, record, headers)
        except BufferError:
            self._producer.flush(self._patience)
            self._produce(self._producer, record, headers)
        self.asked += 1
        self._producer.poll(0)

    def close(self) -> None:
        """Wait for the broker to have every letter."""
        waiting = self._producer.flush(self._patience + 1) if self._producer else 0
        if waiting or self._lost:
            raise BrokerUnreachable(
                f"Expected {self._config.get('bootstrap.servers')} to take {waiting + self._lost} "
                f"more dead letters into {self.topic!r}, but it did not within "
                f"{self._patience:.0f} s. Check that the broker runs and that this topic exists "
                "(workbook doctor)."
            )

    def _connect(self) -> Producer:
        waiting = {
            "message.timeout.ms": str(int(self._patience * 1000)),
            # The default waits up to ten seconds between two tries to reach a broker.
            "reconnect.backoff.max.ms": "1000",
        }
        return Producer({"acks": "all", "log_level": "0", **waiting, **self._config})

    def _produce(self, producer: Producer, record: dict[str, Any], headers: dict[str, str]) -> None:
        producer.produce(
            self.topic,
            key=record["key"],
            value=record["value"],
            headers=dict(headers),
            on_delivery=self._delivered,
        )

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        if error is None:
            self.sent += 1
        else:
            self._lost += 1

    def __enter__(self) -> DeadLetters:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif self._producer:  # what went wrong first is the news; still try to deliver
            self._producer.flush(self._patience)

    def __reduce__(self) -> tuple[type[DeadLetters], tuple[Any, ...]]:
        return DeadLetters, (self._config, self.topic, self._patience)


_PLACE = ("topic", "partition", "offset", "arrival")
