"""Two tables joined by a column of their keys, on the real Spark."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from feeds import Feed, Row
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.tables.ktable import KTable, ktable

SCHEMA = (
    "kind STRING, group STRING, topic STRING, partition INT, committed BIGINT, member STRING, "
    "data BINARY, tags MAP<STRING, ARRAY<INT>>, deleted BOOLEAN, offset BIGINT"
)
LEFT_KEY, RIGHT_KEY = ["group", "topic", "partition"], ["group", "member"]


def commit(group: str, partition: int, committed: int | None, topic: str = "clicks") -> Row:
    """A commit of a group; without an offset, its tombstone."""
    row = {"kind": "commit", "group": group, "topic": topic, "partition": partition}
    return row | {"committed": committed, "deleted": committed is None}


def member(group: str | None, name: str, data: bytes | None) -> Row:
    """A member of a group; without data, its tombstone."""
    row = {"kind": "member", "group": group, "member": name, "deleted": data is None}
    more = {"data": base64.b64encode(data).decode(), "tags": {"x": [1]}} if data else {}
    return row | more


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    feed = Feed(spark, tmp_path, SCHEMA)
    yield feed
    feed.stop()


def send(feed: Feed, *rows: Row) -> dict[str, Row]:
    """Send rows as a micro-batch; return by group what it emits."""
    emitted = feed.send(*rows)
    assert len({row["group"] for row in emitted}) == len(emitted)
    return {row.pop("group"): row for row in emitted}


def branches(rows: DataFrame) -> tuple[KTable, KTable]:
    """Both tables as branches of one changelog, which is read once."""
    return (
        ktable(rows, LEFT_KEY, where="kind = 'commit'", columns=["committed"]),
        ktable(rows, RIGHT_KEY, where="kind = 'member'", columns=["data", "tags"]),
    )


def apart(rows: DataFrame) -> tuple[KTable, KTable]:
    """Each table over a changelog of its own."""
    rest = ["deleted", "offset"]
    commits = rows.where("kind = 'commit'").select(*LEFT_KEY, "committed", *rest)
    members = rows.where(F.col("kind") == "member").select(*RIGHT_KEY, "data", "tags", *rest)
    return ktable(commits, LEFT_KEY), ktable(members, RIGHT_KEY)


def joined(tables: tuple[KTable, KTable]) -> DataFrame:
    return tables[0].join(tables[1], by="group", left_rows="offsets", right_rows="members")


def seen(emitted: dict[str, Row]) -> dict[str, tuple[Any, ...]]:
    """Of each group its partitions with their offsets, and its members with their data."""
    return {
        group: (
            [(row["partition"], row["committed"]) for row in held["offsets"]],
            [(row["member"], row["data"]) for row in held["members"]],
        )
        for group, held in emitted.items()
    }


@pytest.mark.parametrize("tables", [branches, apart])
def test_each_side_changes_its_part_of_a_group(feed, tables) -> None:
    feed.start(lambda rows: joined(tables(rows)))
    first = send(feed, commit("a", 1, 10), commit("b", 0, 5), member("a", "m", b"\xff\x00"))
    assert first["a"] == {
        "offsets": [{"topic": "clicks", "partition": 1, "committed": 10}],
        "members": [{"member": "m", "data": b"\xff\x00", "tags": [("x", [1])]}],
        "deleted": False,
    }
    assert seen(first)["b"] == ([(0, 5)], [])
    assert send(feed, commit("b", 0, 5), {"kind": "other", "group": "a", "deleted": True}) == {}
    assert send(feed, commit("c", 0, None), member(None, "m", b"m")) == {}, "never there; no key"
    told = seen(send(feed, commit("a", 0, 7), member("b", "n", b"n")))
    assert told == {"a": ([(0, 7), (1, 10)], [("m", b"\xff\x00")]), "b": ([(0, 5)], [("n", b"n")])}
    gone = send(feed, member("b", "n", None), commit("b", 0, None))
    assert gone == {"b": {"offsets": [], "members": [], "deleted": True}}
    assert seen(send(feed, member("b", "m", b"again"))) == {"b": ([], [("m", b"again")])}


def test_a_filtered_table_is_joined_with_the_whole_one(feed: Feed) -> None:
    """A row may belong to both; one that the filter no longer keeps becomes a delete."""

    def with_itself(rows: DataFrame) -> DataFrame:
        offsets, _ = branches(rows)
        return joined((offsets, offsets.filter("committed > 10").filter("topic != 'x'")))

    def committed(*rows: Row) -> list[list[int]]:
        held = send(feed, *rows)["a"]
        return [[row["committed"] for row in held[side]] for side in ("offsets", "members")]

    feed.start(with_itself)
    assert committed(commit("a", 0, 1), commit("a", 1, 11)) == [[1, 11], [11]]
    assert committed(commit("a", 1, 9), commit("a", 2, 99, "x")) == [[1, 9, 99], []]


@pytest.mark.parametrize(("tables", "reads"), [(branches, 1), (apart, 2)])
def test_branches_of_one_changelog_are_read_in_one_pass(spark, tables, reads) -> None:
    rows = joined(tables(spark.createDataFrame([], SCHEMA)))
    assert rows.columns == ["group", "offsets", "members", "deleted"]
    plan = rows._jdf.queryExecution().analyzed().toString()
    assert plan.count("LogicalRDD") == reads


def test_a_join_by_a_column_that_is_not_in_both_keys_is_refused(spark: SparkSession) -> None:
    offsets, members = branches(spark.createDataFrame([], SCHEMA))
    with pytest.raises(ValueError, match=r"'topic' is not in \['group', 'member'\]"):
        offsets.join(members, by="topic")
