"""Measures what a micro-batch costs while more and more keys are kept.

    .venv/bin/python benchmarks/state.py [100000 1000000 5000000]

For tables (a changelog by key, one stateful operator: ``KTable.changes``; and two: groups over it)
and for the merge (a message each of open visits). With each number of keys: batches of 100,000
changes of random keys, their rate over a whole cycle of folding and the worst of them; batches of
100 changes, with the bytes that they add to the checkpoint; the state's bytes on disk per key; the
memory of Spark's Java and of its Python workers.
"""

import argparse
import os
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.pipelines.event_time_merge.fast import merged_visits
from workbook.spark import session
from workbook.spark.settings import in_rocksdb
from workbook.tables.ktable import count, ktable

LARGE, SMALL = 100_000, 100
LARGE_BATCHES, SMALL_BATCHES = 24, 12
GROUPS = 10_000


class Feed:
    """Micro-batches as files of Parquet: a number of changes each, of keys from 0."""

    SCHEMA = ""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.number = spark, folder, 0
        folder.mkdir(parents=True)
        self.draw = np.random.default_rng(1)

    def add(self, keys: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        """Add a micro-batch that changes these keys."""
        raise NotImplementedError

    def write(self, columns: dict[str, pa.Array]) -> None:
        """Add a micro-batch of these columns."""
        import pyarrow.parquet as pq

        unfinished = self.folder.parent / "unfinished.parquet"
        pq.write_table(pa.table(columns), unfinished)
        unfinished.replace(self.folder / f"{self.number:06d}.parquet")
        self.number += 1

    def stream(self) -> DataFrame:
        """Read a file per micro-batch."""
        reader = self.spark.readStream.schema(self.SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder))


