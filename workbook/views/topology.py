"""The topology of a streaming query: sources, operators with their state, shuffles, sink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from workbook.views.boxes import Arrow, Box, Line, Rows
from workbook.views.picture import Picture, number

CAPTION = (
    "Look for what the query costs: a shuffle sends rows on to other tasks, so a row of boxes ends "
    "there; dashed is what the operator above it remembers"
)


class Node(Protocol):
    """A part of the query; ``kind`` is source, operator, shuffle or sink."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def before(self) -> Sequence[int]: ...
    @property
    def keys(self) -> Sequence[str]: ...
    @property
    def partitions(self) -> int | None: ...
    @property
    def state(self) -> int | None: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def size(self) -> int | None: ...


def topology_picture(nodes: Sequence[Node], caption: str = CAPTION) -> Picture:
    """Draw a query; a row ends where a shuffle sends rows to other tasks, or several rows join."""
    chains: list[list[int]] = []
    for n, node in enumerate(nodes):
        last = node.before[0] if len(node.before) == 1 else None
        goes_on = last is not None and nodes[last].kind != "shuffle" and chains[-1][-1] == last
        chains[-1].append(n) if goes_on else chains.append([n])
    lines = [_line(nodes, chain) for chain in chains]
    said = [_chain(nodes, chain) for chain in chains]
    kept = [_state(node) for node in nodes if node.state is not None]
    shuffles = number(sum(node.kind == "shuffle" for node in nodes), "shuffle")
    words = f"{'; '.join(said)}. {shuffles}; {number(len(kept), 'state store')}"
    words = f"{words}{': ' if kept else ''}{'; '.join(kept)}." if nodes else "It has no parts."
    return Picture(Rows(lines), caption, words, [_row(nodes, n) for n in range(len(nodes))])


def _line(nodes: Sequence[Node], chain: Sequence[int]) -> Line:
    from_ = [nodes[n].name for n in nodes[chain[0]].before]
    parts: list[Box | Arrow] = [Arrow("from", " and ".join(from_))] if from_ else []
    for n in chain:
        node = nodes[n]
        kind = node.kind
        if node.partitions is not None:
            kind += f", {number(node.partitions, 'partition')}"
        state = _state(node) if node.state is not None else ""
        parts += [Box(node.name, kind, node.detail, state, node.kind), Arrow()]
    return "", parts[:-1]


def _chain(nodes: Sequence[Node], chain: Sequence[int]) -> str:
    onward = [n.name for n in nodes if chain[-1] in n.before]
    return " → ".join([*(nodes[n].name for n in chain), *onward])


def _state(node: Node) -> str:
    facts = []
    if node.rows is not None:
        entries = f"{node.rows:,} entries of its buckets"
        facts.append(entries if "bucket" in node.keys else number(node.rows, "row"))
    if node.size is not None:
        facts.append(f"{node.size / 1000:,.1f} kB")
    return f"state {node.state}{': ' if facts else ''}{', '.join(facts)}"


def _row(nodes: Sequence[Node], n: int) -> dict[str, Any]:
    node = nodes[n]
    return {
        "part": node.name,
        "kind": node.kind,
        "detail": node.detail or "–",
        "partitions": "–" if node.partitions is None else node.partitions,
        "state": "–" if node.state is None else _state(node),
        "goes on to": ", ".join(to.name for to in nodes if n in to.before) or "–",
    }
