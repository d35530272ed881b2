"""Pipelines as rows of boxes: those that a chapter declares, and those of Spark queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbook.views.boxes import Box, flow, onward, said
from workbook.views.picture import Picture, number

if TYPE_CHECKING:
    from workbook.spark.topology import Part

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
