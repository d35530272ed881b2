"""What comes in: fields, JSON codec and Spark schema of an event, each defined once."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from workbook.errors import Rejected

MAX_AHEAD_MS = 5 * 60 * 1000
"""How far an event time may lie after its record's arrival, and after the reader's own time."""


class ClickType(StrEnum):
    """What a visitor did: looked at a page, or acted on one (put something in the basket)."""

    PAGE = "Page"
    ACTION = "Action"


TYPES = frozenset(kind.value for kind in ClickType)  # Python 3.11 cannot ask the enum itself


class Reason(StrEnum):
    """Why a record is rejected, in the order in which the checks are made."""

    NO_KEY = "no key, or one that is not UTF-8"
    TOO_LARGE = "value larger than 4,096 bytes"
    EMPTY = "empty value"
    MALFORMED = "malformed JSON"  # not one JSON object in UTF-8
    MISSING = "missing field"  # a required one is absent or null, or one has the wrong type
    UNKNOWN_TYPE = "unknown click type"
    NEGATIVE = "negative timestamp"
    FUTURE = "event time more than five minutes after arrival"
    AHEAD = "event time more than five minutes after the reader's own time"
    NOT_AN_AMOUNT = "amount is not a whole number from 1 to 1,000,000,000,000"
    UNKNOWN_EXCHANGE = "unknown exchange"
    TOO_LATE = "too late"  # a good page view, but its second was complete already


OF_THE_READER = frozenset({Reason.AHEAD, Reason.TOO_LATE})
"""The reasons that depend on when a record is read, and not on the record alone."""

OF_POSITIONS = frozenset(
    {Reason.NO_KEY, Reason.TOO_LARGE, Reason.NOT_AN_AMOUNT, Reason.UNKNOWN_EXCHANGE}
)
"""The reasons for which no click is rejected: its key means nothing, its size is not limited."""


@dataclass(frozen=True, slots=True)
class Click:
    """One click in the shop, as in OTTO's mob programming session, plus an event id.

    ``timestamp`` is the event time in milliseconds since 1970 (UTC); ``tab_id`` may be absent.
    """

    event_id: int
    click_type: ClickType
    name: str
    timestamp: int
    browser: str
    tab_id: str | None = None

    @property
    def epoch_second(self) -> int:
        """The second in which the click happened."""
        return self.timestamp // 1000

    def to_json(self) -> bytes:
        """The click as a Kafka record value."""
        fields: dict[str, Any] = {
            "event_id": self.event_id,
            "click_type": self.click_type.value,
            "name": self.name,
            "timestamp": self.timestamp,
            "browser": self.browser,
        }
        if self.tab_id is not None:
            fields["tab_id"] = self.tab_id
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, value: bytes | None, arrival: int, now: int | None = None) -> Click:
        """Read a record value that arrived at ``arrival`` (ms), or raise ``Rejected``.

        ``now`` is the reader's own time (ms): a producer whose clock is ahead stamps the arrival
        by the same clock. None leaves that unchecked.
        """
        fields = _object(value)
        click_type, name, browser = (_text(fields, f) for f in ("click_type", "name", "browser"))
        event_id, timestamp = _bigint(fields, "event_id"), _bigint(fields, "timestamp")
        tab_id = None if fields.get("tab_id") is None else _text(fields, "tab_id")
        if click_type not in TYPES:
            raise Rejected(Reason.UNKNOWN_TYPE)
        if timestamp < 0:
            raise Rejected(Reason.NEGATIVE)
        if timestamp > arrival + MAX_AHEAD_MS:
            raise Rejected(Reason.FUTURE)
        if now is not None and timestamp > now + MAX_AHEAD_MS:
            raise Rejected(Reason.AHEAD)
        return cls(event_id, ClickType(click_type), name, timestamp, browser, tab_id)


CLICK_SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING"
)
"""The same fields for Spark's ``from_json``."""

