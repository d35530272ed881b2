"""A table that follows a changelog, on the real Spark: rows, filter, groups and their state."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from feeds import Feed
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.pipelines.share_holders import us_share_holders
from workbook.sinks.store import Store
from workbook.tables.changes import DELETED
from workbook.tables.ktable import collect_set, count, fold, ktable
from workbook.tables.state import unpacked

SCHEMA = (
    "position STRING, client STRING, ticker STRING, amount BIGINT, exchange STRING, "
    "deleted BOOLEAN, offset BIGINT"
)
FIELDS = ("position", "client", "ticker", "amount", "exchange")
BOB_1 = ("1", "Bob", "AAPL", 10, "NASDAQ")
BOB_2 = ("2", "Bob", "AAPL", 5, "NASDAQ")
AL_3 = ("3", "Al", "SAP", 7, "XETRA")


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    feed = Feed(spark, tmp_path, SCHEMA)
    yield feed
    feed.stop()


def send(feed: Feed, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Send rows of a position, or its id alone for a tombstone; return what changed, sorted."""
    fields = [dict(zip(FIELDS, row, strict=False)) | {"deleted": len(row) == 1} for row in rows]
    told = feed.send(*fields)
    return sorted(told, key=lambda row: (str(next(iter(row.values()))), row.get("step", 0)))


def holdings(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {row["client"]: (row["positions"], row["tickers"]) for row in rows}


GONE = (None, None)


def test_a_client_holds_what_is_open_and_us(feed: Feed, tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db", "client")
    feed.start(us_share_holders, store)
    assert holdings(send(feed, BOB_1, BOB_2, AL_3)) == {"Bob": (["1", "2"], ["AAPL"])}
    assert store.all() == [{"client": "Bob", "positions": ["1", "2"], "tickers": ["AAPL"]}]
    assert send(feed, BOB_1) == [], "redelivered"
    assert send(feed, ("9",), AL_3, ("3",)) == [], "never a US share"
    assert send(feed, ("4", "Al", "IBM", 1, "NYSE"), ("4",)) == [], "within one batch"
    moves = [("1", to, "AAPL", 10, "NASDAQ") for to in ("Al", "Cy")]
    told = holdings(send(feed, *moves))
    assert told == {"Bob": (["2"], ["AAPL"]), "Cy": (["1"], ["AAPL"])}
    feed.stop()
    feed.start(us_share_holders, store)
    assert send(feed, ("1",)) == [
        {"client": "Cy", "positions": None, "tickers": None, "deleted": True}
    ]
    # It stops to be a US share: the filter makes a delete of it.
    assert holdings(send(feed, ("2", "Bob", "SAP", 5, "XETRA"))) == {"Bob": GONE}
    assert len(store) == 0


def test_all_aggregates_agree_with_arithmetic(feed: Feed) -> None:
    def add(held: dict[str, int], row: Any) -> dict[str, int]:
        return {**held, row["ticker"]: held.get(row["ticker"], 0) + row["amount"]}

    def take(held: dict[str, int], row: Any) -> dict[str, int]:
        left = {**held, row["ticker"]: held[row["ticker"]] - row["amount"]}
        return {ticker: amount for ticker, amount in left.items() if amount}

    feed.start(
        lambda rows: ktable(rows, key="position").group_by("client").aggregate(
            number=count(),
            tickers=collect_set("ticker"),
            by_ticker=fold(add, take, {}, "map<string,bigint>"),
            raw=fold(lambda v, r: v + b"x", lambda v, r: v[1:], b"", "binary"),
            order=fold(
                lambda v, r: [*v, f"+{r['position']}"],
                lambda v, r: [*v, f"-{r['position']}"],
                [],
                "array<string>",
            ),
        )
    )  # fmt: skip
    names = ("number", "tickers", "by_ticker", "raw", "order", "deleted")

    def seen(*rows: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
        return {row["client"]: tuple(row[name] for name in names) for row in send(feed, *rows)}

    assert seen(BOB_2, BOB_1, AL_3, BOB_2) == {
        "Al": (1, ["SAP"], [("SAP", 7)], b"x", ["+3"], False),
        "Bob": (2, ["AAPL"], [("AAPL", 15)], b"xx", ["+2", "+1", "-2", "+2"], False),
    }
    assert seen(("1",))["Bob"][:4] == (1, ["AAPL"], [("AAPL", 5)], b"x")
    assert seen(("2", "Al", "IBM", 9, "NYSE")) == {
        "Al": (2, ["IBM", "SAP"], [("SAP", 7), ("IBM", 9)], b"xx", ["+3", "+2"], False),
        "Bob": (*[None] * 5, True),
    }


# --- without a stream -------------------------------------------------------------------------


def test_rows_without_a_key_and_filters_without_an_answer(spark: SparkSession) -> None:
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
    rows_of_it = table._packed(["position", "client"], F.lit(0), table.gone, squeeze=False)
    found = pl.concat([unpacked(row["rows"]) for row in rows_of_it.collect()]).sort("position")
    assert dict(found.select("position", DELETED).iter_rows()) == {
        "2": False,
        "3": True,  # nobody knows whether it is NYSE
        "4": False,
        "5": True,
    }
    both = ktable(rows, key=["position", "client"])
    packs = both._packed(["position", "client"], F.lit(0), F.lit(False), squeeze=True).collect()
    kept = pl.concat([unpacked(row["rows"]) for row in packs])
    assert sorted(kept["position"]) == ["3", "4", "5"]  # every part of a key is needed


@pytest.mark.parametrize(
    ("reduce", "error", "says"),
    [
        (lambda t: t.group_by("client").aggregate(), ValueError, "something to aggregate"),
        (lambda t: t.group_by("client").aggregate(rows=count()), ValueError, "other.*rows"),
        (lambda t: t.group_by("client").aggregate(number=count), ValueError, r"count\(\)"),
        (lambda t: t.group_by(["client", "ticker"]), ValueError, "'client', 'ticker'"),
        (lambda t: t.group_by("client").aggregate(n=collect_set("x")), ValueError, "columns of"),
        (lambda t: t.group_by("price"), ValueError, r"tell groups apart.*cast\('string'\)"),
        (lambda t: ktable(t.changelog, key="id"), ValueError, r"\['id'\] are missing"),
    ],
)
def test_a_reduction_that_cannot_be_is_refused(spark, reduce, error, says) -> None:
    rows = spark.createDataFrame([], f"{SCHEMA}, price DOUBLE")
    with pytest.raises(error, match=says):
        reduce(ktable(rows, key="position"))
