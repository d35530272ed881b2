"""Judges a table by its changelog: recomputes the truth at any offset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd

from workbook.errors import Rejected
from workbook.streams.events.positions import US, Position, position_id
from workbook.streams.ledgers.findings import Findings

REQUIRED_COLUMNS = ("position", "partition", "client", "ticker", "exchange", "deleted")

MEANINGS = {
    "missing": "a client holds this position, but the table does not say so",
    "stale": "in the table, but no longer true, or it never was",
    "repeated": "in the table more than once",
    "empty": "a client who holds nothing still stands in the table",
    "wrong_tickers": "a client's tickers are not those of the positions held",
}

NO_TICKERS = pd.DataFrame(columns=["client", "expected", "observed"])

Offsets = Mapping[int, int] | Mapping[str, int]
Table = Mapping[str, Iterable[str]]


@dataclass(frozen=True)
class TableVerdict(Findings):
    """Each anomaly with the very rows, as a DataFrame; empty where all is well. All are faults.

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
    missing: pd.DataFrame
    stale: pd.DataFrame
    repeated: pd.DataFrame
    empty: pd.DataFrame
    wrong_tickers: pd.DataFrame
    notes: list[str] = field(default_factory=list)

    def _headline(self) -> str:
        held = f"{self.expected:,} positions held, {self.observed:,} in the table"
        return f"{super()._headline()}: {held}"


class TableLedger:
    """Every record of a changelog of positions, and the judge of a table made of them.

    ``expected`` has a row per record: position (None where its key cannot be read), partition,
    client, ticker, exchange, deleted (bool: it leaves no row in the table), and optionally reason,
    offset and anything else. ``PositionStream.expected`` and ``records_of`` give it. Without
    offset, the n-th record of a partition has offset n, as in a new topic. Raises ValueError
    when a column is missing.
    """

    def __init__(self, expected: pd.DataFrame) -> None:
        missing = [column for column in REQUIRED_COLUMNS if column not in expected]
        if missing:
            raise ValueError(f"the table's ledger needs {missing}, and has {list(expected)}")
        records = expected.reset_index(drop=True)
        if "offset" not in records:
            records["offset"] = records.groupby("partition").cumcount()
        if "reason" not in records:
            records["reason"] = None
        self.records = records.sort_values(["partition", "offset"], kind="stable")

    def latest(self, offsets: Offsets | None = None) -> pd.DataFrame:
        """Return the table itself: the latest record of each open position, sorted by position.

        ``offsets`` maps a partition to the offset up to which, but not including it, records
        count; a partition it does not name has not been read. None counts all records. (Spark names
        partitions by text; that will do.)
        """
        last = self._last(offsets)
        return last[~last["deleted"]].reset_index(drop=True)

    def holders(self, offsets: Offsets | None = None) -> pd.DataFrame:
        """Return who holds US shares: client (the index), positions and tickers (sorted lists)."""
        held = self._held(offsets)
        lists = {"positions": _lists(held, "position"), "tickers": _lists(held, "ticker")}
        return pd.DataFrame(lists).rename_axis("client")

    def judge(self, observed: Table | pd.DataFrame, offsets: Offsets | None = None) -> TableVerdict:
        """Compare who holds what with the truth at these offsets (see ``latest``).

        ``observed`` maps a client to the positions held, or is a DataFrame with a row per client:
        client (a column, or the index), positions (any collection), and optionally tickers, and
        deleted (bool: the row was taken out of the table). Raises ValueError when a column is
        missing or a client stands there twice.
        """
        table = _table(observed)
        shown, last = _pairs(table), self._last(offsets)
        held = _us(last)
        true = pd.MultiIndex.from_frame(held[["client", "position"]])
        seen = pd.MultiIndex.from_frame(shown[["client", "position"]])
        where = ["client", "position", "ticker", "exchange", "partition", "offset"]
        judged = "tickers" in table
        return TableVerdict(
            expected=len(true),
            observed=len(seen),
            missing=held.loc[~true.isin(seen), where].reset_index(drop=True),
            stale=_explained(shown[~seen.isin(true)].drop_duplicates(), last),
            repeated=_repeated(shown),
            empty=table.loc[~table["client"].isin(shown["client"]), ["client"]],
            wrong_tickers=_wrong_tickers(table, held) if judged else NO_TICKERS,
            notes=[] if judged else ["Tickers were not judged: none were given."],
        )

    def _last(self, offsets: Offsets | None) -> pd.DataFrame:
        """Return each position's latest record, also where that took the row out."""
        records = self.records
        if offsets is not None:
            named = {int(partition): offset for partition, offset in offsets.items()}
            ends = records["partition"].map(named).fillna(0)
            records = records[records["offset"] < ends]
        known = records[records["position"].notna()]
        last = known.drop_duplicates("position", keep="last").sort_values("position")
        return last.assign(deleted=last["deleted"].astype(bool))

    def _held(self, offsets: Offsets | None) -> pd.DataFrame:
        return _us(self._last(offsets))


