"""Keeps the latest row per key and window in SQLite: a table, and what it was a while ago."""

from __future__ import annotations

import operator
import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time_ns
from typing import Any

import pandas as pd
import pyarrow as pa

from workbook.errors import CannotGoOn, NoSuchTime, NoSuchWindow
from workbook.sinks.once import BatchFile
from workbook.sinks.row_json import changed_rows, row_json, rows_of_json

MINUTE_MS, HOUR_MS = 60_000, 3_600_000

AHEAD_MS = 5 * MINUTE_MS
"""Rows that are dated further ahead of the clock are left out: one would expire all windows."""

NO_TIME, AHEAD, EXPIRED = "no time", "ahead of the clock", "expired"
"""Why rows are left out."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_ORDER = "ORDER BY start, key"

_UPSERT = """
INSERT INTO windows VALUES (?, ?, ?, ?) ON CONFLICT (start, key) DO UPDATE
SET time = excluded.time, value = excluded.value WHERE excluded.time >= time
"""

Entry = tuple[int, str, int, str]
"""Start of the window, key, time, and the row as JSON."""

Window = tuple[int, dict[str, Any]]
"""Start of a window (ms), and a key's latest row in it."""


class WindowedStore(BatchFile):
    """The latest row per ``key`` and window of the column ``time`` (BIGINT, ms) in a file.

    A window begins at a multiple of ``window_ms``; it's forgotten once it ends more than
    ``retention_ms`` before the start of the newest one. Rows without a time (null or
    negative, as Kafka's -1), dated more than ``AHEAD_MS`` after ``clock``, or of a forgotten
    window are left out, and counted in ``left_out``. A ``deleted`` row writes nothing: what was,
    stays. Times are asked for as ms or as a datetime with a zone. Batches, readers, bytes and
    ``reading`` are as in ``Store``; the queries are those of Kafka Streams'
    ``ReadOnlyWindowStore``. Raises ``NoSuchWindow`` for a window without a length.
    """

    kind = "windows"
    tables = ("windows", "left_out", "window_size")
    schema = """
CREATE TABLE IF NOT EXISTS windows
    (start INTEGER NOT NULL, key TEXT NOT NULL, time INTEGER NOT NULL, value TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS by_start ON windows (start, key);
CREATE INDEX IF NOT EXISTS by_key ON windows (key, start);
CREATE TABLE IF NOT EXISTS left_out (reason TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS window_size (ms INTEGER NOT NULL);
"""

    def __init__(
        self,
        path: Path,
        key: str,
        window_ms: int = MINUTE_MS,
        retention_ms: int = HOUR_MS,
        time: str = "changed_at",
        reading: bool = False,
        clock: Callable[[], int] = lambda: time_ns() // 1_000_000,
    ) -> None:
        if window_ms < 1 or retention_ms < 0:
            raise NoSuchWindow(
                "Expected windows of at least 1 ms that are kept for 0 ms or more, but got "
                f"window_ms={window_ms} and retention_ms={retention_ms}. A minute is {MINUTE_MS}."
            )
        super().__init__(path, reading=reading)
        self.key, self.time, self.clock = key, time, clock
        self.window_ms, self.retention_ms = window_ms, retention_ms

    # --- reading ------------------------------------------------------------------------------

    def all(self) -> list[Window]:
        """Return (start, row) of every window and key, in the order of starts, then keys."""
        return self._windows(f"SELECT start, value FROM windows {_ORDER}")

    def fetch(self, key: str, start: int | datetime, end: int | datetime) -> list[Window]:
        """Return one key's (start, row) of the windows that begin in [start, end], both included.

        As in Kafka Streams, the range is one of the windows' starts, and empty where ``end`` comes
        first. Raises ``NoSuchTime`` for a datetime without a zone.
        """
        asked = "SELECT start, value FROM windows WHERE key = ? AND start BETWEEN ? AND ?"
        return self._windows(f"{asked} ORDER BY start", key, _ms(start), _ms(end))

    def fetch_all(self, start: int | datetime, end: int | datetime) -> list[Window]:
        """Return every key's (start, row) of the windows that begin in [start, end], as ``fetch``.

        In the order of starts, then keys.
        """
        asked = "SELECT start, value FROM windows WHERE start BETWEEN ? AND ?"
        return self._windows(f"{asked} {_ORDER}", _ms(start), _ms(end))

    def windows(self) -> list[tuple[int, int]]:
        """Return (start, number of keys) of each window, in order."""
        asked = "SELECT start, count(*) FROM windows GROUP BY start ORDER BY start"
        return self._reader().execute(asked).fetchall()

    def left_out(self) -> dict[str, int]:
        """Return the number of rows that were left out by reason, ``deleted`` ones not counted."""
        return dict(self._reader().execute("SELECT reason, rows FROM left_out").fetchall())

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame, with the start of their ``window`` (ms)."""
        return pd.DataFrame([{"window": start, **row} for start, row in self.all()])

    def __len__(self) -> int:
        return int(self._reader().execute("SELECT count(*) FROM windows").fetchone()[0])

    def _windows(self, asked: str, *values: str | int) -> list[Window]:
        found = self._reader().execute(asked, values).fetchall()
        rows = rows_of_json([value for _, value in found])
        return [(start, row) for (start, _), row in zip(found, rows, strict=True)]

    # --- writing ------------------------------------------------------------------------------

    def _put(self, connection: sqlite3.Connection, rows: pa.Table) -> None:
        """Replace each row's window by it, unless that is newer; forget the oldest windows."""
        left_out: Counter[str] = Counter()
        entries = self._entries(rows, left_out)
        self._require_size(connection)
        connection.executemany(_UPSERT, self._in_time(connection, entries, left_out))
        connection.execute("DELETE FROM windows WHERE start < ?", (self._oldest(connection),))
        added = "ON CONFLICT (reason) DO UPDATE SET rows = rows + excluded.rows"
        connection.executemany(f"INSERT INTO left_out VALUES (?, ?) {added}", left_out.items())

    def _entries(self, changes: pa.Table, left_out: Counter[str]) -> list[Entry]:
        latest, entries = self.clock() + AHEAD_MS, []
        for row in changed_rows(changes, self.key):
            time = row[self.time]
            if row.pop("deleted"):
                continue
            if time is None or not 0 <= time <= latest:
                left_out[NO_TIME if time is None or time < 0 else AHEAD] += 1
                continue
            start = time // self.window_ms * self.window_ms
            entries.append((start, str(row[self.key]), time, row_json(row)))
        return entries

    def _in_time(
        self, connection: sqlite3.Connection, entries: list[Entry], left_out: Counter[str]
    ) -> list[Entry]:
        """Leave out what belongs to windows that this or an earlier batch lets go."""
        oldest = self._oldest(connection, *(start for start, *_ in entries))
        kept = [entry for entry in entries if entry[0] >= oldest]
        if len(kept) < len(entries):
            left_out[EXPIRED] += len(entries) - len(kept)
        return kept

    def _oldest(self, connection: sqlite3.Connection, *starts: int) -> int:
        """Return the start before which windows are forgotten; 0 while there are none."""
        newest = connection.execute("SELECT max(start) FROM windows").fetchone()[0]
        known = [start for start in (newest, *starts) if start is not None]
        return max(known) - self.retention_ms - self.window_ms if known else 0

    def _require_size(self, connection: sqlite3.Connection) -> None:
        found = connection.execute("SELECT ms FROM window_size").fetchone()
        if found is None:
            connection.execute("INSERT INTO window_size VALUES (?)", (self.window_ms,))
        elif found[0] != self.window_ms:
            raise CannotGoOn(
                f"Expected the windows of {self.path} to take {self.window_ms} ms, but it has some "
                f"of {found[0]} ms. Start with a fresh checkpoint, or with window_ms={found[0]}."
            )


def _ms(time: int | datetime) -> int:
    if isinstance(time, datetime) and time.utcoffset() is not None:
        return (time - _EPOCH) // _MS
    try:
        return operator.index(time)  # type: ignore[arg-type]
    except TypeError:
        raise NoSuchTime(
            f"Expected a time in whole milliseconds or a datetime with a zone, but got {time!r}. "
            "Use datetime.now(UTC), or .astimezone() on a datetime of this machine's zone."
        ) from None
