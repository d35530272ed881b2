"""The topology of a streaming query as a graph: what rows pass on their way to the sink."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCE, OPERATOR, STORE, SHUFFLE, SINK = KINDS = "source", "operator", "store", "shuffle", "sink"


@dataclass(frozen=True)
class Node:
    """A box of the graph; ``kind`` is one of ``KINDS``, ``number`` its place in ``nodes``.

    ``keys`` are the columns by which a shuffle or a stateful operator groups rows, ``state`` is a
    store's number in the checkpoint. ``rows`` and ``size`` (bytes) of a store are those that it
    keeps, ``size`` on disk; of a shuffle those that went through it in the last micro-batch. None
    where nothing is known.
    """

    number: int
    kind: str
    name: str
    detail: str = ""
    keys: tuple[str, ...] = ()
    partitions: int | None = None
    state: int | None = None
    rows: int | None = None
    size: int | None = None


@dataclass(frozen=True)
class Topology:
    """Nodes, each behind those from which its rows come, and edges (from, to) by their numbers.

    Stores come last; an edge leads to each from its operator. ``checkpoint`` is the query's folder,
    None where none is started or it lies on another machine; ``retained`` is how many micro-batches
    it reaches back.
    """

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    checkpoint: Path | None = None
    retained: int = 100

    def of_kind(self, kind: str) -> tuple[Node, ...]:
        """Return the nodes of a kind, in the order of the rows."""
        return tuple(node for node in self.nodes if node.kind == kind)

    def before(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes from which rows come to this one directly."""
        return tuple(self.nodes[source] for source, target in self.edges if target == node.number)

    def through(self, node: Node, kind: str) -> tuple[Node, ...]:
        """Return the nearest nodes of a kind before this one, on each way that leads to it."""
        found: list[Node] = []
        for near in self.before(node):
            found += [near] if near.kind == kind else self.through(near, kind)
        return tuple(found)
