"""A partition before and after its compaction: segments, records, and the gaps that it leaves."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from workbook.views.picture import Picture, number
from workbook.views.strip import Look, Strip

CAPTION = "A partition before and after its compaction: what went, and why did the others stay?"
SHOWN = 20
"""Records that fit on a line; of a longer partition the last ones, with the active segment."""

GONE = "gone"
LATEST = "the last record of its key"
NEWER = "the last of its key in the closed segments, with a newer one in the active segment"
DUE = "overwritten, but not compacted yet; in the active segment nothing is"
MARKS = {LATEST: "L", NEWER: "C", DUE: "?"}
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
) -> Picture:
    """Draw a partition twice: as it was written, and as a reader finds it now.

    ``before`` are its records in order, ``after`` the offsets that are still there, ``starts`` the
    first offset of each segment; the last segment is the active one, which isn't compacted.
    """
    found = set(after)
    starts = list(starts) or [record.offset for record in before[:1]]
    why = _reasons(before, found, starts)
    shown = before[-SHOWN:]
    strip = Strip(len(shown))
    segments = [_segment(record, starts) for record in shown]
    strip.next("segment")
    for segment in dict.fromkeys(segments):
        low = segments.index(segment)
        strip.bracket(low, low + segments.count(segment), segment[1])
    strip.next("offset")
    for column, record in enumerate(shown):
        strip.text(column, str(record.offset))
    _records(strip, "before", shown, {record.offset for record in shown})
    _records(strip, "now", shown, found)
    strip.next("why it's there")
    for column, record in enumerate(shown):
        strip.text(column, MARKS.get(why[record.offset], ""), bold=True)
    for reason in (reason for reason in MARKS if reason in why.values()):
        strip.note(f"{MARKS[reason]}: {reason}")
    strip.legend({f"{TOMBSTONE} a tombstone": Look.HATCHED, "gone": Look.FAINT})
    rows = [
        {
            "offset": record.offset,
            "key": _key(record),
            "segment": _segment(record, starts)[1],
            "now": why[record.offset],
        }
        for record in shown
    ]
    words = f"{number(len(before), 'record')} before, {len(found):,} now."
    return Picture(strip, CAPTION, words, rows)


def _reasons(
    before: Sequence[Stored], found: Collection[int], starts: Sequence[int]
) -> dict[int, str]:
    """Return of each record, by its offset, why it's gone or still there."""
    active = starts[-1] if starts else 0
    last = {record.key: record.offset for record in before}
    closed = {record.key: record.offset for record in before if record.offset < active}
    why = {}
    for record in before:
        if record.offset not in found:
            why[record.offset] = GONE
        elif last[record.key] == record.offset:
            why[record.offset] = LATEST
        else:
            at = closed.get(record.key)
            why[record.offset] = NEWER if at == record.offset else DUE
    return why


def _records(strip: Strip, name: str, shown: Sequence[Stored], found: Collection[int]) -> None:
    strip.next(name)
    for column, record in enumerate(shown):
        look, label, title = (
            Look.PLAIN,
            "none" if record.key is None else record.key,
            f"key {_key(record)}",
        )
        if record.tombstone:
            look, label = Look.HATCHED, TOMBSTONE + label
        if record.offset not in found:
            look, label, title = Look.FAINT, "", "is gone"
        strip.cell(column, label, look, title=f"offset {record.offset}: {title}")


def _segment(record: Stored, starts: Sequence[int]) -> tuple[int, str]:
    """Return the start of a record's segment, and whether it's closed or active."""
    start = starts[max(bisect_right(starts, record.offset) - 1, 0)]
    return start, "active" if start == starts[-1] else "closed"


def _key(record: Stored) -> str:
    return ("none" if record.key is None else record.key) + " (tombstone)" * record.tombstone
