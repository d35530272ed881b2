"""Two tables joined by a key: at every quiet point equal to a recomputation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from workbook.buckets.state import BUCKET, empty
from workbook.errors import CannotGoOn
from workbook.spark.queries import QueryGroup, start_table
from workbook.tables.join import SIDE, Side, joined
from workbook.tables.ktable import KTable, ktable
from workbook.tables.state import state_of
from workbook.tables.steps import DELETED, ORDER

# --- in Polars: a change is (side, group, number, value), the value None for a tombstone ----------

Change = tuple[int, str, int, int | None]
SIDES = (
    Side("offsets", "group", ("number",), ("number", "value")),
    Side("parts", "group", ("number",), ("number", "value")),
)
CHANGE = st.tuples(
    st.integers(0, 1), st.sampled_from("abc"), st.integers(0, 2), st.none() | st.integers(0, 2)
)


def frame(changes: list[Change], first: int) -> pl.DataFrame:
    rows = [
        {
            SIDE: side, "group": group, BUCKET: 0, DELETED: value is None, ORDER: first + at,
            **{f"{SIDES[side].rows}__{name}": v for name, v in (("number", n), ("value", value))},
        }
        for at, (side, group, n, value) in enumerate(changes)
    ]  # fmt: skip
    kinds = {SIDE: pl.Int32, "group": pl.String, BUCKET: pl.Int64, DELETED: pl.Boolean,
             ORDER: pl.Int64}  # fmt: skip
    named = {side.named(name): pl.Int64 for side in SIDES for name in side.columns}
    return pl.DataFrame(rows, schema={**kinds, **named})


def recomputed(changes: list[Change]) -> dict[str, tuple[list[Any], list[Any]]]:
    """What both tables hold of each group."""
    tables: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})
    for side, group, number, value in changes:
        tables[side].pop((group, number), None)
        if value is not None:
            tables[side][group, number] = value
    return {  # type: ignore[return-value]
        group: tuple(
            [{"number": n, "value": v} for (g, n), v in sorted(table.items()) if g == group]
            for table in tables
        )
        for group in "abc"
    }


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(CHANGE, min_size=1, max_size=8), max_size=6))
def test_after_each_batch_it_is_what_both_changelogs_say(batches: list[list[Change]]) -> None:
    state, seen = empty({side.rows: side.keyed for side in SIDES}), list[Change]()
    for changes in batches:
        before = recomputed(seen)
        emitted = joined(state, frame(changes, len(seen)), SIDES)
        seen += changes
        after = recomputed(seen)
        rows = {row["group"]: row for row in emitted.to_dicts()}
        assert len(rows) == len(emitted)
        for group, (offsets, parts) in after.items():
            if (offsets, parts) != before[group]:
                assert group in rows, "a change that wasn't emitted"
            if group in rows:
                row = rows[group]
                assert (row["offsets"], row["parts"]) == (offsets, parts)
                assert row["deleted"] == (not offsets and not parts)
        assert all(after[group] != before[group] for group in rows), "emitted without a change"


def test_a_batch_that_comes_again_changes_nothing() -> None:
    state = empty({side.rows: side.keyed for side in SIDES})
    batch = frame([(0, "a", 1, 5), (1, "a", 0, 6), (0, "b", 1, None)], 0)
    assert len(joined(state, batch, SIDES)) == 1
    assert joined(state, batch, SIDES).is_empty()


# --- on Spark -------------------------------------------------------------------------------------

SCHEMA = "side STRING, group STRING, number INT, value STRING, data BINARY, deleted BOOLEAN, offset BIGINT"  # noqa: E501


class Changes:
    kind = "list"

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def apply(self, changes: pa.Table, query: str, batch_id: int) -> None:
        self.rows = sorted(changes.to_pylist(), key=lambda row: str(row["group"]))


class Feed:
    """Changelogs of two tables in files, a micro-batch each, and a query that joins them."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder, self._offset = spark, folder, 0
        self.sink = Changes()
        (folder / "in").mkdir()
        self.checkpoint = folder / "checkpoint"

    def start(self, make: Callable[[DataFrame], DataFrame]) -> None:
        reader = self._spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        self.query: QueryGroup = start_table(
            make(reader.json(str(self._folder / "in"))), [self.sink], self.checkpoint
        )

    def send(self, *changes: tuple[str, str | None, int | None, str | None]) -> list[Any]:
        """Send (side, group, number, value) and return what is emitted."""
        self.sink.rows = []
        lines = []
        for side, group, number, value in changes:
            self._offset += 1
            row = {"side": side, "group": group, "number": number, "value": value}
            lines.append(json.dumps({**row, "deleted": value is None, "offset": self._offset}))
        unseen = self._folder / "unseen"
        unseen.write_text("\n".join(lines))
        unseen.rename(self._folder / "in" / f"{self._offset}.json")
        self.query.process_all()
        return self.sink.rows


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    made = Feed(spark, tmp_path)
    yield made
    made.query.stop()


