"""The tape: a partition as boxes with their offsets, and the places that readers keep in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from workbook.views.picture import Picture, number
from workbook.views.tape_sheet import SHOWN, Look, Place, Sheet, Span

__all__ = ["SHOWN", "Look", "Place", "Span", "tape"]

EMPTY = "The partition is empty: its end is the offset of the first record to come."


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

    ``labels`` are a word or two for each record or, by their offset, for some of them; the box of
    a record without one shows its offset. Without ``end`` the last one is the partition's last.
    ``spans``, which don't overlap, are bracketed, each with its look; ``crash`` is the offset
    before which a program was killed (a cut). Of more than 24 records those around the places are
    drawn, and each run of others as one box.
    """
    named = labels if isinstance(labels, Mapping) else dict(enumerate(labels, first))
    end = max(named, default=first - 1) + 1 if end is None else end
    spans = [span for span in spans if span.end > span.first]
    marked = [place.offset for place in places if place.offset is not None]
    marked += [offset for span in spans for offset in (span.first, span.end)]
    marked += [] if crash is None else [crash]
    sheet = Sheet(first, end, marked, spans, len(places) + (crash is not None))
    sheet.draw_records(named)
    sheet.draw_spans()
    sheet.draw_places(places, crash)
    words = [_count(sheet), *_places(places, first), *(span.name for span in spans)]
    words += [] if crash is None else [f"kill -9 before offset {crash:,}"]
    said = "; ".join(words) + "." if end > first else EMPTY
    return Picture(sheet.drawing, caption, said, _rows(places, spans, crash, end))


def _count(sheet: Sheet) -> str:
    count = sheet.end - sheet.first
    drawn = f", of which {count - sheet.in_runs:,} are drawn" if sheet.in_runs else ""
    return f"{number(count, 'record')}{drawn}, end at {sheet.end:,}"


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
        *((place.name, "none yet" if place.offset is None else f"{place.offset:,}")
          for place in places),
        *((span.name, _range(span)) for span in spans),
        *([] if crash is None else [("kill -9 before", f"{crash:,}")]),
        ("end", f"{end:,}"),
    ]  # fmt: skip
    return [{"place": name, "offset": offset} for name, offset in rows]


def _range(span: Span) -> str:
    last = span.end - 1
    return f"{span.first:,}" if last == span.first else f"{span.first:,} to {last:,}"
