"""A changelog of files, each of them a micro-batch of a query, and what the query emits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbook.spark.runner import Batch, Running, Sink, start_query

Row = dict[str, Any]


class Changes(Sink):
    """A sink that keeps every row."""

    kind = "list"

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write(self, rows: pa.Table, batch: Batch) -> None:
        self.rows += rows.to_pylist()


class Feed:
    """Rows of ``schema`` as a stream; ``offset`` numbers them."""

    def __init__(self, spark: SparkSession, folder: Path, schema: str) -> None:
        self.spark, self.folder, self.schema = spark, folder, schema
        self.offset = 0
        self.running: Running | None = None
        (folder / "in").mkdir()

    def start(self, make: Callable[[DataFrame], DataFrame], *sinks: Sink) -> None:
        """Start a query over the rows, or continue it from its checkpoint."""
        reader = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        changes, self.sink = make(reader.json(str(self.folder / "in"))), Changes()
        self.running = start_query(changes, [self.sink, *sinks], self.folder / "checkpoint")

    def send(self, *rows: Row) -> list[Row]:
        """Send rows as a micro-batch; return what it emits."""
        lines = [json.dumps(row | {"offset": self.offset + n}) for n, row in enumerate(rows)]
        self.offset += len(rows)
        unseen = self.folder / f"{self.offset}.json"
        unseen.write_text("\n".join(lines))
        unseen.rename(self.folder / "in" / unseen.name)
        assert self.running is not None
        before = len(self.sink.rows)
        self.running.process_all()
        return self.sink.rows[before:]

    def stop(self) -> None:
        if self.running is not None:
            self.running.stop()
