"""A sink that keeps the last row of each key, for tests to look at."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from workbook.spark.runner import Batch, OnPoint, Sink


class Collected(Sink):
    """``rows`` are by the values of the key's columns; ``batches`` counts those that had some."""

    def __init__(self, *key: str) -> None:
        self.key, self.batches = key, 0
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}

    def write(self, rows: pa.Table, batch: Batch) -> None:
        self.batches += len(rows) > 0
        self.rows |= {tuple(row[name] for name in self.key): row for row in rows.to_pylist()}

    def of(self, column: str) -> dict[Any, Any]:
        """One column by the key, where that is a single one."""
        return {key[0]: row[column] for key, row in self.rows.items()}


class Calls(OnPoint):
    """Calls a function with each point that a micro-batch passes on the driver."""

    def __init__(self, function: Callable[[str], None]) -> None:
        self.function = function

    def __call__(self, point: str) -> None:
        self.function(point)
