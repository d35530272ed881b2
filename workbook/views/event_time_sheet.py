"""Draws event time against arrival: micro-batches from left to right, event time upwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from workbook.views.axis import TimeAxis, duration
from workbook.views.drawing import BLUE, FAINT, GREEN, GREY, ORANGE, Drawing, wide
from workbook.views.runs import WAITING, MicroBatch
from workbook.views.windows import LOW, Windows, column

WIDTH, TOP, BOTTOM, FOOT = 900, 34, 394, 48
COLUMN, LABELS = 26, 84
"""The width of the windows' boxes, and of the words on their right."""

FEW, MOST, CELL = 200, 900, 7
"""Up to ``FEW`` clicks are all drawn; of more, one of each kind in a cell, ``MOST`` in all."""

SLOT, EMPTY, NEXT = 22, 7, 10
"""The least widths: a micro-batch with clicks, one without; and the place of the next one."""


@dataclass(frozen=True)
class Look:
    """A window's length in ms, the partition whose clicks are squares, what a click is called."""

    window_ms: int
    apart: int | None
    thing: str


@dataclass(frozen=True)
class Sheet:
    """What is drawn: ``batches`` have a place each, and up to the last ``seen`` one their clicks.

    ``counts`` are the clicks of each place; ``clicks``: partition, offset, time, window (ms),
    batch, lost, share (where in its place); ``kept``: how many clicks each window (ms) has counted.
    """

    batches: Sequence[MicroBatch]
    seen: Sequence[MicroBatch]
    counts: Mapping[int, int]
    clicks: pd.DataFrame
    kept: Mapping[int, int]
    axis: TimeAxis
    look: Look

    @cached_property
    def taken(self) -> pd.DataFrame:
        """The clicks that the query has read."""
        return self.clicks[self.clicks["batch"] != WAITING]

    @cached_property
    def windows(self) -> Windows:
        """The windows of the clicks drawn, as the last micro-batch has left them."""
        taken = self.taken
        starts, place = np.unique(taken["window"].to_numpy(), return_inverse=True)
        mark = self.seen[-1].watermark if self.seen else None
        closed = starts + self.look.window_ms <= (0 if mark is None else mark)
        if self.axis.band < LOW:
            return Windows(starts, closed)
        lost = np.bincount(place, taken["lost"], len(starts)).astype(int)
        labels = [_label(self.kept.get(int(w), 0), n) for w, n in zip(starts, lost, strict=True)]
        return Windows(starts, closed, labels)


def draw(sheet: Sheet) -> tuple[Drawing, int]:
    """Draw the sheet; return it with the number of clicks that are on it."""
    drawing = Drawing(WIDTH, BOTTOM + FOOT)
    axis, labels = sheet.axis, sheet.axis.labels()
    left = 14 + max(wide("micro-batch", 10), *(wide(words, 10) for _, words in labels))
    right = WIDTH - COLUMN - LABELS - 10
    slots = _slots(sheet, left, right - NEXT)
    _frame(drawing, axis, labels, left, right)
    _heads(drawing, slots, left)
    drawn = _clicks(drawing, sheet, slots)
    _stair(drawing, sheet, slots, right)
    drawing.text(right + 8, TOP - 8, "windows", size=11)
    column(drawing, axis, sheet.windows, right + 8, COLUMN)
    _legend(drawing, sheet, left)
    return drawing, drawn


def _slots(sheet: Sheet, left: float, right: float) -> dict[int, tuple[float, float]]:
    """Return where each micro-batch begins and ends: the more clicks, the wider."""
    numbers = [batch.number for batch in sheet.batches]
    numbers += [WAITING] if sheet.counts.get(WAITING) else []
    least = {n: SLOT if sheet.counts.get(n) else EMPTY for n in numbers}
    shrunk = min(1.0, 0.6 * (right - left) / max(sum(least.values()), 1))
    total = max(sum(sheet.counts.get(n, 0) for n in numbers), 1)
    room = right - left - shrunk * sum(least.values())
    found, at = {}, left
    for n in numbers:
        width = shrunk * least[n] + room * sheet.counts.get(n, 0) / total
        found[n] = at, at + width
        at += width
    return found


def _frame(
    drawing: Drawing, axis: TimeAxis, labels: Sequence[tuple[int, str]], left: float, right: float
) -> None:
    if axis.band >= 5:
        for part in axis.drawn:
            for border in range(part.start, part.end + 1, axis.step):
                drawing.line([(left, axis(border)), (right, axis(border))], colour=FAINT, thick=0.5)
    for time, words in labels:
        y = axis(time)
        drawing.line([(left - 4, y), (left, y)], thick=1)
        drawing.text(left - 7, y + 3.5, words, anchor="end", size=10)
    for part in axis.left_out:
        y = (part.bottom + part.top) / 2
        for edge in (y - 5, y + 5):
            drawing.line([(left - 4, edge), (right, edge)], colour=GREY, thick=1, dashed=True)
        words = f"{duration(part.end - part.start)} left out"
        drawing.text(left + 4, y + 3.5, words, size=10)
    drawing.line([(left, TOP), (left, BOTTOM), (right, BOTTOM)], thick=1)
    drawing.text(2, 11, "event time (UTC) ↑", size=10)


