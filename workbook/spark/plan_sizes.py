"""Measures the parts of a running query: state and logs on disk, and its last shuffles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql.streaming import StreamingQuery

from workbook.spark.checkpoint_files import bytes_below
from workbook.spark.graph import SHUFFLE, SOURCE, STORE, Node
from workbook.spark.plan_walk import unwrapped
from workbook.spark.plan_words import Plan, each


def measured(nodes: list[Node], query: StreamingQuery, folder: Path | None) -> list[Node]:
    """Add rows, bytes and partitions to nodes, as of the query's last micro-batch."""
    progress = query.lastProgress
    facts = json.loads(progress.json) if progress is not None else {}
    last = query._jsq.streamingQuery().lastExecution()
    # Only of a micro-batch that is done; one leaves out what reads a source without news.
    done = last is not None and last.currentBatchId() == facts.get("batchId")
    passed = list(_shuffled(last.executedPlan())) if done else []
    if len(passed) != sum(node.kind == SHUFFLE for node in nodes):
        passed = []
    return [_with_sizes(node, facts, folder, passed) for node in nodes]


def folder_of(query: StreamingQuery) -> Path | None:
    """Return the folder of a query's checkpoint; None where it isn't on this machine."""
    root = urlsplit(str(query._jsq.streamingQuery().resolvedCheckpointRoot()))
    return Path(unquote(root.path)) if root.scheme in ("", "file") else None


def _with_sizes(
    node: Node, facts: Mapping[str, Any], folder: Path | None, passed: list[tuple[int, int]]
) -> Node:
    if node.kind == STORE and node.state is not None:
        operators = facts.get("stateOperators", [])
        rows = operators[node.state]["numRowsTotal"] if node.state < len(operators) else None
        size = bytes_below(folder / "state" / str(node.state)) if folder is not None else None
        return replace(node, rows=rows, size=size)
    if node.kind == SHUFFLE and passed:
        rows, size = passed.pop(0)
        return replace(node, rows=rows, size=size)
    if node.kind == SOURCE:
        return replace(node, partitions=_partitions(node, facts))
    return node


def _shuffled(plan: Plan) -> Iterator[tuple[int, int]]:
    """Yield rows and bytes that went through each shuffle of a plan, from its leaves on."""
    plan = unwrapped(plan)
    for child in each(plan.children()):
        yield from _shuffled(child)
    if str(plan.nodeName()) == "Exchange":
        metrics = plan.metrics()
        rows, size = (
            metrics.apply(f"shuffle{what}Written").value() for what in ("Records", "Bytes")
        )
        yield rows, size


def _partitions(node: Node, facts: Mapping[str, Any]) -> int | None:
    """Return how many partitions a source's topics have, by the offsets that it has reached."""
    names = node.name.split(", ")
    for source in facts.get("sources", []):
        end = source.get("endOffset")
        found = [end[name] for name in names if name in end] if isinstance(end, dict) else []
        if found and all(isinstance(offsets, dict) for offsets in found):
            return sum(len(offsets) for offsets in found)
    return None
