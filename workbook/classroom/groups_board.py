"""Keeps a board of consumer groups and their lag up to date, beside what a notebook does."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from workbook.kafka.offsets import EndOffsets
from workbook.streams.groups import Dashboard
from workbook.views.groups import board
from workbook.views.picture import Picture

EVERY_S = 0.2
KEPT_MS, POINTS = 600_000, 600
"""Lags, and what has left, are shown for ten minutes: about a lag a second."""


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
        self._rows: dict[str, dict[str, Any]] = {}
        self._seen: list[dict[str, Any]] = []
        self._history: dict[str, deque[tuple[int, int]]] = {}
        self._gone: dict[str, dict[str, Any]] = {}
        self._failed = ""

    def look_on(self, until: Callable[[], bool]) -> None:
        """Sample ends and rows until ``until()``."""
        while not until():
            try:
                self.look()
            except Exception as error:  # else the thread would end, and the board stand still
                self._failed = f"{type(error).__name__}: {error}"
            time.sleep(EVERY_S)

    def look(self) -> None:
        """Look at the dashboard; if it has changed, note each group's lag, and who has left."""
        with self._lock:
            self._dashboard.look()
            seen = self._dashboard.rows()
            if seen is not self._seen:
                self._note({row["group"]: row for row in seen}, int(time.time() * 1000))
                self._seen, self._failed = seen, ""

    def draw(self) -> Picture:
        """Draw the groups, their lag over time, and who left."""
        with self._lock:
            now = int(time.time() * 1000)
            gone = [{**each, "ago": (now - each["at"]) / 1000} for each in self._gone.values()]
            gone.sort(key=lambda each: each["ago"])
            silence = "The broker doesn't answer" if self._dashboard.silent else ""
            return board(self._seen, self._history, now, gone, self._failed or silence)

    def behind(self, group: str) -> tuple[int, float]:
        """Return a group's lag in messages and in seconds; zeros where it isn't known."""
        with self._lock:
            row = self._rows.get(group, {})
        return row.get("lag") or 0, row.get("seconds") or 0.0

    def close(self) -> None:
        """Do nothing: a loop closes what it was given."""

    def _note(self, rows: dict[str, dict[str, Any]], now: int) -> None:
        for group, row in rows.items():
            points = self._history.setdefault(group, deque(maxlen=POINTS))
            if row["lag"] is not None:
                points.append((now, row["lag"]))
        for group, former in self._rows.items():
            row = rows.get(group, {"members": 0, "changed_at": now})
            if group not in rows or (former["members"] and not row["members"]):
                how = "lost its last member" if group in rows else "deleted"
                left = {"group": group, "how": how, "at": min(row["changed_at"], now)}
                ids = former["client_ids"] or self._gone.get(group, former)["client_ids"]
                self._gone[group] = {**left, "client_ids": ids, "lag": former["lag"]}
        self._gone = {
            group: gone
            for group, gone in self._gone.items()
            if now - gone["at"] < KEPT_MS and not rows.get(group, {}).get("members")
        }
        kept = rows.keys() | self._gone.keys()
        self._history = {group: of for group, of in self._history.items() if group in kept}
        self._rows = rows