def _heads(drawing: Drawing, slots: Mapping[int, tuple[float, float]], left: float) -> None:
    """Write the numbers of the micro-batches above them, where there's room."""
    drawing.text(left - 7, TOP - 8, "micro-batch", anchor="end", size=10)
    after = left
    for n, (start, end) in slots.items():
        words = "not read yet" if n == WAITING else str(n)
        middle = (start + end) / 2
        if middle - wide(words, 10) / 2 >= after:
            drawing.text(middle, TOP - 8, words, anchor="middle", size=10)
            after = middle + wide(words, 10) / 2 + 4
        if len(slots) <= 60:
            drawing.line([(end, TOP - 2), (end, BOTTOM)], colour=FAINT, thick=0.8)


def _clicks(drawing: Drawing, sheet: Sheet, slots: Mapping[int, tuple[float, float]]) -> int:
    clicks = sheet.clicks
    starts, ends = (clicks["batch"].map({n: slot[i] for n, slot in slots.items()}) for i in (0, 1))
    placed = clicks.assign(
        x=(starts + clicks["share"] * (ends - starts)).astype(float),
        y=sheet.axis.places(clicks["time"].to_numpy()),
        apart=clicks["partition"] == sheet.look.apart,
    )
    chosen = _thinned(placed)
    size = 3.2 if len(chosen) <= FEW else 2.2
    names = ("partition", "offset", "time", "batch", "apart", "lost", "x", "y")
    for p, offset, time, batch, apart, lost, x, y in zip(*(chosen[n] for n in names), strict=True):
        fate = "not read yet" if batch == WAITING else "dropped" if lost else "counted"
        title = f"partition {p}, offset {offset}: {sheet.axis.words(time)}, {fate}"
        _mark(drawing, (x, y), (apart, batch == WAITING, lost), size, title)
    return len(chosen)


def _thinned(placed: pd.DataFrame) -> pd.DataFrame:
    """Keep one click of each kind in a cell: so none hides another, and what is rare stays."""
    cell = float(CELL)
    while len(placed) > (FEW if cell == CELL else MOST):
        columns, rows = (placed[name].to_numpy() // cell for name in ("x", "y"))
        kinds = 2 * placed["apart"].to_numpy() + placed["lost"].to_numpy()
        _, first = np.unique((columns * WIDTH + rows) * 4 + kinds, return_index=True)
        placed = placed.iloc[np.sort(first)]
        cell *= 1.25
    return placed


def _mark(
    drawing: Drawing,
    at: tuple[float, float],
    kind: tuple[bool, bool, bool],
    size: float,
    title: str,
) -> None:
    (x, y), (apart, waiting, lost) = at, kind
    if apart:
        drawing.box(x - size, y - size, 2 * size, 2 * size, edge=ORANGE, corner=0, title=title,
                    dashed=waiting)  # fmt: skip
    else:
        drawing.dot(x, y, radius=size, colour=BLUE, hollow=waiting, title=title)
    if lost:
        drawing.cross(x, y, size=size + 1, title=title)


def _stair(
    drawing: Drawing, sheet: Sheet, slots: Mapping[int, tuple[float, float]], right: float,
) -> None:  # fmt: skip
    """Draw what each micro-batch drops by; at the end what the next one will drop by."""
    steps = [(*slots[batch.number], batch.drops) for batch in sheet.seen]
    if sheet.seen:
        steps.append((steps[-1][1], steps[-1][1] + NEXT, sheet.seen[-1].watermark))
    points = [(x, sheet.axis(drops)) for a, b, drops in steps if drops is not None for x in (a, b)]
    if not points:
        return
    drawing.line(points, colour=GREEN, thick=2.5)
    x, y = points[-1]
    drawing.line([(x, y), (right + 8 + COLUMN, y)], colour=GREEN, thick=1.5, dashed=True)


def _legend(drawing: Drawing, sheet: Sheet, left: float) -> None:
    base = BOTTOM + 34
    drawing.text(left, BOTTOM + 14, "in the order of arrival →", size=10)
    x = 8.0
    for name, words in _marks(sheet):
        if name == "stair":
            drawing.line([(x, base - 4), (x + 14, base - 4)], colour=GREEN, thick=2.5)
        elif name in ("closed", "open"):
            drawing.box(x, base - 10, 14, 11, hatched=name == "closed", dashed=name == "open")
        else:
            kind = name == "apart", name == "waiting", name == "dropped"
            _mark(drawing, (x + 7, base - 4), kind, 3.2, "")
        drawing.text(x + 19, base, words, size=11)
        x += 19 + wide(words, 11) + 16


def _marks(sheet: Sheet) -> Iterable[tuple[str, str]]:
    yield "click", sheet.look.thing
    if sheet.look.apart is not None:
        yield "apart", f"of partition {sheet.look.apart}"
    yield "dropped", "dropped"
    if sheet.counts.get(WAITING):
        yield "waiting", "not read yet"
    yield "stair", "watermark of the batch before"
    yield "closed", "window closed"
    yield "open", "still open"


def _label(kept: int, lost: int) -> str:
    return f"{kept:,} and {lost:,} ✗" if lost else f"{kept:,}"
