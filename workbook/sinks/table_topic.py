"""Writes a table to a compacted topic: a record per changed row, a tombstone per deleted one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.accumulators import Accumulator
from pyspark.sql import DataFrame

from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.producer import Delivery, Record
from workbook.kafka.require import require_topic
from workbook.sinks.row_json import keyed_json
from workbook.spark.runner import Batch, ExecutorSink, Sink

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
        self._rows = _Rows(Delivery(dict(config), topic), key, dead_letters)

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send a micro-batch from this process; all of it is delivered on return."""
        self.written += self._rows.send(rows)

    def line(self) -> str:
        """Count the rows that the broker has taken, for a status line."""
        return f"out {self.written:,}" if self.written else ""

    def on_executors(self) -> ExecutorTableTopic:
        """Return the sink that writes the same from Spark's executors."""
        return ExecutorTableTopic(self._rows)


class ExecutorTableTopic(ExecutorSink):
    """Writes as ``TableTopic``, by executors; all rows of a key come from one task.

    A task is run again where its executor was lost. One that Spark has given up for lost isn't
    fenced, though: should its machine wake after more than a minute, it may still write.
    """

    kind = "topic"

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows
        self._delivered: Accumulator[int] | None = None

    @property
    def written(self) -> int:
        """The number of rows that the broker has taken."""
        return self._delivered.value if self._delivered else 0

    def through(self, rows: DataFrame, batch: Batch) -> DataFrame:
        """Return the same rows; a task hands its own on once all of them are delivered."""
        if self._delivered is None:
            self._delivered = rows.sparkSession.sparkContext.accumulator(0)
        sent, delivered = self._rows, self._delivered

        def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            taken = list(batches)  # a key's rows may be in several
            if taken:
                delivered.add(sent.send(pa.Table.from_batches(taken)))
            yield from taken

        return rows.mapInArrow(send, rows.schema)

    def line(self) -> str:
        """Count the rows that the broker has taken, for a status line."""
        return f"out {self.written:,}" if self.written else ""


@dataclass(frozen=True)
class _Rows:
    """How rows become records. It travels to Spark's executors by pickle."""

    delivery: Delivery
    key: str
    dead_letters: DeadLetters | None

    def send(self, changes: pa.Table) -> int:
        """Send changed rows, a key's in their order; return how many."""
        with self.dead_letters or nullcontext():
            return self.delivery.send(self._records(changes))

    def _records(self, changes: pa.Table) -> Iterator[Record]:
        for key, value in keyed_json(changes, self.key):
            record = Record(None if value is None else value.encode(), key.encode())
            if value is not None and not self.delivery.fits(record):
                if self.dead_letters is not None:
                    self.dead_letters.send(self.delivery.letter(record), ROW_TOO_LARGE)
                record = Record(None, record.key, headers={"reason": ROW_TOO_LARGE})
            yield record
