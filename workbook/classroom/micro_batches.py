"""Runs an answer on a real stream, micro-batch by micro-batch, to see what it emits and when.

Each micro-batch is a file of rows, and the query ends with the last of them. A watermark, which
moves from one micro-batch to the next, shows nowhere else.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.classroom.jobs import attempt_on_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from workbook.classroom.calls import Attempt

LIMIT_SECONDS = 60.0
"""How long all micro-batches may take together."""

Row = tuple[Any, ...]


def run_batches(
    spark: SparkSession,
    answer: Callable[..., Any],
    schema: str,
    batches: Sequence[Sequence[Row]],
    columns: Sequence[str],
) -> Attempt:
    """Run an answer in update mode; the value is a list of the rows that each micro-batch emits.

    ``columns`` are those to keep of them; the rows are sorted.
    """

    def run() -> list[list[Row]]:
        with tempfile.TemporaryDirectory(prefix="check-", ignore_cleanup_errors=True) as folder:
            return _run(spark, answer, schema, batches, columns, Path(folder))

    return attempt_on_spark(spark, run, seconds=LIMIT_SECONDS)


def _run(
    spark: SparkSession,
    answer: Callable[..., Any],
    schema: str,
    batches: Sequence[Sequence[Row]],
    columns: Sequence[str],
    folder: Path,
) -> list[list[Row]]:
    names = [column.split()[0] for column in schema.split(", ")]
    _write(folder / "rows", names, batches)
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    emitted: dict[int, list[Row]] = {}

    def keep(batch: DataFrame, number: int) -> None:
        rows = (tuple(row) for row in batch.select(*columns).collect())
        emitted[number] = sorted(rows, key=repr)  # None has no order

    writer = answer(source.json(str(folder / "rows"))).writeStream.outputMode("update")
    writer = writer.foreachBatch(keep).option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination(int(LIMIT_SECONDS))
    finally:
        query.stop()
    return [emitted[number] for number in range(len(batches))]


def _write(folder: Path, names: Sequence[str], batches: Sequence[Sequence[Row]]) -> None:
    folder.mkdir()
    for number, rows in enumerate(batches):
        file = folder / f"{number}.json"
        lines = (json.dumps(dict(zip(names, row, strict=True)), default=str) for row in rows)
        file.write_text("\n".join(lines))
        os.utime(file, (number, number))  # Spark reads the oldest file first
