"""Judges a table of share holders by its changelog: recomputes the truth."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from workbook.streams.events.positions import US
from workbook.streams.ledgers.findings import Findings, compare

MEANINGS = {
    "missing": "a client holds this position, but the table does not say so",
    "stale": "in the table, but no longer true, or it never was",
    "repeated": "in the table more than once",
    "empty": "a client who holds nothing is still in the table",
    "wrong_tickers": "a client's tickers are not those of the positions held",
}


@dataclass(frozen=True, kw_only=True)
class TableVerdict(Findings):
    """Each anomaly with the very rows. All are faults.

    ``missing``: client, position, ticker, exchange, partition, offset (of the record that says so).
    ``stale``: client, position, why (closed, moved to another client ...), partition, offset (of
    the record that made it so; NA where there is none).
    ``repeated``: client, position, times. ``empty``: client.
    ``wrong_tickers``: client, expected, observed (sorted lists).
    ``expected`` and ``observed`` count pairs of client and position.
    """

    meanings: ClassVar = MEANINGS
    faults: ClassVar = tuple(MEANINGS)

    expected: int
    observed: int

    @property
    def headline(self) -> str:
        return f"{self.expected:,} positions held, {self.observed:,} in the table"


class TableLedger:
    """Every record of a changelog of positions, and the judge of a table made of them.

    ``expected`` has a row per record, a partition's in their order: position (None where its key
    cannot be read), partition, client, ticker, exchange, deleted (bool: it leaves no row in the
    table), reason. ``PositionStream.expected`` gives it.
    """

    def __init__(self, expected: pd.DataFrame) -> None:
        records = expected.assign(offset=expected.groupby("partition").cumcount())
        self._last = records.dropna(subset="position").drop_duplicates("position", keep="last")
        held = self._last[~self._last["deleted"].astype(bool) & self._last["exchange"].isin(US)]
        self._held = held.sort_values("position")

    def holders(self) -> pd.DataFrame:
        """Return who holds US shares: client (the index), positions and tickers (sorted lists)."""
        by_client = self._held.groupby("client")
        positions = by_client["position"].agg(list)
        tickers = by_client["ticker"].agg(lambda held: sorted(set(held)))
        return pd.DataFrame({"positions": positions, "tickers": tickers})

    def judge(self, observed: pd.DataFrame) -> TableVerdict:
        """Compare who holds what with the truth.

        ``observed`` has a row per client: client, positions and tickers (lists, or None). Raises
        ValueError when a client stands there twice.
        """
        twice = observed.loc[observed["client"].duplicated(), "client"]
        if len(twice):
            raise ValueError(
                f"Expected a row per client, but {twice.iloc[0]!r} is in the table twice. Of a "
                "stream of updates, take the last of each client first."
            )
        pairs = observed[["client", "positions"]].explode("positions")
        shown = pairs.rename(columns={"positions": "position"}).dropna()
        key, where = ["client", "position"], ["ticker", "exchange", "partition", "offset"]
        lost, extra, _, _ = compare(self._held[[*key, *where]], shown.drop_duplicates(), key)
        times = shown.value_counts(key).rename("times")
        found = {
            "missing": lost.reset_index(drop=True),
            "stale": self._explained(extra[key]),
            "repeated": times[times > 1].reset_index(),
            "empty": observed.loc[~observed["client"].isin(shown["client"]), ["client"]],
            "wrong_tickers": self._wrong_tickers(observed),
        }
        return TableVerdict(found=found, expected=len(self._held), observed=len(shown))

    def _explained(self, stale: pd.DataFrame) -> pd.DataFrame:
        """Return the pairs that are not true, each with the record that made them so."""
        columns = ["position", "client", "exchange", "deleted", "reason", "partition", "offset"]
        now = self._last[columns].rename(columns={"client": "now"})
        found = stale.merge(now, on="position", how="left")
        found["why"] = [_why(row) for row in found.to_dict("records")]
        found = found[["client", "position", "why", "partition", "offset"]]
        return found.astype({"partition": "Int64", "offset": "Int64"})

    def _wrong_tickers(self, observed: pd.DataFrame) -> pd.DataFrame:
        expected = self.holders()["tickers"].rename("expected").reset_index()
        both = observed[["client", "tickers"]].rename(columns={"tickers": "observed"})
        both = expected.merge(both, on="client")
        both["observed"] = [
            sorted(cell) if isinstance(cell, Iterable) else [] for cell in both["observed"]
        ]
        return both[both["expected"] != both["observed"]].reset_index(drop=True)


def _why(row: dict[object, object]) -> str:
    if pd.isna(row["partition"]):
        return "no record of it so far"
    if not pd.isna(row["reason"]):
        return f"rejected: {row['reason']}"
    if row["deleted"]:
        return "closed"
    if row["now"] != row["client"]:
        return f"held by {row['now']}"
    return f"no US share: {row['exchange']}"
