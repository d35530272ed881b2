"""A key or a value as bytes, with its fields marked below them."""

from collections.abc import Mapping, Sequence
from typing import Any

from workbook.streams.events.binary import Field
from workbook.streams.events.group_records import KINDS, key_fields, value_fields
from workbook.views.colours import BLUE, ORANGE
from workbook.views.picture import Picture, cut, number
from workbook.views.rewind import Rewind
from workbook.views.strip import Look, Strip
from workbook.views.tape import written

CAPTION = (
    "Each cell is a byte, in hex, and below it the same as a character. A bracket marks a field: a "
    "length says how many bytes the text behind it has."
)
ROW, MOST = 24, 96
"""Bytes in a line, and bytes that are drawn: the first ones."""

Record = tuple[bytes, bytes | None]


def record_bytes(data: bytes, fields: Sequence[Field]) -> Picture:
    """Draw bytes and their fields, the first 96 at most; the rows are the fields, all of them."""
    strip = Strip(ROW, widest=33)
    for first in range(0, min(len(data), MOST), ROW):
        _line(strip, data, fields, first, min(first + ROW, len(data)))
    drawn = f", the first {MOST} drawn" if len(data) > MOST else ""
    said = ", ".join(f"{field.name} {field.value}".strip() for field in fields)
    words = f"{number(len(data), 'byte')}{drawn}: {said}."
    return Picture(strip, CAPTION, words, [_row(data, field) for field in fields])


def record_steps(records: Mapping[int, Record]) -> Rewind:
    """Step through records by their kind: a key, then its value, for each."""
    steps: list[tuple[str, Picture]] = []
    for kind, (key, value) in records.items():
        name = KINDS.get(kind, f"kind {kind}")
        steps.append((f"{name}: key", record_bytes(key, key_fields(key))))
        if value is not None:
            steps.append((f"{name}: value", record_bytes(value, value_fields(kind, value))))
    names = [(name, place) for place, (name, _) in enumerate(steps)]
    return Rewind(lambda place: steps[place][1], names, at=0, says="Step:")


def _line(strip: Strip, data: bytes, fields: Sequence[Field], first: int, end: int) -> None:
    """Draw a line of bytes, and below it the fields that are in it, at least in part."""
    strip.next()
    for place in range(first, end):
        byte = data[place]
        strip.cell(place - first, f"{byte:02x}", Look.THIN, title=f"byte {place}: {byte}")
    strip.next()
    for place in range(first, end):
        character = chr(data[place])
        strip.text(place - first, character if " " < character < "\x7f" else "·")
    strip.next()
    for count, field in enumerate(fields):
        low, high = max(field.first, first), min(field.first + field.size, end)
        if low < high:
            words = f"{field.name}: {field.value}" if low == field.first else "…"
            words = cut(words, max(5 * (high - low), 14))
            strip.bracket(low - first, high - first, words, (BLUE, ORANGE)[count % 2], below=True)


def _row(data: bytes, field: Field) -> dict[str, Any]:
    return {
        "bytes": written(field.first, field.first + field.size),
        "field": field.name,
        "value": field.value,
        "hex": data[field.first : field.first + field.size].hex(" "),
    }
