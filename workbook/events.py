"""What the shop sends: fields, JSON codec and Spark schema of an event, each defined once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from workbook.errors import Rejected

MAX_AHEAD_MS = 5 * 60 * 1000
"""How far an event time may lie after its record's arrival before the event is rejected."""


class ClickType(StrEnum):
    """What a visitor did: looked at a page, or acted on one (put something in the basket)."""

    PAGE = "Page"
    ACTION = "Action"


class Reason(StrEnum):
    """Why a record is rejected, in the order in which the checks are made."""

    EMPTY = "empty value"
    MALFORMED = "malformed JSON"
    MISSING = "missing field"
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
        """Read a record value that arrived at ``arrival`` (ms); raise ``Rejected`` with a Reason."""
        fields = _object(value)
        click_type, name, timestamp = (fields.get(f) for f in ("click_type", "name", "timestamp"))
        event_id, browser, tab_id = (fields.get(f) for f in ("event_id", "browser", "tab_id"))
        texts_fit = all(isinstance(t, str) for t in (click_type, name, browser))
        if not (texts_fit and type(timestamp) is int and type(event_id) is int):
            raise Rejected(Reason.MISSING)
        if click_type not in ClickType:
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


def _object(value: bytes | None) -> dict[str, Any]:
    if not value:
        raise Rejected(Reason.EMPTY)
    try:
        fields = json.loads(value)
    except ValueError:
        raise Rejected(Reason.MALFORMED) from None
    if not isinstance(fields, dict):
        raise Rejected(Reason.MALFORMED)
    return fields
