"""All messages of a visit in one: what the merge emits."""

import json
from typing import Self

import msgspec

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
