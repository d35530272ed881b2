"""A partition before and after its compaction: segments, records, and the gaps that it leaves."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.picture import Picture, number
from workbook.views.strip import START, Record, Strips, key

CAPTION = "A partition before and after its compaction: what went, and why did the others stay?"
SHOWN = 20
"""Records that are drawn; of a longer partition the last ones, with the active segment."""

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
    notes = [f"{MARKS[r]}: {r}" for r in MARKS if r in why.values()]
    notes += [key("hatched", f"a tombstone ({TOMBSTONE})"), key("gone", "gone")]
    there = (lambda record: True), (lambda record: record.offset in found)
    before_, now = (
        list(_line(shown, starts, why, is_there, n == 1)) for n, is_there in enumerate(there)
    )
    drawing = Strips([("before", before_), ("now", now)], notes)
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
    shown: Sequence[Stored],
    starts: Sequence[int],
    why: Mapping[int, str],
    is_there: Callable[[Stored], bool],
    marked: bool,
) -> Iterator[Record]:
    segment = None
    for record in shown:
        start = _start(record.offset, starts)
        if start is not None and start != segment:
            segment = start
            yield Record("active" if start == starts[-1] else "closed", "segment", "", START)
        mark = MARKS.get(why[record.offset], "") if marked else ""
        if is_there(record):
            label = (TOMBSTONE if record.tombstone else "") + _named(record.key)
            yield Record(label, f"{record.offset}", mark, "hatched" if record.tombstone else "")
        else:
            yield Record("", f"{record.offset}", mark, "gone")


def _start(offset: int, starts: Sequence[int]) -> int | None:
    place = bisect_right(starts, offset)
    return starts[place - 1] if place else None


def _named(key: str | None) -> str:
    return "none" if key is None else key


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
