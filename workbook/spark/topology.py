"""Reads the topology of a streaming query from the plan that Spark makes for its micro-batches."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from workbook.errors import NoTopology
from workbook.spark.checkpoint_files import bytes_below

SOURCE, OPERATOR, SHUFFLE, SINK = "source", "operator", "shuffle", "sink"
STREAMING = "org.apache.spark.sql.execution.streaming"
NO_OFFSETS = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'

STATEFUL = {
    "StateStoreSave": "aggregate",
    "SessionWindowStateStoreSave": "aggregate",
    "StreamingDeduplicate": "dropDuplicates",
    "StreamingDeduplicateWithinWatermark": "dropDuplicatesWithinWatermark",
    "StreamingSymmetricHashJoin": "join",
    "TransformWithStateInPySpark": "transformWithState",
    "FlatMapGroupsInPandasWithState": "applyInPandasWithState",
    "StreamingGlobalLimit": "limit",
}
SINKS = {
    "ForeachBatchSink": "foreachBatch", "MemorySink": "memory", "ConsoleTable$": "console",
    "NoopTable$": "noop", "KafkaTable": "kafka", "FileStreamSink": "files",
}  # fmt: skip
"""What a node of the plan, and a sink's class, are called in the field's words."""

Plan = Any
"""A node of Spark's physical plan, or one of its expressions, through py4j."""


@dataclass(frozen=True)
class Node:
    """A part of a query: ``kind`` is source, operator, shuffle or sink.

    ``before`` are the numbers of the nodes from which its rows come; ``keys`` the columns by which
    a shuffle or an operator with state groups rows. ``state`` is the number of its store in the
    checkpoint, with its number of ``rows`` and of bytes on disk (``size``); None where unknown.
    """

    kind: str
    name: str
    detail: str = ""
    before: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    partitions: int | None = None
    state: int | None = None
    rows: int | None = None
    size: int | None = None


@dataclass(frozen=True)
class Topology:
    """The parts of a query, each behind those from which its rows come.

    ``checkpoint`` is the query's folder, None where none is started or it's on another machine.
    """

    nodes: tuple[Node, ...]
    checkpoint: Path | None = None

    def of_kind(self, kind: str) -> list[Node]:
        """Return the nodes of a kind, in the order of the rows."""
        return [node for node in self.nodes if node.kind == kind]

    def through(self, node: Node, kind: str) -> list[Node]:
        """Return the nearest nodes of a kind before this one, on each way that leads to it."""
        found: list[Node] = []
        for near in (self.nodes[n] for n in node.before):
            found += [near] if near.kind == kind else self.through(near, kind)
        return found


def topology(query: StreamingQuery | DataFrame) -> Topology:
    """Return sources, watermarks, operators with state, shuffles and sink of a streaming query.

    The plan is made as Spark makes it for each micro-batch, but from the whole query: the plan of a
    single micro-batch lacks the sources that had nothing new in it. A streaming DataFrame, as it is
    before ``writeStream``, has no sink and no sizes. What the function of a ``foreachBatch`` runs
    is no part of the plan. Raises ``NoTopology`` for anything else.
    """
    nodes: list[Node] = []
    if isinstance(query, StreamingQuery):
        running: Any = query._jsq.streamingQuery()
        session, last = running.sparkSessionForStream(), running.lastExecution()
        end = _walk(_planned(session, running.analyzedPlan(), last), nodes)
        kind = str(running.sink().getClass().getSimpleName())
        nodes.append(Node(SINK, _sink(running, SINKS.get(kind, kind)), before=end))
        return _measured(Topology(tuple(nodes), _folder(query)), query)
    if isinstance(query, DataFrame) and query.isStreaming:
        frame: Any = query
        logical = frame._jdf.queryExecution().logical()
        _walk(_planned(frame._jdf.sparkSession(), logical, None), nodes)
        return Topology(tuple(nodes))
    came = "a batch DataFrame" if isinstance(query, DataFrame) else type(query).__name__
    raise NoTopology(
        f"Expected a streaming query or a streaming DataFrame, but got {came}. Pass what "
        "writeStream...start() returned (of a ``Running`` its ``query``), or a DataFrame that was "
        "made from readStream."
    )


def _walk(plan: Plan, nodes: list[Node]) -> tuple[int, ...]:
    """Collect the nodes of a plan; return the numbers of those that its rows leave last."""
    name = str(plan.nodeName()).partition(" ")[0]
    if name in ("AdaptiveSparkPlan", "ReusedExchange") or name.endswith("QueryStage"):
        inner = {"AdaptiveSparkPlan": "executedPlan", "ReusedExchange": "child"}.get(name, "plan")
        return _walk(getattr(plan, inner)(), nodes)
    before = tuple(end for child in _each(plan.children()) for end in _walk(child, nodes))
    found = _node(name, plan)
    if found is None:
        return before
    nodes.append(replace(found, before=before))
    return (len(nodes) - 1,)


