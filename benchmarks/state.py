"""Measures what a micro-batch costs while more and more keys are kept.

    .venv/bin/python benchmarks/state.py [100000 1000000 5000000]

For the groups of a table (two stateful operators) and for the merge (a message each of open
visits; one operator), each with each number of keys in a Spark of its own: batches of 100,000
changes of different keys, their rate over a whole cycle of folding and the worst of them; batches
of 100 changes, with the bytes that they add to the checkpoint; the state's bytes on disk per key;
the memory of Spark's Java and of its Python workers.
"""

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from harness import machine, own_memory
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.pipelines.event_time_merge import merged_visits
from workbook.spark import session
from workbook.spark.settings import in_rocksdb
from workbook.tables.ktable import KTable, count, ktable

LARGE, SMALL = 100_000, 100
LARGE_BATCHES, SMALL_BATCHES = 24, 12
CLIENTS, PARTITIONS = 10_000, 4


class Feed:
    """Micro-batches as files of Parquet: keys from 0, each with a random number."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number, self.draw = folder, 0, np.random.default_rng(1)
        folder.mkdir(parents=True)

    def add(self, keys: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        """Add a micro-batch that changes these keys."""
        offsets = np.arange(len(keys)) + self.number * 10**8
        drawn = self.draw.integers(0, 10**9, len(keys))
        unfinished = self.folder.parent / "unfinished.parquet"
        pq.write_table(pa.table({"key": keys, "drawn": drawn, "offset": offsets}), unfinished)
        unfinished.replace(self.folder / f"{self.number:06d}.parquet")
        self.number += 1

    def stream(self, spark: SparkSession) -> DataFrame:
        """Read a file per micro-batch, with keys as text."""
        reader = spark.readStream.schema("key BIGINT, drawn BIGINT, offset BIGINT")
        rows = reader.option("maxFilesPerTrigger", 1).parquet(str(self.folder))
        return rows.withColumn("id", F.expr("concat('item-', lpad(key, 9, '0'))"))


def positions(rows: DataFrame) -> KTable:
    """Changes of positions, each then of one of 10,000 clients, mostly another."""
    client = f"drawn % {CLIENTS} AS client"
    parsed = rows.selectExpr("id", client, "drawn AS amount", "offset", "false AS deleted")
    return ktable(parsed, key="id")


def merge(rows: DataFrame) -> DataFrame:
    """A message each of open visits, of four a visit at most, as records of Kafka."""
    json = """concat('{"type":"tracking","event_id":', 4 * key + drawn % 4, ',"ssid":"', id,
        '","timestamp":', 1763000000000 + drawn % 4, ',"page":"/p/1"}')"""
    records = rows.selectExpr(
        *("CAST(id AS BINARY) AS key", f"CAST({json} AS BINARY) AS value"),
        *("'tracking' AS topic", f"CAST(key % {PARTITIONS} AS INT) AS partition", "offset"),
        *("timestamp_millis(1763000000000) AS timestamp", "0 AS timestampType"),
    )
    return merged_visits(records, None, ["tracking", "orders"], PARTITIONS)


SHAPES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "two operators": lambda rows: positions(rows).group_by("client").aggregate(number=count()),
    "merge": merge,
}


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def measured(spark: SparkSession, shape: str, keys: int, place: Path) -> None:
    """Fill a table with keys, then time batches, and print a line."""
    feed = Feed(place / "feed")
    for part in np.array_split(feed.draw.permutation(keys), max(1, keys // 500_000)):
        feed.add(part)
    rows = SHAPES[shape](feed.stream(spark))

    def note(batch: DataFrame, number: int) -> None:
        batch.write.format("noop").mode("overwrite").save()

    with in_rocksdb(spark):
        writer = rows.writeStream.outputMode("update").foreachBatch(note)
        query = writer.option("checkpointLocation", str(place / "checkpoint")).start()
    query.processAllAvailable()
    large = _timed(query, feed, keys, LARGE, LARGE_BATCHES)
    before = size_of(place / "checkpoint")
    small = _timed(query, feed, keys, SMALL, SMALL_BATCHES)
    grown = (size_of(place / "checkpoint") - before) / SMALL_BATCHES
    operators = query.recentProgress[-1].stateOperators
    kept = sum(o.customMetrics["rocksdbSstFileSize"] for o in operators)
    java = next(p for p in psutil.Process().children(recursive=True) if p.name() == "java")
    own, workers = own_memory(java), sum(map(own_memory, java.children(recursive=True)))
    print(
        f"| {shape} | {keys:,} | {LARGE / statistics.fmean(large):,.0f} | "
        f"{max(large):.2f} | {statistics.median(small):.2f} | {max(small):.2f} | "
        f"{grown / 1e3:,.0f} | {kept / keys:,.0f} | {own / 1e9:.1f} + {workers / 1e9:.1f} |",
        flush=True,
    )
    query.stop()


def _timed(query: Any, feed: Feed, keys: int, changes: int, batches: int) -> list[float]:
    """Return the seconds of each micro-batch, by Spark's own report."""
    for _ in range(batches):
        feed.add(feed.draw.choice(keys, min(changes, keys), replace=False))
        query.processAllAvailable()
    reports = [p for p in query.recentProgress if p.numInputRows > 0]
    return [each.durationMs["triggerExecution"] / 1000 for each in reports[-batches:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("keys", nargs="*", type=int, default=[100_000, 1_000_000, 5_000_000])
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options, load = parser.parse_args(), os.getloadavg()[0]
    if options.one:
        spark = session.spark_session(quiet=True)
        measured(spark, options.shapes[0], options.keys[0], session.checkpoint("state"))
        session.stop_spark(spark)
        return
    print(
        "| | keys | changes/s in batches of 100,000 | the worst, s | batches of "
        "100, median s | the worst, s | kB each in the checkpoint | bytes a key on disk | "
        "GB, Java + Python |\n| --- |" + " ---: |" * 8,
        flush=True,
    )
    for shape in options.shapes:
        for keys in options.keys:
            alone = [sys.executable, __file__, str(keys), "--one", "--shapes", shape]
            subprocess.run(alone, check=True)
    print(f"\n{machine(load)}")


if __name__ == "__main__":
    main()
