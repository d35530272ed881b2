"""What Kafka Streams would have created for a query, from its topology."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbook.spark.graph import OPERATOR, SHUFFLE, SOURCE, STORE, Node, Topology
from workbook.spark.internal_topics import in_words, internal_topics

TABLE = Topology(
    nodes=(
        Node(0, SOURCE, "positions", "kafka", partitions=4),
        Node(1, SHUFFLE, "shuffle", keys=("bucket",), size=100),
        Node(2, OPERATOR, "transformWithState"),
        Node(3, SHUFFLE, "shuffle", keys=("bucket",), size=200),
        Node(4, OPERATOR, "transformWithState"),
        Node(5, STORE, "state 1", state=1, size=3000),
        Node(6, STORE, "state 0", state=0, size=4000),
    ),
    edges=((0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (4, 6)),
    retained=10,
)


def join(name: str = "join", keys: tuple[str, ...] = ()) -> Topology:
    """Two sources, one stateful operator."""
    nodes = (
        Node(0, SOURCE, "a"), Node(1, SHUFFLE, "shuffle"), Node(2, SOURCE, "b"),
        Node(3, SHUFFLE, "shuffle"), Node(4, OPERATOR, name), Node(5, STORE, "state 0", keys=keys,
        state=0, size=7),
    )  # fmt: skip
    return Topology(nodes, ((0, 1), (2, 3), (1, 4), (3, 4), (4, 5)))


def of(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] == kind]


def test_a_grouped_table_is_repartitioned_and_both_its_stores_have_a_changelog() -> None:
    rows = internal_topics(TABLE, "shares", 50, same_key=[1])
    [repartition], changelogs = of(rows, "repartition"), of(rows, "changelog")
    store = "shares-KTABLE-AGGREGATE-STATE-STORE-0000000004"
    assert repartition["topic of Kafka Streams"] == f"{store}-repartition"
    assert [row["topic of Kafka Streams"] for row in changelogs] == [
        "shares-positions-STATE-STORE-0000000000-changelog", f"{store}-changelog",
    ]  # fmt: skip
    assert repartition["cleanup.policy"] == "delete"
    assert {row["cleanup.policy"] for row in changelogs} == {"compact"}
    assert [row["bytes"] for row in rows] == [3000, 200, 4000, None]
    assert {row["partitions"] for row in rows} == {50}


def test_a_key_that_stays_saves_a_repartition() -> None:
    assert len(of(internal_topics(TABLE, "shares"), "repartition")) == 2
    assert len(of(internal_topics(TABLE, "shares", same_key=[1]), "repartition")) == 1
    assert not of(internal_topics(TABLE, "shares", same_key=[0, 1]), "repartition")


def test_the_partitions_are_those_of_the_source_by_default() -> None:
    assert {row["partitions"] for row in of(internal_topics(TABLE, "x"), "changelog")} == {4}


def test_each_side_of_a_join_has_a_store_that_isnt_compacted() -> None:
    rows = internal_topics(join(), "joined")
    names = [row["topic of Kafka Streams"] for row in rows]
    assert names == [
        "joined-KSTREAM-KEY-SELECT-0000000001-repartition",
        "joined-KSTREAM-KEY-SELECT-0000000003-repartition",
        "joined-KSTREAM-JOINTHIS-0000000004-store-changelog",
        "joined-KSTREAM-JOINOTHER-0000000005-store-changelog",
        "__consumer_offsets",
    ]
    assert {row["cleanup.policy"] for row in of(rows, "changelog")} == {"delete"}
    assert [row["bytes"] for row in of(rows, "changelog")] == [7, None]


@pytest.mark.parametrize("key", ["window", "session_window"])
def test_a_windowed_store_is_compacted_and_ends(key: str) -> None:
    rows = internal_topics(join("aggregate", (key, "k")), "counts")
    assert {row["cleanup.policy"] for row in of(rows, "changelog")} == {"compact,delete"}
    assert "1 day" in of(rows, "changelog")[0]["records stay"]
    plain = internal_topics(join("aggregate", ("k",)), "counts")
    assert of(plain, "changelog")[0]["cleanup.policy"] == "compact"


def test_a_store_that_its_author_names_is_said_to_be_one() -> None:
    [changelog] = of(internal_topics(join("dropDuplicates"), "x"), "changelog")
    assert changelog["topic of Kafka Streams"] == "x-STORE-0-changelog"


def test_the_line_counts_topics_partitions_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").write_bytes(b"x" * 11)
    graph = Topology(TABLE.nodes, TABLE.edges, tmp_path, 10)
    words = in_words(internal_topics(graph, "shares", 50, same_key=[1]))
    assert "1 repartition and 2 changelog topics, 150 partitions together" in words
    assert "7,011 bytes" in words
