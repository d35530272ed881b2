"""Positions of invented clients: each event a function of the stream's parameters and its id."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbook.kafka.partitioning import partition_of
from workbook.streams.events.positions import MAX_AMOUNT, MAX_POSITION_BYTES, Exchange, Position
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.streams import (
    Ints,
    Kinds,
    PacedStream,
    changed,
    encode,
    without,
)

LISTED = {
    Exchange.NASDAQ: "AAPL AMZN GOOG INTC META MSFT NFLX NVDA TSLA",
    Exchange.NYSE: "BA DIS F GE IBM JPM KO V WMT",
    Exchange.LSE: "AZN BP HSBA ULVR VOD",
    Exchange.XETRA: "ALV BMW SAP SIE",
    Exchange.TSE: "NINTENDO SONY TOYOTA",
}
"""The shares of each exchange."""

SHARES = [(ticker, e.value) for e, tickers in LISTED.items() for ticker in tickers.split()]
LARGEST = 10_000
"""Amounts are drawn from 1 to this."""

_TICKERS, _EXCHANGES = (pa.array(column) for column in zip(*SHARES, strict=True))

SPOILED: Kinds = (
    (Reason.NO_KEY, lambda key, position: (b"", encode(position))),
    (Reason.NO_KEY, lambda key, position: (b"\xff" + (key or b""), encode(position))),
    (Reason.TOO_LARGE, changed(note="." * MAX_POSITION_BYTES)),
    (Reason.EMPTY, lambda key, position: (key, b"")),
    (Reason.MALFORMED, lambda key, position: (key, encode(position)[:-15])),
    (Reason.MALFORMED, lambda key, position: (key, encode(position) + b"}")),
    (Reason.MISSING, without("client")),
    (Reason.MISSING, changed(client="")),
    (Reason.MISSING, changed(ticker=7)),
    (Reason.NOT_AN_AMOUNT, changed(amount="many")),
    (Reason.NOT_AN_AMOUNT, changed(amount=12.5)),
    (Reason.NOT_AN_AMOUNT, changed(amount=0)),
    (Reason.NOT_AN_AMOUNT, changed(amount=MAX_AMOUNT + 1)),
    (Reason.UNKNOWN_EXCHANGE, changed(exchange="MOON")),
)
"""The kinds of bad records: the reason to expect, and how key and fields become the record.

