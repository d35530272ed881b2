"""Where rejected records go: ``<topic>.dead-letters``, from Spark and from a loop by hand.

A dead letter keeps key and value of the record byte for byte, null and empty told apart. What we
know about it stands in the Kafka headers, as text: ``reason``, ``topic``, ``partition``,
``offset``, ``arrival`` (ms since 1970). So a repaired reader can take the value as it is.
"""

from __future__ import annotations

from types import TracebackType

from confluent_kafka import KafkaError, Message, Producer
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import BrokerUnreachable, Rejected


def dead_letters(parsed: DataFrame) -> DataFrame:
    """The rejected rows of a parsed frame as records for Spark's Kafka sink: key, value, headers.

    In: key, value, topic, partition, offset, arrival (timestamp), reason (null: accepted).
    """
    headers = F.array(
        _header("reason", F.col("reason")),
        _header("topic", F.col("topic")),
        _header("partition", F.col("partition")),
        _header("offset", F.col("offset")),
        _header("arrival", F.unix_millis("arrival")),
    )
    rejected = parsed.where(F.col("reason").isNotNull())
    return rejected.select("key", "value", headers.alias("headers"))


def _header(name: str, value: Column) -> Column:
    return F.struct(F.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))


class DeadLetters:
    """Sends rejected messages to a topic; call it with the message and why, and close it.

    ``asked`` counts the letters handed in, ``sent`` those the broker has confirmed. ``close()``
    (or the end of a ``with``) waits until the broker has every letter; it raises
    ``BrokerUnreachable`` if one was not delivered within ``patience`` seconds.
    """

    def __init__(self, config: dict[str, str], topic: str, patience: float = 30.0) -> None:
        self.topic, self.asked, self.sent = topic, 0, 0
        self._patience, self._lost = patience, 0
        self._servers = config.get("bootstrap.servers")
        waiting = {"message.timeout.ms": str(int(patience * 1000)), "log_level": "0"}
        self._producer = Producer({"acks": "all", **waiting, **config})

    def __call__(self, message: Message, why: Rejected) -> None:
        """Send one message; a full queue of the producer is waited for."""
        headers = {
            "reason": str(why.reason),
            "topic": str(message.topic()),
            "partition": str(message.partition()),
            "offset": str(message.offset()),
            "arrival": str(message.timestamp()[1]),
        }
        try:
            self._send(message, headers)
        except BufferError:
            self._producer.flush(self._patience)
            self._send(message, headers)
        self.asked += 1
        self._producer.poll(0)

    def close(self) -> None:
        """Wait for the broker to have every letter."""
        waiting = self._producer.flush(self._patience + 1)
        if waiting or self._lost:
            raise BrokerUnreachable(
                f"Expected {self._servers} to take {waiting + self._lost} more dead letters into "
                f"{self.topic!r}, but it did not within {self._patience:.0f} s. Check that the "
                "broker runs and that this topic exists (workbook doctor)."
            )

    def _send(self, message: Message, headers: dict[str, str]) -> None:
        self._producer.produce(
            self.topic,
            key=message.key(),
            value=message.value(),
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
        else:  # what went wrong first is the news; still try to deliver
            self._producer.flush(self._patience)
