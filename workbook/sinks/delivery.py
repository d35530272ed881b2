"""Sends records to a topic from the driver or a task, and tells which ones are too large."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, Message

from workbook.errors import BrokerUnreachable
from workbook.kafka.dead_letters import bounded
from workbook.kafka.producer import PATIENCE_S, DeliveringProducer


class Record(NamedTuple):
    """A record; without a partition the key chooses one. ``at`` (ms) is for its dead letter."""

    value: bytes | None
    key: bytes
    partition: int = -1
    headers: Mapping[str, str | bytes] | None = None
    at: int = -1


@dataclass(frozen=True)
class Delivery:
    """How records get to a topic. It travels to executors by pickle.

    A process has one producer for it: a Python worker has many tasks. A record that the broker
    doesn't take within ``patience`` seconds is an error.
    """

    config: dict[str, Any]
    topic: str
    patience: float = PATIENCE_S

    def fits(self, record: Record) -> bool:
        """Return whether key and value aren't too large for a record of the topic."""
        most, _ = self._connected()
        return len(record.key) + len(record.value or b"") <= most

    def letter(self, record: Record) -> dict[str, Any]:
        """Return what ``DeadLetters.send`` takes of a record that isn't in the topic."""
        where = {"topic": self.topic, "partition": record.partition, "offset": -1}
        return {"key": record.key, "value": record.value, **where, "arrival": record.at}

    def send(self, records: Iterable[Record]) -> int:
        """Send records, in order; return how many, once the broker has all of them.

        Raises ``BrokerUnreachable`` where it doesn't take one.
        """
        _, producer = self._connected()
        sent, refused = 0, list[str]()

        def report(error: KafkaError | None, _: Message | None) -> None:
            if error is not None:
                refused.append(error.str())

        for value, key, partition, headers, _ in records:
            producer.produce(value, key, partition, headers=headers, report=report)
            sent += 1
        if producer.flush() or refused:
            raise BrokerUnreachable(
                f"Expected {self.config.get('bootstrap.servers')} to take records into "
                f"{self.topic!r}, but it did not within {self.patience:.0f} s "
                f"({refused[0] if refused else 'no answer'}). Check that broker and topic exist "
                "(workbook doctor), and start again: with the same checkpoint nothing is lost."
            )
        return sent

    def _connected(self) -> tuple[int, DeliveringProducer]:
        return _connected(tuple(sorted(self.config.items())), self.topic, self.patience)


@lru_cache(maxsize=4)
def _connected(
    config: tuple[tuple[str, Any], ...], topic: str, patience: float
) -> tuple[int, DeliveringProducer]:
    """Return how many bytes key and value may have, and a producer for many small records."""
    most, limit = bounded(dict(config), topic)
    bulk = {"linger.ms": 5, "compression.type": "lz4", **limit}
    return most, DeliveringProducer(dict(config), topic, bulk, patience=patience)