None is without a key at all: a compacted topic refuses those.
"""

NO_KEY = [kind for kind, (reason, _) in enumerate(SPOILED) if reason is Reason.NO_KEY]


@dataclass(frozen=True, slots=True)
class PositionStream(PacedStream):
    """An endless, repeatable changelog of positions; event ids count from 0.

    ``rate`` is in events per virtual second, the same all the time. Each event is of one of so
    many ``positions``, evenly, and says whose of the ``clients`` it is now, of which share, and of
    how many. Of the good events ``closed_share`` are tombstones; the next event of that position
    opens it again. Between two events of a position it moves to another client with a
    probability of about ``moved_share``, and becomes one in another share with ``swapped_share``
    (both hold up to 0.5; above it they are less). A position stays on one of the ``partitions``:
    the one that Kafka's Java client chooses for its key.
    """

    BAD: ClassVar[Kinds] = SPOILED
    COUNTS: ClassVar[tuple[str, ...]] = ("partitions", "positions", "clients")

    positions: int = 1000
    clients: int = 200
    closed_share: float = 0.05
    moved_share: float = 0.1
    swapped_share: float = 0.1

    def expected(self, first: int, last: int) -> pd.DataFrame:
        """Return the facts of the messages for ids ``first`` to ``last`` (excluded).

        For a TableLedger. A row per message, in the order of sending: event_id, position (None
        where the key cannot be read), partition, arrival (ms), client, ticker, amount, exchange
        (None, and NA, where there is no position), deleted (bool: a tombstone, or rejected),
        reason (None when good), duplicate (bool). Blocks side by side give the whole stream.
        """
        facts = self._facts(self._sent(first, last))
        frame = facts.to_pandas()
        # Int64, since pandas would make floats of whole numbers with a gap.
        frame["amount"] = facts["amount"].to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
        return frame

    def block(self, first: int, last: int) -> pa.Table:
        """Return the messages: the columns of ``expected``, and key and value (bytes or null).

        The key is the position's id, a null value its tombstone.
        """
        ids = self._sent(first, last)
        index = self._index(ids)
        share = pa.array(self._share(ids, index))
        said = (self._names(ids, index), _TICKERS.take(share), pa.array(self._amount(ids)))
        positions = map(Position, *(each.to_pylist() for each in (*said, _EXCHANGES.take(share))))
        keys = _keys(self.positions).take(pa.array(index)).cast(pa.binary())
        record = self._records(ids, keys.to_pylist(), positions)
        value = _only(pa.array(~self._closed(ids) | (self._kinds(ids) >= 0)), record["value"])
        return self._facts(ids).append_column("key", record["key"]).append_column("value", value)

    def _facts(self, ids: Ints) -> pa.Table:
        index, kinds = self._index(ids), self._kinds(ids)
        share, deleted = self._share(ids, index), (kinds >= 0) | self._closed(ids)
        there, key = pa.array(~deleted), pa.array(~np.isin(kinds, NO_KEY))
        return pa.table(
            {
                "event_id": pa.array(ids),
                "position": _only(key, _keys(self.positions).take(pa.array(index))),
                "partition": pa.array(_partitions(self.positions, self.partitions)[index]),
                "arrival": pa.array(self.arrivals(ids)),
                "client": _only(there, self._names(ids, index)),
                "ticker": _only(there, _TICKERS.take(pa.array(share))),
                "amount": _only(there, pa.array(self._amount(ids))),
                "exchange": _only(there, _EXCHANGES.take(pa.array(share))),
                "deleted": pa.array(deleted),
                "reason": pa.array(self._reasons(ids), pa.string()),
                "duplicate": pa.array(np.diff(ids, prepend=-1) == 0),
            }
        )

    def _index(self, ids: Ints) -> Ints:
        """Return the number of each event's position."""
        return self._hash("position", ids) % self.positions

    def _names(self, ids: Ints, index: Ints) -> pa.Array:
        epoch = self._epoch("moved", self.moved_share, ids, index)
        return _clients(self.clients).take(pa.array(self._hash("client", epoch) % self.clients))

    def _share(self, ids: Ints, index: Ints) -> Ints:
        epoch = self._epoch("swapped", self.swapped_share, ids, index)
        return self._hash("share", epoch) % len(SHARES)

    def _epoch(self, what: str, share: float, ids: Ints, index: Ints) -> Ints:
        """Return a number for each stretch of a position's life in which something stays as it is.

        All stretches are of one length, but begin elsewhere for each position. So the event alone
        tells what the events before it have come to.
        """
        count = np.floor(ids * (share / self.positions) + self._draw(what, index))
        return (index << 32) + count.astype(np.int64)

    def _amount(self, ids: Ints) -> Ints:
        return 1 + self._hash("amount", ids) % LARGEST

    def _closed(self, ids: Ints) -> npt.NDArray[np.bool_]:
        return self._draw("closed", ids) < self.closed_share


def _only(mask: pa.Array, column: pa.Array) -> pa.Array:
    """Return the column, null where the mask is false."""
    return pc.if_else(mask, column, pa.scalar(None, column.type))


@lru_cache(maxsize=4)
def _keys(positions: int) -> pa.Array:
    return pa.array(f"p{number:06d}" for number in range(positions))


@lru_cache(maxsize=4)
def _clients(clients: int) -> pa.Array:
    return pa.array(f"c{number:05d}" for number in range(clients))


@lru_cache(maxsize=4)
def _partitions(positions: int, partitions: int) -> npt.NDArray[np.int32]:
    return partition_of(_keys(positions).cast(pa.binary()).to_pylist(), partitions)
