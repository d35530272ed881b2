"""Reads the parts of a streaming query from what ``query.explain()`` prints, and its progress."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pyspark.sql.streaming import StreamingQuery

from workbook.errors import NoTopology

STATEFUL = {
    "StateStoreSave": "aggregate", "SessionWindowStateStoreSave": "aggregate",
    "StreamingDeduplicate": "dropDuplicates", "StreamingSymmetricHashJoin": "join",
    "StreamingDeduplicateWithinWatermark": "dropDuplicatesWithinWatermark",
    "TransformWithStateInPySpark": "transformWithState", "StreamingGlobalLimit": "limit",
}  # fmt: skip
SINKS = {"ForeachBatch": "foreachBatch", "Memory": "memory", "Kafka": "kafka", "Noop": "noop"}
"""What a node of the plan, and a sink, are called in the field's words."""

_NODE = re.compile(r"(?P<indent>[ :+-]*)(?:\*\(\d+\) )?(?P<name>[A-Z]\w+) ?(?P<rest>.*)")


@dataclass(eq=False)
class Part:
    """A part of a query: ``kind`` is source, operator, shuffle or sink; ``state`` what it keeps."""

    kind: str
    name: str
    detail: str = ""
    state: str = ""


def topology(query: StreamingQuery) -> list[list[Part]]:
    """Return a path of parts from each source of a query, to its sink or a part of another path.

    The plan is that of the last micro-batch; there is none before the first one. Steps without
    state are left out. Raises ``NoTopology`` for anything but a streaming query.
    """
    if not isinstance(query, StreamingQuery):
        raise NoTopology(
            f"Expected a streaming query, but got {type(query).__name__}. Pass what "
            "writeStream...start() returned (of a ``Running`` its ``query``)."
        )
    printed = query._jsq.explainInternal(False)  # what ``explain`` prints; others print meanwhile
    plan = str(printed).partition("== Physical Plan ==")[2]
    progress = query.lastProgress
    report = json.loads(progress.json) if progress is not None else {}
    states = iter(report.get("stateOperators", []))
    written = str(report.get("sink", {}).get("description", "sink"))
    sink = next((word for name, word in SINKS.items() if name in written), written)
    nodes = [node for line in plan.splitlines() if (node := _NODE.fullmatch(line))]
    depths = [len(node["indent"]) for node in nodes]
    ends = [after <= depth for depth, after in pairwise([*depths, 0])]  # a reused part is no source
    leaves = [e and n["name"] != "ReusedExchange" for e, n in zip(ends, nodes, strict=True)]
    reports = report.get("sources", [])
    sources = iter(reports if len(reports) == sum(leaves) else [])  # else some are static tables
    way, paths = list[tuple[int, Part | None]](), list[list[Part]]()
    drawn, end = set[Part](), Part("sink", sink)
    for node, depth, leaf in zip(nodes, depths, leaves, strict=True):
        way = [each for each in way if each[0] < depth]
        part = _source(node["name"], next(sources, {})) if leaf else _part(node, states)
        way.append((depth, part))
        if leaf:
            parts = [part for _, part in reversed(way) if part is not None]
            shared = next((n for n, part in enumerate(parts) if part in drawn), len(parts))
            paths.append([*parts, end][: shared + 1])
            drawn.update(parts)
    return paths


def _part(node: re.Match[str], states: Iterator[dict[str, Any]]) -> Part | None:
    """Describe a node of the plan; None for a step that keeps no state."""
    name, rest = node["name"], re.sub(r"#\d+L?(-T\d+ms)?", "", node["rest"]).replace("__", "")
    if name in STATEFUL:
        keys, its = re.search(r"\[([^]]*)\]", rest), next(states, None)
        facts = "{numRowsTotal:,} rows, {memoryUsedBytes:,} bytes".format(**its) if its else "yes"
        return Part("operator", STATEFUL[name], f"by {keys[1]}" if keys else "", facts)
    if name == "Exchange":
        hashed = re.match(r"hashpartitioning\((.*), (\d+)\)", rest)
        by = "by {}, into {} partitions".format(*hashed.groups()) if hashed else rest[:40]
        return Part("shuffle", "shuffle", by)
    if name == "EventTimeWatermark":
        column, delay = re.findall(r"(\w+): \w+, (.*)", rest)[0]
        return Part("operator", "watermark", f"{column} - {delay}")
    return None


def _source(name: str, report: dict[str, Any]) -> Part:
    """Describe a leaf of the plan by a source's report; one without a report by its own name."""
    ends = report.get("endOffset")
    if isinstance(ends, dict) and all(isinstance(each, dict) for each in ends.values()):
        count = sum(map(len, ends.values()))
        return Part("source", ", ".join(ends), f"kafka, {count} partitions")
    return Part("source", str(report.get("description", name)).partition("[")[0])
