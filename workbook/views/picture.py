"""A picture of somebody's own run: a drawing, what to look for, and the same in words."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workbook.views.tables import table

SAME = "The same as a table"


class Drawn(Protocol):
    """A drawing: a ``Drawing`` of boxes, or a ``Plane`` with axes."""

    def svg(self, words: str) -> str:
        """Return it as HTML; ``words`` are for who can't see it."""


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing, its ``caption`` (what to look for), and ``words`` (what it shows just now).

    ``rows`` are the same as a table, folded below it; none where the words say all.
    """

    drawing: Drawn
    caption: str
    words: str
    rows: Sequence[Mapping[str, Any]] = ()

    @property
    def figure(self) -> str:
        """Return drawing, caption and words as HTML."""
        caption = f"<b>{html.escape(self.caption)}</b><br>{html.escape(self.words)}"
        return (
            '<figure style="margin:0.4em 0"><div style="overflow-x:auto">'
            f"{self.drawing.svg(self.words)}</div><figcaption>{caption}</figcaption></figure>"
        )

    @property
    def twin(self) -> str:
        """Return the table as HTML; '' where there is none."""
        return table(self.rows, self.caption) if self.rows else ""

    def _repr_html_(self) -> str:
        folded = f"<details><summary>{SAME}</summary>{self.twin}</details>" if self.rows else ""
        return self.figure + folded

    def __repr__(self) -> str:
        lines = [json.dumps(dict(row), default=str, ensure_ascii=False) for row in self.rows]
        return "\n".join([self.caption, self.words, *lines])


def number(count: int, thing: str) -> str:
    """Return a count with its noun: "1 click", "2,000 clicks"."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
