"""Keeps a table in this process, which views may read while a query writes it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame


class LocalTable:
    """The last row per key, in memory; any thread may read while a query writes.

    ``keys`` name the key columns; with none the table holds a single row. ``version`` grows by
    one with every batch that brought rows.
    """

    def __init__(self, *keys: str) -> None:
        self.keys = keys
        self.version = 0
        self._rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._lock = threading.Lock()

    def upsert(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Put rows in place of those with the same key, all of them at once."""
        fresh = {tuple(row[key] for key in self.keys): dict(row) for row in rows}
        if not fresh:
            return
        with self._lock:
            self._rows.update(fresh)
            self.version += 1

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Write a micro-batch: for ``foreachBatch`` of a query in complete or update mode."""
        # The whole batch, never take(): a stateful query wants all its partitions read.
        self.upsert(row.asDict() for row in batch.collect())

    def rows(self) -> list[dict[str, Any]]:
        """Return a copy of the rows, in the order in which their keys first came."""
        with self._lock:
            return [dict(row) for row in self._rows.values()]

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame."""
        return pd.DataFrame(self.rows())

    def __len__(self) -> int:
        return len(self._rows)
