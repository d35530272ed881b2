"""A system of fifty lines whose results lie in a file: what CONTRIBUTING asks for, and no more."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from confluent_kafka import Producer

from workbook.spark.runner import Batch, Sink, start_query
from workbook.spark.source import kafka_stream
from workbook.systems import SYSTEMS
from workbook.systems.base import Shown, Started, System
from workbook.systems.crashes import CRASHES
from workbook.systems.crashes.base import AFTER_COMMIT, Crashes, Filled, Point, Variant

RECORDS = 400


class LinesFile(Sink):
    """Appends a line per micro-batch to a file: its time, and its records."""

    kind = "file"

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, rows: pa.Table, batch: Batch) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps([time.time(), rows["value"].to_pylist()]) + "\n")


class ToLines(System):
    """Records in, a file of lines out."""

    name, does, reads, rejects, version = "to_lines", "copy records to a file", "lines", False, 1
    examples = ("run to_lines --file lines",)

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--file", default="lines", help="the file for the records")

    def results(self, options: Namespace, partitions: int) -> list[Any]:
        return []

    def start(self, spark, broker, options, checkpoint, on_point) -> Started:
        raw = kafka_stream(spark, broker, options.source, max_per_batch=options.max_per_batch)
        sinks = [LinesFile(Path(options.file))]
        rows = raw.selectExpr("CAST(value AS STRING)")
        running = start_query(rows, sinks, checkpoint, at=on_point)
        return Started(running, sinks, lambda: Shown((), ()), list)


@dataclass(frozen=True)
class Judged:
    """How many records aren't in the file, and how many are there twice."""

    counts: dict[str, int]

    @property
    def headline(self) -> str:
        return str(self.counts)

    def _repr_html_(self) -> str:
        return self.headline


class ToLinesCrashes(Crashes):
    """400 records, 20 to a micro-batch."""

    words = ("--max-per-batch", "20")
    variants = (
        Variant(
            "spark",
            "Spark, its checkpoint and a file",
            (
                Point("before-file", "a micro-batch has been computed, and isn't written"),
                Point("before-checkpoint", "a micro-batch is in the file, not committed"),
                Point(AFTER_COMMIT, "a micro-batch has been committed to the checkpoint"),
            ),
            promises=("lost",),
        ),
    )

    def out(self, name: str, folder: Path) -> tuple[str, ...]:
        return ("--file", str(folder / "lines"))

    def came(self, config: dict[str, Any], options: Namespace, checkpoint: Path) -> list[float]:
        return [at for at, _ in self._lines(options)]

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        producer = Producer(config)
        for number in range(RECORDS):
            producer.produce(topic, str(number))
        producer.flush()
        return Filled(RECORDS, pd.DataFrame({"value": map(str, range(RECORDS))}))

    def judge(
        self, filled: Filled, config: dict[str, Any], options: Namespace, checkpoint: Path
    ) -> Judged:
        found = [value for _, values in self._lines(options) for value in values]
        lost = set(filled.expected["value"]) - set(found)
        return Judged({"lost": len(lost), "duplicated": len(found) - len(set(found))})

    def _lines(self, options: Namespace) -> list[tuple[float, list[str]]]:
        return [json.loads(line) for line in Path(options.file).read_text().splitlines()]


SYSTEMS.setdefault(ToLines.name, ToLines())
CRASHES.setdefault(ToLines.name, ToLinesCrashes())
