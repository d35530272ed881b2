"""A key or a value as bytes, with its fields marked below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbook.streams.events.group_fields import KINDS, Field, key_fields, value_fields
from workbook.views.drawing import BLUE, FAINT, GREY, INK, ORANGE, Drawing
from workbook.views.picture import Picture, cut, number
from workbook.views.stepper import Stepper

CAPTION = (
    "Each cell is a byte, in hex, and below it the same as a character. A bracket marks a field: a "
    "length says how many bytes the text behind it has."
)
ROW, CELL, LINE = 24, 33, 84
"""Bytes in a line; width of a byte, and height of a line, in pixels."""

MOST = 96
"""Of more bytes the first ones are drawn."""

LEFT, TOP = 6, 8

Record = tuple[bytes, bytes | None]


def record_bytes(data: bytes, fields: Sequence[Field], caption: str = CAPTION) -> Picture:
    """Draw bytes and their fields, the first 96 at most; the rows are the fields, all of them."""
    shown = data[:MOST]
    lines = max(1, -(-len(shown) // ROW))
    drawing = Drawing(LEFT * 2 + CELL * ROW, TOP + LINE * lines)
    for place, byte in enumerate(shown):
        _byte(drawing, place, byte)
    for count, field in enumerate(fields):
        _bracket(drawing, field, (BLUE, ORANGE)[count % 2], len(shown))
    return Picture(drawing, caption, _words(data, fields), _rows(data, fields))


def record_steps(records: Mapping[int, Record]) -> Stepper:
    """Step through records by their kind: a key, then its value, for each."""
    steps: list[tuple[str, Picture]] = []
    for kind, (key, value) in records.items():
        name = KINDS.get(kind, f"kind {kind}")
        steps.append((f"{name}: key", record_bytes(key, key_fields(key))))
        if value is not None:
            drawn = record_bytes(value, value_fields(kind, value))
            steps.append((f"{name}: value", drawn))
    rows = [{"record": name, **row} for name, drawn in steps for row in drawn.rows]
    words = f"{number(len(records), 'record')}, of different kinds."
    return Stepper([drawn for _, drawn in steps], [name for name, _ in steps], words, rows)


def _at(place: int) -> tuple[float, float]:
    return LEFT + place % ROW * CELL, TOP + place // ROW * LINE


def _byte(drawing: Drawing, place: int, byte: int) -> None:
    x, y = _at(place)
    drawing.box(x, y, CELL, 22, f"{byte:02x}", edge=FAINT, title=f"byte {place}: {byte}")
    character = chr(byte) if 0x20 < byte < 0x7F else "·"
    colour = INK if character != "·" else GREY
    drawing.text(x + CELL / 2, y + 35, character, anchor="middle", size=11, colour=colour)


def _bracket(drawing: Drawing, field: Field, colour: str, shown: int) -> None:
    """Draw a field's bracket, cut at the ends of lines; its words stand below the widest part."""
    parts = list(_parts(field.first, min(field.first + field.size, shown)))
    if not parts:
        return
    widest = max(parts, key=lambda part: part[1] - part[0])
    for first, end in parts:
        x, y = _at(first)
        right, y = x + (end - first) * CELL - 3, y + 41
        drawing.line([(x + 3, y - 4), (x + 3, y), (right, y), (right, y - 4)], colour=colour)
        if (first, end) == widest:
            width, middle = right - x + 6, (x + 3 + right) / 2
            name = "len" if field.name == "length" and width < 40 else field.name
            drawing.text(middle, y + 14, cut(name, width), anchor="middle", size=11, bold=True)
            said = cut(field.value, width)
            drawing.text(middle, y + 27, said, anchor="middle", size=11)


def _parts(first: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a range of places at the ends of lines."""
    while first < end:
        stop = min(end, (first // ROW + 1) * ROW)
        yield first, stop
        first = stop


def _words(data: bytes, fields: Sequence[Field]) -> str:
    drawn = f", of which the first {MOST} are drawn" if len(data) > MOST else ""
    said = [f"{field.name} {field.value}".strip() for field in fields]
    return f"{number(len(data), 'byte')}{drawn}: {', '.join(said)}."


def _rows(data: bytes, fields: Sequence[Field]) -> list[dict[str, Any]]:
    return [
        {
            "bytes": _range(field),
            "field": field.name,
            "value": field.value,
            "hex": cut(data[field.first : field.first + field.size].hex(" "), 500),
        }
        for field in fields
    ]


def _range(field: Field) -> str:
    last = field.first + field.size - 1
    return f"{field.first}" if last == field.first else f"{field.first} to {last}"
