"""Finds the streaming queries of a notebook that have failed in the background."""

from __future__ import annotations

import sys
import time
from typing import Any

from IPython import get_ipython

_known: set[str] = set()
"""The runs whose failure was reported."""


def new() -> list[tuple[str, BaseException]]:
    """Return the notebook's queries that failed since the last call: variable and error."""
    found = unreported()
    for _, run, _ in found:
        _known.add(run)
    return [(name, error) for name, _, error in found]


def report(query: Any) -> str:
    """Take the failure of a query as reported; return the name of its variable, or its own."""
    run = str(query.runId)
    names = [name for name, its, _ in unreported() if its == run]
    _known.add(run)
    return next(iter(names), query.name or "query")


def unreported() -> list[tuple[str, str, BaseException]]:
    """Return the same as variable, run id and error, and leave them unreported."""
    shell, streaming = get_ipython(), sys.modules.get("pyspark.sql.streaming")
    kind = getattr(streaming, "StreamingQuery", None)  # None while it's being imported elsewhere
    if shell is None or kind is None:
        return []
    runs: dict[str, tuple[str, str, BaseException]] = {}
    for name, value in sorted(shell.user_ns.copy().items(), key=_is_private):
        if isinstance(value, kind):
            failure = _failure(value)
            if failure and failure[0] not in _known:
                runs.setdefault(failure[0], (name, *failure))
    return list(runs.values())


def _is_private(item: tuple[str, Any]) -> bool:
    return item[0].startswith("_")


class Watch:
    """Raises the failure of a query, some time after it was seen; asks Spark now and then."""

    def __init__(self, every: float = 0.5, grace: float = 2.0) -> None:
        self._every, self._grace = every, grace
        self._next = 0.0
        self._seen: float | None = None

    def check(self) -> None:
        """Raise what made a query fail, unless that was reported before."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._every
        if not unreported():
            self._seen = None
        elif self._seen is None:
            self._seen = now
        elif now - self._seen > self._grace:
            for _, error in new():
                raise error


def _failure(query: Any) -> tuple[str, BaseException] | None:
    try:
        if query.isActive:
            return None
        error = query.exception()
        return (str(query.runId), error) if error is not None else None
    except Exception:  # Spark itself has ended
        return None
