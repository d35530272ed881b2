"""The checkpoint as a timeline: when each micro-batch wrote its files, and where a kill fell."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf
from statistics import median

from workbook.views.drawing import BLUE, FAINT, GREEN, GREY, ORANGE, PAPER, RED, Drawing, wide
from workbook.views.picture import Picture
from workbook.views.tape import written
from workbook.views.time_axis import TimeAxis

BEFORE, AFTER = 5, 2
"""Micro-batches that are drawn up to the kill's, and after it; more can't be told apart."""

NONE = -1
"""No micro-batch."""

EMPTY = "The checkpoint has no files: the query has planned no micro-batch yet."
CAPTION = "The checkpoint: each micro-batch writes offsets, then state, then commits"

KINDS = ("offsets", "state", "commits")
MEANING = {
    "offsets": ("what it reads", BLUE),
    "state": ("its counts", ORANGE),
    "database": ("its counts", ORANGE),
    "commits": ("it's done", GREEN),
}

WIDTH, LEFT, RIGHT, TOP, ROW, MARK, HIGH = 860, 96, 800, 30, 44, 24, 22
PAUSE_S = 4.0
"""A pause is cut short if it's longer than this, and than four micro-batches."""

Files = Sequence[tuple[str, int, float]]
"""Kind, micro-batch and time of each file."""

Times = dict[int, dict[str, list[float]]]
"""Micro-batch and kind to the times at which its files were written."""


def checkpoint(
    files: Files,
    *,
    kills: Sequence[float] = (),
    starts: Sequence[float] = (),
    planned: Mapping[int, int] | None = None,
    caption: str = CAPTION,
    kinds: Sequence[str] = KINDS,
    kill_is: str = "kill -9",
) -> Picture:
    """Draw the files of a checkpoint: kind (offsets, state, commits), micro-batch, time (s).

    ``kills`` and ``starts`` (again) are times too. ``planned`` says up to which offset a
    micro-batch reads. The micro-batches around the last kill are drawn, or the last ones; of
    several files of a kind the one written last, in each life of the query. With ``kinds``, other
    writes than those of files, in the order in which a micro-batch makes them.
    """
    planned, kill = planned or {}, max(kills, default=inf)
    every = {batch for _, batch, _ in files}
    begun = {batch for _, batch, at in files if at <= kill}
    shown = {*sorted(begun)[-BEFORE:], *sorted(every - begun)[:AFTER]}
    times = _times([file for file in files if file[1] in shown], sorted(kills))
    if not times:
        return Picture(Drawing(10, 10), caption, EMPTY)
    sheet = _Sheet(times, kills, starts, kinds)
    sheet.draw_files()
    sheet.draw_marks(kill_is)
    last = {
        kind: max((n for what, n, at in files if what == kind and at <= kill), default=NONE)
        for kind in kinds
    }
    open_ = last["offsets"]
    if kills and last["commits"] < open_ in times:
        sheet.draw_missing(open_, [k for k in kinds if not _by(times[open_], k, kill)])
    named = (f"in {kind}: {'none' if n == NONE else n}" for kind, n in last.items())
    words = [f"The last micro-batch {', '.join(named)}."]
    if kills:
        words = _at_kill(times.get(open_, {}), last, kill, planned)
    if len(every) > len(times):
        words.append(f"{len(every):,} micro-batches have files here, {len(times)} are drawn.")
    rows = [_row(batch, sheet, planned, kinds) for batch in times]
    return Picture(sheet.drawing, caption, " ".join(words), rows)


def _times(files: Files, kills: Sequence[float]) -> Times:
    """Return of each micro-batch and kind when its last file was written, in each life."""
    lives: dict[tuple[int, str, int], float] = {}
    for kind, batch, at in files:
        key = batch, kind, bisect_left(kills, at)
        lives[key] = max(at, lives.get(key, at))
    times: Times = {}
    for (batch, kind, _), at in sorted(lives.items()):
        times.setdefault(batch, {}).setdefault(kind, []).append(at)
    return times


def _by(kinds: Mapping[str, Sequence[float]], kind: str, kill: float) -> bool:
    """Return True if a kind of file was there by the kill."""
    return any(at <= kill for at in kinds.get(kind, ()))


def _at_kill(
    kinds: Mapping[str, Sequence[float]],
    last: Mapping[str, int],
    kill: float,
    planned: Mapping[int, int],
) -> list[str]:
    """Return what a kill found; ``kinds`` are the files of the micro-batch planned last."""
    batch, done = last["offsets"], last["commits"]
    if batch == NONE:
        return ["When the kill fell, no micro-batch was planned."]
    latest = "None was in commits." if done == NONE else f"The last one in commits was {done}."
    if done >= batch:
        return ["When the kill fell, each planned micro-batch was in commits.", latest]
    there = [kind for kind in last if _by(kinds, kind, kill)]
    missing = [kind for kind in last if kind not in there]
    said = (
        f"When the kill fell, micro-batch {batch}{_records(batch, planned)} was in "
        f"{' and '.join(there)}, and not in {' or '.join(missing)}."
    )
    again = [kind for kind in last if any(at > kill for at in kinds.get(kind, ()))]
    since = [f"Since then {batch} was written to {' and '.join(again)}."] if again else []
    return [said, latest, *since]


