"""The lag of groups over the last ten minutes at most: a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbook.views.picture import Picture, number
from workbook.views.plane import LINES, Plane

CAPTION = (
    "Lag over the last ten minutes at most: messages that a group has yet to read. A line that "
    "rises is a group that's slower than what it reads; a steady one keeps its distance."
)
SPAN_MS = 600_000

STALE_MS = 15_000
"""A lag that wasn't noted for so long isn't known any more: it's noted every five seconds."""

TREND_MS = 5_000
"""A lag grows or shrinks by what it was so long before it was last noted."""

AGES = {"ten minutes ago": SPAN_MS, "five": 300_000, "one": 60_000, "now": 0}

Points = Sequence[tuple[int, int]]
"""(ms, messages), in order."""


def lag_over_time(history: Mapping[str, Points], now: int, caption: str = CAPTION) -> Picture:
    """Draw each group's lag up to ``now`` (ms), ten minutes at most; five groups at most."""
    lines = {group: _within(points, now) for group, points in history.items()}
    lines = {group: points for group, points in lines.items() if points}
    highest = sorted(lines, key=lambda group: (-max(lag for _, lag in lines[group]), group))
    drawn = {group: lines[group] for group in highest[: len(LINES)]}
    plane = Plane("seconds before now", "lag in messages", height=330, right=0.26)
    for (group, points), (colour, dashes, mark) in zip(drawn.items(), LINES, strict=False):
        times, lags = np.array(points).T
        newest = f"{lags[-1]:,}" if _is_known(points, now) else "?"
        plane.axes.plot(
            (times - now) / 1000, lags, dashes, color=colour, marker=mark, markevery=0.15,
            markersize=5, label=f"{newest}  {group[:28]}",
        )  # fmt: skip
    plane.axes.set_ylim(0, None if any(lag for ps in drawn.values() for _, lag in ps) else 1)
    plane.counts(x=True, y=True)
    handles = plane.axes.get_legend_handles_labels()
    plane.axes.legend(*handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    rows = [_row(group, lines[group], now) for group in highest]
    return Picture(plane, caption, _words(drawn, len(lines) - len(drawn), now), rows)


def _within(points: Points, now: int) -> list[tuple[int, int]]:
    """Return the points of the last ten minutes, and the lag with which they begin."""
    start = now - SPAN_MS
    before = [lag for time, lag in points if time <= start][-1:]
    return [*((start, lag) for lag in before), *(p for p in points if start < p[0] <= now)]


def _at(points: Points, time: int) -> int:
    """Return the lag at a time on the line."""
    times, lags = zip(*points, strict=True)
    return round(float(np.interp(time, times, lags)))


def _is_known(points: Points, now: int) -> bool:
    return now < points[-1][0] + STALE_MS


def _row(group: str, points: Points, now: int) -> dict[str, Any]:
    ages = {name: now - age for name, age in AGES.items()}
    first, last = points[0][0], points[-1][0] + STALE_MS
    known = {n: f"{_at(points, t):,}" if first <= t < last else "–" for n, t in ages.items()}
    return {"group": group, **known, "highest": f"{max(lag for _, lag in points):,}"}


def _words(lines: Mapping[str, Points], left: int, now: int) -> str:
    said = []
    for group, points in lines.items():
        lag = points[-1][1]
        if not _is_known(points, now):
            said.append(f"{group} was {number(lag, 'message')} behind when that was last known")
            continue
        before = _at(points, max(points[-1][0] - TREND_MS, points[0][0]))
        trend = "growing" if lag > before else "shrinking" if lag < before else "steady"
        said.append(f"{group} is {number(lag, 'message')} behind, {trend}")
    if left:
        said.append(f"{number(left, 'more group')} in the table")
    return "; ".join(said or ["No lag is known yet"]) + "."
