"""Lists the internal topics that Kafka Streams would create, and what Spark leaves in their place.

Names and settings after Apache Kafka's KStreamImplJoin, KGroupedTableImpl, InternalStreamsBuilder,
StreamJoinedStoreFactory, RepartitionTopicConfig, WindowedChangelogTopicConfig and
UnwindowedUnversionedChangelogTopicConfig.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from workbook.spark.checkpoint_files import bytes_below
from workbook.spark.topology import SHUFFLE, SOURCE, Node, Topology

PURGED = "until processed: purged every 30 s (repartition.purge.interval.ms), else kept"
LATEST = "each key's latest record"
WINDOWED = "window + grace + 1 day (windowstore.changelog.additional.retention.ms)"
SHUFFLED = "shuffle files on the executors, removed some time after their micro-batch"
WINDOWS = {"window", "session_window"}
"""Columns by which a store is a windowed one."""

TOPIC, KIND, PARTITIONS = "topic of Kafka Streams", "kind", "partitions"


def internal_topics(
    graph: Topology, application: str, partitions: int | None = None, same_key: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Return a row per internal topic of Kafka Streams, and what Spark leaves instead.

    Columns: the topic, its kind, partitions, ``cleanup.policy`` and how long records stay; where
    Spark keeps the same, and how many ``bytes`` of it are there now, None where unknown. Each topic
    has the ``partitions`` of the source, by default as many as the graph knows. Spark shuffles
    before each state; Kafka Streams only where the key may have changed: name in ``same_key`` the
    states whose key is that of the source's records. The numbers in names count the graph's parts,
    Kafka Streams' own count its processors.
    """
    parts = partitions or max((node.partitions or 1 for node in graph.of_kind(SOURCE)), default=1)
    rows: list[dict[str, Any]] = []
    for number, node in enumerate(graph.nodes):
        if node.state is not None:
            names = _stores(graph, number, node.state in same_key)
            if node.state not in same_key:
                rows += _repartitions(graph, node, names[0], parts)
            rows += _changelogs(node, names, parts)
    return [{**row, TOPIC: f"{application}-{row[TOPIC]}"} for row in rows] + [_progress(graph)]


def in_words(topics: Sequence[dict[str, Any]]) -> str:
    """Return in a line how many topics and partitions these rows are, and what Spark has."""
    kinds = [row[KIND] for row in topics]
    cut = sum(row[PARTITIONS] for row in topics if row[KIND] != "progress")
    kept = sum(row["bytes"] or 0 for row in topics if row[KIND] != "repartition")
    return (
        f"Kafka Streams would create {kinds.count('repartition')} repartition and "
        f"{kinds.count('changelog')} changelog topics, {cut:,} partitions together, times their "
        f"replicas. Spark creates no topic; its checkpoint folder holds {kept:,} bytes."
    )


def _stores(graph: Topology, number: int, same_key: bool) -> list[str]:
    """Return the names of the stores that Kafka Streams would have for one of Spark's."""
    node = graph.nodes[number]
    if node.name == "join":
        return [f"KSTREAM-JOIN{s}-{number + n:010d}-store" for n, s in enumerate(("THIS", "OTHER"))]
    if node.name == "aggregate":
        return [f"KSTREAM-AGGREGATE-STATE-STORE-{number:010d}"]
    shuffles = graph.through(node, SHUFFLE)
    above = [graph.nodes[n].name for shuffle in shuffles for n in shuffle.before]
    if node.name == "transformWithState" and "transformWithState" in above:
        return [f"KTABLE-AGGREGATE-STATE-STORE-{number:010d}"]
    if node.name == "transformWithState" and same_key:
        [source, *_] = graph.through(node, SOURCE)
        return [f"{source.name}-STATE-STORE-{graph.nodes.index(source):010d}"]
    return [f"STORE-{node.state}"]


def _repartitions(
    graph: Topology, node: Node, name: str, partitions: int
) -> Iterator[dict[str, Any]]:
    """Yield a topic per shuffle: of a join's sides each has its own, others have the store's."""
    for shuffle in graph.through(node, SHUFFLE):
        number = graph.nodes.index(shuffle)
        topic = name
        if name.startswith("KSTREAM-JOIN"):
            topic = f"KSTREAM-KEY-SELECT-{number:010d}"
        elif name.startswith("STORE"):
            topic = f"KSTREAM-REPARTITION-{number:010d}"
        yield _row(
            f"{topic}-repartition", "repartition", partitions, "delete", PURGED, SHUFFLED, None
        )


def _changelogs(node: Node, names: Sequence[str], partitions: int) -> Iterator[dict[str, Any]]:
    policy, stays = "compact", LATEST
    if len(names) > 1:  # a join's stores keep every record of a key, so nothing is compacted
        policy, stays = "delete", WINDOWED
    elif WINDOWS & set(node.keys):
        policy, stays = "compact,delete", WINDOWED
    files = f"state/{node.state}: changes and snapshots of the last micro-batches"
    for name in names:  # one of Spark's stores has both sides
        size = node.size if name == names[0] else None
        yield _row(f"{name}-changelog", "changelog", partitions, policy, stays, files, size)


def _progress(graph: Topology) -> dict[str, Any]:
    folder = graph.checkpoint
    size = sum(bytes_below(folder / part) for part in ("offsets", "commits")) if folder else None
    stays = "each group's latest commit of each partition"
    files = "offsets and commits of the last micro-batches"
    return _row("__consumer_offsets", "progress", 50, "compact", stays, files, size)


def _row(
    topic: str, kind: str, partitions: int, policy: str, stays: str, files: str, size: int | None
) -> dict[str, Any]:
    return {
        TOPIC: topic, KIND: kind, PARTITIONS: partitions, "cleanup.policy": policy,
        "records stay": stays, "Spark instead": files, "bytes": size,
    }  # fmt: skip
