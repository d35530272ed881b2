"""What the shop sends: fields, JSON codec and Spark schema of an event, each defined once."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from workbook.errors import Rejected

MAX_AHEAD_MS = 5 * 60 * 1000
"""How far an event time may lie after its record's arrival before the event is rejected."""


class ClickType(StrEnum):
    """What a visitor did: looked at a page, or acted on one (put something in the basket)."""

    PAGE = "Page"
    ACTION = "Action"


TYPES = frozenset(kind.value for kind in ClickType)  # Python 3.11 cannot ask the enum itself


class Reason(StrEnum):
    """Why a record is rejected, in the order in which the checks are made."""

    EMPTY = "empty value"
    MALFORMED = "malformed JSON"  # not one JSON object in UTF-8
    MISSING = "missing field"  # a required one is absent or null, or one has the wrong type
    UNKNOWN_TYPE = "unknown click type"
    NEGATIVE = "negative timestamp"
    FUTURE = "event time more than five minutes after arrival"


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
    def from_json(cls, value: bytes | None, arrival: int) -> Click:
        """Read a record value that arrived at ``arrival`` (ms), or raise ``Rejected``."""
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


def _bigint(fields: dict[str, Any], name: str) -> int:
    """A whole number that Spark's BIGINT holds; a bool is an int to Python alone."""
    value = fields.get(name)
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise Rejected(Reason.MISSING)
    return value
