"""Writes a table to a compacted topic: a record per changed row, a tombstone per deleted one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, Message

from workbook.errors import BrokerUnreachable
from workbook.kafka.dead_letters import DeadLetters, identity
from workbook.kafka.probe import require_topic
from workbook.kafka.producer import TOO_LARGE, DeliveringProducer
from workbook.sinks.store import keyed_json

ROW_TOO_LARGE = "row too large for a record of its topic"
"""With this reason a row goes to the dead letters, and a tombstone takes its place."""

SHORT = 1000
"""Columns up to this number of characters stay in the short form of a row that is too large."""

_NONE: Mapping[str, str] = {}


class TableTopic:
    """Writes each micro-batch of a table's changes to a topic: key, and the row as JSON or null.

    Where the key is not that of the table, as in a topic that is partitioned by group, a null
    would not say which row goes: without ``tombstones`` the JSON has ``deleted`` in it.

    A row that the broker finds too large, even compressed, must not leave the former one as it
    was, for that is wrong now: a tombstone takes its place, with the header ``reason`` and with
    length and hash of the row, and the row goes to ``dead_letters``, if there are any. (Without
    ``tombstones`` it is the row without its long columns, ``deleted``.) The next change of the
    row is written as ever.

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
        dead_letters: DeadLetters | None = None,
    ) -> None:
        require_topic(config, topic)
        self.topic, self.key, self.written = topic, key, 0
        self._tombstones, self._patience, self._refused = tombstones, patience, ""
        self._dead_letters = dead_letters
        self._too_large: set[bytes] = set()
        self._bootstrap = config.get("bootstrap.servers")
        bulk = {"linger.ms": 5, "compression.type": "lz4"}
        self._producer = DeliveringProducer(config, topic, bulk, patience=patience)

    def apply(self, changes: pa.Table, query: str, batch_id: int) -> None:
        """Send a micro-batch; all of it is delivered on return."""
        self._refused = ""
        self._too_large.clear()
        rows = [
            (key.encode(), None if value is None else value.encode())
            for key, value in keyed_json(changes, self.key, tombstones=self._tombstones)
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

    def _send_alone(self, key: bytes, value: bytes | None) -> None:
        """Send a row again: maybe it was its batch that was too large. If not, say so instead."""
        self._too_large.clear()
        self._send(key, value)
        self._flush()
        if value is None or not self._too_large:
            return
        headers = {f"value-{what}": fact for what, fact in identity(value).items()}
        self._send(key, self._instead(value), {"reason": ROW_TOO_LARGE, **headers})
        self._flush()
        if self._dead_letters is not None:
            where = {"topic": self.topic, "partition": -1, "offset": -1, "arrival": -1}
            self._dead_letters.send({"key": key, "value": value, **where}, ROW_TOO_LARGE)

    def _instead(self, value: bytes) -> bytes | None:
        if self._tombstones:
            return None
        row = json.loads(value)
        short = {name: what for name, what in row.items() if len(json.dumps(what)) <= SHORT}
        return json.dumps({**short, "deleted": True}).encode()

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
            self.written += 1
        elif error.code() in TOO_LARGE:
            self._too_large.add(key)
        else:
            self._refused = error.str()
