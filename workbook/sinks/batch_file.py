"""Keeps what micro-batches bring in SQLite (WAL mode), each once, while others read the file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar

from workbook.errors import CannotGoOn, NoSuchState
from workbook.sinks.once import OnceSink
from workbook.spark.runner import Batch

_WRITTEN = """
CREATE TABLE IF NOT EXISTS written (query TEXT PRIMARY KEY, batch INTEGER NOT NULL) WITHOUT ROWID;
"""


class BatchFile(OnceSink):
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

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(self._connect()) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def _last(self, connection: sqlite3.Connection, query: str) -> int:
        asked = "SELECT batch FROM written WHERE query = ?"
        found = connection.execute(asked, (query,)).fetchone()
        return -1 if found is None else int(found[0])

    def _empty(self, connection: sqlite3.Connection) -> None:
        for table in (*self.tables, "written"):
            connection.execute(f"DELETE FROM {table}")

    def _note(self, connection: sqlite3.Connection, batch: Batch) -> None:
        noted = (batch.query, batch.number)
        connection.execute("INSERT OR REPLACE INTO written VALUES (?, ?)", noted)

    def __str__(self) -> str:
        return f"the store {self.path}"

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
