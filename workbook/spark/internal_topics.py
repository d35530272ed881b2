"""Lists the internal topics that Kafka Streams would create, and what Spark leaves in their place.

Names and settings after Apache Kafka's KStreamImplJoin, KGroupedTableImpl, InternalStreamsBuilder,
StreamJoinedStoreFactory, RepartitionTopicConfig, WindowedChangelogTopicConfig and
UnwindowedUnversionedChangelogTopicConfig.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from workbook.spark.checkpoint_files import bytes_below
from workbook.spark.graph import SHUFFLE, SOURCE, STORE, Node, Topology

PURGED = "until processed: purged every 30 s (repartition.purge.interval.ms), else kept"
LATEST = "each key's latest record"
WINDOWED = "window + grace + 1 day (windowstore.changelog.additional.retention.ms)"
SHUFFLED = "shuffle files on the executors, removed some time after their micro-batch"

WINDOWS = {"window", "session_window"}
"""Columns by which a store is a windowed one."""

TOPIC, KIND, PARTITIONS, SPARK = "topic of Kafka Streams", "kind", "partitions", "Spark instead"


def internal_topics(
    graph: Topology, application: str, partitions: int | None = None, same_key: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Return a row per internal topic of Kafka Streams, and what Spark leaves instead.

    Columns: the topic, its kind, partitions, ``cleanup.policy`` and how long records stay; where
    Spark keeps the same, and how many ``bytes`` of it are there now, None where unknown. Each topic
    has the ``partitions`` of the source, by default as many as the graph knows. Spark shuffles
    before each state; Kafka Streams only where the key may have changed: name in ``same_key`` the
    states whose key is that of the source's records. The numbers in names count boxes of the graph,
    Kafka Streams' own count its processors; a transformWithState or dropDuplicates would be a
    processor with a store named by its author, ``STORE-0`` here.
    """
    parts = partitions or max((node.partitions or 1 for node in graph.of_kind(SOURCE)), default=1)
    rows: list[dict[str, Any]] = []
    for store in graph.of_kind(STORE):
        names = _stores(graph, store, same_key)
        if store.state not in same_key:
            rows += _repartitions(graph, store, names[0], parts)
        rows += _changelogs(graph, store, names, parts)
    return [{**row, TOPIC: f"{application}-{row[TOPIC]}"} for row in rows] + [_progress(graph)]


def in_words(topics: Sequence[dict[str, Any]]) -> str:
    """Return in a line how many topics and partitions these rows are, and what Spark has."""
    kinds = [row[KIND] for row in topics]
    cut = sum(row[PARTITIONS] for row in topics if row[KIND] != "progress")
    kept = sum(row["bytes"] or 0 for row in topics if row[KIND] != "repartition")
    return (
        f"Kafka Streams would create {kinds.count('repartition')} repartition and "
        f"{kinds.count('changelog')} changelog topics, {cut:,} partitions together, times their "
        f"replicas. Spark creates no topic; {kept:,} bytes stand in its checkpoint folder."
    )


def _operator(graph: Topology, store: Node) -> Node:
    [operator] = graph.before(store)
    return operator


def _stores(graph: Topology, store: Node, same_key: Collection[int]) -> list[str]:
    """Return the names of the stores that Kafka Streams would have for one of Spark's."""
    operator = _operator(graph, store)
    number = f"{operator.number:010d}"
    if operator.name == "join":
        sides = zip(("THIS", "OTHER"), (operator.number, operator.number + 1), strict=True)
        return [f"KSTREAM-JOIN{side}-{n:010d}-store" for side, n in sides]
    if operator.name == "aggregate":
        return [f"KSTREAM-AGGREGATE-STATE-STORE-{number}"]
    if operator.name == "transformWithState" and _above_a_table(graph, operator):
        return [f"KTABLE-AGGREGATE-STATE-STORE-{number}"]
    if operator.name == "transformWithState" and store.state in same_key:
        [source, *_] = graph.through(operator, SOURCE)
        return [f"{source.name}-STATE-STORE-{source.number:010d}"]
    return [f"STORE-{store.state}"]


def _above_a_table(graph: Topology, operator: Node) -> bool:
    """Return True if a transformWithState gets its rows from another one: a table, grouped."""
    before = graph.through(operator, SHUFFLE)
    return any(
        node.name == "transformWithState" for shuffle in before for node in graph.before(shuffle)
    )


def _repartitions(
    graph: Topology, store: Node, name: str, partitions: int
) -> Iterator[dict[str, Any]]:
    """Yield a topic per shuffle: of a join's sides each has its own, others have the store's."""
    for shuffle in graph.through(_operator(graph, store), SHUFFLE):
        topic = name
        if name.startswith("KSTREAM-JOIN"):
            topic = f"KSTREAM-KEY-SELECT-{shuffle.number:010d}"
        elif name.startswith("STORE"):
            topic = f"KSTREAM-REPARTITION-{shuffle.number:010d}"
        topic, size = f"{topic}-repartition", shuffle.size
        yield _row(topic, "repartition", partitions, "delete", PURGED, SHUFFLED, size)


def _changelogs(
    graph: Topology, store: Node, names: Sequence[str], partitions: int
) -> Iterator[dict[str, Any]]:
    if len(names) > 1:  # a join's stores keep every record of a key, so nothing is compacted
        policy, stays = "delete", WINDOWED
    elif WINDOWS & set(store.keys):
        policy, stays = "compact,delete", WINDOWED
    else:
        policy, stays = "compact", LATEST
    files = f"state/{store.state}: changes and snapshots of the last {graph.retained} micro-batches"
    for name in names:  # one of Spark's stores has both sides
        size = store.size if name == names[0] else None
        yield _row(f"{name}-changelog", "changelog", partitions, policy, stays, files, size)


def _progress(graph: Topology) -> dict[str, Any]:
    size = None
    if graph.checkpoint is not None:
        size = sum(bytes_below(graph.checkpoint / part) for part in ("offsets", "commits"))
    files = f"offsets and commits of the last {graph.retained} micro-batches"
    stays = "each group's latest commit of each partition"
    return _row("__consumer_offsets", "progress", 50, "compact", stays, files, size)


def _row(
    topic: str, kind: str, partitions: int, policy: str, stays: str, files: str, size: int | None
) -> dict[str, Any]:
    return {
        TOPIC: topic, KIND: kind, PARTITIONS: partitions, "cleanup.policy": policy,
        "records stay": stays, SPARK: files, "bytes": size,
    }  # fmt: skip
