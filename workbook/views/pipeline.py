"""Rows of boxes with arrows between them: the pipelines of chapters and of Spark queries."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from workbook.views.colours import BLUE, FAINT, GREEN, INK, ORANGE, RED
from workbook.views.picture import ARROW, Picture, number

if TYPE_CHECKING:
    from workbook.spark.topology import Part

LOOKS = {
    "": f"border:1.5px solid {INK}; border-radius:3px",
    "source": f"border:2px solid {BLUE}; border-bottom-width:6px; border-bottom-style:double",
    "topic": f"border:2px solid {BLUE}; border-bottom-width:6px; border-bottom-style:double",
    "producer": f"border:1.5px solid {INK}; border-radius:22px",
    "loop": f"border:1.5px solid {GREEN}; border-left-width:6px; border-left-style:double; "
    "border-right-width:6px; border-right-style:double",
    "operator": f"border:1.5px solid {ORANGE}; border-radius:12px 3px",
    "query": f"border:1.5px solid {ORANGE}; border-radius:12px 3px",
    "shuffle": f"border:1.5px dotted {RED}; border-radius:8px",
    "sink": f"border:1.5px solid {INK}; border-radius:3px 16px 3px 3px",
    "none": f"border:1.5px dashed {FAINT}",
    "again": "border:0; padding:0",
    "gone": f"border:1.5px dashed {RED}",
    "now": f"border:2.5px solid {INK}; border-radius:12px",
}
"""How a box looks; each look differs in its lines, not in its colour alone."""


@dataclass(frozen=True, eq=False)
class Box:
    """A box: its ``kind`` in small letters, its name, more about it, and what it remembers."""

    name: str
    kind: str = ""
    detail: str = ""
    state: str = ""
    look: str = ""


@dataclass(frozen=True)
class Arrow:
    """An arrow to the next box, with words above and below it."""

    above: str = ""
    below: str = ""
    dashed: bool = False


Line = tuple[str, Sequence[Box | Arrow]]
"""The name of a row, and its boxes and arrows from left to right."""


@dataclass(frozen=True)
class Rows:
    """Rows of boxes, as HTML: a row that's too long for the page goes on below."""

    lines: Sequence[Line]

    def svg(self, words: str) -> str:
        """Return it as HTML."""
        rows = "".join(
            "<div style='display:flex; flex-wrap:wrap; align-items:center; gap:4px; "
            f"margin:0 0 10px'>{_named(name)}{''.join(map(_drawn, parts))}</div>"
            for name, parts in self.lines
        )
        style = f"color:{INK}; font-size:12px; line-height:1.35"
        return f"<div role='img' aria-label='{html.escape(words)}' style='{style}'>{rows}</div>"


def flow(paths: Sequence[Sequence[Box]]) -> Rows:
    """Draw a row per path; a box of an earlier path is only named again: "↑ clicks"."""
    drawn: set[Box] = set()
    lines: list[Line] = []
    for path in paths:
        shown = [Box(f"↑ {box.name}", look="again") if box in drawn else box for box in path]
        lines.append(("", [part for box in shown for part in (Arrow(), box)][1:]))
        drawn.update(path)
    return Rows(lines)


def said(paths: Sequence[Sequence[Box]]) -> str:
    """Write paths in words: "shop → clicks → count; clicks → query"."""
    return "; ".join(f" {ARROW} ".join(box.name for box in path) for path in paths)


def onward(paths: Sequence[Sequence[Box]], box: Box) -> str:
    """Return the names of the boxes to which a box leads; "–" where there is none."""
    after = [to for path in paths for source, to in pairwise(path) if source is box]
    return ", ".join(to.name for to in dict.fromkeys(after)) or "–"


def _named(name: str) -> str:
    return f"<b style='min-width:80px'>{html.escape(name)}</b>" if name else ""


def _drawn(part: Box | Arrow) -> str:
    if isinstance(part, Arrow):
        words = [
            f"<small><b>{html.escape(part.above)}</b></small>" if part.above else "",
            "⇢" if part.dashed else "⟶",
            f"<small>{html.escape(part.below)}</small>" if part.below else "",
        ]
        drawn = "<br>".join(filter(None, words))
        return f"<span style='text-align:center; min-width:28px'>{drawn}</span>"
    lines = {
        f"<small>{html.escape(part.kind)}</small>": part.kind,
        f"<b>{html.escape(part.name)}</b>": part.name,
        f"<small>{html.escape(part.detail)}</small>": part.detail,
        f"<small style='display:inline-block; margin-top:3px; padding:0 8px; border:1px dashed "
        f"{INK}; border-radius:8px'>{html.escape(part.state)}</small>": part.state,
    }
    inside = "<br>".join(line for line, there in lines.items() if there)
    return (
        "<span style='display:inline-block; text-align:center; padding:4px 10px; "
        f"max-width:230px; overflow-wrap:anywhere; {LOOKS[part.look]}'>{inside}</span>"
    )


# --- pipelines of chapters and of queries -------------------------------------------------------

CAPTION = (
    "This chapter's pipeline, left to right. Dashed: what a part remembers. ↑: a part drawn above"
)
QUERY = (
    "Look for what the query costs: each shuffle sends rows on to other tasks, and dashed is what "
    "an operator remembers. Steps without state aren't drawn. ↑: a part drawn above"
)
STATE = "state: "


def producer(name: str) -> Box:
    """Return whatever writes to a topic."""
    return Box(name, "producer", look="producer")


def topic(name: str, partitions: int = 1, *, compacted: bool = False) -> Box:
    """Return a topic, and into how many partitions it's cut."""
    word = "compacted topic" if compacted else "topic"
    return Box(name, f"{word}, {number(partitions, 'partition')}", look="topic")


def loop(name: str, state: str = "") -> Box:
    """Return a loop in Python, and what it keeps in memory."""
    return Box(name, "loop", state=STATE + state if state else "", look="loop")


def query(name: str, state: str = "") -> Box:
    """Return a streaming query, and the state that Spark keeps for it."""
    return Box(name, "Spark query", state=STATE + state if state else "", look="query")


def sink(name: str, what: str = "dictionary") -> Box:
    """Return where results end: ``what`` is its kind, such as a dictionary or a table."""
    return Box(name, what, look="sink")


def pipeline(*paths: Sequence[Box], caption: str = CAPTION) -> Picture:
    """Draw a row per path; a path may begin or end with a box of an earlier one, the same object.

    Such a box is drawn once: the later path only names it.
    """
    words = f"{said(paths)}." if any(paths) else ""
    rows = [
        {
            "part": box.name,
            "kind": ", ".join(filter(None, (box.kind, box.detail))),
            "state": box.state.removeprefix(STATE) or "–",
            "goes on to": onward(paths, box),
        }
        for box in dict.fromkeys(box for path in paths for box in path)
    ]
    return Picture(flow(paths), caption, words, rows)


def topology(paths: Sequence[Sequence[Part]]) -> Picture:
    """Draw the parts of a query: a row per source, to the sink or to a box of an earlier row."""
    boxes = {
        part: Box(part.name, part.kind, part.detail, part.state and STATE + part.state, part.kind)
        for part in dict.fromkeys(part for path in paths for part in path)
    }
    return pipeline(*([boxes[part] for part in path] for path in paths), caption=QUERY)
