"""Writes merged visits to a topic, each to the partition that its messages came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, Message
from pyspark.sql import DataFrame

from workbook.errors import BrokerUnreachable
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.require import PATIENCE_S, require_partitions, require_topic, topic_ids
from workbook.kafka.start_offsets import headers
from workbook.sinks.row_sender import kept
from workbook.spark.runner import ExecutorSink
from workbook.streams.events.merged import MERGED, STARTS
from workbook.streams.events.reasons import Reason

TOO_LARGE_VISIT = "merged visit too large for a record of its topic"
FIELDS = ("ssid", "timestamp", "fragment", "tracking", "orders")
"""Of the record's value, in JSON; its key is the ssid."""


class MergedTopic(ExecutorSink):
    """Sends a task's merged visits to ``topic`` in order, and passes on the rows of clocks.

    A first part without tracking messages is no visit: it goes to ``dead_letters``, as it would
    have been written. So does one that is larger, before it's compressed, than a record of the
    topic may be. A task's rows are handed on once the broker has all that it sent; then its
    micro-batch may come again, which makes it at least once. Each record says in a header from
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

    def through(self, rows: DataFrame) -> DataFrame:
        """Return the clocks of a micro-batch, whose visits are sent on their way.

        Raises ``PartitionedApart`` once a topic has another number of partitions.
        """
        require_partitions(self.config, list(self.sources), self._partitions, PATIENCE_S)
        send = _Send(self.config, self.topic, self.sources, self.dead_letters)
        return rows.mapInArrow(send, rows.schema)


class _Send:
    """What runs in a task: it has nothing in it that can't travel."""

    def __init__(
        self, config: dict[str, Any], topic: str, sources: dict[str, str], letters: DeadLetters
    ) -> None:
        self._config, self._topic, self._letters = config, topic, letters
        self._sources = sources

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        most, producer = kept(self._config, self._topic, PATIENCE_S)
        clocks, refused = [], list[str]()

        def report(error: KafkaError | None, _: Message | None) -> None:
            if error is not None:
                refused.append(error.str())

        with self._letters as letters:
            for batch in batches:
                visits = pc.equal(batch.column("kind"), MERGED)
                for partition, key, value, at, says, why in self._records(batch.filter(visits)):
                    if len(key) + len(value) > most:
                        why = TOO_LARGE_VISIT
                    if why is None:
                        producer.produce(value, key, partition, headers=says, report=report)
                        continue
                    where = {"topic": self._topic, "partition": partition, "offset": -1}
                    letters.send({"key": key, "value": value, **where, "arrival": at}, why)
                producer.poll()
                clocks.append(batch.filter(pc.invert(visits)))
            left = producer.flush()
        if left or refused:
            raise BrokerUnreachable(
                f"Expected {self._config.get('bootstrap.servers')} to take merged visits into "
                f"{self._topic!r}, but it did not within {PATIENCE_S:.0f} s "
                f"({refused[0] if refused else 'no answer'}). Check that broker and topic exist "
                "(workbook doctor), and start again: with the same checkpoint nothing is lost."
            )
        yield from clocks

    def _records(self, visits: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
        """Yield partition, key, value, time (ms), headers, and why it's no visit (or None)."""
        for row in visits.select(["partition", *STARTS, *FIELDS]).to_pylist():
            partition, key = row.pop("partition"), row["ssid"].encode()
            says = headers(self._sources, [row.pop(name) for name in STARTS])
            why = None if row["tracking"] or row["fragment"] else str(Reason.NO_VISIT)
            yield partition, key, msgspec.json.encode(row), row["timestamp"], says, why
