"""Two tables joined by a column of their keys, on the real Spark."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from test_ktable import Changes

from workbook.spark.runner import Running, start_query
from workbook.tables.ktable import KTable, ktable

SCHEMA = (
    "kind STRING, group STRING, topic STRING, partition INT, committed BIGINT, member STRING, "
    "data BINARY, tags MAP<STRING, ARRAY<INT>>, deleted BOOLEAN, offset BIGINT"
)
LEFT_KEY, RIGHT_KEY = ["group", "topic", "partition"], ["group", "member"]
Row = dict[str, Any]


def commit(group: str, partition: int, committed: int | None, topic: str = "clicks") -> Row:
    """A commit of a group; without an offset, its tombstone."""
    row = {"kind": "commit", "group": group, "topic": topic, "partition": partition}
    return row | {"committed": committed, "deleted": committed is None}


def member(group: str | None, name: str, data: bytes | None) -> Row:
    """A member of a group; without data, its tombstone."""
    row = {"kind": "member", "group": group, "member": name, "deleted": data is None}
    more = {"data": base64.b64encode(data).decode(), "tags": {"x": [1]}} if data else {}
    return row | more


class Feed:
    """A changelog of files, a micro-batch each, and a join over it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.sink = spark, folder, Changes()
        self.offset = self.files = 0
        self.running: Running | None = None
        self.checkpoint = folder / "checkpoint"
        (folder / "in").mkdir()

    def stream(self) -> DataFrame:
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.json(str(self.folder / "in"))

    def start(self, make: Callable[[DataFrame], DataFrame]) -> None:
        self.running = start_query(make(self.stream()), [self.sink], self.checkpoint)

    def send(self, *rows: Row) -> dict[str, Row]:
        """Send rows as a micro-batch; return by group what it emits."""
        lines = [json.dumps(row | {"offset": self.offset + n}) for n, row in enumerate(rows)]
        self.offset, self.files = self.offset + len(rows), self.files + 1
        unseen = self.folder / f"{self.files}.json"
        unseen.write_text("\n".join(lines))
        unseen.rename(self.folder / "in" / unseen.name)
        assert self.running is not None
        before = len(self.sink.batches)
        self.running.process_all()
        emitted = [row for batch in self.sink.batches[before:] for row in batch]
        assert len({row["group"] for row in emitted}) == len(emitted)
        return {row.pop("group"): row for row in emitted}

    def stop(self) -> None:
        if self.running is not None:
            self.running.stop()


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    feed = Feed(spark, tmp_path)
    yield feed
    feed.stop()


def branches(rows: DataFrame, **how: Any) -> tuple[KTable, KTable]:
    """Both tables as branches of one changelog, which is read once."""
    columns = {"left": ["committed"], "right": ["data", "tags"]}
    return (
        ktable(rows, LEFT_KEY, where="kind = 'commit'", columns=columns["left"], **how),
        ktable(rows, RIGHT_KEY, where="kind = 'member'", columns=columns["right"], **how),
    )


def apart(rows: DataFrame) -> tuple[KTable, KTable]:
    """Each table over a changelog of its own."""
    rest = ["deleted", "offset"]
    commits = rows.where("kind = 'commit'").select(*LEFT_KEY, "committed", *rest)
    members = rows.where(F.col("kind") == "member").select(*RIGHT_KEY, "data", "tags", *rest)
    return ktable(commits, LEFT_KEY), ktable(members, RIGHT_KEY)


def joined(tables: tuple[KTable, KTable]) -> DataFrame:
    return tables[0].join(tables[1], by="group", left_rows="offsets", right_rows="members")


def of_branches(rows: DataFrame) -> DataFrame:
    return joined(branches(rows))


def seen(emitted: dict[str, Row]) -> dict[str, tuple[Any, ...]]:
    """Of each group its partitions with their offsets, and its members with their data."""
    return {
        group: (
            [(row["partition"], row["committed"]) for row in held["offsets"]],
            [(row["member"], row["data"]) for row in held["members"]],
        )
        for group, held in emitted.items()
    }


