"""Writes a table to a compacted topic: a record per changed row, a tombstone per deleted one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.accumulators import Accumulator
from pyspark.sql import DataFrame, SparkSession

from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.probe import require_topic
from workbook.sinks.row_sender import RowSender


class TableTopic:
    """Writes each micro-batch of a table's changes to a topic: key, and the row as JSON or null.

    The driver writes it (``apply``), or Spark's executors, each the rows of its own tasks
    (``through``). For the latter all rows of a key must come from one task, as those of a table do.

    Where the key is not that of the table, as in a topic that is partitioned by group, a null
    would not say which row goes: without ``tombstones`` the JSON has ``deleted`` in it.

    A row that the broker finds too large, even compressed, must not leave the former one as it
    was, for that is wrong now: a tombstone takes its place, with the header ``reason`` and with
    length and hash of the row, and the row goes to ``dead_letters``, if there are any. (Without
    ``tombstones`` it is the row without its long columns, ``deleted``.) The next change of the
    row is written as ever.

    At least once: a micro-batch may come again, or one of its tasks, whose executor was lost. The
    last record of a key counts, so that does no harm. A task that Spark has given up for lost
    isn't fenced, though: should its machine wake after more than a minute, it may still write.

    Raises ``TopicMissing`` now, and ``BrokerUnreachable`` when the broker does not take a
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
        self.topic, self.key = topic, key
        self._sender = RowSender(config, topic, key, tombstones, patience, dead_letters)
        self._by_us = 0
        self._by_executors: Accumulator[int] | None = None

    @property
    def written(self) -> int:
        """So many records the broker has taken."""
        return self._by_us + (self._by_executors.value if self._by_executors else 0)

    def apply(self, changes: pa.Table, query: str, batch_id: int) -> None:
        """Send a micro-batch from this process; all of it is delivered on return."""
        self._by_us += self._sender.send(changes)

    def through(self, batch: DataFrame) -> DataFrame:
        """Return the rows of a micro-batch, which are sent on their way, by the executors.

        A task hands its rows on once all of them are delivered.
        """
        sender, delivered = self._sender, self._counter(batch.sparkSession)

        def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            rows = list(batches)  # a key's rows may lie in several
            if rows:
                delivered.add(sender.send(pa.Table.from_batches(rows)))
            yield from rows

        return batch.mapInArrow(send, batch.schema)

    def _counter(self, spark: SparkSession) -> Accumulator[int]:
        if self._by_executors is None:
            self._by_executors = spark.sparkContext.accumulator(0)
        return self._by_executors
