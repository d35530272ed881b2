"""The sheet of a checkpoint: a row for each kind of write, and the kills across them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from workbook.views.drawing import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    ORANGE,
    PAPER,
    RED,
    Drawing,
    wide,
)
from workbook.views.time_axis import TimeAxis

KINDS = ("offsets", "state", "commits")
MEANING = {
    "offsets": "what it reads",
    "state": "its counts",
    "database": "its counts",
    "commits": "it's done",
}
COLOURS = {"offsets": BLUE, "state": ORANGE, "database": ORANGE, "commits": GREEN}

WIDTH, LEFT, RIGHT, TOP, ROW, MARK, HIGH = 860, 96, 800, 30, 44, 24, 22
PAUSE_S = 4.0
"""A pause is cut short if it's longer than this, and than four micro-batches."""

Times = dict[int, dict[str, list[float]]]
"""Micro-batch and kind to the times at which its files were written."""


class Sheet:
    """The files of the micro-batches in ``times`` on an axis of time, with kills and starts."""

    def __init__(
        self,
        times: Times,
        kills: Sequence[float],
        starts: Sequence[float],
        kinds: Sequence[str] = KINDS,
        kill: str = "kill -9",
    ) -> None:
        self._times, self._kinds, self._kill = times, kinds, kill
        moments = [at for kinds in times.values() for found in kinds.values() for at in found]
        self._kills = [at for at in sorted(kills) if at >= min(moments)]
        self._starts = [at for at in starts if at >= min(moments)]
        zero = self._kills[-1] if self._kills else max(moments)
        self._axis = TimeAxis(
            [*moments, *self._kills, *self._starts], LEFT + MARK, RIGHT,
            longest=_longest(times), zero=zero,
        )  # fmt: skip
        self._foot = TOP + ROW * len(kinds)
        self.drawing = Drawing(WIDTH, self._foot + 24)

    def said(self, batch: int, kind: str) -> str:
        """Return when the files of a micro-batch were written: "-1.2 s", or "–" for never."""
        found = [at - self._axis.zero for at in self._times[batch].get(kind, [])]
        return ", ".join(f"{seconds:+.2f} s" for seconds in found) or "–"

    def draw_files(self) -> None:
        """Draw the rows, a line for each micro-batch, and a mark for each file."""
        for kind in self._kinds:
            y = self._y(kind)
            self.drawing.text(4, y + 10, kind, bold=True)
            self.drawing.text(4, y + 24, MEANING[kind], size=10)
            self.drawing.line([(LEFT, y + HIGH / 2), (WIDTH, y + HIGH / 2)], colour=FAINT, thick=1)
        self._axis.draw(self.drawing, self._foot)
        for kinds in self._times.values():
            for one, other in pairwise(self._kinds):
                self._join(kinds, one, other)
        for kind in self._kinds:
            self._draw_kind(kind)

    def draw_marks(self) -> None:
        """Draw a line through all rows for each kill and each start."""
        for at in self._starts:
            x = self._axis.at(at)
            self.drawing.line([(x, TOP - 8), (x, self._foot)], colour=GREEN, thick=2, dashed=True)
            self.drawing.text(x + 4, TOP - 12, "▶ started again")
        for at in self._kills:
            x, y = self._axis.at(at), TOP - 12
            cut = [(x, y), (x - 4, y + 40), (x + 4, y + 60), (x - 4, y + 90), (x, self._foot)]
            self.drawing.line(cut, colour=RED, thick=2.5)
            self.drawing.text(x - 4, y, f"✂ {self._kill}", anchor="end", bold=True)

    def draw_missing(self, batch: int, kinds: Sequence[str]) -> None:
        """Draw a crossed box behind the kill for each file that wasn't there."""
        x = self._axis.at(self._kills[-1]) + 8
        for kind in kinds:
            room = _room(batch)
            self.drawing.box(
                x, self._y(kind), room, HIGH, str(batch), edge=RED, dashed=True, fill=PAPER,
                title=f"{kind}/{batch} is missing",
            )  # fmt: skip
            self.drawing.cross(x + room, self._y(kind), size=4)

    def _y(self, kind: str) -> float:
        return TOP + ROW * self._kinds.index(kind)

    def _join(self, kinds: Mapping[str, Sequence[float]], one: str, other: str) -> None:
        """Join each file with the one before it; with dashes where the query has died between."""
        for at in kinds.get(other, ()):
            before = [first for first in kinds.get(one, ()) if first <= at][-1:]
            for first in before:
                places = (first, one), (at, other)
                ends = [(self._axis.at(when), self._y(kind) + 11) for when, kind in places]
                again = any(first <= kill < at for kill in self._kills)
                self.drawing.line(ends, colour=GREY, thick=1, dashed=again)

    def _draw_kind(self, kind: str) -> None:
        """Draw the marks of a kind, the last one first: where it's narrow, it has its number."""
        found = [(at, batch) for batch, kinds in self._times.items() for at in kinds.get(kind, ())]
        free = float(WIDTH)
        for at, batch in sorted(found, reverse=True):
            x, room, title = self._axis.at(at), _room(batch), f"{kind}/{batch}"
            if x + room / 2 > free:
                self.drawing.box(x - 2, self._y(kind), 4, HIGH, fill=COLOURS[kind], title=title)
                free = min(free, x - 3)
                continue
            self.drawing.box(
                x - room / 2, self._y(kind), room, HIGH, edge=COLOURS[kind], fill=PAPER, title=title
            )
            self.drawing.text(x, self._y(kind) + 15, str(batch), anchor="middle", bold=True)
            free = x - room / 2 - 1


def _room(batch: int) -> float:
    return max(MARK, wide(str(batch)) + 8)


def _longest(times: Mapping[int, Mapping[str, Sequence[float]]]) -> float:
    """Return from how many seconds on a pause is cut short."""
    firsts = sorted(min(found[0] for found in kinds.values()) for kinds in times.values())
    usual = median([b - a for a, b in pairwise(firsts)]) if len(firsts) > 1 else 0.0
    return max(PAUSE_S, 4 * usual)
