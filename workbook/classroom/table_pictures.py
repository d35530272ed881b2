"""Draws a table from a run: its steps, its groups, and what a compacted topic keeps of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from confluent_kafka import Message

from workbook.views.compaction import Stored, compaction
from workbook.views.picture import Picture
from workbook.views.rewind import Rewind
from workbook.views.table_change import Change, Step, Update, group_steps, table_changes

if TYPE_CHECKING:
    pass

Row = Mapping[str, Any] | None
FIRST = ("client", "amount", "ticker")

Emitted = tuple[str, Row, Row, Sequence[tuple[Any, int, Row]]]
"""A position, its row before and after, and the changes (client, sign, row) that this emitted."""


def in_words(row: object) -> str | None:
    """Write a row as its values: "Ada 10 AAPL NASDAQ"; None stays None."""
    if not isinstance(row, Mapping):
        return None if row is None else str(row)
    names = [*(name for name in FIRST if name in row), *(n for n in row if n not in FIRST)]
    return " ".join(str(row[name]) for name in names)


def step_through(updates: Iterable[Emitted]) -> Rewind:
    """Step through updates and the changes that each emitted; a group's result is its rows."""
    groups: dict[str, dict[str, str]] = {}
    drawn = []
    for position, old, new, emitted in updates:
        changes = []
        for client, sign, row in emitted:
            held = groups.setdefault(str(client), {})
            before = _held(held)
            if sign > 0:
                held[position] = _amount(row)
            else:
                held.pop(position, None)
            changes.append(Change(str(client), sign, before, _held(held)))
        drawn.append(Update(position, in_words(old), in_words(new), changes))
    return table_changes(drawn)


def lines_of_groups(rows: Sequence[Any]) -> Picture:
    """Draw rows as a query with ``per_update`` emits them: client, change, position, tickers."""
    return group_steps([
        Step(
            str(row["client"]),
            1 if row["change"] == "add" else -1,
            str(row["position"]),
            None if row["deleted"] else _counts(row["tickers"]),
        )
        for row in list(rows)  # a copy: the query adds to it meanwhile
    ])  # fmt: skip


def _held(rows: Mapping[str, str]) -> str:
    return ", ".join(f"{position}: {rows[position]}" for position in sorted(rows))


def _amount(row: Row) -> str:
    """Write what a group has of a row: "20 AAPL"."""
    if isinstance(row, Mapping) and {"amount", "ticker"} <= row.keys():
        return f"{row['amount']} {row['ticker']}"
    return in_words(row) or ""


def _counts(tickers: Mapping[str, int] | None) -> str:
    counts = dict(tickers or {})
    return ", ".join(f"{ticker} ×{counts[ticker]}" for ticker in sorted(counts)) or "none"


# --- compaction -----------------------------------------------------------------------------

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
