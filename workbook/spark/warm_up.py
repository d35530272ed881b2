"""Warms a session up by a small query of each kind: Java and Python load their code once."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle, StreamingQuery

from workbook.spark.state_store import PROVIDER, ROCKSDB

BATCHES, LONGEST_S = 3, 60.0
"""Each query runs for this number of micro-batches, and no longer than these seconds."""


def run_all(spark: SparkSession) -> None:
    """Run an aggregation, and state kept by Python, each for a few micro-batches."""
    rate = spark.readStream.format("rate").load()
    parsed = rate.selectExpr("from_json('{\"a\": 1}', 'a BIGINT') AS click", "timestamp", "value")
    _run(parsed.groupBy("click.a").count())
    spark.conf.set(PROVIDER, ROCKSDB)
    packed = rate.selectExpr("CAST(value % 2 AS INT) AS bucket", "CAST('x' AS BINARY) AS rows")
    kept = packed.mapInArrow(_same, packed.schema).groupBy("bucket")
    changes = kept.transformWithState(_Keeper(), packed.schema, "Update", "None")
    _run(changes.mapInArrow(_same, packed.schema))


def start_workers(spark: SparkSession) -> None:
    """Let Spark start the process from which it forks its Python workers, and one on each core."""
    cores = spark.sparkContext.defaultParallelism
    spark.range(0, cores, 1, cores).mapInArrow(_same, "id BIGINT").collect()


def _run(changes: DataFrame) -> None:
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = changes.writeStream.outputMode("update").option("checkpointLocation", checkpoint)
        query = writer.foreachBatch(lambda batch, _: batch.toArrow()).start()
        # Not processAllAvailable: on a slow machine the source has always a new row.
        deadline = time.monotonic() + LONGEST_S
        while _batches(query) < BATCHES and time.monotonic() < deadline:
            query.awaitTermination(0.1)  # type: ignore[arg-type]
        query.stop()


def _batches(query: StreamingQuery) -> int:
    return query.lastProgress.batchId + 1 if query.lastProgress else 0


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


class _Keeper(StatefulProcessor):
    """Keeps the last row of each key."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._rows = handle.getValueState("rows", "rows BINARY")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        for row in rows:
            self._rows.get()
            self._rows.update((row["rows"],))
            yield row

    def close(self) -> None:
        pass
