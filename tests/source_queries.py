"""Queries on a source of ours, and what their micro-batches gave."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from brokers import delete_before
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit

from workbook.kafka.broker import Broker
from workbook.sources.kafka_reader import KafkaReader

ALL = ReadAllAvailable()


class Queries:
    """``more`` are options that the source needs beside those of Spark's own."""

    source: ClassVar[str]
    more: ClassVar[dict[str, str]] = {}

    def __init__(self, spark: SparkSession, broker: Broker, topics: list[str], place: Path) -> None:
        self.spark, self.broker, self.topics, self.place = spark, broker, topics, place
        self.batches: list[list[Any]] = []
        self.ends: list[Callable[[], object]] = []

    def options(self, **options: str) -> dict[str, str]:
        return {
            "kafka.bootstrap.servers": self.broker.bootstrap,
            "subscribe": ",".join(self.topics),
            "startingOffsets": "earliest",
            **options,
        }

    def rows(self, source: str = "", **options: str) -> DataFrame:
        more = {} if source == "kafka" else self.more
        given = self.options(**{**more, **options})
        return self.spark.readStream.format(source or self.source).options(**given).load()

    def start(self, rows: DataFrame, name: str = "own", *, once: bool = False) -> StreamingQuery:
        def keep(batch: DataFrame, number: int) -> None:
            self.batches.append(batch.collect())

        writer = rows.writeStream.option("checkpointLocation", str(self.place / name))
        if once:
            writer = writer.trigger(availableNow=True)
        query = writer.foreachBatch(keep).start()
        self.ends.append(query.stop)
        return query

    def next(
        self, reader: KafkaReader, at: Any, limit: ReadLimit = ALL
    ) -> tuple[Any, list[dict[str, Any]]]:
        """Plan and read a micro-batch without Spark; return where it ends, and its rows."""
        end = reader.latestOffset(at, limit)
        tasks = reader.partitions(at, end) if end != at else []
        batches = [batch for task in tasks for batch in reader.read(task)]
        return end, [row for batch in batches for row in batch.to_pylist()]

    def delete_before(self, offset: int) -> None:
        """Delete the first topic's records before an offset of partition 0."""
        delete_before(self.broker.client_config(), self.topics[0], offset)

    def close(self) -> None:
        for end in self.ends:
            end()
