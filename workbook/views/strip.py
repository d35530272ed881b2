"""A strip of records, as a partition holds them: boxes with their offsets above, marks below."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from workbook.views.drawing import BLUE, FAINT, GREEN, INK, ORANGE, RED

_HATCHED = f"repeating-linear-gradient(135deg, {ORANGE}55 0 2px, transparent 2px 7px)"
LOOKS = {
    "": f"border:1.5px solid {INK}",
    "hatched": f"border:1.5px solid {ORANGE}; background:{_HATCHED}",
    "crossed": f"border:1.5px dashed {RED}",
    "double": f"border:4px double {BLUE}",
    "unread": f"border:1.5px dashed {INK}",
    "gone": f"border:1.5px dashed {FAINT}",
}
"""How a box looks; each look differs in its lines, not in its colour alone."""

CUT, END, START = "cut", "end", "start"


@dataclass(frozen=True)
class Record:
    """A box: what is in it, its offset above it, marks below it, and its look.

    With the look ``cut``, ``end`` or ``start`` it's no record but a line between two of them: where
    a program was killed, where the partition ends, where a part of it begins.
    """

    label: str
    above: str = ""
    below: str = ""
    look: str = ""


@dataclass(frozen=True)
class Strips:
    """Named strips below each other, and ``notes`` that explain their looks and marks."""

    lines: Sequence[tuple[str, Sequence[Record]]]
    notes: Sequence[str] = ()

    def svg(self, words: str) -> str:
        """Return it as HTML."""
        lines = "".join(
            "<div style='display:flex; flex-wrap:wrap; align-items:flex-start; margin-bottom:8px'>"
            f"{_named(name)}{''.join(map(_drawn, records))}</div>"
            for name, records in self.lines
        )
        notes = "".join(f"<div>{html.escape(note)}</div>" for note in self.notes)
        style = f"color:{INK}; font-size:12px; line-height:1.4"
        label = html.escape(words)
        return f"<div role='img' aria-label='{label}' style='{style}'>{lines}{notes}</div>"


def key(look: str, words: str) -> str:
    """Return a note that explains a look by the name of its lines."""
    names = {"": "a full line", "hatched": "hatched", "crossed": "dashed, with ✗",
             "double": "a double line", "unread": "dashed", "gone": "empty and dashed"}  # fmt: skip
    return f"{names[look]}: {words}"


def _named(name: str) -> str:
    if not name:
        return ""
    return f"<b style='min-width:64px; padding-top:20px'>{html.escape(name)}</b>"


def _drawn(record: Record) -> str:
    label, above, below = (
        html.escape(t) or "&nbsp;" for t in (record.label, record.above, record.below)
    )
    if record.look in (CUT, END, START):
        colour = {CUT: RED, END: INK, START: GREEN}[record.look]
        edge = f"border-left:3px {'dashed' if record.look == CUT else 'solid'} {colour}"
        style = f"{edge}; padding-left:3px; margin:0 2px; min-height:60px; font-size:10px"
        return f"<div style='{style}'>{above}<br><b>{label}</b><br>{below}</div>"
    cross = f"<span style='color:{RED}'>✗</span>" if record.look == "crossed" else ""
    box = (
        "padding:4px 2px; margin:0 2px; min-width:26px; max-width:64px; overflow:hidden; "
        f"white-space:nowrap; text-overflow:ellipsis; {LOOKS[record.look]}"
    )
    return (
        "<div style='text-align:center; font-size:11px'>"
        f"<div>{above}</div><div style='{box}' title='{label}'>{label}{cross}</div>"
        f"<div style='min-height:18px'><b>{below}</b></div></div>"
    )
