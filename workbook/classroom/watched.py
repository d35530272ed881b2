"""Shows Spark's bare query to a view, which ends with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.classroom import advice, failed
from workbook.errors import QueryFailed
from workbook.views.live import Runs

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery


class Watched:
    """A query as a view uses it."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query

    @property
    def is_active(self) -> bool:
        """Return True while the query runs, and False once Spark itself has ended."""
        try:
            return self._query.isActive
        except (ConnectionError, OSError):
            return False

    def check(self) -> None:
        """Raise QueryFailed, with what to do, if something made the query fail."""
        failure = self._query.exception()
        if failure is not None:
            raise QueryFailed(advice.ended(failed.report(self._query), failure))


def watched(query: StreamingQuery | None) -> Runs | None:
    """Return a bare query, if there is one, as a view uses it."""
    return None if query is None else Watched(query)
