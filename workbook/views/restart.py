"""A restart as a picture: a partition of the source, what its sink says, and what is read twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbook.views.picture import Picture, number
from workbook.views.strip import CUT, START, Strips, key
from workbook.views.strip import Record as Boxed

CAPTION = (
    "Above, the partition that is read; below, the sink. Each of its records says where a start "
    "without state begins."
)
SHOWN = 22
"""Records that are drawn of either partition: the last ones."""

Record = tuple[str, Sequence[int], int | None]
"""Of the sink: the visit, the offsets of its messages, and where it says to begin."""

Moment = tuple[int, int, Mapping[str, Sequence[int]], Sequence[Record]]
"""A batch and what held after it: the offset at which it began, and the one after its last record;
each open visit with the offsets of its messages; the sink's records."""


def restart(
    labels: Sequence[str],
    moments: Sequence[Moment],
    until: int | None = None,
    caption: str = CAPTION,
) -> Picture:
    """Draw a loop after its first ``until`` batches, by default all of them.

    ``labels`` name the visit of each record of the source, by offset. A batch that begins before
    the end of the one before it is a new start, and the loop before it was killed: what lies
    between is read again. Lost is what was read, and is neither open nor in the sink.
    """
    seen = list(moments if until is None else moments[:until])
    killed = len(seen) < len(moments) and _begins_anew(moments, len(seen))
    sink = seen[-1][3] if seen else []
    twice, lost = _twice(seen), _lost(seen)
    source = list(_source(labels, seen, twice, lost, killed))
    written = [Boxed(v, "", f"{'–' if s is None else s}") for v, _, s in sink[-SHOWN:]]
    notes = [
        key("hatched", "open"), key("unread", "not read yet"),
        "✓ emitted, ✓✓ twice; ↻ read again; ✗ lost",
        "below each record of the sink: where it says to begin",
    ]  # fmt: skip
    if max(len(labels), len(sink)) > SHOWN:
        notes.append(f"of longer partitions the last {SHOWN} records are drawn")
    drawing = Strips(
        [("source", source), ("sink", written or [Boxed("empty", look="gone")])], notes
    )
    return Picture(drawing, caption, _words(labels, seen, twice, lost, killed), _rows(labels, seen))


def _source(
    labels: Sequence[str], seen: Sequence[Moment], twice: set[int], lost: set[int], killed: bool
) -> Iterator[Boxed]:
    began, stands, opened, sink = seen[-1] if seen else (0, 0, {}, [])
    held, emitted = _held(opened), _emitted(sink)
    says = sink[-1][2] if sink else None
    for offset in range(max(len(labels) - SHOWN, 0), len(labels) + 1):
        if offset == began and seen and stands > began:
            new = _begins_anew(seen, len(seen) - 1)
            yield Boxed("a new start" if new else "this batch", str(offset), "", START)
        if offset == says:
            yield Boxed("▲ a restart begins", str(offset), "", START)
        if offset == stands:
            words = "✂ killed" if killed else "goes on here"
            yield Boxed(words, str(offset), "", CUT if killed else START)
        if offset < len(labels):
            look = "hatched" if offset in held else "" if offset < stands else "unread"
            times = emitted[offset]
            marks = ("✓" * times if times < 3 else f"{times}✓") + "↻" * (offset in twice)
            below = "✗" if offset in lost else marks
            yield Boxed(labels[offset], str(offset), below, look)


def _held(opened: Mapping[str, Sequence[int]]) -> set[int]:
    return {offset for offsets in opened.values() for offset in offsets}


def _emitted(sink: Sequence[Record]) -> Counter[int]:
    return Counter(offset for _, offsets, _ in sink for offset in offsets)


def _twice(seen: Sequence[Moment]) -> set[int]:
    """Return the offsets that more than one batch has read."""
    read = Counter(offset for began, stands, *_ in seen for offset in range(began, stands))
    return {offset for offset, times in read.items() if times > 1}


def _begins_anew(moments: Sequence[Moment], number: int) -> bool:
    """Return whether a batch, by its number from 0, begins before the end of the one before it."""
    return number > 0 and moments[number][0] < moments[number - 1][1]


def _lost(seen: Sequence[Moment]) -> set[int]:
    """Return the offsets that were read, and are neither open nor in the sink."""
    if not seen:
        return set()
    _, stands, opened, sink = seen[-1]
    read = set(range(min(began for began, *_ in seen), stands))
    return read - _held(opened) - set(_emitted(sink))


def _words(
    labels: Sequence[str], seen: Sequence[Moment], twice: set[int], lost: set[int], killed: bool
) -> str:
    if not seen:
        return f"{number(len(labels), 'record')}, none of them read yet."
    _, stands, opened, sink = seen[-1]
    again = [offset for offset, times in _emitted(sink).items() if times > 1]
    parts = [
        f"{'Killed' if killed else 'Reading goes on'} at {stands} of {len(labels)}",
        f"{', '.join(opened) or 'nothing'} open",
        f"{number(len(sink), 'record')} in the sink, {_says(sink)}",
        f"{number(len(twice), 'record')} read more than once",
        f"{number(len(again), 'message')} emitted more than once",
        f"{number(len(lost), 'message')} lost",
    ]
    return "; ".join(parts if lost else parts[:-1]) + "."


def _says(sink: Sequence[Record]) -> str:
    if not sink or sink[-1][2] is None:
        return "which don't say where to begin" if sink else "so nothing says where to begin"
    return f"the last of which says {sink[-1][2]}"


def _rows(labels: Sequence[str], seen: Sequence[Moment]) -> list[dict[str, Any]]:
    rows, before = [], 0
    for count, (began, stands, opened, sink) in enumerate(seen, 1):
        new, before = sink[before:], len(sink)
        rows.append(
            {
                "batch": count,
                "read": ", ".join(f"{o}: {labels[o]}" for o in range(began, stands)) or "–",
                "open": ", ".join(opened) or "–",
                "emitted": ", ".join(visit for visit, *_ in new) or "–",
                "the sink says": "–" if not sink or sink[-1][2] is None else sink[-1][2],
            }
        )
    return rows
