"""The shapes of boxes, each of which means a kind of part: none is told by its colour alone."""

from __future__ import annotations

from workbook.views.drawing import BLUE, GREEN, GREY, INK, ORANGE, PAPER, RED, Drawing, Point

Box = tuple[float, float, float, float]
"""Left, top, width, height."""


def pill(drawing: Drawing, box: Box) -> None:
    """Draw a box with round ends."""
    drawing.box(*box, fill=PAPER, edge=GREY, corner=box[3] / 2)


def tape(drawing: Drawing, box: Box) -> None:
    """Draw a box with a row of cells at its foot, as records stand in a partition."""
    x, y, width, height = box
    drawing.box(*box, fill=PAPER, edge=BLUE)
    drawing.line([(x, y + height - 7), (x + width, y + height - 7)], colour=BLUE, thick=1)
    for cell in range(1, int(width // 10)):
        at = x + 10 * cell
        drawing.line([(at, y + height - 7), (at, y + height)], colour=BLUE, thick=1)


def railed(drawing: Drawing, box: Box) -> None:
    """Draw a box with a second line at its left and right."""
    x, y, width, height = box
    drawing.box(*box, fill=PAPER, edge=GREEN)
    for at in (x + 5, x + width - 5):
        drawing.line([(at, y), (at, y + height)], colour=GREEN, thick=1)


def hexagon(drawing: Drawing, box: Box) -> None:
    """Draw a box with a point at its left and right."""
    x, y, width, height = box
    right, middle = x + width, y + height / 2
    _outline(
        drawing, ORANGE, (x, middle), (x + 9, y), (right - 9, y), (right, middle),
        (right - 9, y + height), (x + 9, y + height),
    )  # fmt: skip


def folded(drawing: Drawing, box: Box) -> None:
    """Draw a sheet with its corner turned down."""
    x, y, width, height = box
    right = x + width
    _outline(
        drawing, INK, (x, y), (right - 10, y), (right, y + 10), (right, y + height), (x, y + height)
    )
    drawing.line([(right - 10, y), (right - 10, y + 10), (right, y + 10)], thick=1)


def crossed(drawing: Drawing, box: Box) -> None:
    """Draw a box with crossing lines at its foot, as rows change places in a shuffle."""
    x, y, width, height = box
    drawing.box(*box, fill=PAPER, edge=RED, corner=8)
    for cell in range(int((width - 16) // 20)):
        left = x + 8 + 20 * cell
        for one, other in ((left, left + 20), (left + 20, left)):
            drawing.line([(one, y + height - 8), (other, y + height)], colour=RED, thick=1)


def _outline(drawing: Drawing, colour: str, *points: Point) -> None:
    drawing.line([*points, points[0]], colour=colour)
