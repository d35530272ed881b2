"""The tape: a partition as boxes with their offsets, and the places that readers keep in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from workbook.views.picture import Picture, number
from workbook.views.strip import CUT, END, Record, Strips, key

EMPTY = "The partition is empty: its end is the offset of the first record to come."
SHOWN, RUN = 24, 2
"""Records that are drawn, at most; a run of more than two others is one box."""


class Look(Enum):
    """How the records of a span look."""

    PLAIN = ""
    HATCHED = "hatched"
    CROSSED = "crossed"
    DOUBLE = "double"


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


def tape(
    labels: Sequence[str] | Mapping[int, str],
    places: Sequence[Place],
    *,
    first: int = 0,
    end: int | None = None,
    spans: Sequence[Span] = (),
    crash: int | None = None,
    caption: str = "A partition, its end, and who stands where",
) -> Picture:
    """Draw a partition's records from offset ``first`` up to ``end``, and the places below them.

    ``labels`` are a word or two for each record or, by their offset, for some of them. Without
    ``end`` the last one is the partition's last. ``spans`` don't overlap; ``crash`` is the offset
    before which a program was killed (a cut). Of more than 24 records those around the places are
    drawn, and each run of others as one box.
    """
    named = labels if isinstance(labels, Mapping) else dict(enumerate(labels, first))
    end = max(named, default=first - 1) + 1 if end is None else end
    spans = [span for span in spans if span.end > span.first]
    marked = [place.offset for place in places if place.offset is not None]
    marked += [offset for span in spans for offset in (span.first, span.end)]
    marked += [] if crash is None else [crash]
    pieces = _pieces(first, end, marked)
    notes = [f"▲{n} {place.name}: {_offset(place)}" for n, place in enumerate(places, 1)]
    notes += [key(span.look.value, span.name) for span in spans]
    records = _records(pieces, named, places, spans, crash, end)
    drawing = Strips([("", list(records))], notes)
    hidden = sum(b - a for a, b in pieces if b - a > 1)
    count = f"{number(end - first, 'record')}"
    count += f", of which {end - first - hidden:,} are drawn" if hidden else ""
    words = [f"{count}, end at {end:,}", *_places(places, first), *(s.name for s in spans)]
    words += [] if crash is None else [f"kill -9 before offset {crash:,}"]
    said = "; ".join(words) + "." if end > first else EMPTY
    return Picture(drawing, caption, said, _rows(places, spans, crash, end))


def _records(
    pieces: Sequence[tuple[int, int]],
    labels: Mapping[int, str],
    places: Sequence[Place],
    spans: Sequence[Span],
    crash: int | None,
    end: int,
) -> Iterator[Record]:
    pieces = pieces or [(end, end)]
    for a, b in dict.fromkeys([*pieces, (end, end)]):
        if crash == a:
            yield Record("✂ kill -9", f"{a:,}", "", CUT)
        last = b - 1 if a < b else max(b, *(p.offset or 0 for p in places), 0)
        begin = a if a > pieces[0][0] or a == b else 0  # what is gone is marked at the first record
        marks = [n for n, p in enumerate(places, 1) if p.offset in range(begin, last + 1)]
        below = " ".join(f"▲{n}" for n in marks)
        if a == b:
            yield Record("end", f"{end:,}", below, END)
        elif b - a > 1:
            yield Record(f"…{b - a:,}…", "", below, _look(spans, a))
        else:
            yield Record(labels.get(a, "") or "·", f"{a:,}", below, _look(spans, a))


def _look(spans: Sequence[Span], offset: int) -> str:
    return next((span.look.value for span in spans if span.first <= offset < span.end), "")


def _pieces(first: int, end: int, marked: Sequence[int]) -> list[tuple[int, int]]:
    """Return single records near the marked offsets, and runs of others, as pairs (from, to)."""
    cuts = {min(max(offset, first), end) for offset in [*marked, end]}
    pieces: list[tuple[int, int]] = []
    for near in (SHOWN if end - first <= SHOWN else 6, 5, 4, 3, 2, 1):
        kept = {o for cut in cuts for o in range(max(first, cut - near), min(end, cut + near))}
        pieces = []
        for a, b in pairwise(sorted(kept | {offset + 1 for offset in kept} | {first, end})):
            short = b - a <= RUN
            pieces += [(offset, offset + 1) for offset in range(a, b)] if short else [(a, b)]
        if len(pieces) <= SHOWN:
            break
    return pieces


def _offset(place: Place) -> str:
    return "nothing yet" if place.offset is None else f"{place.offset:,}"


def _places(places: Sequence[Place], first: int) -> list[str]:
    """Return where each place is, and how much lies between two of them."""
    known = sorted((place.offset, place.name) for place in places if place.offset is not None)
    gone = f" (the first record left is {first:,})"
    return [
        *(f"{name} at {offset:,}{gone if offset < first else ''}" for offset, name in known),
        *(f"{place.name}: nothing yet" for place in places if place.offset is None),
        *(
            f"{number(b - a, 'record')} between {one} and {other}"
            for (a, one), (b, other) in pairwise(known)
            if b > a
        ),
    ]


def _rows(
    places: Sequence[Place], spans: Sequence[Span], crash: int | None, end: int
) -> list[dict[str, str]]:
    rows = [
        *((p.name, "none yet" if p.offset is None else f"{p.offset:,}") for p in places),
        *((span.name, _range(span)) for span in spans),
        *([] if crash is None else [("kill -9 before", f"{crash:,}")]),
        ("end", f"{end:,}"),
    ]
    return [{"place": name, "offset": offset} for name, offset in rows]


def _range(span: Span) -> str:
    last = span.end - 1
    return f"{span.first:,}" if last == span.first else f"{span.first:,} to {last:,}"
