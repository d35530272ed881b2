"""Keeps a table in SQLite (WAL mode), which other processes may read while a query writes it."""

from __future__ import annotations

import json
import math
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from workbook.errors import CannotGoOn, NoSuchState
from workbook.events.fields import compact_json

_TABLES = """
CREATE TABLE IF NOT EXISTS store (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS written (query TEXT PRIMARY KEY, batch INTEGER NOT NULL) WITHOUT ROWID;
"""


class Store:
    """The last row per key in a file; any process may ``get`` and ``all`` while one writes.

    A reader sees whole micro-batches only. A micro-batch that comes again, as after a crash, is
    left out: in the same transaction as its rows the store notes the query and the batch. ``key``
    is the column by which rows are asked for. With ``reading``, creates and writes nothing, and
    raises ``NoSuchState`` where there is no file.
    """

    kind = "store"

    def __init__(self, path: Path, key: str, *, reading: bool = False) -> None:
        self.path, self.key = path, key
        self._local, self._mode = threading.local(), "ro" if reading else "rwc"
        if reading:
            self._require_file()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as made:
            made.execute("PRAGMA journal_mode=WAL")
            made.executescript(_TABLES)

    # --- reading ------------------------------------------------------------------------------

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the row of one key, or None."""
        found = self._reader().execute("SELECT value FROM store WHERE key = ?", (key,)).fetchone()
        return None if found is None else json.loads(found[0])

    def all(self) -> list[dict[str, Any]]:
        """Return every row, in the order of the keys."""
        rows = self._reader().execute("SELECT value FROM store ORDER BY key").fetchall()
        return [json.loads(value) for (value,) in rows]

    def some(self, most: int) -> list[dict[str, Any]]:
        """Return the first ``most`` rows in the order of the keys."""
        asked = "SELECT value FROM store ORDER BY key LIMIT ?"
        return [json.loads(value) for (value,) in self._reader().execute(asked, (most,))]

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame."""
        return pd.DataFrame(self.all())

    def __len__(self) -> int:
        return int(self._reader().execute("SELECT count(*) FROM store").fetchone()[0])

    # --- writing ------------------------------------------------------------------------------

    def apply(self, changes: pa.Table, query: str, batch_id: int) -> None:
        """Bring in a micro-batch: rows, and ``deleted`` for keys that go; once per batch.

        A store belongs to one query: another one, as after a start with a fresh checkpoint, begins
        with an empty table. Raises ``CannotGoOn`` where micro-batches before this one are missing.
        """
        last = dict(keyed_json(changes, self.key))
        kept = [(key, value) for key, value in last.items() if value is not None]
        gone = [(key,) for key, value in last.items() if value is None]
        with closing(self._connect()) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            last_written = self._last(connection, query)
            if batch_id <= last_written:
                return
            self._require_all_before(batch_id, last_written)
            if batch_id == 0:
                connection.execute("DELETE FROM store")
                connection.execute("DELETE FROM written")
            connection.executemany("INSERT OR REPLACE INTO store VALUES (?, ?)", kept)
            connection.executemany("DELETE FROM store WHERE key = ?", gone)
            connection.execute("INSERT OR REPLACE INTO written VALUES (?, ?)", (query, batch_id))

    def _last(self, connection: sqlite3.Connection, query: str) -> int:
        """Return the last micro-batch of the query that is in the store; -1 for none."""
        asked = "SELECT batch FROM written WHERE query = ?"
        found = connection.execute(asked, (query,)).fetchone()
        return -1 if found is None else int(found[0])

    def _require_all_before(self, batch_id: int, last_written: int) -> None:
        if batch_id > last_written + 1:
            raise CannotGoOn(
                f"Expected the store {self.path} to have all micro-batches before {batch_id}, but "
                f"it has them up to {last_written} only: it was deleted, moved, or filled by "
                "another query meanwhile, and would stay wrong. Start with a fresh checkpoint, or "
                "bring the file back."
            )

    def _reader(self) -> sqlite3.Connection:
        """Return this thread's connection: SQLite wants one per thread."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._local.connection = self._connect()
        return found

    def _connect(self) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={self._mode}"
        return sqlite3.connect(uri, timeout=30, isolation_level=None, uri=True)

    def _require_file(self) -> None:
        if not self.path.is_file():
            raise NoSuchState(
                f"Expected a store to read, but there is no file {self.path}. The query that fills "
                "it makes it when it starts: start it first, or check the path."
            )


def keyed_json(
    changes: pa.Table, key: str, *, tombstones: bool = True
) -> Iterator[tuple[str, str | None]]:
    """Yield each changed row's key and JSON, in their order; None where it is ``deleted``.

    Without ``tombstones`` the JSON says itself whether it is ``deleted``.

    ``step``, where there is one, gives the order of a key's rows, and is left out.
    """
    if "step" in changes.column_names:
        changes = changes.sort_by([(key, "ascending"), ("step", "ascending")])
        changes = changes.drop_columns(["step"])
    for row in changes.to_pylist(maps_as_pydicts="strict"):
        deleted = tombstones and row.pop("deleted")
        yield str(row[key]), None if deleted else _json(row)


def _json(row: dict[str, Any]) -> str:
    try:
        return compact_json(row)
    except ValueError:
        return compact_json(_without_nan(row))


def _without_nan(value: Any) -> Any:
    """Replace numbers that JSON lacks as Spark does: "NaN", "Infinity" and "-Infinity"."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