GONE: tuple[Any, ...] = ([], [])


@pytest.mark.parametrize("tables", [branches, apart])
def test_each_side_changes_its_part_of_a_group(
    feed: Feed, tables: Callable[[DataFrame], tuple[KTable, KTable]]
) -> None:
    feed.start(lambda rows: joined(tables(rows)))
    first = feed.send(commit("a", 1, 10), commit("b", 0, 5), member("a", "m", b"\xff\x00"))
    assert first["a"] == {
        "offsets": [{"topic": "clicks", "partition": 1, "committed": 10}],
        "members": [{"member": "m", "data": b"\xff\x00", "tags": [("x", [1])]}],
        "deleted": False,
    }
    assert seen(first)["b"] == ([(0, 5)], [])
    assert seen(feed.send(commit("a", 0, 7))) == {"a": ([(0, 7), (1, 10)], [("m", b"\xff\x00")])}
    assert seen(feed.send(member("b", "n", b"n"))) == {"b": ([(0, 5)], [("n", b"n")])}


def test_tombstones_on_each_side_and_a_group_that_comes_again(feed: Feed) -> None:
    feed.start(of_branches)
    feed.send(commit("a", 0, 1), commit("a", 1, 1), member("a", "m", b"m"))
    assert seen(feed.send(commit("a", 1, None))) == {"a": ([(0, 1)], [("m", b"m")])}
    assert seen(feed.send(member("a", "m", None))) == {"a": ([(0, 1)], [])}
    gone = feed.send(commit("a", 0, None))
    assert gone == {"a": {"offsets": [], "members": [], "deleted": True}}
    assert seen(feed.send(member("a", "m", b"again"))) == {"a": ([], [("m", b"again")])}


def test_what_changes_nothing_is_not_emitted(feed: Feed) -> None:
    feed.start(of_branches)
    feed.send(commit("a", 0, 1), member("a", "m", b"m"))
    assert feed.send(commit("a", 0, 1), member("a", "m", b"m")) == {}  # redelivered
    assert feed.send(commit("b", 0, None), member(None, "m", b"m")) == {}  # never there; no key
    assert feed.send(commit("b", 0, 1), commit("b", 0, None)) == {}
    assert feed.send({"kind": "other", "group": "a", "deleted": True}) == {}  # neither branch


def test_a_row_that_a_filter_no_longer_keeps_becomes_a_delete(feed: Feed) -> None:
    def large(rows: DataFrame) -> DataFrame:
        offsets, members = branches(rows)
        return joined((offsets.filter("committed > 10").filter("topic != 'x'"), members))

    feed.start(large)
    assert seen(feed.send(commit("a", 0, 11), commit("b", 0, 11, "x"))) == {"a": ([(0, 11)], [])}
    assert seen(feed.send(commit("a", 0, 9))) == {"a": GONE}


def test_a_tombstone_has_the_newest_time(feed: Feed) -> None:
    def timed(rows: DataFrame) -> DataFrame:
        at = rows.withColumn("at", F.col("offset") * 10)  # a tombstone has one, as every record
        commits = ktable(at, LEFT_KEY, where="kind = 'commit'", columns=["committed", "at"])
        members = ktable(at, RIGHT_KEY, where="kind = 'member'", columns=["data", "at"])
        return commits.join(members, "group", "offsets", "members", newest="at")

    feed.start(timed)
    first = feed.send(commit("a", 0, 1), commit("a", 1, 1), member("a", "m", b"m"))["a"]
    assert (first["at"], [row["at"] for row in first["offsets"]]) == (20, [0, 10])
    second = feed.send(commit("a", 1, None))["a"]
    assert (second["at"], [row["at"] for row in second["offsets"]]) == (30, [0])
    gone = feed.send(commit("a", 0, None), member("a", "m", None))["a"]
    assert gone == {"at": 50, "offsets": [], "members": [], "deleted": True}


