"""Draws boxes, lines, dots and words as SVG, in the page's own ink, dark theme or light."""

from __future__ import annotations

import html
from collections.abc import Sequence

Point = tuple[float, float]

INK = "var(--jp-ui-font-color1, #212121)"
PAPER = "var(--jp-layout-color0, #ffffff)"
FAINT = "var(--jp-border-color1, #bdbdbd)"
INK_ON_PAPER = "#212121"
BLUE, ORANGE, GREEN, RED, GREY = "#1e88e5", "#ef6c00", "#388e3c", "#e53935", "#9e9e9e"
"""Each one stands out on white and on dark grey; none of them carries a meaning alone."""

SIZE = 12
CHARACTER = 0.58
"""The mean width of a character, as a share of the size of its font."""

HATCH_STEP = 7

LEAST = 560
"""In a narrower window one scrolls, since smaller words can't be read."""


class Drawing:
    """A sheet ``width`` × ``height`` units large, one unit a pixel unless the page is narrower."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []

    def box(
        self, x: float, y: float, width: float, height: float, label: str = "", *,
        fill: str = "none", edge: str = INK, dashed: bool = False, hatched: bool = False,
        corner: float = 2, size: float = SIZE, title: str = "",
    ) -> None:  # fmt: skip
        """Draw a box, with its label in the middle and a title for who points at it."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        shape = (
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{corner:g}" '
            f'fill="{fill}" stroke="{edge}"{dash}'
        )
        self._parts.append(_titled(shape, "rect", title))
        if hatched:
            self._hatch(x, y, width, height, edge)
        if label:
            self.text(x + width / 2, y + height / 2 + size / 3, label, anchor="middle", size=size)

    def line(
        self, points: Sequence[Point], *, colour: str = INK, thick: float = 1.5,
        dashed: bool = False, arrow: bool = False,
    ) -> None:  # fmt: skip
        """Join points; with ``arrow`` the last one gets a head."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{thick:g}"{dash}/>'
        )
        if arrow and len(points) > 1:
            self._head(points[-2], points[-1], colour)

    def cross(
        self, x: float, y: float, *, size: float = 4, colour: str = RED, title: str = ""
    ) -> None:
        shape = (
            f'<path d="M{x - size:g} {y - size:g}L{x + size:g} {y + size:g}'
            f'M{x - size:g} {y + size:g}L{x + size:g} {y - size:g}" '
            f'stroke="{colour}" stroke-width="2" fill="none"'
        )
        self._parts.append(_titled(shape, "path", title))

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "start", size: float = SIZE,
        bold: bool = False, colour: str = INK,
    ) -> None:  # fmt: skip
        """Write words at their base line; ``anchor`` is start, middle or end."""
        weight = ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}" '
            f'fill="{colour}"{weight}>{html.escape(words)}</text>'
        )

    def svg(self, words: str) -> str:
        """Return the whole as SVG; ``words`` are for who can't see it."""
        least = min(self.width, LEAST)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{html.escape(words)}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" '
            f'style="width:{self.width:g}px; max-width:100%; min-width:{least:g}px; height:auto" '
            f'font-family="var(--jp-ui-font-family, sans-serif)">{"".join(self._parts)}</svg>'
        )

    def _head(self, before: Point, at: Point, colour: str) -> None:
        (x0, y0), (x, y) = before, at
        length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5 or 1.0
        dx, dy = (x - x0) / length * 8, (y - y0) / length * 8
        wings = f"{x - dx - dy / 2:g},{y - dy + dx / 2:g} {x - dx + dy / 2:g},{y - dy - dx / 2:g}"
        self._parts.append(f'<polygon points="{x:g},{y:g} {wings}" fill="{colour}"/>')

    def _hatch(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Draw slanted lines from a box's lower edge to its upper one, cut at its sides."""
        start = HATCH_STEP - height
        while start < width:
            left, right = max(0.0, start), min(width, start + height)
            if right > left:
                self._parts.append(
                    f'<path d="M{x + left:g} {y + height - (left - start):g}'
                    f'L{x + right:g} {y + height - (right - start):g}" '
                    f'stroke="{colour}" stroke-width="1" opacity="0.6"/>'
                )
            start += HATCH_STEP


def wide(words: str, size: float = SIZE) -> float:
    """Estimate how wide words are."""
    return CHARACTER * size * len(words)


def _titled(shape: str, name: str, title: str) -> str:
    return f"{shape}><title>{html.escape(title)}</title></{name}>" if title else f"{shape}/>"
