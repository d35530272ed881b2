"""Lays out a graph in rows: chains of boxes, and lines from the end of one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from workbook.views.drawing import SIZE, Point, wide
from workbook.views.shapes import Box

MOST = 1080
"""The width of a page's cell."""

BOX, GAP, BETWEEN, SIDE, LANE = 54, 30, 34, 6, 8
SMALL = 10
LONGEST = 30
"""More characters of a name or a detail don't stand in a box; a title and the table have all."""

Edge = tuple[int, int]
Texts = tuple[str, str, str]
Chain = Sequence[int]


@dataclass(frozen=True)
class Layout:
    """Where boxes and lines are, by the parts' numbers; ``chains`` are the parts in a row."""

    width: float
    height: float
    boxes: Mapping[int, Box]
    lines: Sequence[Sequence[Point]]
    chains: Sequence[Chain]


def laid_out(
    parts: Mapping[int, Texts],
    edges: Sequence[Edge],
    ends: Set[int],
    labels: Mapping[int, str],
    below: float,
) -> Layout:
    """Lay out parts with their texts and edges; after those in ``ends`` another row begins.

    ``labels`` stand under some of the boxes and need so much room ``below``.
    """
    chains = _chains(list(parts), edges, ends)
    widths = {n: _width(texts, labels.get(n, "")) for n, texts in parts.items()}
    rows = [row for chain in chains for row in _wrapped(chain, widths)]
    row_of = {n: at for at, row in enumerate(rows) for n in row}
    neighbours = {pair for row in rows for pair in pairwise(row)}
    far = [e for e in edges if e not in neighbours and row_of[e[1]] - row_of[e[0]] != 1]
    left = SIDE + LANE * (len(far) + 1 if far else 0)
    boxes, tops = _boxes(rows, widths, labels, left, below)
    lines: list[list[Point]] = []
    for edge in edges:
        if edge in neighbours:
            lines.append(_straight(boxes, edge))
        else:
            lane = SIDE + LANE * far.index(edge) if edge in far else None
            lines.append(_return(boxes, tops, row_of, edge, edges, lane))
    right = max((point[0] for line in lines for point in line), default=0.0)
    width = max([right, *(x + wide_ for x, _, wide_, _ in boxes.values()), 60]) + SIDE
    return Layout(width, tops[-1], boxes, lines, chains)


def clipped(words: str) -> str:
    """Return words as they fit into a box."""
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def _chains(parts: Sequence[int], edges: Sequence[Edge], ends: Set[int]) -> list[list[int]]:
    """Cut the graph into chains, in the order of their first parts."""
    chains: dict[int, list[int]] = {}
    for part in parts:
        before = [source for source, target in edges if target == part]
        chain = chains.get(before[0]) if len(before) == 1 and before[0] not in ends else None
        chain = [] if chain is None or chain[-1] != before[0] else chain
        chain.append(part)
        chains[part] = chain
    return list({id(chain): chain for chain in chains.values()}.values())


def _wrapped(chain: Chain, widths: Mapping[int, float]) -> list[list[int]]:
    """Cut a chain where it's too long for a page."""
    rows: list[list[int]] = [[]]
    room = 0.0
    for part in chain:
        if rows[-1] and room + widths[part] > MOST - 60:
            rows.append([])
            room = 0.0
        rows[-1].append(part)
        room += widths[part] + GAP
    return rows


def _width(texts: Texts, label: str) -> float:
    kind, name, detail = (clipped(text) for text in texts)
    words = [wide(kind, SMALL), wide(name, SIZE) * 1.06, wide(detail, SMALL), wide(label, SMALL)]
    return max(words) + 22


def _boxes(
    rows: Sequence[Chain],
    widths: Mapping[int, float],
    labels: Mapping[int, str],
    left: float,
    below: float,
) -> tuple[dict[int, Box], list[float]]:
    """Return the boxes, and the top of each row and of what would follow."""
    boxes, tops, top = {}, [], float(SIDE)
    for row in rows:
        x = left
        tops.append(top)
        for part in row:
            boxes[part] = (x, top, widths[part], float(BOX))
            x += widths[part] + GAP
        top += BOX + (below if any(part in labels for part in row) else 0) + BETWEEN
    return boxes, [*tops, top - BETWEEN + SIDE]


def _straight(boxes: Mapping[int, Box], edge: Edge) -> list[Point]:
    (x, y, width, height), target = (boxes[part] for part in edge)
    return [(x + width, y + height / 2), (target[0], y + height / 2)]


def _return(
    boxes: Mapping[int, Box],
    tops: Sequence[float],
    row_of: Mapping[int, int],
    edge: Edge,
    edges: Sequence[Edge],
    lane: float | None,
) -> list[Point]:
    """Lead a line from the end of a row to the top of a box further down.

    With a ``lane`` it goes along the left margin, past the rows between.
    """
    source, target = boxes[edge[0]], boxes[edge[1]]
    into = [each for each in edges if each[1] == edge[1]].index(edge)
    x = target[0] + 20 + 24 * into
    start = source[0] + source[2]
    turn, middle = start + GAP / 2, source[1] + source[3] / 2
    under = tops[row_of[edge[0]] + 1] - BETWEEN * 0.7
    over = tops[row_of[edge[1]]] - BETWEEN * 0.4 - LANE * (into % 2)
    way = [(start, middle), (turn, middle)]
    if lane is None:
        return [*way, (turn, over), (x, over), (x, target[1])]
    return [*way, (turn, under), (lane, under), (lane, over), (x, over), (x, target[1])]
