"""Write each micro-batch exactly once: commit its number together with its rows."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from workbook.errors import CannotGoOn
from workbook.spark.runner import Batch, Sink


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
