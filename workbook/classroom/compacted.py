"""A partition before its compaction and now, as a topic's reader finds it."""

from collections.abc import Callable, Iterable, Sequence

from confluent_kafka import Message

from workbook.views.compaction import Stored, compaction
from workbook.views.picture import Picture

Read = Callable[[], Iterable[Message]]
"""Returns the records that a topic holds now."""


_seen: dict[tuple[str, int], dict[int, tuple[Stored, int]]] = {}
"""By topic and partition each offset's record and timestamp (ms), as they were found first.

So a cell that runs again, after the compaction, still knows what was there before.
"""


class Compacted:
    """A partition before its compaction and now, as ``read()`` finds it; call it for a picture.

    Only records of ``partition`` count. The broker closes a segment at the first record that comes
    more than ``segment_ms`` (by its timestamp) after the segment's first one. What was compacted
    before the first look is unknown.
    """

    def __init__(self, read: Read, segment_ms: int, partition: int = 0) -> None:
        self._read, self._segment_ms, self._partition = read, segment_ms, partition
        self._first: dict[int, tuple[Stored, int]] = {}
        self()

    def __call__(self) -> Picture:
        """Read the partition, and draw it before and now."""
        now = [_look_at(m) for m in self._read() if m.partition() == self._partition]
        if now:
            self._first = _seen.setdefault((now[0][0], self._partition), {})
        for _, offset, record, time in now:
            self._first.setdefault(offset, (record, time))
        first = [self._first[offset] for offset in sorted(self._first)]
        opened = starts([(record.offset, time) for record, time in first], self._segment_ms)
        found = [offset for _, offset, _, _ in now]
        return compaction([record for record, _ in first], found, opened)


def starts(times: Sequence[tuple[int, int]], segment_ms: int) -> list[int]:
    """Return the first offset of each segment, from the records' offsets and timestamps (ms)."""
    found: list[int] = []
    opened = 0
    for offset, time in times:
        if not found or time - opened > segment_ms:
            found.append(offset)
            opened = time
    return found


def _look_at(message: Message) -> tuple[str, int, Stored, int]:
    """Return topic, offset, record and timestamp (ms); a key's bytes that are no text as \\x…."""
    key, offset = message.key(), message.offset() or 0
    text = key.decode(errors="backslashreplace") if isinstance(key, bytes) else key
    record = Stored(offset, text, message.value() is None)
    return message.topic() or "", offset, record, message.timestamp()[1]
