"""Who reads what: the groups as a table, their lag over time as lines, and what has left."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from workbook.streams.events.group_health import named
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
