"""Visits to a shop as two streams: what was tracked, and what was ordered."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from workbook.kafka.partitioning import partition_of
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import (
    MAX_CENTS,
    MAX_MESSAGE_BYTES,
    Heartbeat,
    OrderMessage,
    TrackingMessage,
)
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

PAGES = ("/", "/shoes", "/shirts", "/hats", "/cart")


class Kind(StrEnum):
    """Which of the two streams it is."""

    TRACKING = "tracking"
    ORDERS = "orders"


SPOILED: Kinds = (
    (Reason.NO_KEY, lambda key, message: (None, encode(message))),
    (Reason.NO_KEY, lambda key, message: (b"\xff" + (key or b""), encode(message))),
    (Reason.OTHER_KEY, lambda key, message: ((key or b"") + b"x", encode(message))),
    (Reason.TOO_LARGE, changed(note="." * MAX_MESSAGE_BYTES)),
    (Reason.EMPTY, lambda key, message: (key, b"")),
    (Reason.MALFORMED, lambda key, message: (key, encode(message)[:-9])),
    (Reason.MISSING, without("timestamp")),
    (Reason.MISSING, without("ssid")),
    (Reason.MISSING, changed(event_id="seven")),
    (Reason.NEGATIVE, changed(timestamp=-1)),
    (Reason.FUTURE, changed(timestamp=4_070_908_800_000)),  # 2099
    (Reason.UNKNOWN_MESSAGE, changed(type="return")),
    (Reason.NOT_CENTS, changed(type="order", order_id="o", cents=-1)),
    (Reason.NOT_CENTS, changed(type="order", order_id="o", cents=MAX_CENTS + 1)),
)
"""The kinds of bad records: the reason to expect, and how key and fields become the record."""


@dataclass(frozen=True, slots=True)
class VisitStream(PacedStream):
    """One of two streams of the same visits, by ``kind``; both must share the parameters.

    A visit begins with a tracking message, and has ``pages`` of them on average within ``visit_s``
    seconds. An order belongs to a visit of the last ``visit_s`` seconds, which ``tracking_rate``
    (that of the other stream) has begun; ``orphan_share`` of the orders belong to none. Every
    ``heartbeat_s`` seconds (0: never) each partition gets a heartbeat.

    Of the good messages ``late_share`` have an event time of up to ``late_by_ms`` before their
    place in the stream. An ssid stays on the partition that Kafka's Java client chooses. The
    record's timestamp is its event time.

    Facts, for a MergeLedger: type ("tracking" or "order"), event_id, ssid, partition, timestamp
    (ms), page, order_id, cents (None, and NA, where it has none), reason (None when good),
    duplicate (bool). No heartbeats.
    """

    BAD: ClassVar[Kinds] = SPOILED
    COUNTS: ClassVar[tuple[str, ...]] = ("partitions", "pages", "late_by_ms")
    FROM_0: ClassVar[tuple[str, ...]] = ("visit_s", "heartbeat_s", "tracking_rate")

    kind: Kind = Kind.TRACKING
    tracking_rate: float = 0.0
    pages: int = 5
    visit_s: float = 60.0
    heartbeat_s: float = 1.0
    orphan_share: float = 0.0
    late_share: float = 0.0
    late_by_ms: int = 30_000

    def block(self, first: int, last: int) -> pa.Table:
        """Return the messages and heartbeats, in the order in which they are sent.

        Columns: event_id, partition, arrival (ms), key, value, and sent (ms).
        """
        _, ids = self._sent(first, last)
        facts = self._facts(ids, ids)
        messages = pa.table(
            {
                "event_id": pa.array(ids),
                "partition": pa.array(facts["partition"]),
                "arrival": pa.array(facts["timestamp"]),
                **self._records(ids, *self._messages(ids, facts)),
                "sent": pa.array(self.arrivals(ids)),
            }
        )
        both = pa.concat_tables([messages, self._heartbeats(first, last)])
        return both.sort_by("sent")

    # --- messages ---------------------------------------------------------------------------

    def _facts(self, places: Ints, ids: Ints) -> Facts:
        tracking, kinds = self.kind is Kind.TRACKING, self._kinds(ids)
        late = (self._draw("late", ids) < self.late_share) & (kinds < 0)
        by = 1 + self._hash("late by", ids) % self.late_by_ms
        none, all_ = np.full(len(ids), None, object), np.full(len(ids), True)
        ssids = self._ssids(ids)
        pages = np.array(PAGES, object)[self._hash("page", ids) % len(PAGES)]
        orders = np.array([f"o{number}" for number in ids.tolist()], object)
        cents = 100 + self._hash("cents", ids) % 20_000
        return {
            "type": np.full(len(ids), "tracking" if tracking else "order", object),
            "event_id": ids,
            "ssid": ssids,
            "partition": partition_of([ssid.encode() for ssid in ssids], self.partitions),
            "timestamp": self.arrivals(ids) - by * late,
            "page": pages if tracking else none,
            "order_id": none if tracking else orders,
            "cents": pd.arrays.IntegerArray(cents, all_ if tracking else ~all_),
            "reason": self._reasons(ids),
            "duplicate": np.diff(ids, prepend=-1) == 0,
        }

    def _messages(self, ids: Ints, facts: Facts) -> Messages:
        keys = map(str.encode, facts["ssid"])
        same = (ids.tolist(), facts["ssid"], facts["timestamp"].tolist())
        if self.kind is Kind.TRACKING:
            return keys, map(TrackingMessage, *same, facts["page"])
        return keys, map(OrderMessage, *same, facts["order_id"], facts["cents"].tolist())

    def _ssids(self, ids: Ints) -> npt.NDArray[np.object_]:
        found = np.array([f"v{visit:08d}" for visit in self._visits(ids).tolist()], object)
        if self.kind is Kind.ORDERS and self.orphan_share:
            for row in np.flatnonzero(self._draw("orphan", ids) < self.orphan_share):
                found[row] = f"x{ids[row]}"
        return found

    def _visits(self, ids: Ints) -> Ints:
        """Return the number of the visit that each message belongs to."""
        rate = self.rate if self.kind is Kind.TRACKING else self.tracking_rate or self.rate
        around = max(1, round(self.visit_s * rate / self.pages))  # open at once
        before = self._hash("visit", ids) % around
        if self.kind is Kind.TRACKING:
            newest = ids // self.pages
            visits = np.where(ids % self.pages == 0, newest, newest - before)
            return np.where(visits < 0, newest, visits)
        seconds = (self.arrivals(ids) - self.start_ms) / 1000
        newest = np.maximum((seconds * rate).astype(np.int64) - 1, 0) // self.pages
        return np.maximum(newest - before, 0)

    # --- heartbeats -------------------------------------------------------------------------

    def _heartbeats(self, first: int, last: int) -> pa.Table:
        """Return those that are due with these ids, one per partition and beat."""
        ends = self.arrivals(np.array([max(first - 1, 0), max(last - 1, 0)])) - self.start_ms
        every = self.heartbeat_s * 1000
        times: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        if every and last > first:
            begin = 0 if first == 0 else int(ends[0] // every) + 1
            times = (np.arange(begin, int(ends[1] // every) + 1) * every).astype(np.int64)
        times = times + self.start_ms
        beats = np.repeat(times, self.partitions)
        return pa.table(
            {
                "event_id": pa.nulls(len(beats), pa.int64()),
                "partition": pa.array(np.tile(np.arange(self.partitions), len(times)), pa.int32()),
                "arrival": pa.array(beats),
                "key": pa.nulls(len(beats), pa.binary()),
                "value": pa.array([Heartbeat(t).to_json() for t in beats.tolist()], pa.binary()),
                "sent": pa.array(beats),
            }
        )


def orders(**options: Any) -> VisitStream:
    """Return the stream of the visits' orders."""
    return VisitStream(kind=Kind.ORDERS, **options)
