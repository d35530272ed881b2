"""Positions of clients in shares."""

from enum import StrEnum
from typing import Annotated, Self

import msgspec

from workbook.errors import Rejected
from workbook.streams.events.fields import Event, Name, json_object, key_text, name
from workbook.streams.events.reasons import Reason


class Exchange(StrEnum):
    """A stock exchange."""

    NYSE = "NYSE"
    NASDAQ = "NASDAQ"
    LSE = "LSE"
    XETRA = "XETRA"
    TSE = "TSE"


US = (Exchange.NYSE.value, Exchange.NASDAQ.value)
"""The exchanges whose shares are US shares."""

EXCHANGES = frozenset(exchange.value for exchange in Exchange)
MAX_AMOUNT = 10**12
"""The most shares of a position: sums of millions of them stay within a BIGINT."""

MAX_POSITION_BYTES = 4096
"""A larger value is no position."""


class Position(Event, frozen=True):
    """What a client holds of one share, as in D. Lebrero's proof of concept.

    Its id is the key of the record, and a record without a value (a tombstone) closes it.
    """

    client: Name
    ticker: Name
    amount: Annotated[int, msgspec.Meta(ge=1, le=MAX_AMOUNT)]
    exchange: Exchange

    @classmethod
    def from_record(cls, key: bytes | None, value: bytes | None) -> Self | None:
        """Read a record; None for a position that was closed. Raises ``Rejected``."""
        key_text(key)
        if value is None:
            return None
        if len(value) > MAX_POSITION_BYTES:
            raise Rejected(Reason.TOO_LARGE)
        fields = json_object(value)
        client, ticker, exchange = (name(fields, f) for f in ("client", "ticker", "exchange"))
        amount = fields.get("amount")
        if amount is None:
            raise Rejected(Reason.MISSING)
        if type(amount) is not int or not 1 <= amount <= MAX_AMOUNT:
            raise Rejected(Reason.NOT_AN_AMOUNT)
        if exchange not in EXCHANGES:
            raise Rejected(Reason.UNKNOWN_EXCHANGE)
        return cls(client, ticker, amount, Exchange(exchange))
