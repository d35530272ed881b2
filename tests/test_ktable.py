"""A table that follows a changelog, on the real Spark: rows, filter, groups and their state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import CannotSubtract, QueryEnded
from workbook.pipelines.share_holders import us_positions, us_share_holders
from workbook.sinks.store import Store
from workbook.spark.runner import Batch, Running, Sink, start_query
from workbook.tables.ktable import KTable, collect_set, count, fold, ktable, max_of, sum_of
from workbook.tables.packing import unpacked
from workbook.tables.steps import DELETED, GROUP_BUCKET

SCHEMA = (
    "position STRING, client STRING, ticker STRING, amount BIGINT, exchange STRING, "
    "deleted BOOLEAN, offset BIGINT"
)
FIELDS = ("position", "client", "ticker", "amount", "exchange")
BOB_1 = ("1", "Bob", "AAPL", 10, "NASDAQ")
BOB_2 = ("2", "Bob", "AAPL", 5, "NASDAQ")
AL_3 = ("3", "Al", "SAP", 7, "XETRA")


class Changes(Sink):
    """A sink that keeps each micro-batch."""

    kind = "list"

    def __init__(self) -> None:
        self.batches: list[list[dict[str, Any]]] = []

    def write(self, rows: pa.Table, batch: Batch) -> None:
        self.batches.append(rows.to_pylist())

    @property
    def last(self) -> list[dict[str, Any]]:
        return self.batches[-1]


class Feed:
    """A changelog of files, a micro-batch each, and a query over it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.sink = spark, folder, Changes()
        self.offset = self.files = 0
        self.running: Running | None = None
        (folder / "in").mkdir()

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    def start(self, make: Callable[[DataFrame], DataFrame]) -> None:
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        changes = make(reader.json(str(self.folder / "in")))
        self.running = start_query(changes, [self.sink], self.checkpoint)

    def send(self, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
        """Rows of a position, or of its id alone for a tombstone; what changed, sorted."""
        lines = []
        for row in rows:
            fields = dict(zip(FIELDS, row, strict=False))  # of a tombstone the id alone
            lines.append(json.dumps(fields | {"deleted": len(row) == 1, "offset": self.offset}))
            self.offset += 1
        self.files += 1
        unseen = self.folder / f"{self.files}.json"
        unseen.write_text("\n".join(lines))
        unseen.rename(self.folder / "in" / unseen.name)
        assert self.running is not None
        before = len(self.sink.batches)
        self.running.process_all()
        told = [row for batch in self.sink.batches[before:] for row in batch]
        return sorted(told, key=lambda row: (str(next(iter(row.values()))), row.get("step", 0)))

    def stop(self) -> None:
        if self.running is not None:
            self.running.stop()


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    feed = Feed(spark, tmp_path)
    yield feed
    feed.stop()


def holdings(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {row["client"]: row["positions"] for row in rows}


def test_a_client_holds_what_is_open_and_us(feed: Feed) -> None:
    feed.start(us_share_holders)
    assert holdings(feed.send(BOB_1, BOB_2, AL_3)) == {"Bob": ["1", "2"]}
    moved = ("1", "Al", "AAPL", 10, "NASDAQ")
    assert holdings(feed.send(moved)) == {"Al": ["1"], "Bob": ["2"]}
    assert feed.send(("1",)) == [
        {"client": "Al", "positions": None, "tickers": None, "deleted": True}
    ]
    # It stops to be a US share: the filter makes a delete of it.
    assert feed.send(("2", "Bob", "SAP", 5, "XETRA")) == [
        {"client": "Bob", "positions": None, "tickers": None, "deleted": True}
    ]


def test_a_ticker_of_two_positions_stays_until_both_are_closed(feed: Feed) -> None:
    feed.start(us_share_holders)
    feed.send(BOB_1, BOB_2)
    assert [row["tickers"] for row in feed.send(("1",))] == [["AAPL"]]
    assert [row["deleted"] for row in feed.send(("2",))] == [True]


def test_what_changes_nothing_is_not_told(feed: Feed) -> None:
    feed.start(us_share_holders)
    feed.send(BOB_1)
    assert feed.send(BOB_1) == []  # redelivered
    assert feed.send(("9",)) == []  # a tombstone for an id that never was
    assert feed.send(AL_3, ("3",)) == []  # never a US share
    assert feed.send(("4", "Al", "IBM", 1, "NYSE"), ("4",)) == []  # came and went in one batch


def test_a_position_that_moves_twice_in_a_batch_ends_where_it_went_last(feed: Feed) -> None:
    feed.start(us_share_holders)
    feed.send(BOB_1)
    told = feed.send(("1", "Al", "AAPL", 10, "NASDAQ"), ("1", "Cy", "AAPL", 10, "NASDAQ"))
    assert {row["client"]: row["positions"] for row in told} == {"Bob": None, "Cy": ["1"]}


def test_per_update_shows_each_removal_and_each_addition(feed: Feed) -> None:
    feed.start(lambda rows: us_share_holders(rows, per_update=True))
    feed.send(BOB_1)
    told = feed.send(("1", "Al", "AAPL", 10, "NASDAQ"), ("1", "Cy", "AAPL", 10, "NASDAQ"), BOB_2)
    steps = [(r["client"], r["change"], r["position"], r["positions"]) for r in told]
    assert steps == [
        ("Al", "add", "1", ["1"]),
        ("Al", "remove", "1", None),
        ("Bob", "remove", "1", None),
        ("Bob", "add", "2", ["2"]),
        ("Cy", "add", "1", ["1"]),
    ]
    assert [row["deleted"] for row in told] == [False, True, True, False, False]


def test_all_aggregates_agree_with_arithmetic(feed: Feed) -> None:
    def union(value: frozenset[str], row: Any) -> frozenset[str]:
        return value | {row["position"]}

    def difference(value: frozenset[str], row: Any) -> frozenset[str]:
        return value - {row["position"]}

    feed.start(
        lambda rows: ktable(rows, key="position").group_by("client").aggregate(
            number=count(),
            shares=sum_of("amount"),
            largest=max_of("amount", recompute=True),
            tickers=collect_set("ticker"),
            ids=fold(union, difference, frozenset(), "array<string>"),
            raw=fold(lambda v, r: v + b"x", lambda v, r: v[1:], b"", "binary"),
        )
    )  # fmt: skip
    names = ("number", "shares", "largest", "tickers", "ids", "raw", "deleted")

    def seen(*rows: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
        return {row["client"]: tuple(row[name] for name in names) for row in feed.send(*rows)}

    assert seen(BOB_1, BOB_2, AL_3) == {
        "Al": (1, 7, 7, ["SAP"], ["3"], b"x", False),
        "Bob": (2, 15, 10, ["AAPL"], ["1", "2"], b"xx", False),
    }
    # The largest goes, and the next one is found again.
    assert seen(("1",)) == {"Bob": (1, 5, 5, ["AAPL"], ["2"], b"x", False)}
    assert seen(("2", "Al", "IBM", 9, "NYSE")) == {
        "Al": (2, 16, 9, ["IBM", "SAP"], ["2", "3"], b"xx", False),
        "Bob": (None, None, None, None, None, None, True),
    }


def test_a_fold_may_hold_a_map(feed: Feed) -> None:
    def add(held: dict[str, int], row: Any) -> dict[str, int]:
        return {**held, row["ticker"]: held.get(row["ticker"], 0) + row["amount"]}

    def take(held: dict[str, int], row: Any) -> dict[str, int]:
        left = {**held, row["ticker"]: held[row["ticker"]] - row["amount"]}
        return {ticker: amount for ticker, amount in left.items() if amount}

    shares = fold(add, take, {}, "map<string,bigint>")
    feed.start(lambda rows: us_positions(rows).group_by("client").aggregate(shares=shares))
    (told,) = feed.send(BOB_1, BOB_2)
    assert dict(told["shares"]) == {"AAPL": 15}
    row = pa.Table.from_pylist([told], pa.schema([
        ("client", pa.string()), ("shares", pa.map_(pa.string(), pa.int64())),
        ("deleted", pa.bool_()),
    ]))  # fmt: skip
    store = Store(feed.folder / "store.db", "client")
    store.write(row, Batch("query", 0))
    assert store.get("Bob") == {"client": "Bob", "shares": {"AAPL": 15}}
    (told,) = feed.send(("1",), ("4", "Bob", "IBM", 3, "NYSE"))
    assert dict(told["shares"]) == {"AAPL": 5, "IBM": 3}
    (told,) = feed.send(("2",), ("4",))
    assert (told["shares"], told["deleted"]) == (None, True)


def test_a_fold_looks_at_each_update_in_its_order(feed: Feed) -> None:
    """Also at those of one position, and from whatever task and bucket they come."""
    steps = fold(
        lambda value, row: [*value, f"+{row['position']}"],
        lambda value, row: [*value, f"-{row['position']}"],
        [],
        "array<string>",
    )
    feed.start(
        lambda rows: ktable(rows, key="position").group_by("exchange").aggregate(steps=steps)
    )
    rows = [(str(n), "Bob", "AAPL", n, "NYSE") for n in (5, 3, 8, 1)]
    (told,) = feed.send(*rows, rows[0])
    assert told["steps"] == ["+5", "+3", "+8", "+1", "-5", "+5"]


def test_the_changes_of_a_table_and_of_its_groups(feed: Feed) -> None:
    feed.start(lambda rows: us_positions(rows).changes())
    assert [(r["position"], r["deleted"]) for r in feed.send(BOB_1, AL_3)] == [("1", False)]
    told = feed.send(("1", "Bob", "SAP", 1, "XETRA"), ("3", "Al", "IBM", 7, "NYSE"))
    assert [(r["position"], r["ticker"], r["deleted"]) for r in told] == [
        ("1", None, True),
        ("3", "IBM", False),
    ]


def test_a_branch_of_a_changelog_is_a_table_of_its_own(feed: Feed) -> None:
    """A row of another branch deletes nothing, where one that a filter leaves out does."""
    branch = {"where": "exchange = 'NASDAQ'", "columns": ["client"]}
    feed.start(lambda rows: ktable(rows, key="position", **branch).changes())
    assert feed.send(BOB_1, AL_3) == [{"position": "1", "client": "Bob", "deleted": False}]
    assert feed.send(("1", "Bob", "SAP", 1, "XETRA"), ("1",)) == []
    assert feed.send(("1", "Al", "AAPL", 1, "NASDAQ"))[0]["client"] == "Al"


def test_a_stopped_query_does_not_look_like_one_with_nothing_to_tell(feed: Feed) -> None:
    feed.start(us_share_holders)
    feed.send(BOB_1)
    feed.stop()
    with pytest.raises(QueryEnded, match="has been stopped"):
        feed.send(BOB_2)


def test_a_query_goes_on_where_it_stopped(feed: Feed) -> None:
    feed.start(us_share_holders)
    feed.send(BOB_1, BOB_2)
    feed.stop()
    feed.start(us_share_holders)
    assert holdings(feed.send(("1",))) == {"Bob": ["2"]}


# --- without a stream -------------------------------------------------------------------------


def test_rows_without_a_key_or_a_group_and_filters_without_an_answer(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [
            (None, "Bob", "F", 1, "NYSE", False, 0),
            ("2", None, "F", 1, "NYSE", False, 1),
            ("3", "Bob", "F", 1, None, False, 2),
            ("4", "Bob", "F", 1, "NYSE", None, 3),
            ("5", "Bob", "F", 1, "LSE", False, 4),
        ],
        SCHEMA,
    )
    table = ktable(rows, key="position").filter("exchange = 'NYSE'")
    by_client = table.group_by("client")._packed(["position", "client"], squeeze=False)
    found = pl.concat([unpacked(row["rows"]) for row in by_client.collect()]).sort("position")
    assert dict(found.select("position", DELETED).iter_rows()) == {
        "2": True,  # belongs to no group, so it leaves the one it was in
        "3": True,  # nobody knows whether it is NYSE
        "4": False,
        "5": True,
    }
    both = ktable(rows, key=["position", "client"])
    packs = both._packed(["position", "client"], F.lit(0), F.lit(False), squeeze=True).collect()
    kept = pl.concat([unpacked(row["rows"]) for row in packs])
    assert sorted(kept["position"]) == ["3", "4", "5"]  # every part of a key is needed


def test_rows_and_groups_are_spread_over_the_buckets(spark: SparkSession) -> None:
    rows = [(str(n), f"c{n}", "F", 1, "NYSE", False, n) for n in range(60)]
    table = ktable(spark.createDataFrame(rows, SCHEMA), key="position", buckets=4)
    packs = table.group_by("client")._packed(["position", "client"], squeeze=True).collect()
    assert {row["bucket"] for row in packs} == {0, 1, 2, 3}
    found = pl.concat([unpacked(row["rows"]) for row in packs])
    assert sorted(found["position"].cast(pl.Int64)) == list(range(60))
    assert found[GROUP_BUCKET].n_unique() == 60  # a bucket of groups is chosen in the same way


def test_a_table_may_be_grouped_by_its_key(table: KTable) -> None:
    by_key = table.group_by("position")
    told = by_key.aggregate(per_update=True, number=count())
    assert told.columns == ["position", "number", "deleted", "change", "step"]


# --- what is refused --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> KTable:
    return ktable(spark.createDataFrame([], SCHEMA), key="position")


def test_a_maximum_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(CannotSubtract, match="recompute=True"):
        max_of("amount")


def test_a_sum_of_fractions_is_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame([], f"{SCHEMA}, price DOUBLE")
    with pytest.raises(CannotSubtract, match=r"price.*double"):
        ktable(rows, key="position").group_by("client").aggregate(worth=sum_of("price"))


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "ARRAY<STRING>", "STRUCT<a: INT>"])
def test_a_column_whose_values_tell_no_groups_apart_is_refused(
    spark: SparkSession, kind: str
) -> None:
    rows = spark.createDataFrame([], f"{SCHEMA}, price {kind}")
    with pytest.raises(ValueError, match=r"tell groups apart.*'price' is .*cast\('string'\)"):
        ktable(rows, key="position").group_by("price")


@pytest.mark.parametrize(
    ("reduce", "says"),
    [
        (lambda t: t.group_by("client").aggregate(), "something to aggregate"),
        (lambda t: t.group_by("client").aggregate(client=count()), "other names.*client"),
        (lambda t: t.group_by("client").aggregate(rows=count()), "other names.*rows"),
        (
            lambda t: t.group_by("client").aggregate(number=count),
            r"Expected aggregates, .*count\(\)",
        ),
        (lambda t: t.group_by(["client", "ticker"]), "one column.*'client', 'ticker'"),
        (lambda t: ktable(t.changelog, key=[]), "a key and at least one bucket"),
        (lambda t: ktable(t.changelog, key="position", buckets=0), "at least one bucket"),
        (
            lambda t: t.group_by("client").aggregate(all=collect_set("price")),
            "columns of the table.*price",
        ),
        (lambda t: t.group_by("broker").aggregate(all=count()), "columns of the table.*broker"),
    ],
)
def test_a_reduction_that_cannot_be_is_refused(
    table: KTable, reduce: Callable[[KTable], DataFrame], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        reduce(table)


def test_a_changelog_without_its_columns_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="'offset', 'deleted'"):
        ktable(spark.createDataFrame([], "position STRING"), key="position")


def test_a_store_is_one_of_the_sinks(feed: Feed, tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db", "client")
    feed.sink = store  # type: ignore[assignment]
    feed.start(us_share_holders)
    assert feed.running is not None
    (feed.folder / "in" / "1.json").write_text(
        json.dumps({"position": "1", "client": "Bob", "exchange": "NYSE", "ticker": "IBM",
                    "deleted": False, "offset": 0})
    )  # fmt: skip
    feed.running.process_all()
    assert store.get("Bob") == {"client": "Bob", "positions": ["1"], "tickers": ["IBM"]}
