"""States once when a micro-batch is written: exactly once, where sink and rows commit together."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from workbook.errors import CannotGoOn
from workbook.spark.runner import Batch, Sink


class OnceSink(Sink):
    """Notes each micro-batch in the transaction that writes its rows, and so writes each once.

    A micro-batch that is noted already is skipped, a gap before it is refused, and the first one of
    another query, as after a start with a fresh checkpoint, begins with an empty sink.
    """

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Write a micro-batch that isn't in; raise ``CannotGoOn`` where one before is missing."""
        with self._transaction() as connection:
            last = self._last(connection, batch.query)
            if batch.number <= last:
                return
            if batch.number > last + 1:
                raise CannotGoOn(
                    f"Expected {self} to have all micro-batches before {batch.number}, but it has "
                    f"them up to {last} only: it was deleted, moved, or filled by another query "
                    "meanwhile, and would stay wrong. Start with a fresh checkpoint, or bring it "
                    "back."
                )
            if batch.number == 0:
                self._empty(connection)
            self._put(connection, rows)
            self._note(connection, batch)

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Any]:
        """Open a connection that commits at the end of the block, or rolls back on an error."""

    @abstractmethod
    def _last(self, connection: Any, query: str) -> int:
        """Return the number of the query's last micro-batch that is in; -1 for none."""

    @abstractmethod
    def _empty(self, connection: Any) -> None:
        """Delete what is in, the notes too."""

    @abstractmethod
    def _put(self, connection: Any, rows: pa.Table) -> None:
        """Write the rows of a micro-batch."""

    @abstractmethod
    def _note(self, connection: Any, batch: Batch) -> None:
        """Note that a micro-batch is in."""
