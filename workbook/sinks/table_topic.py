"""A table into a compacted topic: a record per changed row, a tombstone for one that goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, Message, Producer

from workbook.errors import BrokerUnreachable
from workbook.sinks.store import keyed_json
from workbook.sources.checks import require_topic


class TableTopic:
    """Writes each micro-batch of a table's changes to a topic: key, and the row as JSON or null.

    Where the key is not that of the table, as in a topic that is partitioned by group, a null
    would not say which row goes: without ``tombstones`` the JSON has ``deleted`` in it.

    At least once: a micro-batch may come again. The last record of a key counts, so that does no
    harm. Raises ``TopicMissing`` now, and ``BrokerUnreachable`` when the broker does not take a
    batch within ``patience`` seconds.
    """

    kind = "topic"

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        key: str,
        *,
        tombstones: bool = True,
        patience: float = 60.0,
    ) -> None:
        require_topic(config, topic)
        self.topic, self.key, self.written = topic, key, 0
        self._tombstones, self._patience, self._refused = tombstones, patience, ""
        waiting = {
            "message.timeout.ms": int(patience * 1000),
            "reconnect.backoff.max.ms": 1000,
            "log_level": 0,
        }
        bulk = {"enable.idempotence": True, "linger.ms": 5, "compression.type": "lz4"}
        place = {"partitioner": "murmur2_random"}  # the Java client's: same key, same partition
        self._config = {**bulk, **place, **waiting, **config}
        self._producer = Producer(self._config)

    def apply(self, changes: pa.Table, query: str, batch_id: int) -> None:
        """Send a micro-batch; all of it is delivered on return."""
        self._refused = ""
        for key, value in keyed_json(changes, self.key, tombstones=self._tombstones):
            self._send(key.encode(), None if value is None else value.encode())
        left = self._producer.flush(self._patience + 1)
        if left or self._refused:
            raise BrokerUnreachable(
                f"Expected {self._config.get('bootstrap.servers')} to take a table's changes into "
                f"{self.topic!r}, but it did not within {self._patience:.0f} s "
                f"({self._refused or 'no answer'}). Check that broker and topic exist (workbook "
                "doctor), and start again: with the same checkpoint nothing is lost."
            )

    def _send(self, key: bytes, value: bytes | None) -> None:
        while True:
            try:
                self._producer.produce(self.topic, value, key, on_delivery=self._heard)
                return
            except BufferError:
                self._producer.poll(0.1)  # the queue is full: let the broker catch up

    def _heard(self, error: KafkaError | None, _: Message) -> None:
        if error is None:
            self.written += 1
        else:
            self._refused = error.str()
