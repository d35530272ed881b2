"""All messages of a visit in one: what the merge emits."""

import json
from typing import Any, Self

import msgspec
from msgspec.structs import asdict

from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import OrderMessage, TrackingMessage, VisitMessage

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

    @property
    def oldest(self) -> int:
        """Return the event time (ms) of the oldest message."""
        return min(message.timestamp for message in self.messages)

    @property
    def invalid(self) -> Reason | None:
        """Return why this isn't a visit; None if it is one, or a part that came later."""
        return Reason.NO_VISIT if not self.tracking and not self.fragment else None

    def to_json(self) -> bytes:
        """Encode it as a Kafka record value; its key is the ssid."""
        whole = {
            "ssid": self.ssid,
            "timestamp": self.newest,
            "fragment": self.fragment,
            "tracking": [_without_ssid(message) for message in self.tracking],
            "orders": [_without_ssid(message) for message in self.orders],
        }
        return msgspec.json.encode(whole)

    @classmethod
    def from_json(cls, value: bytes) -> Self:
        """Read a record value that ``to_json`` wrote.

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


def _without_ssid(message: VisitMessage) -> dict[str, Any]:
    return {name: value for name, value in asdict(message).items() if name != "ssid"}
