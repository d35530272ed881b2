"""Pipelines as rows of boxes: those that a chapter declares, and those of Spark queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbook.views.boxes import Box, flow, onward, said
from workbook.views.picture import Picture, number

if TYPE_CHECKING:
    from workbook.spark.topology import Node

CAPTION = "This chapter's pipeline, left to right. ↑: a part drawn above"
KEPT = (
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


def pipeline(*paths: Sequence[Box]) -> Picture:
    """Draw a row per path; a path may begin or end with a box of an earlier one, the same object.

    Such a box is drawn once: the later path only names it.
    """
    words = f"{said(paths)}." if any(paths) else "This pipeline has no parts yet."
    rows = [
        {
            "part": box.name,
            "kind": box.kind,
            "state": box.state.removeprefix(STATE) or "–",
            "goes on to": onward(paths, box),
        }
        for box in dict.fromkeys(box for path in paths for box in path)
    ]
    caption = KEPT if any(box.state for path in paths for box in path) else CAPTION
    return Picture(flow(paths), caption, words, rows)


# --- the topology of a query -----------------------------------------------------------------


def topology_picture(nodes: Sequence[Node]) -> Picture:
    """Draw a query: a row per source, from it to the sink or to a box of an earlier row."""
    boxes = [_box(node) for node in nodes]
    after = {source: n for n, node in enumerate(nodes) for source in node.before}
    paths: list[list[Box]] = []
    passed: set[int] = set()
    for n in (n for n, node in enumerate(nodes) if not node.before):
        way = [n]
        while way[-1] in after and way[-1] not in passed:
            way.append(after[way[-1]])
        passed.update(way)
        paths.append([boxes[n] for n in way])
    kept = [box.state for box in boxes if box.state]
    shuffles = number(sum(node.kind == "shuffle" for node in nodes), "shuffle")
    counted = f"{shuffles}; {number(len(kept), 'state store')}{': ' if kept else ''}"
    words = f"{said(paths)}. {counted}{'; '.join(kept)}." if nodes else "It has no parts."
    rows = [_row(node, box, onward(paths, box)) for node, box in zip(nodes, boxes, strict=True)]
    return Picture(flow(paths), QUERY, words, rows)


def _box(node: Node) -> Box:
    parts = "" if node.partitions is None else f", {number(node.partitions, 'partition')}"
    state = "" if node.state is None else _state(node)
    return Box(node.name, node.kind + parts, node.detail, state, node.kind)


def _state(node: Node) -> str:
    facts = []
    if node.rows is not None:
        entries = f"{node.rows:,} entries of its buckets"
        facts.append(entries if "bucket" in node.keys else number(node.rows, "row"))
    if node.size is not None:
        facts.append(f"{node.size / 1000:,.1f} kB")
    return f"state {node.state}{': ' if facts else ''}{', '.join(facts)}"


def _row(node: Node, box: Box, after: str) -> dict[str, Any]:
    return {
        "part": node.name,
        "kind": node.kind,
        "detail": node.detail or "–",
        "partitions": "–" if node.partitions is None else node.partitions,
        "state": box.state or "–",
        "goes on to": after,
    }
