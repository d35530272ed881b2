"""The sheet of a tape: which records are drawn, where, and with which lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from workbook.views.drawing import BLUE, GREEN, INK, ORANGE, PAPER, RED, Drawing, wide

SHOWN, RUN = 24, 2
"""So many records fit; a run of others is one box, as wide as two records."""

BOX, WIDEST, HEIGHT, SIDE, NARROWEST = 33, 64, 30, 8, 560
SMALL, ROW = 10, 18
NEAR = (6, 5, 4, 3, 2, 1)
"""So many records are drawn on either side of a place: as many as fit."""


class Look(Enum):
    """How the records of a span look: each differs in its lines, not in its colour alone."""

    PLAIN = INK
    HATCHED = ORANGE
    CROSSED = RED
    DOUBLE = BLUE


@dataclass(frozen=True)
class Place:
    """An offset that somebody keeps: the next record to read, to count; None where there's none."""

    name: str
    offset: int | None


@dataclass(frozen=True)
class Span:
    """Records from ``first`` up to, but not including, ``end``, with what is to be said of them."""

    name: str
    first: int
    end: int
    look: Look = Look.HATCHED


class Sheet:
    """A partition's records in boxes, the ``spans`` above them, and the places below.

    Only what stands near one of the ``marked`` offsets is drawn record by record.
    """

    def __init__(
        self, first: int, end: int, marked: Sequence[int], spans: Sequence[Span], places: int
    ) -> None:
        self.first, self.end, self._spans = first, end, spans
        self._pieces = _pieces(first, end, marked)
        self._top = len(spans) * ROW + 18
        self._box = min(WIDEST, SHOWN * BOX / max(_units(self._pieces), 1))
        self._x = {first: float(SIDE)}
        for a, b in self._pieces:
            self._x[b] = self._x[a] + self._box * _units([(a, b)])
        self.drawing = Drawing(
            max(self._x[end] + 100, NARROWEST), self._top + HEIGHT + 14 + ROW * places
        )

    @property
    def in_runs(self) -> int:
        """Return how many records stand in runs."""
        return sum(b - a for a, b in self._pieces if b - a > 1)

    def draw_records(self, labels: Mapping[int, str]) -> None:
        """Draw a box for each record, or run of records, with its offset above it."""
        free = 0.0
        for a, b in self._pieces:
            x = self._at(a)
            looks = [span.look for span in self._spans if span.first <= a < span.end]
            if b - a > 1:
                self._record(x, RUN, f"…{b - a:,}…", f"offsets {a} to {b - 1}", looks)
                continue
            label = labels.get(a, "")
            self._record(x, 1, label, f"offset {a}: {label}", looks)
            if x >= free:
                self.drawing.text(x + 3, self._top - 5, str(a), size=11)
                free = x + 3 + wide(str(a), 11)
        end = self._at(self.end)
        self.drawing.line([(end, self._top - 6), (end, self._top + HEIGHT + 6)], thick=3)
        self.drawing.text(end + 5, self._top + 19, f"end {self.end:,}", bold=True)

    def draw_spans(self) -> None:
        """Draw a bracket with its name over each span, in a row of its own."""
        for row, span in enumerate(self._spans):
            left, right, y = self._at(span.first) + 2, self._at(span.end) - 2, row * ROW + 14
            corners = [(left, y + 4), (left, y), (right, y), (right, y + 4)]
            self.drawing.line(corners, colour=span.look.value)
            if wide(span.name) + 16 < right - left:
                right = (left + right - wide(span.name)) / 2 - 5
            self._name(right + 5, left - 5, y + 4, span.name)

    def draw_places(self, places: Sequence[Place], crash: int | None) -> None:
        """Draw an arrow to each place from below, and the cut; the rightmost has the first line."""
        first = self._top + HEIGHT + 26
        ordered = sorted(places, key=lambda place: -(place.offset or 0))
        cut = len([p for p in ordered if (p.offset or 0) > (crash or 0)])
        for number, place in enumerate(ordered):
            row = number + (crash is not None and number >= cut)
            self._place(place, first + ROW * row, (BLUE, GREEN, ORANGE)[number % 3])
        if crash is not None:
            self._cut(crash, first + ROW * cut)

    def _at(self, offset: int) -> float:
        """Return where a record begins; those outside the partition stand at its edge."""
        inside = min(max(offset, self.first), self.end)
        return self._x[max(known for known in self._x if known <= inside)]

    def _record(self, x: float, units: int, label: str, title: str, looks: list[Look]) -> None:
        width, y = self._box * units, self._top
        fits = int((width - 3) / wide("m", SMALL))
        label = label if len(label) <= fits else f"{label[: max(fits - 1, 1)]}…"
        edge = (looks[-1] if looks else Look.PLAIN).value
        self.drawing.box(
            x + 1, y, width - 2, HEIGHT, edge=edge, title=title,
            hatched=Look.HATCHED in looks, dashed=Look.CROSSED in looks,
        )  # fmt: skip
        if Look.DOUBLE in looks:
            self.drawing.box(x + 4, y + 3, width - 8, HEIGHT - 6, edge=edge)
        if Look.CROSSED in looks:
            self.drawing.cross(x + width - 7, y + HEIGHT - 6, size=3)
        if Look.HATCHED in looks and label:
            room = wide(label, SMALL)
            self.drawing.box(
                x + (width - room) / 2, y + 9, room, 13, fill=PAPER, edge="none", corner=0
            )
        self.drawing.text(x + width / 2, y + 19, label, anchor="middle", size=SMALL)

    def _place(self, place: Place, y: float, colour: str) -> None:
        if place.offset is None:
            self.drawing.text(SIDE, y, f"{place.name}: nothing yet")
            return
        x = self._at(place.offset)
        self.drawing.line([(x, y), (x, self._top + HEIGHT + 3)], colour=colour, thick=2, arrow=True)
        self._name(x + 6, x - 6, y, f"{place.name}: {place.offset:,}")

    def _cut(self, offset: int, y: float) -> None:
        x, top = self._at(offset), self._top
        cut = [(x, top - 16), (x - 4, top - 4), (x + 4, top + 10), (x - 4, top + 24), (x, y)]
        self.drawing.line(cut, colour=RED, thick=2.5)
        self._name(x + 6, x - 6, y, f"✂ crash before {offset:,}", bold=True)

    def _name(self, right: float, left: float, y: float, words: str, *, bold: bool = False) -> None:
        """Write words to the right of something or, where they don't fit, to its left."""
        length = wide(words) * (1.1 if bold else 1)
        fits = right + length <= self.drawing.width
        start, anchor = (right, "start") if fits else (max(left, length), "end")
        room = start - 1 if fits else start - length
        self.drawing.box(room, y - 11, length, 14, fill=PAPER, edge="none", corner=0)
        self.drawing.text(start, y, words, anchor=anchor, bold=bold)


def _units(pieces: Sequence[tuple[int, int]]) -> int:
    return sum(RUN if b - a > 1 else 1 for a, b in pieces)


def _pieces(first: int, end: int, marked: Sequence[int]) -> list[tuple[int, int]]:
    """Return what is drawn as one box each: (offset, offset + 1), or a run of records."""
    if end - first <= SHOWN:
        return [(offset, offset + 1) for offset in range(first, end)]
    cuts = {min(max(offset, first), end) for offset in [*marked, end]}
    tries = [_around(first, end, cuts, near) for near in NEAR]
    return next((pieces for pieces in tries if _units(pieces) <= SHOWN), tries[-1])


def _around(first: int, end: int, cuts: set[int], near: int) -> list[tuple[int, int]]:
    kept = {o for cut in cuts for o in range(max(first, cut - near), min(end, cut + near))}
    bounds = sorted(kept | {offset + 1 for offset in kept} | {first, end})
    pieces: list[tuple[int, int]] = []
    for a, b in pairwise(bounds):
        short = b - a <= RUN
        pieces += [(offset, offset + 1) for offset in range(a, b)] if short else [(a, b)]
    return pieces
