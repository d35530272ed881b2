"""Messages of a shop's visits: pages, orders and heartbeats; all messages of a visit in one."""

import json
from typing import Annotated, ClassVar, Self

import msgspec

from workbook.errors import Rejected
from workbook.streams.events.fields import (
    Bigint,
    Event,
    Name,
    bigint,
    json_object,
    key_text,
    name,
    require_in_time,
)
from workbook.streams.events.reasons import Reason

MAX_MESSAGE_BYTES = 4096
"""A larger value is no message."""

MAX_CENTS = 10**9


class TrackingMessage(Event, frozen=True, tag_field="type", tag="tracking"):
    """A page that a visitor looked at: ``ssid`` is the visit, and the key of the record.

    ``timestamp`` is its event time (ms).
    """

    type: ClassVar[str] = "tracking"
    event_id: Bigint
    ssid: Name
    timestamp: Bigint
    page: Name


class OrderMessage(Event, frozen=True, tag_field="type", tag="order"):
    """An order of a visitor, in ``cents``; the record's key is the ssid."""

    type: ClassVar[str] = "order"
    event_id: Bigint
    ssid: Name
    timestamp: Bigint
    order_id: Name
    cents: Annotated[int, msgspec.Meta(ge=0, le=MAX_CENTS)]


class Heartbeat(Event, frozen=True, tag_field="type", tag="heartbeat"):
    """Says that a stream has come to this event time (ms); it goes to every partition, keyless."""

    type: ClassVar[str] = "heartbeat"
    timestamp: Bigint


VisitMessage = TrackingMessage | OrderMessage
"""What belongs to a visit."""


def read_message(
    key: bytes | None, value: bytes | None, arrival: int, now: int | None = None
) -> VisitMessage | Heartbeat:
    """Read a record that arrived at ``arrival`` (ms), or raise ``Rejected``.

    ``now`` is the reader's own time (ms); None leaves that unchecked. A heartbeat may have any key.
    """
    if value is not None and len(value) > MAX_MESSAGE_BYTES:
        raise Rejected(Reason.TOO_LARGE)
    fields = json_object(value)
    kind, timestamp = name(fields, "type"), bigint(fields, "timestamp")
    if kind not in ("tracking", "order", "heartbeat"):
        raise Rejected(Reason.UNKNOWN_MESSAGE)
    require_in_time(timestamp, arrival, now)
    if kind == "heartbeat":
        return Heartbeat(timestamp)
    event_id, ssid = bigint(fields, "event_id"), name(fields, "ssid")
    if key_text(key) != ssid:
        raise Rejected(Reason.OTHER_KEY)
    if kind == "tracking":
        return TrackingMessage(event_id, ssid, timestamp, name(fields, "page"))
    order_id, cents = name(fields, "order_id"), fields.get("cents")
    if cents is None:
        raise Rejected(Reason.MISSING)
    if type(cents) is not int or not 0 <= cents <= MAX_CENTS:
        raise Rejected(Reason.NOT_CENTS)
    return OrderMessage(event_id, ssid, timestamp, order_id, cents)


# --- all messages of a visit in one: what the merge emits ---------------------------------------

MERGED, CLOCK = "merged", "clock"
"""Kinds of rows that a merge gives: a complete visit; where a partition stands."""

STARTS = ("from_0", "from_1")
"""Of both kinds: in each topic the smallest offset of all that was open when a batch began, or is
in it; or a smaller one."""


class Merged(msgspec.Struct, frozen=True):
    """The messages of one ssid, each once, by event time.

    ``fragment`` is 0 for the first merged message of the ssid. A message that comes after that was
    emitted makes another one, whose ``fragment`` counts those that went before.
    """

    ssid: str
    tracking: tuple[TrackingMessage, ...] = ()
    orders: tuple[OrderMessage, ...] = ()
    fragment: int = 0

    @property
    def messages(self) -> list[VisitMessage]:
        """Return the messages of both kinds."""
        return [*self.tracking, *self.orders]

    @property
    def newest(self) -> int:
        """Return the event time (ms) of the newest message: that of the whole."""
        return max(message.timestamp for message in self.messages)

    @classmethod
    def from_json(cls, value: bytes) -> Self:
        """Read a record value, as the merge writes it.

        Raises ValueError where its timestamp isn't that of its newest message.
        """
        found = json.loads(value)
        ssid = found["ssid"]
        whole = cls(
            ssid,
            tuple(TrackingMessage(ssid=ssid, **each) for each in found["tracking"]),
            tuple(OrderMessage(ssid=ssid, **each) for each in found["orders"]),
            found["fragment"],
        )
        if whole.messages and found["timestamp"] != whole.newest:
            raise ValueError(
                f"Expected visit {ssid!r} to have the timestamp of its newest message, "
                f"{whole.newest}, but got {found['timestamp']}."
            )
        return whole
