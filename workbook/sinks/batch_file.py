"""Keeps what micro-batches bring in SQLite (WAL mode), each once, while others read the file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import ClassVar

from workbook.errors import CannotGoOn, NoSuchState

_WRITTEN = """
CREATE TABLE IF NOT EXISTS written (query TEXT PRIMARY KEY, batch INTEGER NOT NULL) WITHOUT ROWID;
"""


class BatchFile:
    """A file that belongs to one query; readers see whole micro-batches only.

    Each kind of file names its ``tables``, the first of which no other kind has, and creates them
    by ``schema``. With ``reading``, creates and writes nothing, and raises ``NoSuchState`` where
    there is no file. Raises ``CannotGoOn`` where the file is of another kind.
    """

    tables: ClassVar[tuple[str, ...]]
    schema: ClassVar[str]

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self.path = path
        self._local, self._mode = threading.local(), "ro" if reading else "rwc"
        if reading:
            self._require_file()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as made:
            self._require_kind(made)
            made.execute("PRAGMA journal_mode=WAL")
            made.executescript(self.schema + _WRITTEN)

    def _once(self, query: str, batch_id: int, write: Callable[[sqlite3.Connection], None]) -> None:
        """Write a micro-batch that isn't in the file yet, and note it in the same transaction.

        Another query, as after a start with a fresh checkpoint, begins with empty tables. Raises
        ``CannotGoOn`` where micro-batches before this one are missing.
        """
        with closing(self._connect()) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            last_written = self._last(connection, query)
            if batch_id <= last_written:
                return
            self._require_all_before(batch_id, last_written)
            if batch_id == 0:
                for table in (*self.tables, "written"):
                    connection.execute(f"DELETE FROM {table}")
            write(connection)
            connection.execute("INSERT OR REPLACE INTO written VALUES (?, ?)", (query, batch_id))

    def _last(self, connection: sqlite3.Connection, query: str) -> int:
        """Return the last micro-batch of the query that is in the file; -1 for none."""
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

    def _require_kind(self, connection: sqlite3.Connection) -> None:
        found = _tables(connection)
        if "written" in found and self.tables[0] not in found:
            # Both would note their micro-batches in one table, and leave out each other's.
            raise CannotGoOn(
                f"Expected {self.path} to be a {type(self).__name__}, but it has the tables "
                f"{', '.join(sorted(found))} of another kind. Give each store a file of its own."
            )


def tables_in(path: Path) -> set[str]:
    """Return the tables of a SQLite file; raise ``sqlite3.DatabaseError`` for another file."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, timeout=30, uri=True)) as connection:
        return _tables(connection)


def _tables(connection: sqlite3.Connection) -> set[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {str(name) for (name,) in found}