def _records(batch: int, planned: Mapping[int, int]) -> str:
    if batch not in planned or batch - 1 not in planned:
        return ""
    first, end = planned[batch - 1], planned[batch]
    return f" (offsets {written(first, end)})" if end > first else " (no records)"


def _row(
    batch: int, sheet: _Sheet, planned: Mapping[int, int], kinds: Sequence[str]
) -> dict[str, str]:
    row = {"micro-batch": str(batch)}
    if planned:
        row["reads up to offset"] = f"{planned[batch]:,}" if batch in planned else "?"
    return row | {kind: sheet.said(batch, kind) for kind in kinds}


class _Sheet:
    """The files of the micro-batches in ``times`` on an axis of time, with kills and starts."""

    def __init__(
        self, times: Times, kills: Sequence[float], starts: Sequence[float], kinds: Sequence[str]
    ) -> None:
        self._times, self._kinds = times, kinds
        moments = [at for kinds in times.values() for found in kinds.values() for at in found]
        self._kills = [at for at in sorted(kills) if at >= min(moments)]
        self._starts = [at for at in starts if at >= min(moments)]
        zero = self._kills[-1] if self._kills else max(moments)
        firsts = sorted(min(found[0] for found in kinds.values()) for kinds in times.values())
        usual = median([b - a for a, b in pairwise(firsts)] or [0.0])
        self._axis = TimeAxis(
            [*moments, *self._kills, *self._starts], LEFT + MARK, RIGHT,
            longest=max(PAUSE_S, 4 * usual), zero=zero,
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
            self.drawing.text(4, y + 24, MEANING[kind][0], size=10)
            self.drawing.line([(LEFT, y + HIGH / 2), (WIDTH, y + HIGH / 2)], colour=FAINT, thick=1)
        self._axis.draw(self.drawing, self._foot)
        for kinds in self._times.values():
            for one, other in pairwise(self._kinds):
                self._join(kinds, one, other)
        for kind in self._kinds:
            self._draw_kind(kind)

    def draw_marks(self, kill: str) -> None:
        """Draw a line through all rows for each kill and each start."""
        for at in self._starts:
            x = self._axis.at(at)
            self.drawing.line([(x, TOP - 8), (x, self._foot)], colour=GREEN, thick=2, dashed=True)
            self.drawing.text(x + 4, TOP - 12, "▶ started again")
        for at in self._kills:
            x, y = self._axis.at(at), TOP - 12
            cut = [(x, y), (x - 4, y + 40), (x + 4, y + 60), (x - 4, y + 90), (x, self._foot)]
            self.drawing.line(cut, colour=RED, thick=2.5)
            self.drawing.text(x - 4, y, f"✂ {kill}", anchor="end", bold=True)

    def draw_missing(self, batch: int, kinds: Sequence[str]) -> None:
        """Draw a crossed box behind the kill for each file that wasn't there."""
        x, room = self._axis.at(self._kills[-1]) + 8, _room(batch)
        for kind in kinds:
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
            for first in [first for first in kinds.get(one, ()) if first <= at][-1:]:
                places = (first, one), (at, other)
                ends = [(self._axis.at(when), self._y(kind) + 11) for when, kind in places]
                again = any(first <= kill < at for kill in self._kills)
                self.drawing.line(ends, colour=GREY, thick=1, dashed=again)

    def _draw_kind(self, kind: str) -> None:
        """Draw the marks of a kind, the last one first; one has its number where there's room."""
        found = [(at, batch) for batch, kinds in self._times.items() for at in kinds.get(kind, ())]
        free, y, colour = float(WIDTH), self._y(kind), MEANING[kind][1]
        for at, batch in sorted(found, reverse=True):
            x, room, title = self._axis.at(at), _room(batch), f"{kind}/{batch}"
            if x + room / 2 > free:
                self.drawing.box(x - 2, y, 4, HIGH, fill=colour, title=title)
                free = min(free, x - 3)
                continue
            self.drawing.box(x - room / 2, y, room, HIGH, edge=colour, fill=PAPER, title=title)
            self.drawing.text(x, y + 15, str(batch), anchor="middle", bold=True)
            free = x - room / 2 - 1


def _room(batch: int) -> float:
    return max(MARK, wide(str(batch)) + 8)
