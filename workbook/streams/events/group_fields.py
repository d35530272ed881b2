"""Names the fields of a record of ``__consumer_offsets`` by their places, as they're drawn.

The formats are those of ``group_records``, which reads the same bytes for use.
"""

from contextlib import suppress
from dataclasses import dataclass

from workbook.streams.events.binary import Bytes, Cut
from workbook.streams.events.group_records import GROUP, NEW_ASSIGNMENT, NEW_GROUP, NEW_MEMBER


@dataclass(frozen=True, slots=True)
class Field:
    """``size`` bytes from place ``first`` on, and what they mean; "" where that isn't read."""

    name: str
    first: int
    size: int
    value: str = ""


KINDS = {
    **dict.fromkeys((0, 1), "a commit"),
    GROUP: "a classic group",
    NEW_GROUP: "a new group",
    NEW_MEMBER: "a new group's member",
}
"""Those whose keys and values are read here."""

KEYS = {
    **dict.fromkeys((0, 1), ("group", "topic", "partition")),
    **dict.fromkeys((GROUP, NEW_GROUP), ("group",)),
    **dict.fromkeys((NEW_MEMBER, NEW_ASSIGNMENT), ("group", "member")),
}
COMMIT = ("offset", "leader epoch", "metadata", "committed at")
VALUES = {
    **dict.fromkeys((0, 1), COMMIT),
    GROUP: ("type", "generation", "assignor"),
    NEW_MEMBER: ("instance", "rack", "client id", "host"),
}
NUMBERS = {
    **dict.fromkeys(("kind", "version"), Bytes.int16),
    **dict.fromkeys(("partition", "leader epoch", "generation"), Bytes.int32),
    **dict.fromkeys(("offset", "committed at"), Bytes.int64),
}
"""Fields that are numbers; all others are texts behind their lengths."""


def key_fields(key: bytes) -> list[Field]:
    """Return the fields of a record's key; what can't be read is one field at the end."""
    of, found = Bytes(key), list[Field]()
    with suppress(Cut):
        _read(of, "kind", found)
        for name in KEYS.get(int(found[0].value), ()):
            _read(of, name, found)
    return _with_rest(found, len(key))


def value_fields(kind: int, value: bytes) -> list[Field]:
    """Return the fields of a value, by the kind of its key, as far as they're read here."""
    of, found = Bytes(value), list[Field]()
    with suppress(Cut):
        _read(of, "version", found)
        version, names = int(found[0].value), VALUES.get(kind, ())
        of.flexible = kind == NEW_MEMBER or version >= 4
        for name in names if version >= 3 or names != COMMIT else ("offset", *COMMIT[2:]):
            _read(of, name, found)
    return _with_rest(found, len(value))


def _read(of: Bytes, name: str, found: list[Field]) -> None:
    """Read one field, and note what stood where; a text has a field before it, its length."""

    def note(name: str, left: int, value: object) -> None:
        first = found[-1].first + found[-1].size if found else 0
        if left > of.left:
            found.append(Field(name, first, left - of.left, str(value)))

    left = of.left
    if name in NUMBERS:
        note(name, left, NUMBERS[name](of))
        return
    size = of.varint() - 1 if of.flexible else of.int16()
    note("length", left, size)
    left = of.left
    note(name, left, of.take(max(size, 0)).decode(errors="replace"))


def _with_rest(found: list[Field], size: int) -> list[Field]:
    end = found[-1].first + found[-1].size if found else 0
    return [*found, Field("rest", end, size - end)] if end < size else found
