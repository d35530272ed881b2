"""The topology of a streaming query: sources, operators with their state, shuffles, sink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbook.views.boxes import Box, flow, onward, said
from workbook.views.picture import Picture, number

if TYPE_CHECKING:
    from workbook.spark.topology import Node

CAPTION = (
    "Look for what the query costs: each shuffle sends rows on to other tasks, and dashed is what "
    "an operator remembers. Steps without state aren't drawn. ↑: a part drawn above"
)


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
    return Picture(flow(paths), CAPTION, words, rows)


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
