"""Small tables for people, as HTML: a caption that says what to look for, and plain cells."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any


def table(rows: Sequence[Mapping[str, Any]], caption: str, empty: str = "no rows yet") -> str:
    """Rows of the same keys as an HTML table; numbers with thousands separators."""
    head = f"<caption style='text-align:left; white-space:nowrap'>{html.escape(caption)}</caption>"
    if not rows:
        return f"<table>{head}<tr><td><i>{html.escape(empty)}</i></td></tr></table>"
    names = "".join(f"<th>{html.escape(str(name))}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(_cell(value) for value in row.values()) + "</tr>" for row in rows
    )
    return f"<table>{head}<tr>{names}</tr>{body}</table>"


def bars(counts: Mapping[str, int], caption: str, width: int = 24) -> str:
    """Counts by name as rows with a bar of text, so that the numbers stand beside their picture."""
    top = max(counts.values(), default=0) or 1
    rows = [
        {"name": name, "count": count, "": "█" * max(1, round(width * count / top))}
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return table(rows, caption)


def _cell(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"<td style='text-align:right'>{value:,}</td>"
    return f"<td style='text-align:left'>{html.escape(str(value))}</td>"
