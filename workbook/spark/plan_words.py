"""Names the nodes of a physical plan in the field's words, by asking the node objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbook.spark.graph import OPERATOR, SHUFFLE, SOURCE, Node

Plan = Any
"""A node of Spark's physical plan, or one of its expressions, through py4j."""


@dataclass(frozen=True)
class Box:
    """What a plan node becomes: a node, the number of its store, and what it merges with."""

    node: Node
    store: int | None = None
    group: str = ""
    """Neighbours of the same group are one box."""

    def over(self, below: Box) -> Box:
        """Return one box for two neighbours of a group; ``below`` comes first."""
        parts = dict.fromkeys([*below.node.name.split(" and "), *self.node.name.split(" and ")])
        details = dict.fromkeys(d for d in (below.node.detail, self.node.detail) if d)
        node = replace(
            self.node,
            name=" and ".join(parts),
            detail="; ".join(details),
            keys=self.node.keys or below.node.keys,
        )
        return Box(node, self.store if self.store is not None else below.store, self.group)


def box(plan: Plan) -> Box | None:
    """Describe a plan node; None where a reader would learn nothing from it."""
    name = str(plan.nodeName()).partition(" ")[0]
    if name in BORING:
        return None
    if name in WORDS:
        return WORDS[name](plan)
    if plan.children().isEmpty():
        return Box(Node(0, SOURCE, name, "static"))
    return Box(Node(0, OPERATOR, name))


def each(sequence: Any) -> Iterator[Any]:
    """Go over a sequence of Scala."""
    for at in range(sequence.size()):
        yield sequence.apply(at)


def _operator(name: str, detail: str = "", **more: Any) -> Box:
    return Box(Node(0, OPERATOR, name, detail), **more)


def _filter(plan: Plan) -> Box | None:
    asked = [
        text[1:-1] if (text := _sql(part)).startswith("(") else text
        for part in _conjuncts(plan.condition())
        if _class(part) != "IsNotNull"  # the optimiser's own, before a join or a window
    ]
    return _operator("filter", " and ".join(asked), group="rows") if asked else None


def _project(plan: Plan) -> Box | None:
    """Name the columns that are computed; a choice among columns is no step of its own."""
    made = [
        column.name()
        for column in each(plan.projectList())
        if _class(column) == "Alias" and _class(column.child()) != "AttributeReference"
    ]
    return _operator("project", ", ".join(made), group="rows") if made else None


def _aggregate(plan: Plan) -> Box:
    keys = _names(plan.groupingExpressions())
    if plan.requiredChildDistributionExpressions().isEmpty():
        return _operator("partial aggregate", "before the shuffle", group="partial aggregate")
    return Box(Node(0, OPERATOR, "aggregate", _by(keys), keys), group="aggregate")


def _aggregate_state(plan: Plan) -> Box:
    return _operator("aggregate", group="aggregate", store=_store(plan))


def _restored(_: Plan) -> Box:
    return _operator("aggregate", group="aggregate")


def _deduplicate(plan: Plan) -> Box:
    keys = _names(plan.keyExpressions())
    within = "WithinWatermark" if "WithinWatermark" in plan.nodeName() else ""
    return Box(Node(0, OPERATOR, f"dropDuplicates{within}", _by(keys), keys), _store(plan))


def _stream_join(plan: Plan) -> Box:
    keys = [_names(side) for side in (plan.leftKeys(), plan.rightKeys())]
    pairs = [one if one == other else f"{one} = {other}" for one, other in zip(*keys, strict=True)]
    detail = f"{plan.joinType().sql().lower()}, {', '.join(pairs)}"
    return Box(Node(0, OPERATOR, "join", detail, keys[0]), _store(plan))


def _table_join(plan: Plan) -> Box:
    return _operator("join with a table", plan.joinType().sql().lower())


def _transform(plan: Plan) -> Box:
    keys = _names(plan.groupingAttributes())
    return Box(Node(0, OPERATOR, "transformWithState", _by(keys), keys), _store(plan))


def _groups_with_state(plan: Plan) -> Box:
    keys = _names(plan.groupingAttributes())
    return Box(Node(0, OPERATOR, "applyInPandasWithState", _by(keys), keys), _store(plan))


def _limit(plan: Plan) -> Box:
    return _operator("limit", f"{plan.streamLimit()} rows", store=_store(plan))


def _watermark(plan: Plan) -> Box:
    return _operator("watermark", f"{plan.eventTime().name()} - {plan.delay().toString()}")


