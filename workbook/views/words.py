"""Words on a picture: what fits into a box, and how changes are written."""

from __future__ import annotations

from workbook.views.drawing import wide

MINUS, ARROW = "\N{MINUS SIGN}", "\N{RIGHTWARDS ARROW}"


def cut(text: str, width: float, size: float = 11) -> str:
    """Shorten a text to what fits into ``width`` units."""
    most = max(1, int(width / wide("x", size)))
    return text if len(text) <= most else text[: most - 1] + "…"


def signed(sign: int) -> str:
    """Write a change of a group: "−1" or "+1"."""
    return f"{MINUS}{-sign}" if sign < 0 else f"+{sign}"
