"""Keeps the latest row per key and window in SQLite: a table, and what it was a while ago."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from time import time_ns
from typing import Any

import pyarrow as pa

from workbook.sinks.once import BatchFile
from workbook.sinks.store import changed_rows, row_json, rows_of_json

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
        oldest = newest - self.retention_ms - self.window_ms
        connection.executemany(_UPSERT, [entry for entry in entries if entry[0] >= oldest])
        connection.execute("DELETE FROM windows WHERE start < ?", (oldest,))
