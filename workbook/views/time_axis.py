"""An axis of time whose long pauses are cut short, since nobody looks at what doesn't happen."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import pairwise

from workbook.views.drawing import INK, PAPER, Drawing

PAUSE = 44
"""The width of a pause that is cut short."""

TICK = 70
"""Ticks stand at least so far apart."""


class TimeAxis:
    """Where moments (seconds) lie between ``left`` and ``right``; pauses from ``longest`` are cut.

    Ticks count from ``zero``.
    """

    def __init__(
        self, moments: Collection[float], left: float, right: float, *, longest: float, zero: float
    ) -> None:
        self.zero = zero
        known = sorted(set(moments)) or [zero]
        gaps = [(a, b) for a, b in pairwise(known) if b - a >= longest]
        span = known[-1] - known[0] - sum(b - a for a, b in gaps)
        self.scale = max(right - left - PAUSE * len(gaps), 1.0) / (span or 1.0)
        self._parts: list[tuple[float, float, float]] = []
        begin, x = known[0], left
        for a, b in [*gaps, (known[-1], known[-1])]:
            self._parts.append((begin, a, x))
            x, begin = x + (a - begin) * self.scale + PAUSE, b

    def at(self, moment: float) -> float:
        """Return where a moment lies; one in a pause lies within its cut."""
        for begin, end, x in reversed(self._parts):
            if moment >= begin:
                return x + min(moment - begin, end - begin + PAUSE / 2 / self.scale) * self.scale
        return self._parts[0][2]

    def draw(self, drawing: Drawing, y: float) -> None:
        """Draw the axis with its ticks and cuts."""
        for begin, end, x in self._parts:
            drawing.line([(x, y), (x + (end - begin) * self.scale, y)], thick=1)
        for moment in self._ticks():
            x = self.at(moment)
            drawing.line([(x, y), (x, y + 4)], thick=1)
            drawing.text(x, y + 16, self.said(moment), anchor="middle", size=11)
        for (_, end, x), (begin, _, _) in pairwise(self._parts):
            middle = x + (end - self._begin(end)) * self.scale + PAUSE / 2
            drawing.box(middle - 20, y - 7, 40, 14, fill=PAPER, edge="none")
            drawing.text(middle, y + 4, f"// {begin - end:,.0f} s", anchor="middle", colour=INK)

    def said(self, moment: float) -> str:
        """Return a moment as seconds before or after zero: "-2 s", "+0.5 s"."""
        step = self._step()
        digits = 0 if step >= 1 else math.ceil(-math.log10(step))
        seconds = round(moment - self.zero, digits)
        return f"{seconds:+.{digits}f} s" if seconds else "0 s"

    def _begin(self, moment: float) -> float:
        return max(begin for begin, _, _ in self._parts if begin <= moment)

    def _step(self) -> float:
        wanted = TICK / self.scale
        power = 10.0 ** math.floor(math.log10(wanted))
        return next(step * power for step in (1, 2, 5, 10) if step * power >= wanted)

    def _ticks(self) -> Iterator[float]:
        step = self._step()
        for begin, end, _ in self._parts:
            first = math.ceil((begin - self.zero) / step - 1e-9)
            last = math.floor((end - self.zero) / step + 1e-9)
            yield from (self.zero + number * step for number in range(first, last + 1))
