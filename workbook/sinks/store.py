"""Keeps a table in SQLite (WAL mode), which other processes may read while a query writes it."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from workbook.sinks.once import BatchFile


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


# --- rows as JSON -----------------------------------------------------------------------------


def changed_rows(changes: pa.Table, key: str) -> Iterator[dict[str, Any]]:
    """Yield each changed row, in their order: a key's rows by ``step``, where there is one."""
    if "step" in changes.column_names:
        changes = changes.sort_by([(key, "ascending"), ("step", "ascending")])
        changes = changes.drop_columns(["step"])
    yield from changes.to_pylist(maps_as_pydicts="strict")


def keyed_json(changes: pa.Table, key: str) -> Iterator[tuple[str, str | None]]:
    """Yield each changed row's key and JSON, in their order; None where it is ``deleted``."""
    for row in changed_rows(changes, key):
        deleted = row.pop("deleted")
        yield str(row[key]), None if deleted else row_json(row)


def rows_of_json(values: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows that ``row_json`` wrote."""
    rows: list[dict[str, Any]] = msgspec.json.decode(f"[{','.join(values)}]")
    return rows  # parsed at once: a call for each row takes longer


def _refused(value: Any) -> Any:
    raise TypeError(
        f"Expected values that JSON has, but got {type(value).__name__}. Cast that column to a "
        "string, or leave it out."
    )


row_json: Callable[[dict[str, Any]], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_refused
).encode
"""Returns a row as compact JSON; NaN is a ValueError, bytes and dates a TypeError."""
