"""Sinks that write to topics: a table to a compacted one, complete seconds, late clicks."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from workbook.errors import Rejected
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.producer import Delivery, Record
from workbook.kafka.readers import reread
from workbook.kafka.require import require_topic
from workbook.sinks.store import keyed_json
from workbook.sources.kafka import sink_options
from workbook.spark.runner import Batch, Sink
from workbook.streams.events.reasons import Reason

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


class SparkTopic(Sink):
    """Appends rows to a topic by Spark's Kafka sink, at least once: it has no transactions.

    ``records`` makes the rows of the kind ``only`` those of a topic: key, value, perhaps headers.
    """

    kind = "topic"

    def __init__(
        self,
        spark: SparkSession,
        broker: Broker,
        topic: str,
        records: Callable[[DataFrame], DataFrame],
        only: str,
    ) -> None:
        self._spark, self._records, self._only = spark, records, only
        self._options = sink_options(broker, topic)

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Append the rows of a micro-batch; all of them are delivered on return."""
        rows = rows.filter(pc.equal(rows["kind"], self._only))
        if not len(rows):
            return

        def give(read: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            deque(read, 0)  # Spark ends a worker that hasn't read its input, and starts another one
            yield from rows.to_batches()

        # ``createDataFrame`` would make the micro-batch's session the active one of this process.
        one_task = self._spark.range(0, 1, 1, 1)
        frame = one_task.mapInArrow(give, from_arrow_schema(rows.schema))
        self._records(frame).write.format("kafka").options(**self._options).save()


class LateLetters(Sink):
    """Reads what ``completed_views`` calls too late from ``topic`` once more, with its bytes.

    ``config`` has the client's settings. At least once.
    """

    kind = "letters"

    def __init__(self, config: Mapping[str, str], topic: str, letters: DeadLetters) -> None:
        self._config, self._topic, self._letters = config, topic, letters

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send the micro-batch's late records; the broker has all of them on return.

        A record that the topic no longer has is sent without key and value.
        """
        wanted: dict[int, set[int]] = defaultdict(set)
        for row in rows.filter(pc.is_valid(rows["offsets"])).to_pylist():
            wanted[row["partition"]].update(row["offsets"])
        if not wanted:
            return
        places = {partition: sorted(offsets) for partition, offsets in wanted.items()}
        with self._letters as letters:
            for message in reread(self._config, self._topic, places):
                letters(message, Rejected(Reason.TOO_LATE))
                wanted[message.partition() or 0].discard(message.offset() or 0)
            for partition, offsets in wanted.items():
                for offset in offsets:
                    where = {"topic": self._topic, "partition": partition, "offset": offset}
                    gone = {"key": None, "value": None, "arrival": -1, **where}
                    letters.send(gone, Reason.TOO_LATE.value)
