"""Sends a table's changed rows as records, also where a row or a batch of them is too large."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, Message

from workbook.errors import BrokerUnreachable
from workbook.kafka.dead_letters import DeadLetters, identity
from workbook.kafka.producer import TOO_LARGE, DeliveringProducer
from workbook.sinks.row_json import keyed_json

ROW_TOO_LARGE = "row too large for a record of its topic"
"""With this reason a row goes to the dead letters, and a tombstone takes its place."""

_NONE: Mapping[str, str] = {}


def connect(config: Mapping[str, Any], topic: str, patience: float) -> DeliveringProducer:
    """Return a producer for many small records at once."""
    bulk = {"linger.ms": 5, "compression.type": "lz4"}
    return DeliveringProducer(config, topic, bulk, patience=patience)


def kept(config: Mapping[str, Any], topic: str, patience: float) -> DeliveringProducer:
    """Return this process's one producer for a topic: a Python worker has many tasks."""
    return _kept(tuple(config.items()), topic, patience)


@lru_cache(maxsize=1)
def _kept(config: tuple[tuple[str, Any], ...], topic: str, patience: float) -> DeliveringProducer:
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
        connect: Callable[..., DeliveringProducer] = connect,
    ) -> None:
        self._made_of = (config, topic, key, patience, dead_letters)
        self.topic, self.key = topic, key
        self._patience, self._dead_letters = patience, dead_letters
        self._bootstrap = config.get("bootstrap.servers")
        self._too_large: set[bytes] = set()
        self._delivered, self._refused = 0, ""
        self._producer = connect(config, topic, patience)

    def __reduce__(self) -> tuple[type[RowSender], tuple[Any, ...]]:
        return RowSender, (*self._made_of, kept)

    def send(self, changes: pa.Table) -> int:
        """Send changed rows, a key's in their order; return how many records the broker has.

        Raises ``BrokerUnreachable`` where it doesn't take all of them.
        """
        self._delivered, self._refused = 0, ""
        self._too_large.clear()
        rows = [
            (key.encode(), None if value is None else value.encode())
            for key, value in keyed_json(changes, self.key)
        ]
        for key, value in rows:
            self._send(key, value)
        self._flush()
        again = set(self._too_large)
        for key, value in rows:
            if key in again:  # all of a key's rows, since their order counts
                self._send_alone(key, value)
        if self._dead_letters is not None:
            self._dead_letters.close()
        return self._delivered

    def _send_alone(self, key: bytes, value: bytes | None) -> None:
        """Send a row again: maybe it was its batch that was too large. If not, say so instead."""
        self._too_large.clear()
        self._send(key, value)
        self._flush()
        if value is None or not self._too_large:
            return
        headers = {f"value-{what}": fact for what, fact in identity(value).items()}
        self._send(key, None, {"reason": ROW_TOO_LARGE, **headers})
        self._flush()
        if self._dead_letters is not None:
            where = {"topic": self.topic, "partition": -1, "offset": -1, "arrival": -1}
            self._dead_letters.send({"key": key, "value": value, **where}, ROW_TOO_LARGE)

    def _flush(self) -> None:
        left = self._producer.flush()
        if left or self._refused:
            raise BrokerUnreachable(
                f"Expected {self._bootstrap} to take a table's changes into "
                f"{self.topic!r}, but it did not within {self._patience:.0f} s "
                f"({self._refused or 'no answer'}). Check that broker and topic exist (workbook "
                "doctor), and start again: with the same checkpoint nothing is lost."
            )

    def _send(self, key: bytes, value: bytes | None, headers: Mapping[str, str] = _NONE) -> None:
        self._producer.produce(value, key, headers=headers, report=partial(self._report, key))

    def _report(self, key: bytes, error: KafkaError | None, _: Message | None) -> None:
        if error is None:
            self._delivered += 1
        elif error.code() in TOO_LARGE:
            self._too_large.add(key)
        else:
            self._refused = error.str()
