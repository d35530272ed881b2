"""The picture of a topology: lines of boxes that end at shuffles, and the state below them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest

from workbook.views.picture import Picture
from workbook.views.topology import EMPTY, topology_picture
from workbook.views.topology_rows import MOST


@dataclass(frozen=True)
class Node:
    number: int
    kind: str
    name: str
    detail: str = ""
    partitions: int | None = None
    rows: int | None = None
    size: int | None = None


@dataclass(frozen=True)
class Graph:
    nodes: Sequence[Node]
    edges: Sequence[tuple[int, int]]


COUNT = Graph(
    [
        Node(0, "source", "clicks", "kafka", 3), Node(1, "operator", "project", "page"),
        Node(2, "shuffle", "shuffle", "by page", 2), Node(3, "operator", "aggregate", "by page"),
        Node(4, "sink", "console"), Node(5, "store", "state 0", "RocksDB", 2, 1200, 45_600),
    ],
    [(0, 1), (1, 2), (2, 3), (3, 4), (3, 5)],
)  # fmt: skip
JOIN = Graph(
    [
        Node(0, "source", "a"), Node(1, "shuffle", "left"), Node(2, "source", "b"),
        Node(3, "shuffle", "right"), Node(4, "operator", "join"), Node(5, "sink", "noop"),
    ],
    [(0, 1), (2, 3), (1, 4), (3, 4), (4, 5)],
)  # fmt: skip


def places(picture: Picture) -> dict[str, tuple[float, float]]:
    """Where each text of a picture stands."""
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)<', picture.figure)
    return {words: (float(x), float(y)) for x, y, words in found}


def arrows(picture: Picture) -> list[list[tuple[float, float]]]:
    """The points of each line that ends in an arrow's head."""
    found = []
    for line in re.findall(r'<polyline points="([^"]+)"[^>]*/><polygon', picture.figure):
        numbers = [float(n) for n in re.split("[ ,]", line)]
        found.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    return found


def boxes(picture: Picture) -> list[tuple[float, float, float, float]]:
    """The boxes that carry a title: left, top, width, height."""
    form = r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"[^>]*><title>'
    return [tuple(map(float, box)) for box in re.findall(form, picture.figure)]  # type: ignore[misc]


def chain(length: int) -> Graph:
    nodes = [Node(n, "operator", f"operator number {n}") for n in range(length)]
    return Graph(nodes, [(n, n + 1) for n in range(length - 1)])


def test_a_line_ends_at_a_shuffle_and_the_next_begins_below() -> None:
    at = places(topology_picture(COUNT))
    assert at["clicks"][1] == at["project"][1] == at["shuffle"][1] < at["aggregate"][1]
    assert at["clicks"][0] < at["project"][0] < at["shuffle"][0] > at["aggregate"][0]
    assert at["aggregate"][1] == at["console"][1]


def test_state_stands_below_its_operator_with_rows_and_bytes() -> None:
    at = places(topology_picture(COUNT))
    x, y = at["state 0: RocksDB, 1,200 rows, 45.6 kB"]
    assert x == at["aggregate"][0]
    assert 20 < y - at["aggregate"][1] < 70


def test_the_words_have_each_line_and_what_moves_and_stays() -> None:
    assert topology_picture(COUNT).words == (
        "clicks → project → shuffle → aggregate; aggregate (state 0) → console. 1 shuffle; "
        "1 state store: state 0: RocksDB, 1,200 rows, 45.6 kB."
    )
    assert topology_picture(JOIN).words.startswith("a → left → join; b → right → join; join → noop")


def test_the_table_has_every_part_and_where_its_rows_go() -> None:
    rows = topology_picture(COUNT).rows
    assert [row["part"] for row in rows] == [node.name for node in COUNT.nodes]
    assert rows[3]["goes on to"] == "console, state 0"
    assert (rows[5]["rows"], rows[5]["bytes"], rows[4]["goes on to"]) == ("1,200", "45,600", "–")


@pytest.mark.parametrize("length", [1, 5, 12, 40])
def test_a_long_chain_wraps_within_the_page(length: int) -> None:
    drawn = topology_picture(chain(length))
    assert drawn.drawing.width <= MOST
    assert len(boxes(drawn)) == length
    assert len(arrows(drawn)) == length - 1


def test_no_line_crosses_a_box() -> None:
    for graph in (COUNT, JOIN, chain(20)):
        drawn = topology_picture(graph)
        for line in arrows(drawn):
            for (x0, y0), (x1, y1) in pairwise(line):
                for left, top, width, height in boxes(drawn):
                    across = min(x0, x1) + 0.1 < left + width and max(x0, x1) > left + 0.1
                    assert not (across and min(y0, y1) < top + height and max(y0, y1) > top)


def test_kinds_differ_without_colour() -> None:
    shapes = set()
    for kind in ("source", "operator", "shuffle", "sink"):
        figure = topology_picture(Graph([Node(0, kind, "x")], [])).drawing.svg("")
        figure = re.sub(r'(stroke|fill)="[^"]*"|<text.*?</text>', "", figure)
        shapes.add(tuple(re.findall(r"<(rect|polyline|path)|rx=\"(\d+)\"", figure)))
    assert len(shapes) == 4


def test_long_names_are_cut_and_stand_whole_in_the_title() -> None:
    figure = topology_picture(Graph([Node(0, "source", "t" * 200, "<b>")], [])).figure
    assert f"<title>{'t' * 200}: &lt;b&gt;</title>" in figure
    assert "t" * 29 + "…<" in figure


def test_nothing_is_said_to_be_nothing() -> None:
    assert topology_picture(Graph([], [])).words == EMPTY
