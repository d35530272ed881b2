"""A partition before and after its compaction: segments, records, and the gaps that it leaves."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from confluent_kafka import Message

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


_seen: dict[str, dict[int, tuple[Stored, int]]] = {}
"""By topic each offset's record and timestamp (ms), as they were found first.

So a cell that runs again, after the compaction, still knows what was there before.
"""


def compacted(read: Callable[[], Iterable[Message]], segment_ms: int) -> Callable[[], Picture]:
    """Return what draws a topic of one partition before its compaction and now, as ``read`` does.

    The broker closes a segment at the first record that comes more than ``segment_ms`` (by its
    timestamp) after the segment's first one. What was compacted before the first look is unknown.
    """

    def look() -> Picture:
        first, now = dict[int, tuple[Stored, int]](), list(read())
        for message in now:
            first = _seen.setdefault(message.topic() or "", {})
            record = _stored(message)
            first.setdefault(record.offset, (record, message.timestamp()[1]))
        found = [first[offset] for offset in sorted(first)]
        opened = starts([(record.offset, time) for record, time in found], segment_ms)
        return compaction([record for record, _ in found], [m.offset() or 0 for m in now], opened)

    look()
    return look


def starts(times: Sequence[tuple[int, int]], segment_ms: int) -> list[int]:
    """Return the first offset of each segment, from the records' offsets and timestamps (ms)."""
    found: list[int] = []
    opened = 0
    for offset, time in times:
        if not found or time - opened > segment_ms:
            found.append(offset)
            opened = time
    return found


def _stored(message: Message) -> Stored:
    """Return a record as it's drawn: a key's bytes that are no text as \\x…."""
    key = message.key()
    text = key.decode(errors="backslashreplace") if isinstance(key, bytes) else key
    return Stored(message.offset() or 0, text, message.value() is None)


def compaction(
    before: Sequence[Stored], after: Collection[int], starts: Sequence[int] = ()
) -> Picture:
    """Draw a partition twice: as it was written, and as a reader finds it now.

    ``before`` are its records in order, ``after`` the offsets that are still there, ``starts`` the
    first offset of each segment; the last segment is the active one, which isn't compacted.
    """
    found = set(after)
    starts = list(starts) or [record.offset for record in before[:1]]
    why = _reasons(before, found, starts[-1] if starts else 0)
    shown = before[-SHOWN:]
    segments = [starts[max(bisect_right(starts, record.offset) - 1, 0)] for record in shown]
    kinds = ["active" if start == starts[-1] else "closed" for start in segments]
    strip = Strip(len(shown))
    strip.next("segment")
    for start in dict.fromkeys(segments):
        low = segments.index(start)
        strip.bracket(low, low + segments.count(start), kinds[low])
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
        {"offset": record.offset, "key": _key(record), "segment": kind, "now": why[record.offset]}
        for record, kind in zip(shown, kinds, strict=True)
    ]
    words = f"{number(len(before), 'record')} before, {len(found):,} now."
    return Picture(strip, CAPTION, words, rows)


def _reasons(before: Sequence[Stored], found: Collection[int], active: int) -> dict[int, str]:
    """Return of each record, by its offset, why it's gone or still there."""
    last = {record.key: record.offset for record in before}
    closed = {record.key: record.offset for record in before if record.offset < active}
    why = {}
    for key, offset in ((record.key, record.offset) for record in before):
        kept = LATEST if last[key] == offset else NEWER if closed.get(key) == offset else DUE
        why[offset] = kept if offset in found else GONE
    return why


def _records(strip: Strip, name: str, shown: Sequence[Stored], found: Collection[int]) -> None:
    strip.next(name)
    for column, record in enumerate(shown):
        look = Look.HATCHED if record.tombstone else Look.PLAIN
        label = TOMBSTONE * record.tombstone + ("none" if record.key is None else record.key)
        title = f"key {_key(record)}"
        if record.offset not in found:
            look, label, title = Look.FAINT, "", "is gone"
        strip.cell(column, label, look, title=f"offset {record.offset}: {title}")


def _key(record: Stored) -> str:
    return ("none" if record.key is None else record.key) + " (tombstone)" * record.tombstone