def records_of(topic: pd.DataFrame) -> pd.DataFrame:
    """Convert a topic's records, as they are, into what the ledger expects.

    In: partition, offset, key and value (bytes or None), as ``kafka.readers.read_all`` gives
    them. Out: those of TableLedger, and amount (NA where there is none).
    """
    rows = [
        (partition, offset, *_read(key, value))
        for partition, offset, key, value in zip(
            topic["partition"], topic["offset"], topic["key"], topic["value"], strict=True
        )
    ]
    fields = ["position", "client", "ticker", "amount", "exchange", "deleted", "reason"]
    frame = pd.DataFrame(rows, columns=["partition", "offset", *fields])
    return frame.astype({"amount": "Int64", "deleted": bool})


def _read(key: bytes | None, value: bytes | None) -> tuple[object, ...]:
    position = None
    try:
        position = position_id(key)
        found = Position.from_record(key, value)
    except Rejected as rejected:
        return position, None, None, None, None, True, str(rejected.reason)
    if found is None:
        return position, None, None, None, None, True, None
    return position, found.client, found.ticker, found.amount, found.exchange, False, None


def _us(last: pd.DataFrame) -> pd.DataFrame:
    return last[~last["deleted"] & last["exchange"].isin(US)]


def _lists(held: pd.DataFrame, column: str) -> pd.Series:
    """Map each client to the different values of a column, sorted."""
    pairs = held[["client", column]].drop_duplicates().sort_values(["client", column])
    return pairs.groupby("client")[column].agg(list)


def _table(observed: Table | pd.DataFrame) -> pd.DataFrame:
    """Return a row per client in the table: client, positions (list), perhaps tickers."""
    if not isinstance(observed, pd.DataFrame):
        rows = [(client, list(positions)) for client, positions in observed.items()]
        return pd.DataFrame(rows, columns=["client", "positions"])
    table = observed if "client" in observed else observed.rename_axis("client").reset_index()
    if "positions" not in table:
        raise ValueError(f"the table needs positions, and has {list(observed)}")
    if "deleted" in table:
        table = table[~table["deleted"].astype(bool)]
    twice = table.loc[table["client"].duplicated(), "client"]
    if len(twice):
        raise ValueError(
            f"client {twice.iloc[0]!r} stands in the table twice: a table has one row per client. "
            "Of a stream of updates, take the last of each client first."
        )
    lists = {name: [_list(cell) for cell in table[name]] for name in _collections(table)}
    return pd.DataFrame({"client": table["client"].to_numpy(), **lists})


def _collections(table: pd.DataFrame) -> list[str]:
    return [name for name in ("positions", "tickers") if name in table]


def _list(cell: object) -> list[str]:
    """Return a cell as a list: Spark and Arrow give arrays, a missing one is None or NaN."""
    return list(cell) if isinstance(cell, Iterable | np.ndarray) else []


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    pairs = table[["client", "positions"]].explode("positions")
    return pairs.rename(columns={"positions": "position"}).dropna()


def _repeated(shown: pd.DataFrame) -> pd.DataFrame:
    times = shown.groupby(["client", "position"], sort=False).size()
    return times[times > 1].rename("times").reset_index()


def _explained(stale: pd.DataFrame, last: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that are not true, each with the record that made them so."""
    columns = ["position", "client", "exchange", "deleted", "reason", "partition", "offset"]
    now = last[columns].rename(columns={"client": "now"})
    found = stale.merge(now, on="position", how="left")
    found["why"] = [_why(row) for row in found.to_dict("records")]
    found = found[["client", "position", "why", "partition", "offset"]]
    return found.astype({"partition": "Int64", "offset": "Int64"})


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


def _wrong_tickers(table: pd.DataFrame, held: pd.DataFrame) -> pd.DataFrame:
    expected = _lists(held, "ticker").rename("expected").rename_axis("client").reset_index()
    both = table[["client", "tickers"]].rename(columns={"tickers": "observed"})
    both = expected.merge(both, on="client")
    both["observed"] = [sorted(tickers) for tickers in both["observed"]]
    return both[both["expected"] != both["observed"]].reset_index(drop=True)
