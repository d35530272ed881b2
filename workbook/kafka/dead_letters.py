"""Sends rejected records to ``<topic>.dead-letters``, from Spark and from a loop by hand.

A dead letter keeps key and value of the record byte for byte, null and empty told apart. What we
know about it is in the Kafka headers, as text: ``reason``, ``topic``, ``partition``,
``offset``, ``arrival`` (ms since 1970). So a repaired reader can take the value as it is.

One that is larger than a record of its topic may be is cut. Then ``value-length`` and
``value-sha256`` (or the same of the ``key``) are those of the whole.
"""

import os
from collections import Counter
from collections.abc import Hashable, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Self

from confluent_kafka import Message

from workbook.errors import BrokerUnreachable, RecordRefused, Rejected
from workbook.kafka.producer import SILENT, DeliveringProducer, bounded
from workbook.kafka.require import PATIENCE_S

_IDLE: dict[Hashable, tuple[int, DeliveringProducer]] = {}
"""Of this process: a producer for the next task, and the most bytes that its topic takes."""

_PLACE = ("topic", "partition", "offset", "arrival")


class DeadLetters:
    """Sends rejected records to a topic: call it with a message and why, or ``send``; close it.

    ``close()`` (or the end of a ``with``) waits until the broker has every letter; it raises
    ``BrokerUnreachable`` if one was not delivered within ``patience`` seconds, ``RecordRefused`` if
    the broker takes none, for want of a topic or of rights. A copy made by pickle, as Spark
    makes one for each task, counts for itself; but all of them add to ``counts`` (an accumulator
    of Spark) how many letters have which reason.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        patience: float = PATIENCE_S,
        *,
        counts: Any = None,
    ) -> None:
        self._counts = counts
        self.topic = topic
        self._config, self._patience, self._most = config, patience, 0
        self._mine = (os.getpid(), topic, patience, *sorted(config.items()))
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

    def send(self, record: Mapping[str, Any], reason: str) -> None:
        """Send one record: key, value (bytes), topic, partition, offset, arrival (ms).

        A full queue of the producer is waited for.
        """
        if self._producer is None:
            kept = _IDLE.pop(self._mine) if self._mine in _IDLE else self._connected()
            self._most, self._producer = kept
        headers = {"reason": reason, **{name: str(record[name]) for name in _PLACE}}
        key, value = record["key"], record["value"]
        if len(key or b"") + len(value or b"") > self._most:
            for name, whole in (("key", key), ("value", value)):
                if len(whole or b"") > self._most // 2:
                    headers[f"{name}-length"] = str(len(whole))
                    headers[f"{name}-sha256"] = sha256(whole).hexdigest()
            key, value = (part and part[: self._most // 2] for part in (key, value))
        self._producer.produce(value, key, headers=headers)
        if self._counts is not None:
            self._counts.add(Counter([reason]))
        self._producer.poll()

    def close(self) -> None:
        """Wait for the broker to have every letter."""
        if (producer := self._producer) is None:
            return
        self._producer = None
        lost, error = producer.settle()
        if lost:
            silent = error is None or error.code() in SILENT
            kind = BrokerUnreachable if silent else RecordRefused
            raise kind(f"{producer.told(f'{lost} more dead letters', error)} Start again.")
        _IDLE[self._mine] = self._most, producer

    def _connected(self) -> tuple[int, DeliveringProducer]:
        config, topic, patience = self._config, self.topic, self._patience
        most, settings = bounded(config, topic, patience)
        return most, DeliveringProducer(config, topic, settings, patience=patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self.close()
        elif self._producer:  # what went wrong first is the news; still try to deliver
            self._producer.flush()

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(DeadLetters, counts=self._counts)
        return made, (self._config, self.topic, self._patience)
