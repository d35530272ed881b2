"""A partition before and after its compaction: segments, records, and the gaps that it leaves."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.drawing import FAINT, INK, ORANGE, Drawing
from workbook.views.picture import Picture, number
from workbook.views.words import cut

CAPTION = "A partition before and after its compaction: what went, and why did the others stay?"
SHOWN = 20
"""So many records fit on a line; of a longer partition the last ones, with the active segment."""

BOX, HEIGHT, SIDE = 38, 30, 62
BEFORE_Y, AFTER_Y, LEGEND_Y = 48, 142, 226

GONE, EXPIRED, LOST = "overwritten and gone", "a tombstone that was dropped", "gone"
LATEST = "the last record of its key"
NEWER = "the last of its key in the closed segments, with a newer one in the active segment"
ACTIVE = "overwritten, but in the active segment"
DUE = "overwritten, and not compacted yet"
KEYLESS = "without a key, so it can't be compacted"
REASONS = (GONE, EXPIRED, LOST, LATEST, NEWER, ACTIVE, DUE, KEYLESS)
MARKS = {LATEST: "L", NEWER: "C", ACTIVE: "A", DUE: "?", LOST: "!", KEYLESS: "K"}
"""The letter below a record says why it's still there."""

TOMBSTONE = "✝"
BOXES = f"in a box: the key; {TOMBSTONE} and hatched: a tombstone; an empty dashed box: gone"


@dataclass(frozen=True)
class Stored:
    """A record as a reader found it; ``tombstone`` if it had no value, key None if it had none."""

    offset: int
    key: str | None
    tombstone: bool = False


def compaction(
    before: Sequence[Stored],
    after: Collection[int],
    starts: Sequence[int] = (),
    caption: str = CAPTION,
) -> Picture:
    """Draw a partition twice: as it was written, and as a reader finds it now.

    ``before`` are its records in order, ``after`` the offsets that are still there, ``starts`` the
    first offset of each segment; the last segment is the active one, which isn't compacted.
    """
    found = set(after)
    starts = list(starts) or [record.offset for record in before[:1]]
    why = _reasons(before, found, starts)
    shown = before[-SHOWN:]
    marks = [reason for reason in MARKS if reason in why.values()]
    drawing = Drawing(SIDE + BOX * max(len(shown), 15) + 12, LEGEND_Y + 16 * (len(marks) + 1))
    _line(drawing, BEFORE_Y, "before", shown, starts, lambda record: True)
    _line(drawing, AFTER_Y, "now", shown, starts, lambda record: record.offset in found)
    for place, record in enumerate(shown):
        mark = MARKS.get(why[record.offset], "")
        drawing.text(_x(place) + BOX / 2, AFTER_Y + HEIGHT + 22, mark, anchor="middle", bold=True)
    for line, reason in enumerate(marks):
        drawing.text(SIDE, LEGEND_Y + 16 * line, f"{MARKS[reason]}: {reason}", size=11)
    drawing.text(SIDE, LEGEND_Y + 16 * len(marks), BOXES, size=11)
    return Picture(drawing, caption, _words(before, why), list(_rows(shown, why, starts)))


def _reasons(
    before: Sequence[Stored], found: Collection[int], starts: Sequence[int]
) -> dict[int, str]:
    """Return of each record, by its offset, why it's gone or still there."""
    active = starts[-1] if starts else 0
    last = {record.key: record.offset for record in before}
    closed = {record.key: record.offset for record in before if record.offset < active}

    def gone(record: Stored) -> str:
        if record.key is not None and last[record.key] > record.offset:
            return GONE
        return EXPIRED if record.tombstone else LOST

    def reason(record: Stored) -> str:
        if record.offset not in found:
            return gone(record)
        if record.key is None:
            return KEYLESS
        if last[record.key] == record.offset:
            return LATEST
        if record.offset >= active:
            return ACTIVE
        return NEWER if closed[record.key] == record.offset else DUE

    return {record.offset: reason(record) for record in before}


def _line(
    drawing: Drawing, y: float, name: str, shown: Sequence[Stored], starts: Sequence[int],
    is_there: Callable[[Stored], bool],
) -> None:  # fmt: skip
    drawing.text(8, y + HEIGHT / 2 + 4, name, bold=True)
    drawing.text(8, y - 6, "offset", size=10)
    for low, high, start in _segments(shown, starts):
        x, kind = _x(low), "active" if start == starts[-1] else "closed"
        width = BOX * (high - low)
        title = f"{kind} segment from offset {start}"
        drawing.box(x + 1, y - 20, width - 2, HEIGHT + 26, edge=FAINT, corner=5, title=title)
        label = f"{kind} segment" if width > 96 else kind
        drawing.text(x + 4, y - 24, cut(label, width, 10), size=10)
    for place, record in enumerate(shown):
        x = _x(place)
        drawing.text(x + BOX / 2, y - 6, _offset(record.offset), anchor="middle", size=10)
        if is_there(record):
            _record(drawing, x, y, record)
        else:
            title = f"offset {record.offset} is gone"
            drawing.box(x + 3, y, BOX - 6, HEIGHT, edge=FAINT, dashed=True, title=title)


def _record(drawing: Drawing, x: float, y: float, record: Stored) -> None:
    dead = record.tombstone
    label = cut((TOMBSTONE if dead else "") + _named(record.key), BOX - 8, 10)
    title = f"offset {record.offset}: key {_named(record.key)}{', a tombstone' if dead else ''}"
    edge = ORANGE if dead else INK
    drawing.box(x + 3, y, BOX - 6, HEIGHT, label, edge=edge, hatched=dead, size=10, title=title)


def _segments(shown: Sequence[Stored], starts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield of each segment its first place, the place after its last one, and its start."""
    of = [_start(record.offset, starts) for record in shown]
    for start in sorted({start for start in of if start is not None}):
        low = of.index(start)
        yield low, low + of.count(start), start


def _start(offset: int, starts: Sequence[int]) -> int | None:
    place = bisect_right(starts, offset)
    return starts[place - 1] if place else None


def _named(key: str | None) -> str:
    return "none" if key is None else key


def _x(place: int) -> float:
    return SIDE + BOX * place


def _words(before: Sequence[Stored], why: Mapping[int, str]) -> str:
    if not before:
        return "The partition is empty: there's nothing to compact."
    count = Counter(why.values())
    left = len(before) - sum(count[reason] for reason in (GONE, EXPIRED, LOST))
    said = "; ".join(f"{reason}: {count[reason]:,}" for reason in REASONS if count[reason])
    text = f"{number(len(before), 'record')} before, {left:,} now. {said[0].upper()}{said[1:]}."
    if len(before) > SHOWN:
        text += f" The last {SHOWN} are drawn."
    return text


def _offset(offset: int) -> str:
    """Write an offset in the width of six digits; of a longer one the end."""
    return str(offset) if offset < 1_000_000 else f"…{offset % 100_000:05}"


def _rows(
    shown: Sequence[Stored], why: Mapping[int, str], starts: Sequence[int]
) -> Iterator[dict[str, Any]]:
    for record in shown:
        start = _start(record.offset, starts)
        yield {
            "offset": record.offset,
            "key": _named(record.key) + (" (tombstone)" if record.tombstone else ""),
            "segment": "" if start is None else "active" if start == starts[-1] else "closed",
            "now": why[record.offset],
        }
