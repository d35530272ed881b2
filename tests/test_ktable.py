"""A table that follows a changelog, on the real Spark: rows, filter, groups."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from feeds import Feed
from pyspark.sql import DataFrame, SparkSession

from workbook.tables.ktable import collect_set, count, fold, ktable

SCHEMA = (
    "position STRING, client STRING, ticker STRING, amount BIGINT, exchange STRING, "
    "deleted BOOLEAN, offset BIGINT"
)
FIELDS = ("position", "client", "ticker", "amount", "exchange")
BOB_1 = ("1", "Bob", "AAPL", 10, "NASDAQ")
BOB_2 = ("2", "Bob", "AAPL", 5, "NASDAQ")
AL_3 = ("3", "Al", "SAP", 7, "XETRA")
BOB_LSE = ("5", "Bob", "F", 1, "LSE")


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    feed = Feed(spark, tmp_path, SCHEMA)
    yield feed
    feed.stop()


def test_all_aggregates_agree_with_arithmetic(feed: Feed) -> None:
    def add(held: dict[str, int], row: Any) -> dict[str, int]:
        return {**held, row["ticker"]: held.get(row["ticker"], 0) + row["amount"]}

    def take(held: dict[str, int], row: Any) -> dict[str, int]:
        left = {**held, row["ticker"]: held[row["ticker"]] - row["amount"]}
        return {ticker: amount for ticker, amount in left.items() if amount}

    aggregates = {
        "number": count(),
        "tickers": collect_set("ticker"),
        "by_ticker": fold(add, take, {}, "map<string,bigint>"),
        "raw": fold(lambda v, r: v + b"x", lambda v, r: v[1:], b"", "binary"),
        "order": fold(
            lambda v, r: [*v, f"+{r['position']}"],
            lambda v, r: [*v, f"-{r['position']}"],
            [],
            "array<string>",
        ),
    }

    def by_client(rows: DataFrame) -> DataFrame:
        table = ktable(rows, key="position").filter("exchange <> 'LSE'")
        return table.group_by("client").aggregate(**aggregates)

    feed.start(by_client)

    def seen(*rows: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
        """Send rows of a position, or its id alone for a tombstone; return what changed."""
        fields = [dict(zip(FIELDS, row, strict=False)) for row in rows]
        told = feed.send(*(row | {"deleted": len(row) == 1 or None} for row in fields))
        return {row["client"]: tuple(row[n] for n in (*aggregates, "deleted")) for row in told}

    assert seen(BOB_2, BOB_1, AL_3, BOB_2) == {
        "Al": (1, ["SAP"], [("SAP", 7)], b"x", ["+3"], False),
        "Bob": (2, ["AAPL"], [("AAPL", 15)], b"xx", ["+2", "+1", "-2", "+2"], False),
    }
    assert seen(("1",))["Bob"][:4] == (1, ["AAPL"], [("AAPL", 5)], b"x")
    assert seen(("2", "Al", "IBM", 9, "NYSE")) == {
        "Al": (2, ["IBM", "SAP"], [("SAP", 7), ("IBM", 9)], b"xx", ["+3", "+2"], False),
        "Bob": (*[None] * 5, True),
    }
    for nothing in ((None, "Bob", "F", 1, "NYSE"), ("4", None, "F", 1, "NYSE"), BOB_LSE):
        assert seen(nothing) == {}, "no key; no group; not in the table"
    without_exchange = AL_3[:4]
    assert seen(without_exchange)["Al"][0] == 1, "nobody knows whether the filter holds"


@pytest.mark.parametrize(
    ("reduce", "says"),
    [
        (lambda t: t.group_by("client").aggregate(), "something to aggregate"),
        (lambda t: t.group_by("client").aggregate(rows=count()), "other.*rows"),
        (lambda t: t.group_by("client").aggregate(number=count), r"count\(\)"),
        (lambda t: t.group_by(["client", "ticker"]), "'client', 'ticker'"),
        (lambda t: t.group_by("client").aggregate(n=collect_set("x")), "columns of"),
        (lambda t: t.group_by("price"), r"tell groups apart.*cast\('string'\)"),
        (lambda t: ktable(t.changelog, key="id"), r"\['id'\] are missing"),
    ],
)
def test_a_reduction_that_cannot_be_is_refused(spark, reduce, says) -> None:
    rows = spark.createDataFrame([], f"{SCHEMA}, price DOUBLE")
    with pytest.raises(ValueError, match=says):
        reduce(ktable(rows, key="position"))
