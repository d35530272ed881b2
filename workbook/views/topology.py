"""The topology of a streaming query: sources, operators, state stores, shuffles, sink."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from workbook.views.drawing import Drawing
from workbook.views.picture import Picture, number
from workbook.views.shapes import Box, crossed, folded, hexagon, tape
from workbook.views.topology_rows import SMALL, Layout, clipped, laid_out

STATE_DROP, STATE_HEIGHT = 10, 22
CAPTION = (
    "Look for what the query costs: a shuffle sends rows on to other tasks, so a line of boxes "
    "ends there; dashed is what the operator above it remembers"
)
EMPTY = "This plan has no parts."


class Node(Protocol):
    """A part of the query; ``kind`` is source, operator, store, shuffle or sink."""

    @property
    def number(self) -> int:
        """Return its place among the nodes."""

    @property
    def kind(self) -> str:
        """Return its kind."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def detail(self) -> str:
        """Return what else is known of it."""

    @property
    def partitions(self) -> int | None:
        """Return into how many parts it's cut."""

    @property
    def rows(self) -> int | None:
        """Return the rows in it."""

    @property
    def size(self) -> int | None:
        """Return its bytes."""


class Graph(Protocol):
    """Nodes by their numbers, and edges between them; to each store one from its operator."""

    @property
    def nodes(self) -> Sequence[Node]:
        """Return the nodes, each behind those from which its rows come."""

    @property
    def edges(self) -> Sequence[tuple[int, int]]:
        """Return where rows go, as pairs of numbers."""


def topology_picture(graph: Graph, caption: str = CAPTION) -> Picture:
    """Draw a graph row by row, at most ``topology_rows.MOST`` wide; a long row goes on in the next.

    A row ends where a shuffle sends rows to other tasks, or several rows join.
    """
    stores = {source: graph.nodes[target] for source, target in _store_edges(graph)}
    flow = [edge for edge in graph.edges if graph.nodes[edge[1]].kind != "store"]
    parts = {
        node.number: (_kind(node), node.name, node.detail)
        for node in graph.nodes
        if node.kind != "store"
    }
    labels = {operator: _state(store) for operator, store in stores.items()}
    ends = {n for n in parts if graph.nodes[n].kind == "shuffle"}
    layout = laid_out(parts, flow, ends, labels, STATE_DROP + STATE_HEIGHT)
    drawing = Drawing(layout.width, layout.height)
    for line in layout.lines:
        drawing.line(line, arrow=True)
    for n, box in layout.boxes.items():
        _draw(drawing, graph.nodes[n], box, labels.get(n, ""))
    return Picture(drawing, caption, _words(graph, layout, stores), _rows(graph))


def _store_edges(graph: Graph) -> list[tuple[int, int]]:
    return [edge for edge in graph.edges if graph.nodes[edge[1]].kind == "store"]


def _draw(drawing: Drawing, node: Node, box: Box, state: str) -> None:
    x, y, width, height = box
    _SHAPES[node.kind](drawing, box)
    middle = x + width / 2
    drawing.text(middle, y + 14, _kind(node), anchor="middle", size=SMALL)
    drawing.text(middle, y + 29, clipped(node.name), anchor="middle", bold=True)
    drawing.text(middle, y + 43, clipped(node.detail), anchor="middle", size=SMALL)
    drawing.box(
        *box, edge="none", title=f"{node.name}: {node.detail}" if node.detail else node.name
    )
    if state:
        top = y + height + STATE_DROP
        drawing.line([(middle, y + height), (middle, top)])
        drawing.box(x, top, width, STATE_HEIGHT, state, dashed=True, corner=8, size=SMALL)


_SHAPES: Mapping[str, Callable[[Drawing, Box], None]] = {
    "source": tape, "operator": hexagon, "shuffle": crossed, "sink": folded,
}  # fmt: skip


def _kind(node: Node) -> str:
    if node.partitions is None:
        return node.kind
    return f"{node.kind}, {number(node.partitions, 'partition')}"


def _state(store: Node) -> str:
    facts = [store.detail]
    if store.rows is not None:
        facts.append(number(store.rows, "row"))
    if store.size is not None:
        facts.append(f"{store.size / 1000:,.1f} kB")
    return f"{store.name}: {', '.join(facts)}"


def _words(graph: Graph, layout: Layout, stores: Mapping[int, Node]) -> str:
    """Return each chain of parts, and how much moves and stays."""
    if not graph.nodes:
        return EMPTY
    chains = [" → ".join(_named(graph, n, stores) for n in chain) for chain in layout.chains]
    for at, chain in enumerate(layout.chains):
        onward = [n for n in _after(graph, chain[-1]) if graph.nodes[n].kind != "store"]
        chains[at] += "".join(f" → {graph.nodes[n].name}" for n in onward)
    shuffles = sum(node.kind == "shuffle" for node in graph.nodes)
    kept = [_state(store) for store in stores.values()]
    said = f"{'; '.join(chains)}. {number(shuffles, 'shuffle')}; {number(len(kept), 'state store')}"
    return f"{said}{': ' if kept else ''}{'; '.join(kept)}."


def _named(graph: Graph, number: int, stores: Mapping[int, Node]) -> str:
    state = f" ({stores[number].name})" if number in stores else ""
    return graph.nodes[number].name + state


def _after(graph: Graph, number: int) -> list[int]:
    return [target for source, target in graph.edges if source == number]


def _rows(graph: Graph) -> list[dict[str, str]]:
    return [
        {
            "part": node.name,
            "kind": node.kind,
            "detail": node.detail or "–",
            "partitions": _or_dash(node.partitions),
            "rows": _or_dash(node.rows),
            "bytes": _or_dash(node.size),
            "goes on to": ", ".join(graph.nodes[n].name for n in _after(graph, node.number)) or "–",
        }
        for node in graph.nodes
    ]


def _or_dash(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"
