"""Who reads what: the groups as a table, their lag over time as lines, and what has left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbook.streams.events.group_health import named
from workbook.views.drawing import BLUE, FAINT, GREEN, GREY, INK, ORANGE, RED, Drawing
from workbook.views.picture import Picture, number
from workbook.views.tables import table
from workbook.views.words import cut

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
SHOWN, NAME = 20, 110
"""Rows of the table; the width of a name in it, in pixels."""

WHOLE = (
    "<style>.wb-groups {overflow-x:auto} "
    ".wb-groups td:not(:last-child), .wb-groups th {white-space:nowrap}</style>"
)
"""Of nine columns only the last one, the remarks, may break its lines."""

WIDTH, HEIGHT = 930, 320
LEFT, RIGHT, TOP, BOTTOM = 72, 690, 34, 278
LABEL = 15
"""The least distance between two names."""

TICKS_S = {60: 20, 120: 30, 300: 60, 600: 120}
"""How long the axis may be, with the distance of its ticks: the shortest that holds all lines."""

TREND_MS = 5_000
"""A lag grows or shrinks by what it was so long before."""

COLOURS = (BLUE, ORANGE, GREEN, RED, GREY)
"""Of more groups than colours, those with the highest lag are drawn: more can't be told apart."""

MINUTE_MS = 60_000

Row = Mapping[str, Any]
Points = Sequence[tuple[int, int]]
"""(ms, messages of lag), in order."""


@dataclass(frozen=True, repr=False)
class Board(Picture):
    """A picture of the lag over time, with the groups' table above it, and what has left below."""

    groups: Sequence[Row] = ()
    above: str = ""
    below: str = ""

    @property
    def figure(self) -> str:
        """Return the tables and the drawing as HTML."""
        return self.above + super().figure + self.below

    def __repr__(self) -> str:
        lines = [json.dumps(dict(row), default=str, ensure_ascii=False) for row in self.groups]
        return "\n".join([*lines, super().__repr__()])


def board(
    rows: Sequence[Row],
    history: Mapping[str, Points],
    now: int,
    gone: Sequence[Row] = (),
    silent: bool = False,
) -> Board:
    """Draw all that is known of the groups; ``now`` in ms.

    ``rows`` are those of ``Dashboard``. ``history`` is the lag of each group over time, up to its
    row's. ``gone`` have group, how, ago (s), client_ids and lag as they were. ``silent``: the
    broker doesn't answer, so that lags are old.
    """
    above = groups_table(rows)
    if silent:
        above += f"<p style='color:{INK}'><b>⚠ The broker doesn't answer: lags are old.</b></p>"
    below = table([_gone(row) for row in gone], GONE_CAPTION, "none")
    lags = {row["group"]: row["lag"] for row in rows}
    lines = {group: history[group] for group in lags if history.get(group)}
    highest = sorted(lines, key=lambda group: (-max(lag for _, lag in lines[group]), group))
    drawn = {group: lines[group] for group in highest[: len(COLOURS)]}
    words = [_words(group, points, lags[group]) for group, points in drawn.items()]
    if len(lines) > len(drawn):
        words.append(f"{number(len(lines) - len(drawn), 'more group')} in the table")
    return Board(
        _drawing(drawn, lags, now),
        LAG_CAPTION,
        "; ".join(words or ["No lag is known yet"]) + ".",
        [_twin(group, lines[group], lags[group], now) for group in highest],
        *(rows[:SHOWN], above, below),
    )


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
    for name, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name} ago"
    return f"{number(round(seconds), 'second')} ago"


# --- the lines --------------------------------------------------------------------------------


def _drawing(lines: Mapping[str, Points], lags: Mapping[str, int | None], now: int) -> Drawing:
    """Draw time to the right and messages upwards, each line with its group's name at its end."""
    drawing = Drawing(WIDTH, HEIGHT)
    oldest = min((points[0][0] for points in lines.values()), default=now)
    span = next((span for span in TICKS_S if now - oldest <= span * 1000), 600)
    most = max((lag for points in lines.values() for _, lag in points), default=0) or 1

    def at(time: int, lag: float) -> tuple[float, float]:
        x = RIGHT - (RIGHT - LEFT) * min((now - time) / span / 1000, 1)
        return x, BOTTOM - (BOTTOM - TOP) * lag / most

    for lag in _ticks(most):
        y = at(now, lag)[1]
        drawing.line([(LEFT, y), (RIGHT, y)], colour=FAINT, thick=0.5)
        drawing.text(LEFT - 8, y + 4, f"{lag:,}", anchor="end", size=11)
    for age in range(0, span + 1, TICKS_S[span]):
        x, y = at(now - age * 1000, 0)
        said = f"{age // 60} min ago" if age % 60 == 0 else f"{age} s ago"
        drawing.line([(x, y), (x, y + 4)], thick=1)
        drawing.text(x, y + 18, said if age else "now", anchor="middle", size=11)
    drawing.line([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], thick=1)
    drawing.text(8, TOP - 16, "lag in messages", size=11)
    heights = _spread({group: at(*points[-1])[1] for group, points in lines.items()})
    for place, (group, points) in enumerate(lines.items()):
        y, colour, dashed = heights[group], COLOURS[place], place % 2 == 1
        places = [at(*point) for point in points]
        drawing.line(places, colour=colour, thick=2, dashed=dashed)
        drawing.line([places[-1], (RIGHT + 14, y)], colour=FAINT, thick=1)
        drawing.line([(RIGHT + 14, y), (RIGHT + 34, y)], colour=colour, thick=2, dashed=dashed)
        known = "?" if lags[group] is None else f"{lags[group]:,}"
        drawing.text(RIGHT + 40, y + 4, cut(f"{known} {group}", WIDTH - RIGHT - 44))
    return drawing


def _spread(ends: Mapping[str, float]) -> dict[str, float]:
    """Move the heights of names apart, from the foot upwards."""
    found, room = dict[str, float](), float(BOTTOM)
    for rank, group in reversed([*enumerate(sorted(ends, key=lambda group: ends[group]))]):
        found[group] = max(min(ends[group], room), TOP + LABEL * rank)
        room = found[group] - LABEL
    return found


def _ticks(most: int) -> range:
    """Return the multiples of the least round number (1, 2, 5, 10 ...) of which five fit."""
    power = 10 ** (len(f"{most}") - 1) // 10 or 1
    step = next(s * power for s in (1, 2, 5, 10, 20) if most <= 5 * s * power)
    return range(0, most + 1, step)


def _at(points: Points, time: int) -> int:
    """Return the lag at a time on the line."""
    for (start, first), (stop, last) in pairwise(points):
        if start <= time <= stop and stop > start:
            return round(first + (last - first) * (time - start) / (stop - start))
    return points[-1][1]


def _words(group: str, points: Points, lag: int | None) -> str:
    if lag is None:
        return f"{group} was {number(points[-1][1], 'message')} behind when that was last known"
    before = _at(points, max(points[-1][0] - TREND_MS, points[0][0]))
    trend = "growing" if lag > before else "shrinking" if lag < before else "steady"
    return f"{group} is {number(lag, 'message')} behind, {trend}"


def _twin(group: str, points: Points, lag: int | None, now: int) -> dict[str, str]:
    then = now - MINUTE_MS
    return {
        "group": group,
        "a minute ago": f"{_at(points, then):,}" if points[0][0] <= then else "–",
        "now": "–" if lag is None else f"{lag:,}",
        "highest": f"{max(lag for _, lag in points):,}",
    }
