"""Renders small HTML tables and bars in one style, with a caption that says what to look for."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbook.views.colours import BLUE, FAINT, INK

CELL = f"padding:2px 10px; border-bottom:1px solid {FAINT}; overflow-wrap:break-word; "
TABLE = f"border-collapse:collapse; font-size:13px; color:{INK}; margin:4px 0"
CAPTION = "text-align:left; font-weight:600; padding:2px 0 4px"


def marked(text: str) -> str:
    """Return a text as HTML, with its `code` as code."""
    return re.sub("`([^`\n]+)`", r"<code>\1</code>", html.escape(text))


def sendable(text: str) -> str:
    """Return a text as a browser takes it: half of a surrogate pair, legal in JSON, is spelt."""
    return text.encode(errors="backslashreplace").decode()


def captioned(caption: str) -> str:
    """Return the caption of a table: it may be wider than the table, and wraps where it's long."""
    line = f"<div style='width:max-content; max-width:52em'>{html.escape(caption)}</div>"
    return f"<caption style='{CAPTION}'>{line}</caption>"


SHOWN = 15
"""More bars than these don't fit beside the shop; the rest is added up in one line."""


def table(rows: Sequence[Mapping[str, Any]], caption: str, empty: str = "no rows yet") -> str:
    """Render rows of the same keys as an HTML table; numbers with thousands separators."""
    head = captioned(caption)
    if not rows:
        return f"<table style='{TABLE}'>{head}<tr><td><i>{html.escape(empty)}</i></td></tr></table>"
    names = "".join(_head(name, rows[0][name]) for name in rows[0])
    body = "".join(
        "<tr>" + "".join(_cell(value) for value in row.values()) + "</tr>" for row in rows
    )
    return f"<table style='{TABLE}'>{head}<thead><tr>{names}</tr></thead>{body}</table>"


HIDDEN = "hidden"
"""What a bar without a number says."""


def bars(
    counts: Mapping[Any, int | None],
    caption: str,
    before: Mapping[Any, int] | None = None,
    total: str = "",
) -> str:
    """Show counts by name as bars with their numbers beside them, the longest on top.

    A count of None is hidden: it has a row at the end, but neither a bar nor a number.
    A row that has changed since ``before`` says by how much. ``total`` names the sum of
    all counts, which stands above them as one large number. Of many names the first 15 are drawn.
    """
    counts, was = _named(counts), _named(before or {})
    known = {name: count for name, count in counts.items() if count is not None}
    rows = sorted(known.items(), key=lambda item: (-item[1], item[0]))
    top = max(known.values(), default=0) or 1
    drawn = "".join(
        _bar(name, count, count / top, count - was.get(name, count)) for name, count in rows[:SHOWN]
    )
    rest = rows[SHOWN:]
    if rest:
        drawn += _bar(f"{len(rest)} more", sum(count for _, count in rest), 0, 0)
    drawn += "".join(_bar(name, None, 0, 0) for name in sorted(counts.keys() - known.keys()))
    if not counts:
        drawn = "<tr><td><i>no rows yet</i></td></tr>"
    large = _large(sum(known.values()), total) if total else ""
    return f"{large}<table style='{TABLE}; min-width:22em'>{captioned(caption)}{drawn}</table>"


def _named(counts: Mapping[Any, Any]) -> dict[str, Any]:
    return {"no name" if name is None else str(name): count for name, count in counts.items()}


def _large(number: int, words: str) -> str:
    return (
        f"<div style='color:{INK}; line-height:1.1'><span style='font-size:44px; font-weight:600'>"
        f"{number:,}</span> {html.escape(words)}</div>"
    )


def _bar(name: str, count: int | None, share: float, change: int) -> str:
    changed = f" <b>{change:+,}</b>" if change else ""
    width = max(2, round(180 * share)) if share else 0
    number = HIDDEN if count is None else f"{count:,}"
    return (
        f"<tr><td style='{CELL}'>{html.escape(name)}</td>"
        f"<td style='{CELL} width:190px'><div style='height:14px; width:{width}px; "
        f"background:{BLUE}; border-radius:2px'></div></td>"
        f"<td style='{CELL} text-align:right; min-width:5em'>{number}{changed}</td></tr>"
    )


def _head(name: str, value: Any) -> str:
    """Align a head as the cells below it stand."""
    side = "right" if _is_number(value) else "left"
    return f"<th scope='col' style='{CELL} text-align:{side}'>{html.escape(str(name))}</th>"


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if _is_number(value):
        return f"<td style='{CELL} text-align:right'>{value:,}</td>"
    return f"<td style='{CELL} text-align:left'>{html.escape(str(value))}</td>"
