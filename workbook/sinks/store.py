"""Keeps a table in SQLite (WAL mode), which other processes may read while a query writes it."""

import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa

from workbook.sinks.once import BatchFile
from workbook.sinks.row_json import keyed_json, rows_of_json


class Store(BatchFile):
    """The last row per key in a file; any process may ``get`` and ``all`` while one writes.

    A reader sees whole micro-batches only. One that Spark repeats, as after a crash, is left out:
    in the same transaction as its rows the store notes the query and the batch. ``key``
    is the column by which rows are asked for; rows have what JSON has. With ``reading``, creates
    and writes nothing, and raises ``NoSuchState`` where there is no file.
    """

    kind = "store"
    tables = ("store",)
    schema = """
CREATE TABLE IF NOT EXISTS store (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

    def __init__(self, path: Path, key: str, *, reading: bool = False) -> None:
        super().__init__(path, reading=reading)
        self.key = key
        self.says = lambda: f"{len(self):,} rows in the store" if len(self) else ""
        """Returns the store's words for a status line."""

    # --- reading ------------------------------------------------------------------------------

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the row of one key, or None."""
        rows = self._rows("SELECT value FROM store WHERE key = ?", key)
        return rows[0] if rows else None

    def all(self) -> list[dict[str, Any]]:
        """Return every row, in the order of the keys."""
        return self._rows("SELECT value FROM store ORDER BY key")

    def some(self, most: int) -> list[dict[str, Any]]:
        """Return the first ``most`` rows in the order of the keys."""
        return self._rows("SELECT value FROM store ORDER BY key LIMIT ?", most)

    def __len__(self) -> int:
        return int(self._reader().execute("SELECT count(*) FROM store").fetchone()[0])

    def line(self) -> str:
        """Say what ``says`` gives: by default the number of rows."""
        return self.says()

    def _rows(self, asked: str, *values: str | int) -> list[dict[str, Any]]:
        return rows_of_json([value for (value,) in self._reader().execute(asked, values)])

    # --- writing ------------------------------------------------------------------------------

    def _put(self, connection: sqlite3.Connection, rows: pa.Table) -> None:
        """Replace the rows of their keys, and delete those that are ``deleted``."""
        last = dict(keyed_json(rows, self.key))
        kept = [(key, value) for key, value in last.items() if value is not None]
        gone = [(key,) for key, value in last.items() if value is None]
        connection.executemany("INSERT OR REPLACE INTO store VALUES (?, ?)", kept)
        connection.executemany("DELETE FROM store WHERE key = ?", gone)
