"""Renders small HTML tables: a caption that says what to look for, and plain cells."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any


def table(rows: Sequence[Mapping[str, Any]], caption: str, empty: str = "no rows yet") -> str:
    """Render rows of the same keys as an HTML table; numbers with thousands separators."""
    head = f"<caption style='text-align:left; white-space:nowrap'>{html.escape(caption)}</caption>"
    if not rows:
        return f"<table>{head}<tr><td><i>{html.escape(empty)}</i></td></tr></table>"
    names = "".join(_head(name, rows[0][name]) for name in rows[0])
    body = "".join(
        "<tr>" + "".join(_cell(value) for value in row.values()) + "</tr>" for row in rows
    )
    return f"<table>{head}<tr>{names}</tr>{body}</table>"


def bars(counts: Mapping[str, int], caption: str, width: int = 24) -> str:
    """Show counts by name as rows with a bar of text, so the numbers stand beside their picture."""
    top = max(counts.values(), default=0) or 1
    rows = [
        {"name": name, "count": count, "": "█" * max(1, round(width * count / top))}
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return table(rows, caption)


def _head(name: str, value: Any) -> str:
    """Align a head as the cells below it stand."""
    side = "right" if _is_number(value) else "left"
    return f"<th style='text-align:{side}; padding:0 0.6em'>{html.escape(str(name))}</th>"


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if _is_number(value):
        return f"<td style='text-align:right; padding:0 0.6em'>{value:,}</td>"
    return f"<td style='text-align:left; padding:0 0.6em'>{html.escape(str(value))}</td>"
