"""How many visits are open against how much was read: the state of two runs on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.drawing import BLUE, FAINT, GREY, INK, ORANGE, Drawing
from workbook.views.picture import Picture, number

CAPTION = (
    "The same messages, read twice. Upwards: visits that are open, which is the state. To the "
    "right: messages read so far. Look for the place where each run waits until orders go on."
)
WIDTH, HEIGHT = 820, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 796, 58, 290
COLOURS = (ORANGE, BLUE)
SHOWN = 16
"""So many points of a run stand in the table, at most."""

_STEPS = (1, 2, 5)


@dataclass(frozen=True)
class Curve:
    """A run by name: messages read and visits open then, in the order of reading.

    After ``came`` messages the stream that was stuck went on; None where it never was.
    """

    name: str
    points: Sequence[tuple[int, int]]
    came: int | None = None

    @property
    def peak(self) -> tuple[int, int]:
        """Return where most visits were open; (0, 0) without a point."""
        return max(self.points, key=lambda point: point[1], default=(0, 0))


def open_state(curves: Sequence[Curve], caption: str = CAPTION) -> Picture:
    """Draw two runs: the first with squares on a full line, the second with dots on a dashed one.

    Points are pairs of counts: messages read, and visits open.
    """
    drawing = Drawing(WIDTH, HEIGHT)
    points = [point for curve in curves for point in curve.points]
    across = _Scale(max((x for x, _ in points), default=0), LEFT, RIGHT)
    upwards = _Scale(max((y for _, y in points), default=0), BOTTOM, TOP)
    _axes(drawing, across, upwards)
    for place, curve in enumerate(curves):
        _waited(drawing, across, curve, place)
        _curve(drawing, across, upwards, curve, place)
    return Picture(drawing, caption, _words(curves), _rows(curves))


class _Scale:
    """Counts from 0 to ``most`` between two ends, with round ticks."""

    def __init__(self, most: int, start: float, end: float) -> None:
        self.most, self._start, self._end = max(most, 1), start, end

    def __call__(self, count: float) -> float:
        return self._start + (self._end - self._start) * count / self.most

    def ticks(self) -> range:
        power = 1
        while self.most / (5 * power) > 6:
            power *= 10
        step = next((s * power for s in _STEPS if self.most / (s * power) <= 6), 5 * power)
        return range(0, self.most + 1, step)


def _axes(drawing: Drawing, across: _Scale, upwards: _Scale) -> None:
    for count in upwards.ticks():
        y = upwards(count)
        drawing.line([(LEFT, y), (RIGHT, y)], colour=FAINT, thick=0.5)
        drawing.text(LEFT - 8, y + 4, f"{count:,}", anchor="end", size=11)
    for count in across.ticks():
        x = across(count)
        drawing.line([(x, BOTTOM), (x, BOTTOM + 4)], thick=1)
        drawing.text(x, BOTTOM + 17, f"{count:,}", anchor="middle", size=11)
    drawing.line([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], thick=1)
    drawing.text(LEFT, HEIGHT - 10, "messages read", size=11)
    drawing.text(8, TOP - 10, "visits open", size=11)


def _curve(drawing: Drawing, across: _Scale, upwards: _Scale, curve: Curve, place: int) -> None:
    colour = COLOURS[place]
    places = [(across(x), upwards(y)) for x, y in curve.points]
    drawing.line(places, colour=colour, thick=2, dashed=place == 1)
    for (x, y), (read, still) in zip(places, curve.points, strict=True):
        said = f"{curve.name}: {number(read, 'message')} read, {still:,} open"
        if len(places) > 40:
            continue
        if place == 0:
            drawing.box(x - 4, y - 4, 8, 8, fill=colour, edge=colour, title=said)
        else:
            drawing.dot(x, y, radius=4, colour=colour, title=said)
    if curve.points:
        _label(drawing, across, upwards, curve, place)


def _label(drawing: Drawing, across: _Scale, upwards: _Scale, curve: Curve, place: int) -> None:
    """Write a run's name and peak: the first one's beside its peak, the second's in the middle."""
    read, most = curve.peak
    x, y = across(read), upwards(most)
    words = f"{curve.name}: up to {most:,}"
    if place == 1:
        above = most < upwards.most / 2
        drawing.text(
            (LEFT + RIGHT) / 2, y + (-8 if above else 18), words, anchor="middle", bold=True
        )
    elif x > (LEFT + RIGHT) / 2:
        drawing.text(x - 10, y - 8, words, anchor="end", bold=True)
    else:
        drawing.text(x + 10, y - 8, words, bold=True)


def _waited(drawing: Drawing, across: _Scale, curve: Curve, place: int) -> None:
    """Mark where a run waited for the stream that was stuck."""
    if curve.came is None:
        return
    x, y = across(curve.came), TOP - 46 + 16 * place
    drawing.line([(x, y + 5), (x, BOTTOM)], colour=GREY, thick=1, dashed=True)
    left = x > (LEFT + RIGHT) / 2
    words = f"{curve.name}: orders go on"
    drawing.text(x, y, words, anchor="end" if left else "start", size=11, colour=INK)


def _words(curves: Sequence[Curve]) -> str:
    said = []
    for curve in curves:
        if not curve.points:
            said.append(f"{curve.name}: nothing read yet")
            continue
        read, most = curve.peak
        end = curve.points[-1]
        text = f"{curve.name}: up to {number(most, 'visit')} open, after {number(read, 'message')}"
        if curve.came is not None:
            text += f"; it waited for orders after {curve.came:,}"
        said.append(f"{text}; {end[1]:,} open in the end, after {end[0]:,}")
    return ". ".join(said or ["Nothing was read yet"]) + "."


def _rows(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    rows = []
    for curve in curves:
        step = -(-len(curve.points) // SHOWN) or 1
        kept = {*curve.points[::step], *curve.points[-1:], *([curve.peak] if curve.points else [])}
        for read, still in sorted(kept):
            rows.append({"run": curve.name, "messages read": f"{read:,}", "open": f"{still:,}"})
    return rows
