"""Sends a table's changed rows as records; a row that is too large goes to the dead letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, Message

from workbook.errors import BrokerUnreachable
from workbook.kafka.dead_letters import DeadLetters, bounded, identity
from workbook.kafka.producer import DeliveringProducer
from workbook.sinks.row_json import keyed_json

ROW_TOO_LARGE = "row too large for a record of its topic"
"""With this reason a row goes to the dead letters, and a tombstone takes its place."""

Connected = tuple[int, DeliveringProducer]
"""How many bytes key and value may have together, and a producer for many small records."""


def connect(config: Mapping[str, Any], topic: str, patience: float) -> Connected:
    """Connect to a topic, for many small records at once."""
    most, limit = bounded(config, topic)
    bulk = {"linger.ms": 5, "compression.type": "lz4", **limit}
    return most, DeliveringProducer(config, topic, bulk, patience=patience)


def kept(config: Mapping[str, Any], topic: str, patience: float) -> Connected:
    """Return this process's one connection to a topic: a Python worker has many tasks."""
    return _kept(tuple(sorted(config.items())), topic, patience)


@lru_cache(maxsize=1)
def _kept(config: tuple[tuple[str, Any], ...], topic: str, patience: float) -> Connected:
    return connect(dict(config), topic, patience)


class RowSender:
    """Sends changed rows as ``TableTopic`` says: key, and the row as JSON or null.

    It travels to Spark's executors by pickle; all copies in a process share a producer.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        key: str,
        patience: float,
        dead_letters: DeadLetters | None,
        connect: Callable[..., Connected] = connect,
    ) -> None:
        self._made_of = (config, topic, key, patience, dead_letters)
        self.topic, self.key = topic, key
        self._patience, self._dead_letters = patience, dead_letters
        self._bootstrap = config.get("bootstrap.servers")
        self._delivered, self._refused = 0, ""
        self._most, self._producer = connect(config, topic, patience)

    def __reduce__(self) -> tuple[type[RowSender], tuple[Any, ...]]:
        return RowSender, (*self._made_of, kept)

    def send(self, changes: pa.Table) -> int:
        """Send changed rows, a key's in their order; return how many records the broker has.

        Raises ``BrokerUnreachable`` where it doesn't take all of them.
        """
        self._delivered, self._refused = 0, ""
        for name, row in keyed_json(changes, self.key):
            key, value = name.encode(), None if row is None else row.encode()
            if len(key) + len(value or b"") > self._most:
                self._reject(key, value or b"")
            else:
                self._producer.produce(value, key, report=self._report)
        left = self._producer.flush()
        if self._dead_letters is not None:
            self._dead_letters.close()
        if left or self._refused:
            raise BrokerUnreachable(
                f"Expected {self._bootstrap} to take a table's changes into "
                f"{self.topic!r}, but it did not within {self._patience:.0f} s "
                f"({self._refused or 'no answer'}). Check that broker and topic exist (workbook "
                "doctor), and start again: with the same checkpoint nothing is lost."
            )
        return self._delivered

    def _reject(self, key: bytes, value: bytes) -> None:
        """Send a tombstone that says so instead of a row; else the former row would stay."""
        facts = {f"value-{what}": fact for what, fact in identity(value).items()}
        said = {"reason": ROW_TOO_LARGE, **facts}
        self._producer.produce(None, key, headers=said, report=self._report)
        if self._dead_letters is not None:
            where = {"topic": self.topic, "partition": -1, "offset": -1, "arrival": -1}
            self._dead_letters.send({"key": key, "value": value, **where}, ROW_TOO_LARGE)

    def _report(self, error: KafkaError | None, _: Message | None) -> None:
        if error is None:
            self._delivered += 1
        else:
            self._refused = error.str()