def tables(rows: DataFrame) -> tuple[KTable, KTable]:
    left = rows.where("side = 'l'").drop("side", "data")
    right = rows.where("side = 'r'").drop("side", "data", "number")
    return ktable(left, key=("group", "number")), ktable(right, key="group")


def both(rows: DataFrame) -> DataFrame:
    left, right = tables(rows)
    return left.join(right, "group", ("offsets", "parts"))


def emitted(group: str, offsets: list[tuple[int, str]], *parts: str) -> dict[str, Any]:
    return {
        "group": group,
        "offsets": [{"number": number, "value": value} for number, value in offsets],
        "parts": [{"value": value} for value in parts],
        "deleted": not offsets and not parts,
    }


def test_rows_of_either_side_come_and_go(feed: Feed) -> None:
    feed.start(both)
    assert feed.send(("l", "a", 1, "x"), ("l", "a", 0, "y"), ("r", "b", None, "z")) == [
        *(emitted("a", [(0, "y"), (1, "x")]), emitted("b", [], "z"))
    ]
    assert feed.send(("r", "a", None, "q")) == [emitted("a", [(0, "y"), (1, "x")], "q")]
    assert feed.send(("l", "a", 0, None)) == [emitted("a", [(1, "x")], "q")]
    assert feed.send(("l", "a", 1, None), ("r", "a", None, None)) == [emitted("a", [])]
    assert feed.send(("l", "a", 1, "again")) == [emitted("a", [(1, "again")])]
    assert feed.send(("l", "a", 1, "again")) == []
    assert feed.send(("l", None, 1, "no group"), ("l", "a", None, "no number")) == []


def test_a_restart_goes_on_and_another_shape_is_refused(feed: Feed) -> None:
    feed.start(both)
    feed.send(("l", "a", 1, "x"))
    feed.query.stop()
    feed.start(both)
    assert feed.send(("r", "a", None, "q")) == [emitted("a", [(1, "x")], "q")]
    feed.query.stop()

    def other(rows: DataFrame) -> DataFrame:
        left, right = tables(rows)
        return left.filter("value <> 'x'").join(right, "group", ("offsets", "parts"))

    with pytest.raises(CannotGoOn):
        feed.start(other)


def test_a_filter_deletes_what_no_longer_matches(feed: Feed) -> None:
    def filtered(rows: DataFrame) -> DataFrame:
        left, right = tables(rows)
        return left.filter("value <> 'out'").join(right, "group", ("offsets", "parts"))

    feed.start(filtered)
    assert feed.send(("l", "a", 1, "in")) == [emitted("a", [(1, "in")])]
    assert feed.send(("l", "a", 1, "out")) == [emitted("a", [])]


def test_its_state_can_be_read(feed: Feed, spark: SparkSession) -> None:
    feed.start(both)
    feed.send(("l", "a", 1, "x"), ("r", "a", None, "q"))
    found = state_of(spark, feed.checkpoint, "offsets")
    assert found["group"].tolist() == ["a"]


def test_ten_thousand_groups_at_once(feed: Feed) -> None:
    feed.start(both)
    names = [f"g{number:05}" for number in range(10_000)]
    feed.send(*[("l", name, 0, "x") for name in names])
    rows = feed.send(*[("r", name, None, "q") for name in names])
    assert [row["group"] for row in rows] == names
    assert all(row == emitted(row["group"], [(0, "x")], "q") for row in rows)


def test_tables_without_the_key_are_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], SCHEMA)
    left, right = tables(rows)
    with pytest.raises(ValueError, match="with 'value' in their keys"):
        left.join(right, "value", ("offsets", "parts"))
    with pytest.raises(ValueError, match="Expected other names"):
        left.join(right, "group", ("group", "parts"))
