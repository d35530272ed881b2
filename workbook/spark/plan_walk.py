"""Walks a physical plan and collects the boxes of its topology, neighbours merged."""

from __future__ import annotations

from dataclasses import replace

from workbook.spark.graph import SHUFFLE, STORE, Node
from workbook.spark.plan_words import Box, Plan, box, each

Edge = tuple[int, int]


class Walk:
    """Collects the boxes of a plan, from its sources on, and which one leads to which."""

    def __init__(self) -> None:
        self.boxes: list[Box] = []
        self.edges: list[Edge] = []

    def visit(self, plan: Plan) -> int | None:
        """Collect a plan; return the number of the box that its rows leave last."""
        plan = unwrapped(plan)
        ends = [end for child in each(plan.children()) if (end := self.visit(child)) is not None]
        found = box(plan)
        if found is None:
            return ends[0] if ends else None
        if len(ends) == 1 and found.group and self.boxes[ends[0]].group == found.group:
            self.boxes[ends[0]] = found.over(self.boxes[ends[0]])
            return ends[0]
        return self.add(found, ends)

    def add(self, found: Box, ends: list[int]) -> int:
        """Add a box behind those with these numbers; return its own."""
        number = len(self.boxes)
        self.boxes.append(found)
        self.edges += [(end, number) for end in ends]
        return number

    def graph(self, provider: str) -> tuple[list[Node], list[Edge]]:
        """Return the nodes by number and the edges; stores of the ``provider`` come last."""
        nodes = [replace(found.node, number=n) for n, found in enumerate(self.boxes)]
        edges = list(self.edges)
        for number, found in enumerate(self.boxes):
            if found.store is not None:
                edges.append((number, len(nodes)))
                parts = self._partitions_before(number)
                nodes.append(
                    Node(
                        number=len(nodes),
                        kind=STORE,
                        name=f"state {found.store}",
                        detail=provider,
                        keys=found.node.keys,
                        partitions=parts,
                        state=found.store,
                    )
                )
        return nodes, edges

    def _partitions_before(self, number: int) -> int | None:
        """Return the partitions of the shuffle that leads to a box: its store has as many."""
        while True:
            before = [source for source, target in self.edges if target == number]
            if not before:
                return None
            number = before[0]
            if self.boxes[number].node.kind == SHUFFLE:
                return self.boxes[number].node.partitions


def unwrapped(plan: Plan) -> Plan:
    """Return the plan inside an adaptive one, a stage that has run, or an exchange used twice."""
    name = str(plan.nodeName())
    if name == "AdaptiveSparkPlan":
        return unwrapped(plan.executedPlan())
    if name.endswith("QueryStage"):
        return unwrapped(plan.plan())
    return unwrapped(plan.child()) if name == "ReusedExchange" else plan
