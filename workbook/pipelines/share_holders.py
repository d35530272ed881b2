"""Keeps the table of who holds US shares: by hand, and on Spark (D. Lebrero's proof of concept)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.events.positions import US
from workbook.tables.ktable import KTable, collect_set, ktable

REQUIRED_COLUMNS = ("position", "client", "ticker", "exchange", "deleted", "offset")
"""What the pipeline needs of the parsed positions."""

MOVE_SCHEMA = "client STRING, position STRING, ticker STRING, deleted BOOLEAN"
KEYS = ("client", "position")


def us_positions(parsed: DataFrame) -> KTable:
    """Return the table of open positions in US shares, by position."""
    return ktable(parsed, key="position").filter(F.col("exchange").isin(*US))


def moves(parsed: DataFrame) -> DataFrame:
    """Return which US position joined or left a client: a changelog by client and position.

    Columns: ``client``, ``position``, ``ticker`` (null where deleted), ``deleted`` (boolean). It is
    what goes into a topic that is partitioned by client, as Kafka Streams' repartition topic.
    """
    return us_positions(parsed).group_by("client").changelog("ticker")


def holders_by_moves(raw: DataFrame) -> DataFrame:
    """Return who holds US shares, of the clients in these partitions of a topic of ``moves``.

    In: the columns of Spark's Kafka source; values are JSON. Out: as ``us_share_holders``. A move
    that comes again changes nothing.
    """
    fields = F.from_json(F.col("value").cast("string"), MOVE_SCHEMA)
    table = ktable(raw.select(fields.alias("move"), "offset").select("move.*", "offset"), KEYS)
    return table.group_by("client").aggregate(
        positions=collect_set("position"), tickers=collect_set("ticker")
    )


def us_share_holders(parsed: DataFrame, *, per_update: bool = False) -> DataFrame:
    """Return who holds US shares: ``client``, ``positions``, ``tickers`` (sorted string arrays).

    ``deleted`` (boolean) is true where a client holds none any more; then the arrays are null.
    """
    return (
        us_positions(parsed)
        .group_by("client")
        .aggregate(
            per_update=per_update, positions=collect_set("position"), tickers=collect_set("ticker")
        )
    )
