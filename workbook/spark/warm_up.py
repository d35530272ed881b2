"""Warms a session up by a small query of each kind: Java and Python load their code once."""

import os
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from workbook.errors import SparkFailed
from workbook.spark import cluster
from workbook.spark.failures import cause
from workbook.spark.settings import PROVIDER, ROCKSDB

BATCHES, LONGEST_S = 3, 60.0
"""Each query runs for this number of micro-batches, and no longer than these seconds."""

EXECUTORS_S = 60.0
"""Seconds in which the first executor must have started."""

MOST_TASKS = 8
"""Parts in which tables have their state: more tasks would have nothing to do."""


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


def require_executors(spark: SparkSession, within: float = EXECUTORS_S) -> None:
    """Wait for an executor and run Python on it: else the first query would wait, or fail.

    Queries get as many tasks as the cluster has cores now, within limits. Raises ``SparkFailed``.
    """
    status = spark.sparkContext._jsc.sc().statusTracker()
    deadline = time.monotonic() + within
    while len(status.getExecutorInfos()) < 2:  # the driver is among them
        if time.monotonic() > deadline:
            raise SparkFailed(
                f"Expected {cluster.master()} to start an executor within {within:.0f} s, but none "
                "came. Check on the master's web page that workers live and have cores and memory "
                "free, and that they can connect to this machine (SPARK_LOCAL_IP)."
            )
        time.sleep(0.1)
    try:
        start_workers(spark)
    except Exception as error:
        python = os.environ.get("PYSPARK_PYTHON", "python3")
        raise SparkFailed(
            f"Expected the workers' Python, {python}, to run Spark's tasks, but it failed: "
            f"{cause(str(error))}. Install the packages of requirements.lock on each worker, and "
            "set PYSPARK_PYTHON to the Python there that has them, in this version."
        ) from None
    cores = min(spark.sparkContext.defaultParallelism, MOST_TASKS)
    spark.conf.set("spark.sql.shuffle.partitions", cores)


def _run(changes: DataFrame) -> None:
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = changes.writeStream.outputMode("update").option("checkpointLocation", checkpoint)
        query = writer.foreachBatch(lambda batch, _: batch.toArrow()).start()
        # Not processAllAvailable: on a slow machine the source has always a new row.
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline:
            query.awaitTermination(0.1)  # type: ignore[arg-type]
            if (last := query.lastProgress) and last.batchId + 1 >= BATCHES:
                break
        query.stop()


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
