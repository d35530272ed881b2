"""Writes a table to a compacted topic: a record per changed row, a tombstone per deleted one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.accumulators import Accumulator
from pyspark.sql import DataFrame

from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.require import require_topic
from workbook.sinks.row_sender import RowSender
from workbook.spark.runner import Batch, ExecutorSink, Sink


class TableTopic(Sink):
    """Writes each micro-batch of a table's changes to a topic: key, and the row as JSON or null.

    A row that the broker finds too large, even compressed, must not leave the former one as it
    was, for that is wrong now: a tombstone takes its place, with the header ``reason`` and with
    length and hash of the row, and the row goes to ``dead_letters``, if there are any. The next
    change of the row is written as ever.

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
        patience: float = 60.0,
        dead_letters: DeadLetters | None = None,
    ) -> None:
        require_topic(config, topic)
        self.topic, self.key, self.written = topic, key, 0
        self._sender = RowSender(config, topic, key, patience, dead_letters)

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send a micro-batch from this process; all of it is delivered on return."""
        self.written += self._sender.send(rows)

    def line(self) -> str:
        """Count the records that the broker has taken, for a status line."""
        return f"out {self.written:,}" if self.written else ""

    def on_executors(self) -> ExecutorTableTopic:
        """Return the sink that writes the same from Spark's executors."""
        return ExecutorTableTopic(self._sender)


class ExecutorTableTopic(ExecutorSink):
    """Writes as ``TableTopic``, by executors; all rows of a key come from one task.

    A task comes again where its executor was lost. One that Spark has given up for lost isn't
    fenced, though: should its machine wake after more than a minute, it may still write.
    """

    kind = "topic"

    def __init__(self, sender: RowSender) -> None:
        self._sender = sender
        self._delivered: Accumulator[int] | None = None

    @property
    def written(self) -> int:
        """The number of records that the broker has taken."""
        return self._delivered.value if self._delivered else 0

    def through(self, rows: DataFrame) -> DataFrame:
        """Return the same rows; a task hands its own on once all of them are delivered."""
        if self._delivered is None:
            self._delivered = rows.sparkSession.sparkContext.accumulator(0)
        sender, delivered = self._sender, self._delivered

        def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            taken = list(batches)  # a key's rows may lie in several
            if taken:
                delivered.add(sender.send(pa.Table.from_batches(taken)))
            yield from taken

        return rows.mapInArrow(send, rows.schema)

    def line(self) -> str:
        """Count the records that the broker has taken, for a status line."""
        return f"out {self.written:,}" if self.written else ""
