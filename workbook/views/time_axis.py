"""An axis of time whose long pauses are cut short, since nobody looks at what doesn't happen."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import pairwise

from workbook.views.drawing import PAPER, Drawing

PAUSE, TICK = 44, 70
"""The width of a pause that is cut short, and the least width between two ticks."""


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
        wanted = TICK / self.scale
        power = 10.0 ** math.floor(math.log10(wanted))
        step = next(step * power for step in (1, 2, 5, 10) if step * power >= wanted)
        for begin, end, x in self._parts:
            drawing.line([(x, y), (self.at(end), y)], thick=1)
            first = math.ceil((begin - self.zero) / step - 1e-9)
            last = math.floor((end - self.zero) / step + 1e-9)
            for seconds in (number * step for number in range(first, last + 1)):
                x = self.at(self.zero + seconds)
                drawing.line([(x, y), (x, y + 4)], thick=1)
                drawing.text(x, y + 16, _said(seconds, step), anchor="middle", size=11)
        for (_, end, _), (begin, _, x) in pairwise(self._parts):
            middle = x - PAUSE / 2
            drawing.box(middle - 20, y - 7, 40, 14, fill=PAPER, edge="none")
            drawing.text(middle, y + 4, f"// {begin - end:,.0f} s", anchor="middle")


def _said(seconds: float, step: float) -> str:
    """Write seconds before or after zero in as many digits as a step has: "-2 s", "+0.5 s"."""
    digits = 0 if step >= 1 else math.ceil(-math.log10(step))
    return f"{seconds:+.{digits}f} s" if round(seconds, digits) else "0 s"
