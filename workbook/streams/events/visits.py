"""Messages of a shop's visits: what was looked at, what was ordered, and heartbeats."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from workbook.errors import Rejected
from workbook.streams.events.clicks import MAX_AHEAD_MS
from workbook.streams.events.fields import bigint, compact_json, json_object, name
from workbook.streams.events.reasons import Reason

MAX_MESSAGE_BYTES = 4096
"""A larger value is no message."""

MAX_CENTS = 10**9


@dataclass(frozen=True, slots=True)
class TrackingMessage:
    """A page that a visitor looked at: ``ssid`` is the visit, ``timestamp`` its event time (ms)."""

    event_id: int
    ssid: str
    timestamp: int
    page: str

    def to_json(self) -> bytes:
        """Encode the message as a Kafka record value; its key is the ssid."""
        return _encoded("tracking", self, ("event_id", "ssid", "timestamp", "page"))


@dataclass(frozen=True, slots=True)
class OrderMessage:
    """An order of a visitor, in ``cents``."""

    event_id: int
    ssid: str
    timestamp: int
    order_id: str
    cents: int

    def to_json(self) -> bytes:
        """Encode the message as a Kafka record value; its key is the ssid."""
        return _encoded("order", self, ("event_id", "ssid", "timestamp", "order_id", "cents"))


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Says that a stream has come to this event time (ms); it goes to every partition, keyless."""

    timestamp: int

    def to_json(self) -> bytes:
        """Encode the heartbeat as a Kafka record value."""
        return _encoded("heartbeat", self, ("timestamp",))


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
    if timestamp < 0:
        raise Rejected(Reason.NEGATIVE)
    if timestamp > arrival + MAX_AHEAD_MS:
        raise Rejected(Reason.FUTURE)
    if now is not None and timestamp > now + MAX_AHEAD_MS:
        raise Rejected(Reason.AHEAD)
    if kind == "heartbeat":
        return Heartbeat(timestamp)
    event_id, ssid = bigint(fields, "event_id"), name(fields, "ssid")
    _require_key(key, ssid)
    if kind == "tracking":
        return TrackingMessage(event_id, ssid, timestamp, name(fields, "page"))
    order_id, cents = name(fields, "order_id"), fields.get("cents")
    if cents is None:
        raise Rejected(Reason.MISSING)
    if type(cents) is not int or not 0 <= cents <= MAX_CENTS:
        raise Rejected(Reason.NOT_CENTS)
    return OrderMessage(event_id, ssid, timestamp, order_id, cents)


def _require_key(key: bytes | None, ssid: str) -> None:
    try:
        text = (key or b"").decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text:
        raise Rejected(Reason.NO_KEY)
    if text != ssid:
        raise Rejected(Reason.OTHER_KEY)


def _encoded(kind: str, message: Any, fields: tuple[str, ...]) -> bytes:
    values = {field: getattr(message, field) for field in fields}
    return compact_json({"type": kind, **values}).encode()


VISIT_SCHEMA = (
    "type STRING, timestamp BIGINT, event_id BIGINT, ssid STRING, page STRING, order_id STRING, "
    "cents BIGINT"
)
"""The fields of all three for Spark; those that a message lacks are null."""

_Name = Annotated[str, msgspec.Meta(min_length=1)] | None
_Bigint = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class PlainVisit(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The fields of all three for msgspec; which of them must be there, it doesn't check."""

    type: Literal["tracking", "order", "heartbeat"]
    timestamp: _Bigint
    event_id: _Bigint | None = None
    ssid: _Name = None
    page: _Name = None
    order_id: _Name = None
    cents: Annotated[int, msgspec.Meta(ge=0, le=MAX_CENTS)] | None = None


def plain(message: VisitMessage | Heartbeat) -> PlainVisit:
    """Return a message that was read by the strict rules as the fast way reads them."""
    if isinstance(message, Heartbeat):
        return PlainVisit("heartbeat", message.timestamp)
    if isinstance(message, TrackingMessage):
        return PlainVisit(
            "tracking", message.timestamp, message.event_id, message.ssid, message.page
        )
    return PlainVisit(
        *("order", message.timestamp, message.event_id, message.ssid),
        order_id=message.order_id,
        cents=message.cents,
    )
