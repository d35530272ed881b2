"""The lag of groups over the last ten minutes at most: a line for each, its name at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from workbook.views.drawing import BLUE, FAINT, GREEN, GREY, INK, ORANGE, RED, Drawing
from workbook.views.picture import Picture, number
from workbook.views.words import cut

CAPTION = (
    "Lag over the last ten minutes at most: messages that a group has yet to read. A line that "
    "rises is a group that's slower than what it reads; a steady one keeps its distance."
)
WIDTH, HEIGHT = 930, 320
LEFT, RIGHT, TOP, BOTTOM = 72, 690, 34, 278
LABEL = 15
"""The least distance between two names."""

SPAN_MS, MARK_MS = 600_000, 60_000
TICKS_MS = {60_000: 20_000, 120_000: 30_000, 300_000: 60_000, SPAN_MS: 120_000}
"""How long the axis may be, with the distance of its ticks: the shortest that holds all lines."""

STALE_MS = 15_000
"""A lag that wasn't noted for so long isn't known any more: it's noted every five seconds."""

TREND_MS = 5_000
"""A lag grows or shrinks by what it was so long before it was last noted."""

LINES = 5
"""More lines than these can't be told apart; the ones with the highest lag are drawn."""

COLOURS = (BLUE, ORANGE, GREEN, RED, GREY)
AGES = {"ten minutes ago": SPAN_MS, "five": 300_000, "one": 60_000, "now": 0}

Points = Sequence[tuple[int, int]]
"""(ms, messages), in order."""


def lag_over_time(history: Mapping[str, Points], now: int, caption: str = CAPTION) -> Picture:
    """Draw each group's lag up to ``now`` (ms), ten minutes at most; five groups at most."""
    lines = {group: _within(points, now) for group, points in history.items()}
    lines = {group: points for group, points in lines.items() if points}
    highest = sorted(lines, key=lambda group: (-max(lag for _, lag in lines[group]), group))
    drawn = {group: lines[group] for group in highest[:LINES]}
    drawing = Drawing(WIDTH, HEIGHT)
    most = max((lag for points in drawn.values() for _, lag in points), default=0)
    oldest = min((points[0][0] for points in drawn.values()), default=now)
    axes = _Axes(drawing, now, most, _span(now - oldest))
    for place, (group, points) in enumerate(drawn.items()):
        axes.line(group, points, place)
    axes.labels(drawn)
    rows = [_row(group, lines[group], now) for group in highest]
    return Picture(drawing, caption, _words(drawn, len(lines) - len(drawn), now), rows)


class _Axes:
    """Time to the right, ``span`` ms of it, and messages upwards from 0 to ``most``."""

    def __init__(self, drawing: Drawing, now: int, most: int, span: int) -> None:
        self._drawing, self._now, self._most, self._span = drawing, now, max(most, 1), span
        for lag in _ticks(self._most):
            drawing.line([(LEFT, self._y(lag)), (RIGHT, self._y(lag))], colour=FAINT, thick=0.5)
            drawing.text(LEFT - 8, self._y(lag) + 4, f"{lag:,}", anchor="end", size=11)
        for age in range(0, span + 1, TICKS_MS[span]):
            x, words = self._x(now - age), _ago(age)
            drawing.line([(x, BOTTOM), (x, BOTTOM + 4)], thick=1)
            drawing.text(x, BOTTOM + 18, words, anchor="middle", size=11)
        drawing.line([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], thick=1)
        drawing.text(8, TOP - 16, "lag in messages", size=11)

    def line(self, group: str, points: Points, place: int) -> None:
        """Draw a group's line, with a mark every minute that's of its own form."""
        places = [(self._x(time), self._y(lag)) for time, lag in points]
        self._drawing.line(places, colour=COLOURS[place], thick=2, dashed=place % 2 == 1)
        for time in range(points[0][0], points[-1][0] + 1, MARK_MS):
            lag = _at(points, time)
            said = f"{group}: {number(lag, 'message')} behind"
            self._mark(self._x(time), self._y(lag), place, said)

    def labels(self, lines: Mapping[str, Points]) -> None:
        """Write each name at its line's end, moved where two would meet."""
        ends = {group: self._y(points[-1][1]) for group, points in lines.items()}
        heights = _spread(ends)
        for place, (group, points) in enumerate(lines.items()):
            y, end = heights[group], (self._x(points[-1][0]), ends[group])
            self._drawing.line([end, (RIGHT + 14, y)], colour=FAINT, thick=1)
            self._mark(RIGHT + 20, y, place)
            words = f"{points[-1][1]:,} {group}" if _is_known(points, self._now) else f"? {group}"
            self._drawing.text(RIGHT + 30, y + 4, cut(words, WIDTH - RIGHT - 34), colour=INK)

    def _mark(self, x: float, y: float, place: int, title: str = "") -> None:
        colour = COLOURS[place]
        if place in (0, 3):
            self._drawing.dot(x, y, colour=colour, hollow=place == 3, title=title, radius=4)
        elif place in (1, 4):
            fill = colour if place == 1 else "none"
            self._drawing.box(x - 4, y - 4, 8, 8, fill=fill, edge=colour, title=title)
        else:
            self._drawing.cross(x, y, colour=colour, title=title)

    def _x(self, time: int) -> float:
        return RIGHT - (RIGHT - LEFT) * (self._now - time) / self._span

    def _y(self, lag: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * lag / self._most


def _span(age: int) -> int:
    return next((span for span in TICKS_MS if age <= span), SPAN_MS)


def _ago(age: int) -> str:
    if not age:
        return "now"
    return f"{age // 60_000} min ago" if age % 60_000 == 0 else f"{age // 1000} s ago"


def _within(points: Points, now: int) -> list[tuple[int, int]]:
    """Return the points of the last ten minutes, and the lag with which they begin."""
    start = now - SPAN_MS
    before = [lag for time, lag in points if time <= start][-1:]
    return [*((start, lag) for lag in before), *(p for p in points if start < p[0] <= now)]


def _at(points: Points, time: int) -> int:
    """Return the lag at a time on the line."""
    for (start, first), (stop, last) in pairwise(points):
        if start <= time <= stop and stop > start:
            return round(first + (last - first) * (time - start) / (stop - start))
    return points[-1][1]


def _is_known(points: Points, now: int) -> bool:
    return now < points[-1][0] + STALE_MS


def _spread(ends: Mapping[str, float]) -> dict[str, float]:
    """Move heights apart from above to below, and back up from the foot."""
    found: dict[str, float] = {}
    least = float(TOP)
    for group in sorted(ends, key=lambda group: ends[group]):
        found[group] = max(ends[group], least)
        least = found[group] + LABEL
    most = float(BOTTOM)
    for group in reversed(found):
        found[group] = min(found[group], most)
        most = found[group] - LABEL
    return found


def _ticks(most: int) -> range:
    power = 1
    while most / (5 * power) > 5:
        power *= 10
    step = next((s * power for s in (1, 2, 5) if most / (s * power) <= 5), 5 * power)
    return range(0, most + 1, step)


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
