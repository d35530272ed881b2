"""What the page views write: complete seconds to a topic, late clicks to the dead letters."""

from collections import defaultdict
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from workbook.errors import Rejected
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import reread
from workbook.sources.kafka import sink_options
from workbook.spark.runner import Batch, Sink
from workbook.streams.events.reasons import Reason


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
        # ``createDataFrame`` would make the micro-batch's session the active one of this process.
        one_task = self._spark.range(0, 1, 1, 1)
        schema = from_arrow_schema(rows.schema)
        frame = one_task.mapInArrow(lambda _: iter(rows.to_batches()), schema)
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