class Positions(Feed):
    """Changes of positions, each then of one of 10,000 clients, mostly another."""

    SCHEMA = "id BIGINT, client BIGINT, amount BIGINT, offset BIGINT, deleted BOOLEAN"

    def add(self, keys: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        """Add a micro-batch that changes these keys."""
        self.write(
            {
                "id": pa.array(keys),
                "client": pa.array(self.draw.integers(0, GROUPS, len(keys))),
                "amount": pa.array(self.draw.integers(0, 10**9, len(keys))),
                "offset": pa.array(np.arange(len(keys)) + self.number * 10**8),
                "deleted": pa.array(np.zeros(len(keys), bool)),
            }
        )

    def stream(self) -> DataFrame:
        """Read a file per micro-batch, with keys as text."""
        return super().stream().withColumn("id", F.format_string("position-%09d", "id"))


def one_operator(rows: DataFrame) -> DataFrame:
    return ktable(rows, key="id").changes()


def two_operators(rows: DataFrame) -> DataFrame:
    return ktable(rows, key="id").group_by("client").aggregate(number=count())


class Visits(Feed):
    """Micro-batches as Kafka's records: a message each of open visits, of four a visit at most."""

    PARTITIONS, BEGAN = 4, 1_763_000_000_000

    def add(self, keys: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        """Add a micro-batch with a message of each of these visits, and a heartbeat."""
        kinds = self.draw.integers(0, 4, len(keys))
        values = [
            b'{"type":"tracking","event_id":%d,"ssid":"visit-%09d","timestamp":%d,"page":"/p/%d"}'
            % (key * 4 + kind, key, self.BEGAN + kind, kind)
            for key, kind in zip(keys.tolist(), kinds.tolist(), strict=True)
        ]
        number = len(keys)
        self.write(
            {
                "key": pa.array([b"visit-%09d" % key for key in keys.tolist()], pa.binary()),
                "value": pa.array(values, pa.binary()),
                "topic": pa.repeat(pa.scalar("tracking"), number),
                "partition": pa.array(keys % self.PARTITIONS, pa.int32()),
                "offset": pa.array(np.arange(number) + self.number * 10**8),
                "timestamp": pa.array(np.full(number, self.BEGAN), pa.timestamp("ms", "UTC")),
                "timestampType": pa.array(np.zeros(number), pa.int32()),
            }
        )

    SCHEMA = (
        "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, "
        "timestamp TIMESTAMP, timestampType INT"
    )


def merge(rows: DataFrame) -> DataFrame:
    return merged_visits(rows, None, ["tracking", "orders"], Visits.PARTITIONS)


SHAPES: dict[str, tuple[type[Feed], Callable[[DataFrame], DataFrame]]] = {
    "one operator": (Positions, one_operator),
    "two operators": (Positions, two_operators),
    "merge": (Visits, merge),
}


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def memory() -> tuple[float, float]:
    """Return GB of Spark's Java and of its Python workers (what is theirs alone)."""
    java, workers = 0.0, 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it may have ended meanwhile
            words = process.cmdline()
            if process.name() == "java" and "kafka.Kafka" not in words:
                java += process.memory_full_info().uss
            elif process.name() != "java" and any("worker_daemon" in word for word in words):
                workers += process.memory_full_info().uss
    return java / 1e9, workers / 1e9


def measured(spark: SparkSession, shape: str, keys: int, place: Path) -> None:
    """Fill a table with keys, then time batches, and print a line."""
    kind, made = SHAPES[shape]
    feed = kind(spark, place / "feed")
    order = feed.draw.permutation(keys)
    for part in np.array_split(order, max(1, keys // 500_000)):
        feed.add(part)
    seen: list[float] = []

    def note(batch: DataFrame, number: int) -> None:
        batch.write.format("noop").mode("overwrite").save()

    with in_rocksdb(spark):
        query = (
            made(feed.stream()).writeStream.outputMode("update").foreachBatch(note)
            .option("checkpointLocation", str(place / "checkpoint")).start()
        )  # fmt: skip
    try:
        began = time.monotonic()
        query.processAllAvailable()
        filling = keys / (time.monotonic() - began)
        large = list(_timed(query, feed, keys, LARGE, LARGE_BATCHES, seen))
        before = size_of(place / "checkpoint")
        small = list(_timed(query, feed, keys, SMALL, SMALL_BATCHES, seen))
        grown = (size_of(place / "checkpoint") - before) / SMALL_BATCHES
    finally:
        query.stop()
    kept = sum(
        o.customMetrics["rocksdbSstFileSize"] for o in query.recentProgress[-1].stateOperators
    )
    java, workers = memory()
    print(
        f"| {shape} | {keys:,} | {filling:,.0f} | {LARGE / statistics.fmean(large):,.0f} | "
        f"{max(large):.2f} | {statistics.median(small):.2f} | {max(small):.2f} | "
        f"{grown / 1e3:,.0f} | {kept / keys:,.0f} | {java:.1f} + {workers:.1f} |",
        flush=True,
    )


def _timed(
    query: Any, feed: Feed, keys: int, changes: int, batches: int, seen: list[float]
) -> Iterator[float]:
    """Yield the seconds of each micro-batch, by Spark's own report."""
    for _ in range(batches):
        feed.add(feed.draw.choice(keys, min(changes, keys), replace=False))
        query.processAllAvailable()
    reports = [p for p in query.recentProgress if p.numInputRows > 0]
    for report in reports[-batches:]:
        yield report.durationMs["triggerExecution"] / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("keys", nargs="*", type=int, default=[100_000, 1_000_000, 5_000_000])
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES))
    options = parser.parse_args()
    spark = session.spark_session(quiet=True)
    place = session.checkpoint("state")
    print(
        "| | keys | filled, keys/s | changes/s in batches of 100,000 | the worst, s | batches of "
        "100, median s | the worst, s | kB each in the checkpoint | bytes a key on disk | "
        "GB, Java + Python |\n| --- |" + " ---: |" * 9
    )
    for shape in options.shapes:
        for keys in options.keys:
            measured(spark, shape, keys, place / shape.replace(" ", "-") / str(keys))
    session.stop_spark(spark)


if __name__ == "__main__":
    main()
