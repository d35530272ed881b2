"""Sends rejected records to ``<topic>.dead-letters``, from Spark and from a loop by hand.

A dead letter keeps key and value of the record byte for byte, null and empty told apart. What we
know about it stands in the Kafka headers, as text: ``reason``, ``topic``, ``partition``,
``offset``, ``arrival`` (ms since 1970). So a repaired reader can take the value as it is.

One that the broker finds too large is sent again, by itself and then cut: to a half, a quarter
and so on, until the broker takes it, whatever its limit is. Then ``value-length`` and
``value-sha256`` (or the same of the ``key``) are those of the whole.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaError, Message

from workbook.errors import BrokerUnreachable, RecordRefused, Rejected
from workbook.kafka.producer import TOO_LARGE, DeliveringProducer

_SILENT = {KafkaError._MSG_TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN}

MOST = 16 << 20
"""At most this number of bytes of a key or value are sent; a broker limits the compressed ones."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter: key and value as bytes or None, and the headers."""

    key: bytes | None
    value: bytes | None
    headers: dict[str, str]

    @property
    def size(self) -> int:
        """Return the size in bytes of the longer one, key or value."""
        return max(len(self.key or b""), len(self.value or b""))

    def cut(self, most: int) -> Letter:
        """Cut key and value to ``most`` bytes each; headers say how long the whole was."""
        headers = dict(self.headers)
        for name, whole in (("key", self.key), ("value", self.value)):
            if whole is not None and len(whole) > most:
                headers |= {f"{name}-{what}": fact for what, fact in identity(whole).items()}
        return Letter(self.key and self.key[:most], self.value and self.value[:most], headers)


def identity(whole: bytes) -> dict[str, str]:
    """Identify bytes of which only a part is at hand, by their length and their SHA-256."""
    return {"length": str(len(whole)), "sha256": sha256(whole).hexdigest()}


class DeadLetters:
    """Sends rejected records to a topic: call it with a message and why, or ``send``; close it.

    ``asked`` counts the letters handed in, ``sent`` those the broker has confirmed. ``close()``
    (or the end of a ``with``) waits until the broker has every letter; it raises
    ``BrokerUnreachable`` if one was not delivered within ``patience`` seconds, ``RecordRefused``
    if the broker takes none, for want of a topic or of rights. A copy made by pickle, as Spark
    makes one for each task, counts for itself.
    """

    def __init__(self, config: dict[str, str], topic: str, patience: float = 60.0) -> None:
        self.topic, self.asked, self.sent = topic, 0, 0
        self._patience, self._lost, self._why = patience, 0, ""
        self._config = config
        self._too_large: deque[Letter] = deque()
        # Most tasks meet no bad record and need none.
        self._producer: DeliveringProducer | None = None

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
        self._produce(self._producer, Letter(record["key"], record["value"], headers))
        self.asked += 1
        self._producer.poll()
        self._send_smaller(self._producer)

    def close(self) -> None:
        """Wait for the broker to have every letter."""
        if self._producer is None:
            return
        waiting = self._producer.flush()
        self._send_smaller(self._producer)
        lost, why = self._lost, self._why
        self._lost, self._why = 0, ""  # raised once: who goes on starts anew
        if why:
            raise RecordRefused(
                f"Expected {self._config.get('bootstrap.servers')} to take dead letters into "
                f"{self.topic!r}, but it refuses them ({why}). Check that this topic exists, "
                "isn't compacted, and that you may write there; then start again."
            )
        if waiting or lost:
            raise BrokerUnreachable(
                f"Expected {self._config.get('bootstrap.servers')} to take {waiting + lost} "
                f"more dead letters into {self.topic!r}, but it did not within "
                f"{self._patience:.0f} s. Check that the broker runs and that this topic exists "
                "(python -m workbook doctor)."
            )

    def _connect(self) -> DeliveringProducer:
        return DeliveringProducer(self._config, self.topic, patience=self._patience)

    def _produce(self, producer: DeliveringProducer, letter: Letter, most: int = MOST) -> None:
        part, report = letter.cut(most), partial(self._delivered, letter)
        producer.produce(part.value, part.key, headers=part.headers, report=report)

    def _send_smaller(self, producer: DeliveringProducer) -> None:
        """Send again what was too large: whole, since its batch may have been; then cut."""
        while self._too_large:
            producer.flush()  # what still waits would share a batch with it
            letter = self._too_large.popleft()
            most = min(letter.size, MOST)
            while not self._takes(producer, letter, most):
                most //= 2

    def _takes(self, producer: DeliveringProducer, letter: Letter, most: int) -> bool:
        """Send a letter by itself; False if the broker finds it too large, and it can be cut."""
        others = len(self._too_large)
        self._produce(producer, letter, most)
        producer.flush()
        if len(self._too_large) == others:
            return True
        self._too_large.pop()
        if most == 0:
            self._why = "even without key and value they are too large"
        return most == 0

    def _delivered(self, letter: Letter, error: KafkaError | None, _: Message | None) -> None:
        if error is None:
            self.sent += 1
        elif error.code() in TOO_LARGE:
            self._too_large.append(letter)  # not from within a callback: it would have to wait
        elif error.code() in _SILENT:
            self._lost += 1
        else:
            self._why = error.str()

    def __enter__(self) -> DeadLetters:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif self._producer:  # what went wrong first is the news; still try to deliver
            self._producer.flush()

    def __reduce__(self) -> tuple[type[DeadLetters], tuple[Any, ...]]:
        return DeadLetters, (self._config, self.topic, self._patience)


_PLACE = ("topic", "partition", "offset", "arrival")
