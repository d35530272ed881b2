"""Keeps the table of who holds US shares on Spark (after D. Lebrero's proof of concept)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.streams.events.positions import US
from workbook.tables.ktable import KTable, collect_set, ktable

VERSION = 3
"""Of what its checkpoints hold and count; tests/test_versions.py says when to raise it."""

REQUIRED_COLUMNS = (
    *("position", "client", "ticker", "exchange", "deleted"),
    *("offset", "partition", "arrival"),
)
"""What the pipeline needs of the parsed positions."""


def us_positions(parsed: DataFrame) -> KTable:
    """Return the table of open positions in US shares, by position."""
    return ktable(parsed, key="position").filter(F.col("exchange").isin(*US))


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
