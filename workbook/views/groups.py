"""Who reads what: the groups as a table, their lag over time as lines, and what has left."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from workbook.kafka.offsets import EndOffsets
from workbook.streams.events.group_health import named
from workbook.streams.groups import Dashboard
from workbook.views.colours import INK
from workbook.views.picture import Picture, cut, number
from workbook.views.plane import LINES, Plane
from workbook.views.tables import table

CAPTION = (
    "Each group with its lag, the one furthest behind on top. Idle: members, and no commit for ten "
    "minutes. Look for seconds that grow, and for remarks."
)
GONE_CAPTION = "Left in the last ten minutes"
LAG_CAPTION = (
    "Lag over the last ten minutes at most: messages that a group has yet to read. A line that "
    "rises is a group that's slower than what it reads; a steady one keeps its distance."
)
MARKS = {"active": "●", "idle": "◐", "empty": "○", "unknown": "?"}
SHOWN, NAME = 20, 17
"""Rows of the table; the letters of a name in it."""

WHOLE = (
    "<style>.wb-groups {overflow-x:auto} "
    ".wb-groups td:not(:last-child), .wb-groups th {white-space:nowrap}</style>"
)
"""Of nine columns only the last one, the remarks, may break its lines."""

MINUTE_MS = 60_000

Row = Mapping[str, Any]
Points = Sequence[tuple[int, int]]
"""(ms, messages of lag), in order."""


def board(
    rows: Sequence[Row],
    history: Mapping[str, Points],
    now: int,
    gone: Sequence[Row] = (),
    trouble: str = "",
) -> Picture:
    """Draw all that is known of the groups; ``now`` in ms.

    ``rows`` are those of ``Dashboard``. ``history`` is the lag of each group over time, up to its
    row's. ``gone`` have group, how, ago (s), client_ids and lag as they were. ``trouble`` says why
    lags are old ones.
    """
    above = groups_table(rows)
    if trouble:
        above += f"<p style='color:{INK}'><b>⚠ {escape(trouble)}: lags are old.</b></p>"
    below = table([_gone(row) for row in gone], GONE_CAPTION, "none")
    lags = {row["group"]: row["lag"] for row in rows}
    lines = {group: history[group] for group in lags if history.get(group)}
    highest = sorted(lines, key=lambda group: (-max(lag for _, lag in lines[group]), group))
    drawn = {group: lines[group] for group in highest[: len(LINES)]}
    twins = [_twin(group, lines[group], lags[group], now) for group in highest]
    said = "; ".join(f"{row['group']}: {row['now']} behind" for row in twins[: len(LINES)])
    more = f"; {number(len(twins) - len(drawn), 'more group')}" * (len(twins) > len(drawn))
    return Picture(
        _plane(drawn, lags, now), LAG_CAPTION, f"{said}{more}." if twins else "", twins,
        above=above, below=below,
    )  # fmt: skip


# --- the tables -------------------------------------------------------------------------------


def groups_table(rows: Sequence[Row]) -> str:
    """Return the first 20 rows as an HTML table, and how many more there are."""
    shown = table([_cells(row) for row in rows[:SHOWN]], CAPTION, "no group yet")
    left = len(rows) - SHOWN
    more = f"<p style='color:{INK}'>and {number(left, 'more group')}</p>" if left > 0 else ""
    return f"{WHOLE}<div class='wb-groups'>{shown}{more}</div>"


def _cells(row: Row) -> dict[str, Any]:
    bound = "at least " if row["at_least"] else ""
    return {
        "group": row["group"],
        "state": f"{MARKS[row['state']]} {row['state']}",
        "members": row["members"],
        "client ids": _names(row["client_ids"]),
        "topics": _names(row["topics"]),
        "lag": "unknown" if row["lag"] is None else row["lag"],
        "seconds behind": "unknown" if row["lag"] is None else f"{bound}{row['seconds']:,.1f}",
        "last commit": "never" if row["commit_age"] is None else ago(row["commit_age"]),
        "remarks": " ".join(row["remarks"]) or "–",
    }


def _gone(row: Row) -> dict[str, Any]:
    return {
        "group": row["group"],
        "what": f"✕ {row['how']}",
        "when": ago(row["ago"]),
        "client ids": _names(row["client_ids"]),
        "lag then": "unknown" if row["lag"] is None else row["lag"],
    }


def _names(names: Sequence[str]) -> str:
    return named([cut(name, NAME) for name in names]) if names else "–"


def ago(seconds: float) -> str:
    """Write how long ago something was: "33 seconds ago", "4 days ago"."""
    for name, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name} ago"
    return f"{number(round(seconds), 'second')} ago"


# --- the lines --------------------------------------------------------------------------------


def _plane(lines: Mapping[str, Points], lags: Mapping[str, int | None], now: int) -> Plane:
    """Draw time to the right and messages upwards, a line a group."""
    plane = Plane("seconds before now", "lag in messages", height=330, right=0.28)
    for (group, points), (colour, dashes, mark) in zip(lines.items(), LINES, strict=False):
        times, numbers = np.array(points).T
        newest = "?" if lags[group] is None else f"{lags[group]:,}"
        plane.axes.plot(
            (times - now) / 1000, numbers, dashes, color=colour, marker=mark, markevery=0.15,
            markersize=5, label=f"{newest}  {group[:28]}",
        )  # fmt: skip
    oldest = min((points[0][0] for points in lines.values()), default=now)
    plane.axes.set_xlim(min(oldest - now, -10_000) / 1000, 0)
    plane.axes.set_ylim(
        0, None if any(lag for points in lines.values() for _, lag in points) else 1
    )
    plane.counts(x=True, y=True)
    handles = plane.axes.get_legend_handles_labels()
    plane.axes.legend(*handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return plane


def _twin(group: str, points: Points, lag: int | None, now: int) -> dict[str, str]:
    times, lags = zip(*points, strict=True)
    then = now - MINUTE_MS
    return {
        "group": group,
        "a minute ago": f"{np.interp(then, times, lags):,.0f}" if times[0] <= then else "–",
        "now": "–" if lag is None else f"{lag:,}",
        "highest": f"{max(lags):,}",
    }


# --- beside what a notebook does --------------------------------------------------------------

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
