"""Sends records to a topic from the driver or a task, and tells which ones it doesn't take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, Message

from workbook.errors import BrokerUnreachable
from workbook.kafka.producer import PATIENCE_S, TOO_LARGE, DeliveringProducer


class Record(NamedTuple):
    """A record; without a partition the key chooses one. ``at`` (ms) is for its dead letter."""

    value: bytes | None
    key: bytes
    partition: int = -1
    headers: Mapping[str, str | bytes] | None = None
    at: int = -1

    def letter(self, topic: str) -> dict[str, Any]:
        """Return what ``DeadLetters.send`` takes of a record that isn't in its topic."""
        where = {"topic": topic, "partition": self.partition, "offset": -1, "arrival": self.at}
        return {"key": self.key, "value": self.value, **where}


@dataclass(frozen=True)
class Delivery:
    """How records get to a topic. It travels to executors by pickle.

    A process has one producer for it: a Python worker has many tasks. A record that the broker
    doesn't take within ``patience`` seconds is an error.
    """

    config: dict[str, Any]
    topic: str
    patience: float = PATIENCE_S

    def send(self, records: Iterable[Record]) -> list[Record]:
        """Send records, in order; return those that are too large, once the broker has the others.

        Maybe it was their batch that was too large: send each of them again, by itself. Raises
        ``BrokerUnreachable`` where the broker doesn't take a record for another reason.
        """
        too_large, why = list[Record](), list[str]()

        def report(record: Record, error: KafkaError | None, _: Message | None) -> None:
            if error is not None and error.code() in TOO_LARGE:
                too_large.append(record)
            elif error is not None:
                why.append(error.str())

        producer = _producer(tuple(sorted(self.config.items())), self.topic, self.patience)
        for record in records:
            value, key, partition, headers, _ = record
            told = partial(report, record)
            producer.produce(value, key, partition, headers=headers, report=told)
        if producer.flush() or why:
            raise BrokerUnreachable(
                f"Expected {self.config.get('bootstrap.servers')} to take records into "
                f"{self.topic!r}, but it did not within {self.patience:.0f} s "
                f"({why[0] if why else 'no answer'}). Check that broker and topic exist (workbook "
                "doctor), and start again: with the same checkpoint nothing is lost."
            )
        return too_large


@lru_cache(maxsize=4)
def _producer(
    config: tuple[tuple[str, Any], ...], topic: str, patience: float
) -> DeliveringProducer:
    bulk = {"linger.ms": 5, "compression.type": "lz4"}
    return DeliveringProducer(dict(config), topic, bulk, patience=patience)
