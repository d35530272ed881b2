"""Positions of invented clients: each event a function of the stream's parameters and its id."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from workbook.kafka.partitioning import partition_of
from workbook.streams.events.positions import MAX_AMOUNT, MAX_POSITION_BYTES, Exchange, Position
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.streams import (
    Facts,
    Ints,
    Kinds,
    Messages,
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

_TICKERS, _EXCHANGES = (np.array(column, object) for column in zip(*SHARES, strict=True))

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
    the one that Kafka's Java client chooses for its key. A null value is a tombstone.

    Facts: event_id, position (None where the key cannot be read), partition, arrival (ms), client,
    ticker, amount, exchange (None, and NA, where there is no position), deleted (bool: a tombstone,
    or rejected), reason (None when good), duplicate (bool).
    """

    BAD: ClassVar[Kinds] = SPOILED
    COUNTS: ClassVar[tuple[str, ...]] = ("partitions", "positions", "clients")

    positions: int = 1000
    clients: int = 200
    closed_share: float = 0.05
    moved_share: float = 0.1
    swapped_share: float = 0.1

    def _facts(self, places: Ints, ids: Ints) -> Facts:
        index, kinds = self._index(ids), self._kinds(ids)
        deleted = (kinds >= 0) | self._closed(ids)
        said, names = self._said(ids), _named("p%06d", self.positions)[index]
        names[np.isin(kinds, NO_KEY)] = None
        known = {name: np.where(deleted, None, said[name]) for name in said if name != "amount"}
        return {
            "event_id": ids,
            "position": names,
            "partition": _partitions(self.positions, self.partitions)[index],
            "arrival": self.arrivals(ids),
            **known,
            # Since pandas would make floats of whole numbers with a gap.
            "amount": pd.arrays.IntegerArray(said["amount"], deleted),
            "deleted": deleted,
            "reason": self._reasons(ids),
            "duplicate": np.diff(ids, prepend=-1) == 0,
        }

    def _messages(self, ids: Ints, facts: Facts) -> Messages:
        said = {name: column.tolist() for name, column in self._said(ids).items()}
        held = map(Position, said["client"], said["ticker"], said["amount"], said["exchange"])
        closed = self._closed(ids) & (self._kinds(ids) < 0)
        keys = _named("p%06d", self.positions)[self._index(ids)]
        positions = (None if gone else one for gone, one in zip(closed, held, strict=True))
        return map(str.encode, keys), positions

    def _said(self, ids: Ints) -> dict[str, Any]:
        """Return the fields of each position, as if it were good and open."""
        index = self._index(ids)
        client = self._hash("client", self._epoch("moved", self.moved_share, ids, index))
        share = self._hash("share", self._epoch("swapped", self.swapped_share, ids, index))
        return {
            "client": _named("c%05d", self.clients)[client % self.clients],
            "ticker": _TICKERS[share % len(SHARES)],
            "exchange": _EXCHANGES[share % len(SHARES)],
            "amount": 1 + self._hash("amount", ids) % LARGEST,
        }

    def _index(self, ids: Ints) -> Ints:
        """Return the number of each event's position."""
        return self._hash("position", ids) % self.positions

    def _epoch(self, what: str, share: float, ids: Ints, index: Ints) -> Ints:
        """Return a number for each stretch of a position's life in which something stays as it is.

        All stretches are of one length, but begin elsewhere for each position. So the event alone
        tells what the events before it have come to.
        """
        count = np.floor(ids * (share / self.positions) + self._draw(what, index))
        return (index << 32) + count.astype(np.int64)

    def _closed(self, ids: Ints) -> npt.NDArray[np.bool_]:
        return self._draw("closed", ids) < self.closed_share


@lru_cache(maxsize=8)
def _named(pattern: str, number: int) -> npt.NDArray[np.object_]:
    return np.array([pattern % each for each in range(number)], object)


@lru_cache(maxsize=4)
def _partitions(positions: int, partitions: int) -> npt.NDArray[np.int32]:
    keys = map(str.encode, _named("p%06d", positions))
    return partition_of(list(keys), partitions)
