"""A picture of somebody's own run: a drawing, what to look for, and the same in words."""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from workbook.views.tables import sendable, table

SAME = "The same as a table"
NOTHING = "There is nothing to draw yet."
SAID = 3
"""Rows of a table that are said below its picture; of a longer one only the last row is."""

MINUS, ARROW = "\N{MINUS SIGN}", "\N{RIGHTWARDS ARROW}"


class Drawn(Protocol):
    """A drawing: a ``Strip`` of records, a ``Plane`` with axes, rows of boxes, a grid."""

    def svg(self, words: str) -> str:
        """Return it as HTML; ``words`` are for who can't see it."""


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing, its ``caption`` (what to look for), and ``words`` (what it shows just now).

    ``rows`` are the same as a table, folded below it. Without ``words`` the table is said: all of
    it if it has up to three rows, else its last row. ``above`` and ``below`` are HTML around the
    drawing.
    """

    drawing: Drawn
    caption: str
    words: str = ""
    rows: Sequence[Mapping[str, Any]] = ()
    above: str = ""
    below: str = ""

    def __post_init__(self) -> None:
        if not self.words:
            object.__setattr__(self, "words", said(self.rows))

    @property
    def figure(self) -> str:
        """Return drawing, caption and words as HTML."""
        caption = f"<b>{html.escape(self.caption)}</b><br>{html.escape(self.words)}"
        return (
            f'{self.above}<figure style="margin:0.4em 0"><div tabindex="0" style="overflow-x:auto">'
            f"{self.drawing.svg(self.words)}</div><figcaption>{caption}</figcaption></figure>"
            f"{self.below}"
        )

    @property
    def twin(self) -> str:
        """Return the table as HTML; '' where there is none."""
        return table(self.rows, self.caption) if self.rows else ""

    def _repr_html_(self) -> str:
        folded = f"<details><summary>{SAME}</summary>{self.twin}</details>" if self.rows else ""
        return sendable(self.figure + folded)

    def __str__(self) -> str:
        """Return it as HTML: in an f-string, its text would be shown as if it were HTML."""
        return self._repr_html_()

    def __repr__(self) -> str:
        lines = [json.dumps(dict(row), default=str, ensure_ascii=False) for row in self.rows]
        return sendable("\n".join([self.caption, self.words, *lines]))


def said(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say a table: "topic: a; read: 3. topic: b; read: 2."; of a long one the last row."""
    last = rows if len(rows) <= SAID else rows[-1:]
    each = ("; ".join(f"{name}: {value}" for name, value in row.items()) for row in last)
    before = "" if len(rows) <= SAID else f"The last of {len(rows):,} rows: "
    return f"{before}{'. '.join(each)}." if rows else NOTHING


def number(count: int, thing: str) -> str:
    """Return a count with its noun: "1 click", "2,000 clicks"."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def cut(text: str, most: int) -> str:
    """Shorten a text to ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def signed(sign: int) -> str:
    """Write a change of a group: "−1" or "+1"."""
    return f"{MINUS}{-sign}" if sign < 0 else f"+{sign}"


def moment(ms: int, day: bool = False) -> str:
    """Return a time (UTC) as "22:31:05" or "22:31:05.250"; with ``day`` the date before it."""
    try:
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    except OverflowError:
        return f"{ms:,} ms"
    text = time.strftime("%H:%M:%S") + (f".{ms % 1000:03}" if ms % 1000 else "")
    return f"{time.date().isoformat()} {text}" if day else text
