"""Appends rows to a topic by Spark's own Kafka sink."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from workbook.sources.kafka import Kafka, sink_options
from workbook.spark.runner import Batch, Sink


class SparkTopic(Sink):
    """Appends each micro-batch to a topic, at least once: the sink has no transactions.

    ``records`` makes its rows those of a topic (key, value, optionally headers). With ``only``,
    the rows of this ``kind`` are written, and no others.
    """

    kind = "topic"

    def __init__(
        self,
        spark: SparkSession,
        broker: Kafka,
        topic: str,
        records: Callable[[DataFrame], DataFrame] = lambda rows: rows,
        only: str | None = None,
    ) -> None:
        self._spark, self._records, self._only = spark, records, only
        self._options = sink_options(broker, topic)

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Append the rows of a micro-batch; all of them are delivered on return."""
        if self._only is not None:
            rows = rows.filter(pc.equal(rows["kind"], self._only))
        if len(rows):
            writer = self._records(self._frame(rows)).write.format("kafka")
            writer.options(**self._options).save()

    def _frame(self, rows: pa.Table) -> DataFrame:
        """Return collected rows as a DataFrame.

        ``createDataFrame`` would make the micro-batch's session the active one of this process.
        """
        one_task = self._spark.range(0, 1, 1, 1)
        return one_task.mapInArrow(
            lambda _: iter(rows.to_batches()), from_arrow_schema(rows.schema)
        )
