"""Writes merged visits to a topic, each to the partition that its messages came from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.partitioning import require_partitions
from workbook.kafka.producer import Delivery, Record
from workbook.kafka.require import PATIENCE_S, require_topic, topic_ids
from workbook.kafka.start_offsets import headers
from workbook.spark.runner import Batch, ExecutorSink
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import MERGED, STARTS

TOO_LARGE_VISIT = "merged visit too large for a record of its topic"
FIELDS = ("ssid", "timestamp", "fragment", "tracking", "orders")
"""Of the record's value, in JSON; its key is the ssid."""


class MergedTopic(ExecutorSink):
    """Sends a task's merged visits to ``topic`` in order, and passes on the rows of clocks.

    A first part without tracking messages is no visit: it goes to ``dead_letters``, as it would
    have been written. So does one that is larger, before it's compressed, than a record of the
    topic may be. A task's rows are handed on once the broker has all that it sent; then its
    micro-batch may be sent again, which makes it at least once. Each record says in a header from
    which offsets of ``sources`` to read on without a checkpoint (``kafka.start_offsets``). It
    travels to executors by pickle. Raises ``TopicMissing`` now, ``BrokerUnreachable`` when the
    broker doesn't take a record.
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

    def through(self, rows: DataFrame, batch: Batch) -> DataFrame:
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
        clocks = list[pa.RecordBatch]()
        with self.dead_letters as letters:
            self.delivery.send(self._visits(batches, clocks, letters))
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
                lone = not row["tracking"] and not row["fragment"]
                if lone or not self.delivery.fits(record):
                    why = str(Reason.NO_VISIT) if lone else TOO_LARGE_VISIT
                    letters.send(self.delivery.letter(record), why)
                else:
                    yield record