_Bigint = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class PlainClick(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The same fields for msgspec, which reads JSON into them ten times as fast.

    It takes less than ``Click.from_json``: no field beside these. It checks all but the time.
    """

    event_id: _Bigint
    click_type: Literal["Page", "Action"]
    name: str
    timestamp: _Bigint
    browser: str
    tab_id: str | None = None


class Exchange(StrEnum):
    """Where a share is traded."""

    NYSE = "NYSE"
    NASDAQ = "NASDAQ"
    LSE = "LSE"
    XETRA = "XETRA"
    TSE = "TSE"


US = (Exchange.NYSE.value, Exchange.NASDAQ.value)
"""The exchanges whose shares are US shares."""

EXCHANGES = frozenset(exchange.value for exchange in Exchange)
MAX_AMOUNT = 10**12
"""So many shares at most in a position: sums of millions of them stay within a BIGINT."""

MAX_POSITION_BYTES = 4096
"""A larger value is no position."""


@dataclass(frozen=True, slots=True)
class Position:
    """What a client holds of one share, as in D. Lebrero's proof of concept.

    Its id is the key of the record, and a record without a value (a tombstone) closes it.
    """

    client: str
    ticker: str
    amount: int
    exchange: str

    def to_json(self) -> bytes:
        """The position as a Kafka record value."""
        fields = {
            "client": self.client,
            "ticker": self.ticker,
            "amount": self.amount,
            "exchange": self.exchange,
        }
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def from_record(cls, key: bytes | None, value: bytes | None) -> Position | None:
        """Read a record; None for a position that was closed. Raises ``Rejected``."""
        position_id(key)
        if value is None:
            return None
        if len(value) > MAX_POSITION_BYTES:
            raise Rejected(Reason.TOO_LARGE)
        fields = _object(value)
        client, ticker, exchange = (_name(fields, f) for f in ("client", "ticker", "exchange"))
        amount = fields.get("amount")
        if amount is None:
            raise Rejected(Reason.MISSING)
        if type(amount) is not int or not 1 <= amount <= MAX_AMOUNT:
            raise Rejected(Reason.NOT_AN_AMOUNT)
        if exchange not in EXCHANGES:
            raise Rejected(Reason.UNKNOWN_EXCHANGE)
        return cls(client, ticker, amount, exchange)


def position_id(key: bytes | None) -> str:
    """The id in a record's key, or ``Rejected``."""
    try:
        text = (key or b"").decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text:
        raise Rejected(Reason.NO_KEY)
    return text


POSITION_SCHEMA = "client STRING, ticker STRING, amount BIGINT, exchange STRING"
"""The same fields for Spark."""

_Name = Annotated[str, msgspec.Meta(min_length=1)]


class PlainPosition(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The same fields for msgspec; it takes less than ``Position.from_record``."""

    client: _Name
    ticker: _Name
    amount: Annotated[int, msgspec.Meta(ge=1, le=MAX_AMOUNT)]
    exchange: Literal["NYSE", "NASDAQ", "LSE", "XETRA", "TSE"]


# Half a surrogate pair as an escape: text that nobody can write as UTF-8 again. To be looked for
# where doubled backslashes have been replaced.
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF_PAIR = re.compile(f"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}")


def _object(value: bytes | None) -> dict[str, Any]:
    """The one JSON object, in UTF-8, that the bytes are, or Rejected."""
    if not value:
        raise Rejected(Reason.EMPTY)
    try:
        # Given bytes, json.loads would guess UTF-16 and let broken UTF-8 pass: decode first.
        fields = json.loads(value.decode("utf-8"), parse_constant=_not_json)
    except (ValueError, RecursionError):
        raise Rejected(Reason.MALFORMED) from None
    if not isinstance(fields, dict) or _has_half_pair(value):
        raise Rejected(Reason.MALFORMED)
    return fields


def _has_half_pair(value: bytes) -> bool:
    if b"\\u" not in value:
        return False
    return _HALF_PAIR.search(value.decode("utf-8").replace("\\\\", " ")) is not None


def _not_json(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise Rejected(Reason.MISSING)
    return value


def _name(fields: dict[str, Any], name: str) -> str:
    """A text that is not empty: a client without a name is no client."""
    value = _text(fields, name)
    if not value:
        raise Rejected(Reason.MISSING)
    return value


def _bigint(fields: dict[str, Any], name: str) -> int:
    """A whole number that Spark's BIGINT holds; a bool is an int to Python alone."""
    value = fields.get(name)
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise Rejected(Reason.MISSING)
    return value
