"""Write each micro-batch exactly once: commit its number together with its rows.

``BatchFile`` does so in SQLite; a database of its own is in ``counts_table``.
"""

import sqlite3
import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from workbook.errors import CannotGoOn, NoSuchState
from workbook.spark.runner import Batch, Sink

_WRITTEN = """
CREATE TABLE IF NOT EXISTS written (query TEXT PRIMARY KEY, batch INTEGER NOT NULL) WITHOUT ROWID;
"""


class OnceSink(Sink):
    """Writes each micro-batch once: it records the number in the transaction of the rows.

    It skips a micro-batch that is already recorded, and it refuses one if an earlier micro-batch is
    missing. Before the first micro-batch of another query, for example after a start with a fresh
    checkpoint, it empties the sink.
    """

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Write an unrecorded micro-batch; raise ``CannotGoOn`` if an earlier one is missing."""
        with self._transaction() as connection:
            last = self._last(connection, batch.query)
            if batch.number <= last:
                return
            if batch.number > last + 1:
                raise CannotGoOn(
                    f"Expected {self} to have all micro-batches before {batch.number}, but it has "
                    f"the first {last + 1} only: it was deleted, moved, or filled by another query "
                    "meanwhile, and would stay wrong. Start with a fresh checkpoint, or bring it "
                    "back."
                )
            if batch.number == 0:
                self._empty(connection)
            self._put(connection, rows)
            self._note(connection, batch)

    def resume(self, query: str, committed: int, planned: int) -> None:
        """Refuse a checkpoint that is not of the same moment as what is in this sink."""
        with self._transaction() as connection:
            last = self._last(connection, query)
        if query and not committed <= last <= planned:
            raise CannotGoOn(
                f"Expected {self} and the checkpoint to be of the same run, but the checkpoint has "
                f"{committed + 1} finished micro-batches of its query, and the store {last + 1}. "
                "Bring both back from the same moment, or start with a fresh checkpoint (and "
                "another result topic)."
            )

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Any]:
        """Open a connection that commits at the end of the block, or rolls back on an error."""

    @abstractmethod
    def _last(self, connection: Any, query: str) -> int:
        """Return the number of the query's last recorded micro-batch; -1 if there is none."""

    @abstractmethod
    def _empty(self, connection: Any) -> None:
        """Delete all rows and all recorded micro-batches."""

    @abstractmethod
    def _put(self, connection: Any, rows: pa.Table) -> None:
        """Write the rows of a micro-batch."""

    @abstractmethod
    def _note(self, connection: Any, batch: Batch) -> None:
        """Record that a micro-batch has been written."""


class BatchFile(OnceSink):
    """A file of SQLite (WAL mode) that belongs to one query; readers see whole micro-batches only.

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
