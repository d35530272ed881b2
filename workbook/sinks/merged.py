"""Writes merged visits to a topic, each to the partition that its messages came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.identity import topic_ids
from workbook.kafka.partitioners import require_partitions
from workbook.kafka.probe import require_topic
from workbook.kafka.producer import PATIENCE_S
from workbook.kafka.start_offsets import headers
from workbook.sinks.delivery import Delivery, Record
from workbook.spark.runner import ExecutorSink
from workbook.streams.events.merged import MERGED, STARTS
from workbook.streams.events.reasons import Reason

TOO_LARGE_VISIT = "merged visit too large for a record of its topic"
FIELDS = ("ssid", "timestamp", "fragment", "tracking", "orders")
"""Of the record's value, in JSON; its key is the ssid."""


class MergedTopic(ExecutorSink):
    """Sends a task's merged visits to ``topic`` and passes on the rows of clocks.

    They're sent in order; those of a batch that the broker found too large come again, one by one,
    behind the others.

    A first part without tracking messages is no visit: it goes to ``dead_letters``, as it would
    have been written. So does one that the broker finds too large, even alone. A task's rows are
    handed on once the broker has all that it sent; then its micro-batch may come again, which makes
    it at least once. Each record says in a header from which offsets of ``sources`` to read on
    without a checkpoint (``kafka.start_offsets``). It travels to executors by pickle. Raises
    ``TopicMissing`` now, ``BrokerUnreachable`` when the broker doesn't take a record.
    """

    kind = "topic"

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        sources: Sequence[str],
        dead_letters: DeadLetters,
    ) -> None:
        self._partitions = require_topic(config, topic)
        self.config, self.topic, self.dead_letters = dict(config), topic, dead_letters
        self.sources = topic_ids(config, sources)

    def through(self, rows: DataFrame) -> DataFrame:
        """Return the clocks of a micro-batch, whose visits are sent on their way.

        Raises ``PartitionedApart`` once a topic has another number of partitions.
        """
        require_partitions(self.config, list(self.sources), self._partitions, PATIENCE_S)
        send = _Send(Delivery(self.config, self.topic), self.sources, self.dead_letters)
        return rows.mapInArrow(send, rows.schema)


@dataclass(frozen=True)
class _Send:
    """What runs in a task: it has nothing in it that can't travel."""

    delivery: Delivery
    sources: dict[str, str]
    dead_letters: DeadLetters

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        deliver, clocks = self.delivery.send, list[pa.RecordBatch]()
        with self.dead_letters as letters:
            for large in deliver(self._visits(batches, clocks, letters)):
                for alone in deliver([large]):
                    letters.send(alone.letter(self.delivery.topic), TOO_LARGE_VISIT)
        yield from clocks

    def _visits(
        self, batches: Iterator[pa.RecordBatch], clocks: list[pa.RecordBatch], letters: DeadLetters
    ) -> Iterator[Record]:
        """Yield the visits as records, put the other rows to the clocks, reject what is none."""
        for batch in batches:
            visits = pc.equal(batch.column("kind"), MERGED)
            clocks.append(batch.filter(pc.invert(visits)))
            named = batch.filter(visits).select(["partition", *STARTS, *FIELDS])
            for row in named.to_pylist():
                partition = row.pop("partition")
                starts = headers(self.sources, [row.pop(name) for name in STARTS])
                value, key = msgspec.json.encode(row), row["ssid"].encode()
                record = Record(value, key, partition, starts, row["timestamp"])
                if row["tracking"] or row["fragment"]:
                    yield record
                else:
                    letters.send(record.letter(self.delivery.topic), str(Reason.NO_VISIT))