def _map_in(name: str) -> Callable[[Plan], Box]:
    return lambda plan: _operator(name, plan.func().name())


def _udfs(plan: Plan) -> Box:
    return _operator("Python UDF", ", ".join(udf.name() for udf in each(plan.udfs())))


def _sort(plan: Plan) -> Box | None:
    """Leave out the sort within a task, by which a stateful operator gets a key's rows together."""
    return _operator("sort") if getattr(plan, "global")() else None


def _shuffle(plan: Plan) -> Box:
    into = plan.outputPartitioning()
    keys = _names(into.expressions()) if _class(into) == "HashPartitioning" else ()
    return Box(Node(0, SHUFFLE, "shuffle", _by(keys), keys, into.numPartitions()))


def _coalesce(plan: Plan) -> Box:
    return _operator("coalesce", f"to {plan.numPartitions()} tasks")


def _stream(plan: Plan) -> Box:
    """Describe a source by the relation that was read: its format and options."""
    relation = plan.logicalLink().get()
    if _class(relation) == "StreamingRelationV2":
        return _of_format(relation.sourceName(), relation.extraOptions())
    source = relation.dataSource()  # an older source, such as files
    path = source.options().get("path")
    place = str(path.get()).rstrip("/").rpartition("/")[2] if path.isDefined() else ""
    return Box(Node(0, SOURCE, place or source.className(), source.className()))


def _of_format(name: str, options: Mapping[str, str]) -> Box:
    topics = options.get("subscribe") or options.get("subscribePattern") or options.get("topic")
    if assigned := options.get("assign"):
        topics = ",".join(json.loads(assigned))
    if topics:
        return Box(Node(0, SOURCE, ", ".join(part.strip() for part in topics.split(",")), name))
    rate = options.get("rowsPerSecond")
    return Box(Node(0, SOURCE, name, f"{rate} rows/s" if rate else ""))


def _store(plan: Plan) -> int:
    return int(plan.stateInfo().get().operatorId())


def _conjuncts(condition: Plan) -> Iterator[Plan]:
    if _class(condition) == "And":
        yield from _conjuncts(condition.left())
        yield from _conjuncts(condition.right())
    else:
        yield condition


def _names(expressions: Any) -> tuple[str, ...]:
    return tuple(_sql(each_one) for each_one in each(expressions))


def _sql(expression: Plan) -> str:
    """Write an expression with the names of its columns, without the plan's numbers for them."""
    named = _class(expression) == "AttributeReference"
    return str(expression.name() if named else expression.sql())


def _by(keys: tuple[str, ...]) -> str:
    return f"by {', '.join(keys)}" if keys else ""


def _class(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())


BORING = {
    "WholeStageCodegen", "InputAdapter", "ColumnarToRow", "RowToColumnar", "PlanLater",
    "SerializeFromObject", "DeserializeToObject", "UpdatingSessions", "MergingSessions",
}  # fmt: skip
"""Nodes that say how Spark runs a step, not which step it is."""

WORDS: Mapping[str, Callable[[Plan], Box | None]] = {
    "Filter": _filter,
    "Project": _project,
    "HashAggregate": _aggregate,
    "ObjectHashAggregate": _aggregate,
    "SortAggregate": _aggregate,
    "StateStoreRestore": _restored,
    "StateStoreSave": _aggregate_state,
    "SessionWindowStateStoreRestore": _restored,
    "SessionWindowStateStoreSave": _aggregate_state,
    "StreamingDeduplicate": _deduplicate,
    "StreamingDeduplicateWithinWatermark": _deduplicate,
    "StreamingSymmetricHashJoin": _stream_join,
    "BroadcastHashJoin": _table_join,
    "SortMergeJoin": _table_join,
    "ShuffledHashJoin": _table_join,
    "TransformWithStateInPySpark": _transform,
    "FlatMapGroupsInPandasWithState": _groups_with_state,
    "StreamingGlobalLimit": _limit,
    "EventTimeWatermark": _watermark,
    "MapInArrow": _map_in("mapInArrow"),
    "PythonMapInArrow": _map_in("mapInArrow"),
    "MapInPandas": _map_in("mapInPandas"),
    "ArrowEvalPython": _udfs,
    "BatchEvalPython": _udfs,
    "Sort": _sort,
    "Exchange": _shuffle,
    "Coalesce": _coalesce,
    "Union": lambda _: _operator("union"),
    "CollectMetrics": lambda _: _operator("observe"),
    "StreamingRelation": _stream,
}
"""By the name of the plan's node."""
