"""Watches a compacted partition through a reader: what it found first, and what it finds now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from confluent_kafka import Message

from workbook.views.compaction import Stored, compaction
from workbook.views.picture import Picture


class Compacted:
    """A partition before its compaction and now, as ``read()`` finds it; call it for a picture.

    ``read`` returns the records of the topic; those of ``partition`` count. The broker closes a
    segment at the first record that comes more than ``segment_ms`` (by its timestamp) after the
    first one of the segment. What was compacted before the first look is unknown.
    """

    def __init__(
        self, read: Callable[[], Iterable[Message]], segment_ms: int, partition: int = 0
    ) -> None:
        self._read, self._segment_ms, self._partition = read, segment_ms, partition
        self._seen: dict[int, Stored] = {}
        self._times: dict[int, int] = {}
        self()

    def __call__(self) -> Picture:
        """Read the partition, and draw it before and now."""
        now = set()
        for message in self._read():
            offset = message.offset()
            if message.partition() != self._partition or offset is None:
                continue
            now.add(offset)
            self._times.setdefault(offset, message.timestamp()[1])
            self._seen.setdefault(offset, _stored(message, offset))
        before = [self._seen[offset] for offset in sorted(self._seen)]
        times = [(record.offset, self._times[record.offset]) for record in before]
        return compaction(before, now, starts(times, self._segment_ms))


def starts(times: Sequence[tuple[int, int]], segment_ms: int) -> list[int]:
    """Return the first offset of each segment, from the records' offsets and timestamps (ms)."""
    found: list[int] = []
    opened = 0
    for offset, time in times:
        if not found or time - opened > segment_ms:
            found.append(offset)
            opened = time
    return found


def _stored(message: Message, offset: int) -> Stored:
    """Keep what a picture needs; a key that is no text keeps its bytes as \\x…, so keys differ."""
    key = message.key()
    text = key.decode(errors="backslashreplace") if isinstance(key, bytes) else key
    return Stored(offset, text, message.value() is None)
