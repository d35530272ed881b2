"""The tape: a partition as boxes with their offsets, and the places that readers keep in it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbook.kafka.tail import Seen
from workbook.views.colours import BLUE, GREEN, ORANGE
from workbook.views.picture import Picture, number
from workbook.views.strip import Look, Strip

SHOWN, FIT, RUN = 20, 17, 2
"""Records of a whole partition, and boxes (at 1,100 pixels); no run in a box is this short."""

NEAR = (6, 5, 4, 3, 2, 1, 0)
"""Records that are drawn on either side of a place: as many as fit; with 0 only the one behind."""

TWO_MEMORIES = (
    "Two memories: the group's committed offset, in the broker, and the count, in the loop"
)
SILENT = "The broker doesn't answer; this is what was known last."
EMPTY = "The partition is empty: its end is the offset of the first record to come."


LoopAt = tuple[int | None, int]
"""The offset of the first record that a loop has counted, or None, and its next offset."""


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
    places: Sequence[Place],
    end: int,
    *,
    first: int = 0,
    labels: Mapping[int, str] | None = None,
    spans: Sequence[Span] = (),
    crash: int | None = None,
    caption: str = "A partition, its end, and the offsets that readers keep",
) -> Picture:
    """Draw a partition's records from offset ``first`` up to ``end``, and the places below them.

    ``labels`` are a word or two for some records, by their offset; the box of a record without one
    shows its offset. ``spans``, which don't overlap, are bracketed, each with its look; ``crash``
    is the offset before which a program was killed (a cut). Of more than 20 records those around
    the places are drawn, and each run of others as one box.
    """
    labels, spans = labels or {}, [span for span in spans if span.end > span.first]
    known = sorted((place.offset, place.name) for place in places if place.offset is not None)
    unknown = [place.name for place in places if place.offset is None]
    marks = [*known, *([] if crash is None else [(crash, "")])]
    cuts = {offset for offset, _ in marks} | {end}
    cuts |= {offset for span in spans for offset in (span.first, span.end)}
    pieces = _pieces(first, end, {min(max(offset, first), end) for offset in cuts})
    strip = Strip(len(pieces), widest=40)
    _draw_records(strip, pieces, labels, spans)
    strip.text(len(pieces), f"▌end {end:,}", bold=True, align="left")
    _draw_marks(strip, pieces, marks, unknown)
    ones = sum(b - a == 1 for a, b in pieces)
    since = f" from offset {first:,}" if first else ""
    drawn = f", {ones} drawn" if ones < len(pieces) else ""
    rows = [
        *((name, "none yet") for name in unknown),
        *((name, f"{offset:,}") for offset, name in known),
        *((span.name, written(span.first, span.end)) for span in spans),
        *([] if crash is None else [("kill -9 before", f"{crash:,}")]),
        ("end", f"{end:,}"),
    ]
    words = f"{number(end - first, 'record')}{since}{drawn}; "
    words += "; ".join(f"{name}: {at}" for name, at in rows) + "."
    rows_below = [{"place": name, "offset": at} for name, at in rows]
    return Picture(strip, caption, words if end > first else EMPTY, rows_below)


def _pieces(first: int, end: int, cuts: set[int]) -> list[tuple[int, int]]:
    """Cut a partition into single records near ``cuts``, and runs: first offset, one after last."""
    if end - first <= SHOWN:
        return [(offset, offset + 1) for offset in range(first, end)]
    pieces: list[tuple[int, int]] = []
    for near in NEAR:
        kept = {
            o for cut in cuts for o in range(max(first, cut - near), min(end, cut + (near or 1)))
        }
        bounds = sorted(kept | {offset + 1 for offset in kept} | {first, end})
        pieces = []
        for a, b in pairwise(bounds):
            pieces += [(o, o + 1) for o in range(a, b)] if b - a <= RUN else [(a, b)]
        if len(pieces) <= FIT:
            break
    return pieces


def _column(pieces: Sequence[tuple[int, int]], offset: int) -> int:
    """Return the column of a record; that of one outside the partition is at its edge."""
    return sum(b <= offset for _, b in pieces)


def _draw_records(
    strip: Strip, pieces: Sequence[tuple[int, int]], labels: Mapping[int, str],
    spans: Sequence[Span],
) -> None:  # fmt: skip
    """Draw the spans' brackets, the offsets of records with a label, and the records."""
    strip.next()
    for span in spans:
        low, high = _column(pieces, span.first), _column(pieces, span.end)
        if high > low:
            strip.bracket(low, high, span.name, span.look.colour)
    strip.next()
    for column, (a, b) in enumerate(pieces):
        if b - a == 1 and labels.get(a):
            strip.text(column, str(a), align="left")
    strip.next()
    for column, (a, b) in enumerate(pieces):
        look = next((span.look for span in spans if span.first <= a < span.end), Look.PLAIN)
        label = labels.get(a, "")
        shown, title = label or str(a), f"offset {a}: {label}"
        if b - a > 1:
            shown, title = f"{b - a:,} more", f"offsets {a} to {b - 1}"
        strip.cell(column, shown, look, title=title)


def _draw_marks(
    strip: Strip, pieces: Sequence[tuple[int, int]], marks: Sequence[tuple[int, str]],
    unknown: Sequence[str],
) -> None:  # fmt: skip
    """Draw an arrow to each place, a line through all where a program was killed."""
    strip.next()  # the heads of the arrows, above all labels
    top = strip.row
    for n, (offset, name) in enumerate(sorted(marks, key=lambda mark: -mark[0])):
        column = _column(pieces, offset)
        if name:
            strip.arrow(column, f"{name}: {offset:,}", top, (BLUE, GREEN, ORANGE)[n % 3])
        else:
            strip.cut(column, f"kill -9 here, before {offset:,}", 2)
    for name in unknown:
        strip.note(f"{name}: nothing yet")


def written(first: int, end: int) -> str:
    """Write the offsets from ``first`` up to, but not including, ``end``: "4" or "4 to 8"."""
    return f"{first:,}" if end - first == 1 else f"{first:,} to {end - 1:,}"


def drawn(seen: Seen, group: str, began: int | None, place: int) -> Picture:
    """Draw a partition, the place of a loop in it, and what the loop holds in its count."""
    places = [
        Place("the loop's next offset", None if began is None else place),
        Place(f"committed by {group}", seen.committed),
    ]
    spans = []
    if began is not None:
        old, new = number(began - seen.first, "record"), number(place - began, "record")
        spans = [
            Span(f"{old} forgotten by the count", seen.first, began, Look.CROSSED),
            Span(f"{new} read, their count in memory alone", began, place),
        ]
    caption = f"{TWO_MEMORIES}. {SILENT}" if seen.silent else TWO_MEMORIES
    return tape(
        places, seen.end, first=seen.first, labels=seen.labels, spans=spans, caption=caption
    )


def click_name(value: bytes | None) -> str:
    """Return what was clicked; "?" for what is no click."""
    try:
        return str(json.loads(value or b"")["name"])
    except (ValueError, LookupError, TypeError):
        return "?"
