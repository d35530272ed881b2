"""Writes a table to a compacted topic: a record per changed row, a tombstone per deleted one."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import pyarrow as pa

from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.producer import Delivery, Record
from workbook.kafka.require import require_topic
from workbook.sinks.row_json import keyed_json
from workbook.spark.runner import Batch, Sink

ROW_TOO_LARGE = "row too large for a record of its topic"
"""With this reason a row goes to the dead letters, and a tombstone takes its place."""


class TableTopic(Sink):
    """Writes each micro-batch of a table's changes to a topic: key, and the row as JSON or null.

    A row that is too large for the topic must not leave the former one as it was, for that is
    wrong now: a tombstone takes its place, with the header ``reason``, and the row goes to
    ``dead_letters``, if there are any. The next change of the row is written as ever.

    At least once: a micro-batch may be written twice. The last record of a key counts, so that does
    no harm. Raises ``TopicMissing`` now, ``BrokerUnreachable`` when the broker does not take a
    batch in time.
    """

    kind = "topic"

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        key: str,
        dead_letters: DeadLetters | None = None,
    ) -> None:
        require_topic(config, topic)
        self.written = 0
        self._delivery, self._key, self._letters = Delivery(dict(config), topic), key, dead_letters

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send a micro-batch, a key's rows in their order; all of it is delivered on return."""
        with self._letters or nullcontext():
            self.written += self._delivery.send(self._records(rows))

    def line(self) -> str:
        """Count the rows that the broker has taken, for a status line."""
        return f"out {self.written:,}" if self.written else ""

    def _records(self, changes: pa.Table) -> Iterator[Record]:
        for key, value in keyed_json(changes, self._key):
            record = Record(None if value is None else value.encode(), key.encode())
            if value is not None and not self._delivery.fits(record):
                if self._letters is not None:
                    self._letters.send(self._delivery.letter(record), ROW_TOO_LARGE)
                record = Record(None, record.key, headers={"reason": ROW_TOO_LARGE})
            yield record
