"""A pipeline as a small diagram: producers, topics, loops and queries, their state, sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from workbook.views.drawing import SIZE, Drawing, wide
from workbook.views.parts import Loop, Part, Producer, Query, Sink, Topic
from workbook.views.picture import Picture
from workbook.views.shapes import Box, folded, hexagon, pill, railed, tape

HEIGHT, GAP, BETWEEN, SIDE = 44, 32, 16, 6
STATE_DROP, STATE_HEIGHT = 12, 22
SMALL = 10
CAPTION = "This chapter's pipeline, left to right. Dashed: what a part of it remembers"


Path = Sequence[Part]


def pipeline(*paths: Path, caption: str = CAPTION) -> Picture:
    """Draw parts as boxes and each path as arrows from part to part.

    A part that stands in several paths is drawn once, in the row of the first one: so a path may
    branch off from another, and join it again. Name all parts on the way, because an arrow doesn't
    go around a box. Raises ValueError where a path comes back to a part.
    """
    boxes = _boxes(paths)
    drawing = Drawing(
        max((x + width for x, _, width, _ in boxes.values()), default=60) + SIDE,
        max((_foot(part, box) for part, box in boxes.items()), default=20) + SIDE,
    )
    for source, target in _arrows(paths):
        _join(drawing, boxes[source], boxes[target])
    for part, box in boxes.items():
        _draw(drawing, part, box)
    return Picture(drawing, caption, _words(paths), _rows(paths, boxes))


def _arrows(paths: Sequence[Path]) -> Iterator[tuple[Part, Part]]:
    """Yield each pair of neighbours once, in the order of the paths."""
    yield from dict.fromkeys(pair for path in paths for pair in pairwise(path))


def _columns(paths: Sequence[Path]) -> dict[Part, int]:
    """Return how many parts at most stand before each one."""
    columns = {part: 0 for path in paths for part in path}
    for _ in range(len(columns) + 1):
        before = dict(columns)
        for source, target in _arrows(paths):
            columns[target] = max(columns[target], columns[source] + 1)
        if columns == before:
            return columns
    raise ValueError("A path of the pipeline comes back to a part that stands before it.")


def _boxes(paths: Sequence[Path]) -> dict[Part, Box]:
    columns, rows = _columns(paths), _rows_of(paths)
    widths = [
        max(_width(part) for part in columns if columns[part] == column)
        for column in range(max(columns.values(), default=-1) + 1)
    ]
    heights = [
        max(_height(part) for part in rows if rows[part] == row)
        for row in range(max(rows.values(), default=-1) + 1)
    ]
    return {
        part: (
            SIDE + sum(widths[: columns[part]]) + GAP * columns[part],
            SIDE + sum(heights[: rows[part]]) + BETWEEN * rows[part],
            widths[columns[part]],
            HEIGHT,
        )
        for part in columns
    }


def _rows_of(paths: Sequence[Path]) -> dict[Part, int]:
    """Return each part's row: a path with new parts gets one of its own."""
    rows: dict[Part, int] = {}
    for path in paths:
        row = max(rows.values(), default=-1) + 1
        for part in path:
            rows.setdefault(part, row)
    return rows


def _width(part: Part) -> float:
    words = [wide(part.name, SIZE) * 1.06, wide(part.kind, SMALL), wide(_state(part), SMALL)]
    return max(words) + 20


def _height(part: Part) -> float:
    return HEIGHT + (STATE_DROP + STATE_HEIGHT if part.remembers else 0)


def _foot(part: Part, box: Box) -> float:
    return box[1] + _height(part)


def _state(part: Part) -> str:
    return f"state: {part.remembers}" if part.remembers else ""


def _join(drawing: Drawing, source: Box, target: Box) -> None:
    """Draw an arrow; those that go down bend before those that go up, so none seems to join."""
    x0, y0 = source[0] + source[2], source[1] + HEIGHT / 2
    x, y = target[0], target[1] + HEIGHT / 2
    bend = x0 + GAP * (0.3 if y > y0 else 0.6)
    points = [(x0, y0), (x, y)] if y == y0 else [(x0, y0), (bend, y0), (bend, y), (x, y)]
    drawing.line(points, arrow=True)


def _draw(drawing: Drawing, part: Part, box: Box) -> None:
    x, y, width, height = box
    _SHAPES[type(part)](drawing, box)
    middle = x + width / 2
    drawing.text(middle, y + 15, part.kind, anchor="middle", size=SMALL)
    drawing.text(middle, y + 31, part.name, anchor="middle", bold=True)
    if part.remembers:
        top = y + height + STATE_DROP
        drawing.line([(middle, y + height), (middle, top)])
        drawing.box(
            x + 4, top, width - 8, STATE_HEIGHT, _state(part), dashed=True, corner=8, size=SMALL
        )


_SHAPES: Mapping[type[Part], Callable[[Drawing, Box], None]] = {
    Producer: pill, Topic: tape, Loop: railed, Query: hexagon, Sink: folded,
}  # fmt: skip


def _words(paths: Sequence[Path]) -> str:
    said = [" → ".join(part.name for part in path) for path in paths if path]
    return "; ".join(said) + "." if said else "This pipeline has no parts yet."


def _rows(paths: Sequence[Path], boxes: Mapping[Part, Box]) -> list[dict[str, str]]:
    arrows = list(_arrows(paths))
    return [
        {
            "part": part.name,
            "kind": part.kind,
            "state": part.remembers or "–",
            "goes on to": ", ".join(target.name for source, target in arrows if source == part)
            or "–",
        }
        for part in boxes
    ]