def _node(name: str, plan: Plan) -> Node | None:
    """Describe a node of the plan; None for a step that keeps no state."""
    if name in STATEFUL:
        keys = _keys(plan)
        state = int(plan.stateInfo().get().operatorId())
        return Node(OPERATOR, STATEFUL[name], _by(keys), keys=keys, state=state)
    if name == "Exchange":
        into = plan.outputPartitioning()
        keys = _names(into.expressions()) if _class(into) == "HashPartitioning" else ()
        return Node(SHUFFLE, "shuffle", _by(keys), keys=keys, partitions=into.numPartitions())
    if name == "EventTimeWatermark":
        return Node(OPERATOR, "watermark", f"{plan.eventTime().name()} - {plan.delay().toString()}")
    if name == "StreamingRelation":
        return _source(plan)
    is_source = plan.children().isEmpty() and name != "PlanLater"
    return Node(SOURCE, name, "static") if is_source else None


def _keys(plan: Plan) -> tuple[str, ...]:
    for ask in ("groupingAttributes", "keyExpressions", "leftKeys"):
        if hasattr(plan, ask):
            try:
                return _names(getattr(plan, ask)())
            except Exception:  # py4j knows by calling only which methods a node has
                continue
    return ()


def _source(plan: Plan) -> Node:
    relation = plan.logicalLink().get()
    if _class(relation) != "StreamingRelationV2":  # an older source, such as files
        source = relation.dataSource()
        path = source.options().get("path")
        place = str(path.get()).rstrip("/").rpartition("/")[2] if path.isDefined() else ""
        return Node(SOURCE, place or source.className(), source.className())
    name, options = relation.sourceName(), relation.extraOptions()
    topics = options.get("subscribe") or options.get("subscribePattern") or options.get("topic")
    if assigned := options.get("assign"):
        topics = ",".join(json.loads(assigned))
    if topics:
        return Node(SOURCE, ", ".join(part.strip() for part in topics.split(",")), name)
    return Node(SOURCE, name)


def _planned(session: Any, logical: Any, last: Any) -> Plan:
    """Plan a query as ``DataFrame.explain`` does, with the settings of its last micro-batch."""
    java: Any = SparkContext._jvm
    streaming = getattr(java, STREAMING)
    execution = streaming.runtime.IncrementalExecution
    offsets = streaming.checkpointing.OffsetSeqMetadata.apply(NO_OFFSETS)
    if last is not None:
        offsets = last.offsetSeqMetadata()
    run, nothing = java.java.util.UUID.randomUUID, java.scala.Option.empty()
    mode = java.org.apache.spark.sql.streaming.OutputMode.Update()
    marks = streaming.runtime.WatermarkPropagator.noop()
    more = [getattr(execution, f"$lessinit$greater$default${n}")() for n in range(12, 16)]
    return execution(
        session, logical, mode, "<unknown>", run(), run(), 0, nothing, offsets, marks, False, *more
    ).executedPlan()


def _measured(graph: Topology, query: StreamingQuery) -> Topology:
    """Add what the last micro-batch tells: rows and bytes of state, a source's partitions."""
    progress = query.lastProgress
    facts = json.loads(progress.json) if progress is not None else {}
    operators, nodes = facts.get("stateOperators", []), []
    for node in graph.nodes:
        if node.state is not None:
            known = node.state < len(operators)
            rows = operators[node.state]["numRowsTotal"] if known else None
            folder = graph.checkpoint
            size = bytes_below(folder / "state" / str(node.state)) if folder else None
            node = replace(node, rows=rows, size=size)
        for source in facts.get("sources", []) if node.kind == SOURCE else []:
            ends = source.get("endOffset")
            names = node.name.split(", ") if isinstance(ends, dict) else []
            parts = [len(ends[name]) for name in names if isinstance(ends.get(name), dict)]
            if parts and len(parts) == len(names):
                node = replace(node, partitions=sum(parts))
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes))


def _folder(query: StreamingQuery) -> Path | None:
    root = urlsplit(str(query._jsq.streamingQuery().resolvedCheckpointRoot()))
    return Path(unquote(root.path)) if root.scheme in ("", "file") else None


def _sink(running: Any, name: str) -> str:
    if name != "kafka":
        return name
    topic = running.logicalPlan().writeOptions().get("topic")
    return str(topic.get()) if topic.isDefined() else "topics by row"


def _each(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(at) for at in range(sequence.size()))


def _names(expressions: Any) -> tuple[str, ...]:
    """Return expressions with the names of their columns; ``__bucket`` is written ``bucket``."""
    return tuple(
        str(e.name() if _class(e) == "AttributeReference" else e.sql()).strip("_")
        for e in _each(expressions)
    )


def _by(keys: tuple[str, ...]) -> str:
    return f"by {', '.join(keys)}" if keys else ""


def _class(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())