def test_an_inner_join_is_a_deleted_column(feed: Feed) -> None:
    lacking = "0 IN (size(offsets), size(members))"
    feed.start(lambda rows: of_branches(rows).withColumn("deleted", F.expr(lacking)))
    assert feed.send(commit("a", 0, 1))["a"]["deleted"]
    assert not feed.send(member("a", "m", b"m"))["a"]["deleted"]
    assert feed.send(commit("a", 0, None))["a"]["deleted"]


def test_a_row_may_belong_to_both_tables(feed: Feed) -> None:
    def with_itself(rows: DataFrame) -> DataFrame:
        offsets, _ = branches(rows)
        return joined((offsets, offsets.filter("committed > 10")))

    feed.start(with_itself)
    held = feed.send(commit("a", 0, 1), commit("a", 1, 11))["a"]
    assert [row["committed"] for row in held["offsets"]] == [1, 11]
    assert [row["committed"] for row in held["members"]] == [11]


def test_a_join_goes_on_where_it_stopped(feed: Feed) -> None:
    feed.start(of_branches)
    feed.send(commit("a", 0, 1), member("a", "m", b"m"))
    feed.stop()
    feed.start(of_branches)
    assert feed.send(member("a", "m", b"m")) == {}
    assert seen(feed.send(commit("a", 1, 2))) == {"a": ([(0, 1), (1, 2)], [("m", b"m")])}


def test_ten_thousand_groups_at_once(feed: Feed) -> None:
    feed.start(of_branches)
    groups = [f"g{n}" for n in range(10_000)]
    emitted = feed.send(
        *(commit(group, 0, n) for n, group in enumerate(groups)),
        *(member(group, "m", group.encode()) for group in groups),
    )
    expected = {g: ([(0, n)], [("m", g.encode())]) for n, g in enumerate(groups)}
    assert seen(emitted) == expected
    emitted = feed.send(*(commit(group, 0, None) for group in groups))
    assert seen(emitted) == {group: ([], held[1]) for group, held in expected.items()}


# --- the plan, and what is refused ------------------------------------------------------------


@pytest.mark.parametrize(("tables", "reads"), [(branches, 1), (apart, 2)])
def test_branches_of_one_changelog_are_read_in_one_pass(
    spark: SparkSession, tables: Callable[[DataFrame], tuple[KTable, KTable]], reads: int
) -> None:
    rows = joined(tables(spark.createDataFrame([], SCHEMA)))
    assert rows.columns == ["group", "offsets", "members", "deleted"]
    plan = rows._jdf.queryExecution().analyzed().toString()
    assert plan.count("LogicalRDD") == reads


@pytest.mark.parametrize(
    ("join", "says"),
    [
        (lambda a, b: a.join(b, by="topic"), r"'topic' is not in \['group', 'member'\]"),
        (lambda a, b: a.join(b, by=["group"]), r"one column, but got \['group'\]"),
        (lambda a, b: a.join(b, by="group", left_rows="group"), "other than 'group'"),
        (lambda a, b: a.join(b, "group", "rows", "rows"), r"got \('rows', 'rows'\)"),
        (
            lambda a, b: a.join(ktable(b.changelog, RIGHT_KEY, buckets=2), by="group"),
            "as many buckets on both sides, but got 8 and 2",
        ),
        (
            lambda a, b: a.join(ktable(b.changelog, "group", columns=[]), by="group"),
            "a column beside 'group' in both tables, but 'right' has none",
        ),
        (
            lambda a, b: a.join(
                ktable(b.changelog.withColumn("group", F.lit(1)), RIGHT_KEY), by="group"
            ),
            "one type, but it is string on the left and int on the right",
        ),
        (
            lambda a, b: a.join(b, by="group", newest="committed"),
            "'committed' is bigint on the left and none on the right",
        ),
        (
            lambda a, b: a.join(a, by="group", newest="group"),
            "another name than 'group'",
        ),
        (
            lambda a, b: ktable(a.changelog, "tags").join(b, by="tags"),
            "tell groups apart.*'tags' is map",
        ),
    ],
)
def test_a_join_that_cannot_be_is_refused(
    spark: SparkSession, join: Callable[[KTable, KTable], DataFrame], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        join(*branches(spark.createDataFrame([], SCHEMA)))
