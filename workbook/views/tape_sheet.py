"""The sheet of a tape: which records are drawn, where, and with which lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, pairwise
from re import split
from textwrap import wrap

from workbook.views.drawing import BLUE, GREEN, INK, ORANGE, PAPER, RED, Drawing, wide
from workbook.views.words import cut as shorten

SHOWN, RUN = 24, 2
"""So many records fit; a run of others is one box, as wide as two records."""

BOX, WIDEST, HEIGHT, SIDE, NARROWEST = 33, 64, 30, 8, 560
WIDTH = SIDE + SHOWN * BOX + 1
SMALL, ROW, LINE = 10, 18, 15
LETTERS = 16
"""A span is at least so many letters wide, because its name is written above it, in lines."""

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
    """A partition's records in boxes, the ``spans``, which don't overlap, above, the places below.

    Only what stands near one of the ``marked`` offsets is drawn record by record.
    """

    def __init__(
        self, first: int, end: int, marked: Sequence[int], spans: Sequence[Span], places: int
    ) -> None:
        self.first, self.end, self._spans = first, end, spans
        cuts = {min(max(offset, first), end) for offset in [*marked, end]}
        for near in NEAR:
            self._pieces = _around(first, end, cuts, near if end - first > SHOWN else SHOWN)
            self._x = self._edges()
            if _units(self._pieces) <= SHOWN and self._x[end] <= WIDTH:
                break
        self._names = [self._lines(span) for span in spans]
        self._top = max(map(len, self._names), default=0) * LINE + 22
        self.drawing = Drawing(
            max(self._x[end] + 100, NARROWEST), self._top + HEIGHT + 14 + ROW * places
        )

    @property
    def in_runs(self) -> int:
        """Return how many records stand in runs."""
        return sum(b - a for a, b in self._pieces if b - a > 1)

    def draw_records(self, labels: Mapping[int, str]) -> None:
        """Draw a box for each record, or run of records: in it the label, or else the offset."""
        free = 0.0
        for a, b in self._pieces:
            if b - a > 1:
                self._record(a, b, f"…{b - a:,}…", f"offsets {a} to {b - 1}")
                continue
            label = labels.get(a, "")
            self._record(a, b, label or str(a), f"offset {a}: {label}")
            if label and self._at(a) >= free:
                self.drawing.text(self._at(a) + 3, self._top - 5, str(a), size=11)
                free = self._at(a) + 3 + wide(str(a), 11)
        end = self._at(self.end)
        self.drawing.line([(end, self._top - 6), (end, self._top + HEIGHT + 6)], thick=3)
        self.drawing.text(end + 5, self._top + 19, f"end {self.end:,}", bold=True)

    def draw_spans(self) -> None:
        """Draw a bracket over each span, and its name above the bracket."""
        y = self._top - 18
        for span, lines in zip(self._spans, self._names, strict=True):
            left, right = self._at(span.first) + 2, self._at(span.end) - 2
            corners = [(left, y + 4), (left, y), (right, y), (right, y + 4)]
            self.drawing.line(corners, colour=span.look.value)
            for row, line in enumerate(reversed(lines)):
                bold = row == 0 and ":" in span.name
                x, base = (left + right) / 2, y - 5 - LINE * row
                self.drawing.text(x, base, line, anchor="middle", bold=bold)

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

    def _edges(self) -> dict[int, float]:
        """Return where each piece begins; a span's are widened until its name fits above them."""
        box = min(WIDEST, SHOWN * BOX / max(_units(self._pieces), 1))
        widths = {a: box * _units([(a, b)]) for a, b in self._pieces}
        for span in self._spans:
            its = [a for a in widths if span.first <= a < span.end]
            wider = LETTERS * wide("m") / max(sum(widths[a] for a in its), 1)
            widths |= {a: widths[a] * max(wider, 1) for a in its}
        ends = accumulate(widths.values(), initial=float(SIDE))
        return dict(zip([*widths, self.end], ends, strict=True))

    def _lines(self, span: Span) -> list[str]:
        """Cut a span's name into lines no wider than its bracket; a colon ends one."""
        letters = int((self._at(span.end) - self._at(span.first)) / wide("m"))
        parts = split("(?<=:) ", span.name)
        return [line for part in parts for line in wrap(part, max(letters, LETTERS))]

    def _at(self, offset: int) -> float:
        """Return where a record begins; those outside the partition are at its edge."""
        inside = min(max(offset, self.first), self.end)
        return self._x[max(known for known in self._x if known <= inside)]

    def _record(self, first: int, end: int, label: str, title: str) -> None:
        x, y = self._at(first), self._top
        width = self._at(end) - x
        looks = [span.look for span in self._spans if span.first <= first < span.end]
        label = shorten(label, width - 3, SMALL)
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
        self._name(x + 6, x - 6, y, f"✂ kill -9 here, before {offset:,}", bold=True)

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


def _around(first: int, end: int, cuts: set[int], near: int) -> list[tuple[int, int]]:
    kept = {o for cut in cuts for o in range(max(first, cut - near), min(end, cut + near))}
    bounds = sorted(kept | {offset + 1 for offset in kept} | {first, end})
    pieces: list[tuple[int, int]] = []
    for a, b in pairwise(bounds):
        short = b - a <= RUN
        pieces += [(offset, offset + 1) for offset in range(a, b)] if short else [(a, b)]
    return pieces
