"""The tape: a partition as boxes with their offsets, and the places that readers keep in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbook.views.drawing import BLUE, GREEN, INK, ORANGE, RED, Drawing
from workbook.views.picture import Picture, number

BOX, HEIGHT, SIDE = 34, 30, 8
SHOWN = 24
"""So many boxes fit on a line of 840 units; of a longer partition the part around the places."""


@dataclass(frozen=True)
class Place:
    """An offset that somebody keeps: the next record to read, to count, to begin with."""

    name: str
    offset: int


def tape(
    labels: Sequence[str],
    places: Sequence[Place],
    *,
    first: int = 0,
    in_memory: Collection[int] = (),
    crash: int | None = None,
    caption: str = "A partition, its end, and who stands where",
) -> Picture:
    """Draw a partition's records from offset ``first`` on, and the places below them.

    ``labels`` are a word or two for each record. ``in_memory`` are the offsets whose records a
    program has read and not yet written down (hatched); ``crash`` is the offset before which it
    died (a cut). At most 24 records are drawn: those around the places. ``first`` counts from 0.
    """
    end = first + len(labels)
    marked = [place.offset for place in places] + ([crash] if crash is not None else [])
    low, high = _window(first, end, marked)
    drawing = Drawing(SIDE * 2 + BOX * max(high - low + 1, 12), 112 + 16 * len(places))

    def at(offset: int) -> float:
        return SIDE + BOX * (offset - low)

    for offset in range(low, high):
        held = offset in in_memory
        drawing.text(at(offset) + BOX / 2, 22, str(offset), anchor="middle", size=11)
        label = labels[offset - first]
        drawing.box(
            at(offset), 30, BOX, HEIGHT, label[:5], hatched=held, edge=ORANGE if held else INK,
            size=10, title=f"offset {offset}: {label}",
        )  # fmt: skip
    drawing.line([(at(high), 26), (at(high), 66)], thick=3)
    drawing.text(at(high) + 4, 50, f"end {end:,}" if high == end else "…", bold=high == end)
    for row, place in enumerate(places):
        _arrow(drawing, at(min(max(place.offset, low), high)), 30 + HEIGHT, row, place)
    if crash is not None:
        x = at(min(max(crash, low), high))
        cut = [(x, 4), (x - 4, 20), (x + 4, 40), (x - 4, 60), (x, 78)]
        drawing.line(cut, colour=RED, thick=2.5)
        drawing.text(x + 6, 12, "✂ crash", bold=True)
    rows = [{"place": place.name, "offset": place.offset} for place in places]
    rows.append({"place": "end", "offset": end})
    return Picture(drawing, caption, _words(places, end, first, in_memory, crash), rows)


def _arrow(drawing: Drawing, x: float, y: float, row: int, place: Place) -> None:
    colour = (BLUE, GREEN, ORANGE)[row % 3]
    base = y + 26 + 18 * row
    drawing.line([(x, base), (x, y + 2)], colour=colour, thick=2, arrow=True)
    right = x > 2 * drawing.width / 3
    drawing.text(
        x - 5 if right else x + 5, base, f"{place.name}: {place.offset:,}",
        anchor="end" if right else "start",
    )  # fmt: skip


def _window(first: int, end: int, marked: Sequence[int]) -> tuple[int, int]:
    """Return which offsets to draw: all, or those around the places."""
    if end - first <= SHOWN:
        return first, end
    inside = [offset for offset in marked if first <= offset <= end] or [end]
    low = max(first, min(end - SHOWN, min(inside) - 4))
    return low, min(end, low + SHOWN)


def _words(
    places: Sequence[Place], end: int, first: int, in_memory: Collection[int], crash: int | None
) -> str:
    if end == first:
        return "The partition is empty: its end is the offset of the first record to come."
    ordered = sorted(places, key=lambda place: place.offset)
    said = [f"{place.name} at {place.offset:,}" for place in ordered]
    parts = [f"{number(end - first, 'record')}, end at {end:,}", *said]
    between = [
        f"{number(b.offset - a.offset, 'record')} between {a.name} and {b.name}"
        for a, b in pairwise(ordered)
        if b.offset > a.offset
    ]
    if in_memory:
        between.append(f"{number(len(in_memory), 'record')} only in memory")
    if crash is not None:
        between.append(f"the crash before offset {crash:,}")
    return "; ".join([*parts, *between]) + "."
