"""Writes merged visits to a topic, each to the partition that its messages came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, Message
from pyspark.sql import DataFrame

from workbook.errors import BrokerUnreachable
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.identity import topic_ids
from workbook.kafka.partitioners import require_partitions
from workbook.kafka.probe import require_topic
from workbook.kafka.producer import TOO_LARGE, DeliveringProducer
from workbook.kafka.start_offsets import headers
from workbook.spark.runner import ExecutorSink
from workbook.streams.events.merged import MERGED, STARTS
from workbook.streams.events.reasons import Reason

PATIENCE_S = 60.0
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
        producer, clocks = _producer(tuple(sorted(self._config.items())), self._topic), []
        refused = Refused()
        with self._letters as letters:
            for batch in batches:
                visits = pc.equal(batch.column("kind"), MERGED)
                self._send(batch.filter(visits), producer, letters, refused)
                clocks.append(batch.filter(pc.invert(visits)))
            left = producer.flush()
            for record in refused.too_large():
                again = Refused()
                again.send(producer, *record)  # maybe it was its batch that was too large
                left += producer.flush()
                refused.why = refused.why or again.why
                for value, key, partition, at, _ in again.too_large():
                    self._reject(letters, value, key, partition, at, TOO_LARGE_VISIT)
        if left or refused.why:
            raise BrokerUnreachable(
                f"Expected {self._config.get('bootstrap.servers')} to take merged visits into "
                f"{self._topic!r}, but it did not within {PATIENCE_S:.0f} s "
                f"({refused.why or 'no answer'}). Check that broker and topic exist (workbook "
                "doctor), and start again: with the same checkpoint nothing is lost."
            )
        yield from clocks

    def _send(
        self,
        visits: pa.RecordBatch,
        producer: DeliveringProducer,
        letters: DeadLetters,
        refused: Refused,
    ) -> None:
        for row in visits.select(["partition", *STARTS, *FIELDS]).to_pylist():
            partition, key = row.pop("partition"), row["ssid"].encode()
            offsets = [row.pop(name) for name in STARTS]
            starts = headers(self._sources, offsets)
            value = msgspec.json.encode(row)
            if row["tracking"] or row["fragment"]:
                refused.send(producer, value, key, partition, row["timestamp"], starts)
            else:
                self._reject(letters, value, key, partition, row["timestamp"], Reason.NO_VISIT)
        producer.poll()

    def _reject(
        self, letters: DeadLetters, value: bytes, key: bytes, partition: int, at: int, why: str
    ) -> None:
        where = {"topic": self._topic, "partition": partition, "offset": -1}
        letters.send({"key": key, "value": value, **where, "arrival": at}, str(why))


Record = tuple[bytes, bytes, int, int, Mapping[str, bytes]]
"""Value, key, partition, the visit's time (ms), and headers."""


class Refused:
    """What the broker didn't take of a task's records."""

    def __init__(self) -> None:
        self.why, self._large = "", list[Record]()

    def send(
        self,
        producer: DeliveringProducer,
        value: bytes,
        key: bytes,
        partition: int,
        at: int,
        says: Mapping[str, bytes],
    ) -> None:
        """Send a record, and remember it if the broker finds it too large."""
        report = partial(self._report, (value, key, partition, at, says))
        producer.produce(value, key, partition, headers=says, report=report)

    def too_large(self) -> list[Record]:
        """Return the records that were too large."""
        return self._large

    def _report(self, record: Record, error: KafkaError | None, _: Message | None) -> None:
        if error is not None and error.code() in TOO_LARGE:
            self._large.append(record)
        elif error is not None:
            self.why = error.str()


@lru_cache(maxsize=1)
def _producer(config: tuple[tuple[str, Any], ...], topic: str) -> DeliveringProducer:
    """Return this process's one producer for a topic: a Python worker has many tasks."""
    bulk = {"linger.ms": 5, "compression.type": "lz4"}
    return DeliveringProducer(dict(config), topic, bulk, patience=PATIENCE_S)
