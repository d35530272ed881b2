"""Tables in SQLite (WAL mode), which other processes may read while a query writes them.

``Store`` has the last row of each key, ``WindowedStore`` that of each key and window of time.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import time_ns
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


# --- by windows of time -----------------------------------------------------------------------

MINUTE_MS, HOUR_MS = 60_000, 3_600_000

AHEAD_MS = 5 * MINUTE_MS
"""Rows that are dated further ahead of the clock are left out: one would expire all windows."""

_UPSERT = """
INSERT INTO windows VALUES (?, ?, ?, ?) ON CONFLICT (start, key) DO UPDATE
SET time = excluded.time, value = excluded.value WHERE excluded.time >= time
"""

Window = tuple[int, dict[str, Any]]
"""Start of a window (ms), and a key's latest row in it."""


class WindowedStore(BatchFile):
    """The latest row per ``key`` and window of its time (``changed_at``, BIGINT, ms) in a file.

    A window begins at a multiple of ``window_ms``, which must not change while a query goes on; it
    is forgotten once it ends more than ``retention_ms`` before the start of the newest one. Rows
    without a time (null or negative, as Kafka's -1), dated more than ``AHEAD_MS`` after ``clock``,
    or of a forgotten window are left out. A ``deleted`` row writes nothing: what was, stays.
    Batches, readers and ``reading`` are as in ``Store``; the queries are those of Kafka Streams'
    ``ReadOnlyWindowStore``, with times in ms.
    """

    kind = "windows"
    tables = ("windows",)
    schema = """
CREATE TABLE IF NOT EXISTS windows
    (start INTEGER NOT NULL, key TEXT NOT NULL, time INTEGER NOT NULL, value TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS by_start ON windows (start, key);
CREATE INDEX IF NOT EXISTS by_key ON windows (key, start);
"""

    def __init__(
        self,
        path: Path,
        key: str,
        window_ms: int = MINUTE_MS,
        retention_ms: int = HOUR_MS,
        reading: bool = False,
        clock: Callable[[], int] = lambda: time_ns() // 1_000_000,
    ) -> None:
        super().__init__(path, reading=reading)
        self.key, self.clock = key, clock
        self.window_ms, self.retention_ms = window_ms, retention_ms

    # --- reading ------------------------------------------------------------------------------

    def all(self) -> list[Window]:
        """Return (start, row) of every window and key, in the order of starts, then keys."""
        return self._windows("TRUE")

    def fetch(self, key: str, start: int, end: int) -> list[Window]:
        """Return one key's (start, row) of the windows that begin in [start, end], both included.

        As in Kafka Streams, the range is one of the windows' starts, and empty where ``end`` comes
        first.
        """
        return self._windows("key = ? AND start BETWEEN ? AND ?", key, start, end)

    def fetch_all(self, start: int, end: int) -> list[Window]:
        """Return every key's (start, row) of the windows that begin in [start, end], as ``all``."""
        return self._windows("start BETWEEN ? AND ?", start, end)

    def windows(self) -> list[tuple[int, int]]:
        """Return (start, number of keys) of each window, in order."""
        asked = "SELECT start, count(*) FROM windows GROUP BY start ORDER BY start"
        return self._reader().execute(asked).fetchall()

    def __len__(self) -> int:
        return int(self._reader().execute("SELECT count(*) FROM windows").fetchone()[0])

    def _windows(self, where: str, *values: str | int) -> list[Window]:
        asked = f"SELECT start, value FROM windows WHERE {where} ORDER BY start, key"
        found = self._reader().execute(asked, values).fetchall()
        rows = rows_of_json([value for _, value in found])
        return [(start, row) for (start, _), row in zip(found, rows, strict=True)]

    # --- writing ------------------------------------------------------------------------------

    def _put(self, connection: sqlite3.Connection, rows: pa.Table) -> None:
        """Replace each row's window by it, unless that is newer; forget the oldest windows."""
        latest, entries = self.clock() + AHEAD_MS, []
        for row in changed_rows(rows, self.key):
            time = row["changed_at"]
            if row.pop("deleted") or time is None or not 0 <= time <= latest:
                continue
            start = time // self.window_ms * self.window_ms
            entries.append((start, str(row[self.key]), time, row_json(row)))
        (newest,) = connection.execute("SELECT coalesce(max(start), 0) FROM windows").fetchone()
        newest = max(newest, *(start for start, *_ in entries), 0)
        connection.executemany(_UPSERT, entries)
        oldest = newest - self.retention_ms - self.window_ms
        connection.execute("DELETE FROM windows WHERE start < ?", (oldest,))


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
