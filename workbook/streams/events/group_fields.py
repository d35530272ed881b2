"""Names the fields of a record of ``__consumer_offsets`` by their places, as they're drawn.

The formats are those of ``group_records``, which reads the same bytes for use.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from workbook.streams.events.binary import Bytes, Cut
from workbook.streams.events.group_records import (
    GROUP,
    NEW_ASSIGNMENT,
    NEW_GROUP,
    NEW_MEMBER,
    OFFSETS,
    SILENT,
)


@dataclass(frozen=True, slots=True)
class Field:
    """``size`` bytes from place ``first`` on, and what they mean; "" where that isn't read."""

    name: str
    first: int
    size: int
    value: str = ""


KINDS = {
    **dict.fromkeys(OFFSETS, "a commit"),
    GROUP: "a classic group",
    NEW_GROUP: "a new group",
    NEW_MEMBER: "a new group's member",
}
"""Those whose keys and values are read here."""


def key_fields(key: bytes) -> list[Field]:
    """Return the fields of a record's key; what can't be read is one field at the end."""
    of = _Noted(key)
    return of.noted(lambda: _key(of))


def value_fields(kind: int, value: bytes) -> list[Field]:
    """Return the fields of a value, by the kind of its key, as far as they're read here."""
    of = _Noted(value)
    return of.noted(lambda: _value(of, kind))


class _Noted(Bytes):
    """Reads bytes, and notes what stood where."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._all, self._fields = len(data), list[Field]()

    def noted(self, read: Callable[[], None]) -> list[Field]:
        """Read as far as it goes; return the fields."""
        with suppress(Cut):
            read()
        last = self._fields[-1] if self._fields else Field("", 0, 0)
        end = last.first + last.size
        if end < self._all:
            self._fields.append(Field("rest", end, self._all - end))
        return self._fields

    def note(self, name: str, read: Callable[[], Any]) -> Any:
        """Read one field."""
        first = self._all - self.left
        value = read()
        size = self._all - self.left - first
        if size:
            self._fields.append(Field(name, first, size, str(value)))
        return value

    def words(self, name: str) -> None:
        """Read a text behind its length."""
        size = self.note("length", self._length)
        self.note(name, lambda: self.take(max(size, 0)).decode(errors="replace"))

    def _length(self) -> int:
        return self.varint() - 1 if self.flexible else self.int16()


def _key(of: _Noted) -> None:
    kind = of.note("kind", of.int16)
    if kind in OFFSETS:
        of.words("group")
        of.words("topic")
        of.note("partition", of.int32)
    elif kind in KINDS or kind in SILENT or kind == NEW_ASSIGNMENT:
        of.words("group")
        if kind >= NEW_MEMBER and of.left:
            of.words("member")


def _value(of: _Noted, kind: int) -> None:
    version = of.note("version", of.int16)
    if kind in OFFSETS:
        of.flexible = version >= 4
        of.note("offset", of.int64)
        if version >= 3:
            of.note("leader epoch", of.int32)
        of.words("metadata")
        of.note("committed at", of.int64)
    elif kind == GROUP:
        of.words("type")
        of.note("generation", of.int32)
        of.words("assignor")
    elif kind == NEW_MEMBER:
        of.flexible = True
        for name in ("instance", "rack", "client id", "host"):
            of.words(name)
