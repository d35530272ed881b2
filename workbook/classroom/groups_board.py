"""Keeps a board of consumer groups and their lag up to date, beside what a notebook does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from workbook.kafka.end_offsets import EndOffsets
from workbook.streams.groups import Dashboard
from workbook.views.groups import Board, board

EVERY_S = 0.2


class GroupsBoard:
    """The dashboard of a store's groups, for ``Chapter.loop`` and ``Chapter.watch``.

    ``read`` returns the latest row of each group, as ``Store.all`` does. Seconds of lag are known
    from the first ``look`` on that finds a commit of the partition.
    """

    def __init__(
        self, config: Mapping[str, Any], read: Callable[[], Iterable[Mapping[str, Any]]]
    ) -> None:
        self._dashboard = Dashboard(read, EndOffsets(config))
        self._lock = threading.Lock()

    def look_on(self, until: Callable[[], bool]) -> None:
        """Sample ends and rows until ``until()``."""
        while not until():
            with self._lock:
                self._dashboard.look()
            time.sleep(EVERY_S)

    def draw(self) -> Board:
        """Draw the groups, their lag over time, and who left."""
        with self._lock:
            known = self._dashboard
            now = int(time.time() * 1000)
            return board(known.rows(), known.history(), now, known.gone(), known.silent)

    def behind(self, group: str) -> tuple[int, float]:
        """Return a group's lag in messages and in seconds; zeros where it isn't known."""
        with self._lock:
            found = [row for row in self._dashboard.rows() if row["group"] == group]
        return (found[0]["lag"] or 0, found[0]["seconds"] or 0.0) if found else (0, 0.0)

    def close(self) -> None:
        """Do nothing: a loop closes what it was given."""
