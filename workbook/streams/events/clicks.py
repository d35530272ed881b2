"""Clicks of the shop's visitors."""

from enum import StrEnum
from typing import Self

from workbook.errors import Rejected
from workbook.streams.events.fields import Bigint, Event, bigint, json_object, require_in_time, text
from workbook.streams.events.reasons import Reason


class ClickType(StrEnum):
    """The kind of a click: a page view, or an action on a page (add to the basket)."""

    PAGE = "Page"
    ACTION = "Action"


TYPES = frozenset(kind.value for kind in ClickType)  # Python 3.11 cannot ask the enum itself


class Click(Event, frozen=True):
    """One click in the shop, as in OTTO's mob programming session, plus an event id.

    ``timestamp`` is the event time in milliseconds since 1970 (UTC); ``tab_id`` may be absent.
    """

    event_id: Bigint
    click_type: ClickType
    name: str
    timestamp: Bigint
    browser: str
    tab_id: str | None = None

    @property
    def epoch_second(self) -> int:
        """Return the second (since 1970) in which the click happened."""
        return self.timestamp // 1000

    @classmethod
    def from_json(cls, value: bytes | None, arrival: int, now: int | None = None) -> Self:
        """Read a record value that arrived at ``arrival`` (ms), or raise ``Rejected``.

        ``now`` is the reader's own time (ms): a producer whose clock is ahead stamps the arrival
        by the same clock. None leaves that unchecked.
        """
        fields = json_object(value)
        click_type, name, browser = (text(fields, f) for f in ("click_type", "name", "browser"))
        event_id, timestamp = bigint(fields, "event_id"), bigint(fields, "timestamp")
        tab_id = None if fields.get("tab_id") is None else text(fields, "tab_id")
        if click_type not in TYPES:
            raise Rejected(Reason.UNKNOWN_TYPE)
        require_in_time(timestamp, arrival, now)
        return cls(event_id, ClickType(click_type), name, timestamp, browser, tab_id)
