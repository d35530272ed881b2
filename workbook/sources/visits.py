"""Decodes tracking and order messages on Spark, heartbeats among them.

What a message is, ``visits.read_message`` says. ``type`` is "tracking", "order" or "heartbeat".
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workbook.sources.records import Format, arrivals, planned
from workbook.streams.events.clicks import MAX_AHEAD_MS
from workbook.streams.events.visits import (
    MAX_MESSAGE_BYTES,
    VISIT_SCHEMA,
    PlainVisit,
    plain,
    read_message,
)


def _doubtful(batch: pa.RecordBatch, messages: list[Any]) -> pa.Array:
    """Mark all but heartbeats and messages that have just the fields of their type."""
    times = pa.array([m.timestamp for m in messages], pa.int64())
    latest = pc.add(pc.min_element_wise(arrivals(batch), planned(batch)), MAX_AHEAD_MS)
    in_time = pc.and_(pc.greater_equal(times, 0), pc.less_equal(times, latest))
    lengths = pc.fill_null(pc.binary_length(batch.column("value")), 0)
    whole = pa.array([_is_whole(m) for m in messages], pa.bool_())
    keyed = pc.fill_null(pc.equal(batch.column("key"), _ssids(messages)), False)
    bare = pa.array([m.type == "heartbeat" for m in messages], pa.bool_())
    good = pc.and_(pc.and_(in_time, whole), pc.or_(keyed, bare))
    return pc.invert(pc.and_(good, pc.less_equal(lengths, MAX_MESSAGE_BYTES)))


def _ssids(messages: list[Any]) -> pa.Array:
    return pa.array([m.ssid for m in messages], pa.string()).cast(pa.binary())


def _is_whole(m: PlainVisit) -> bool:
    if m.type == "heartbeat":
        return m == PlainVisit("heartbeat", m.timestamp)
    if m.event_id is None or m.ssid is None:
        return False
    if m.type == "tracking":
        return m.page is not None and m.order_id is None and m.cents is None
    return m.page is None and m.order_id is not None and m.cents is not None


VISITS = Format(
    schema=VISIT_SCHEMA,
    plain=PlainVisit,
    unread=PlainVisit("heartbeat", -1),
    doubtful=_doubtful,
    marked=("topic", "partition", "offset", "reason"),
    judge=lambda key, value, arrival, now: plain(read_message(key, value, arrival, now)),
    looks_at=("key", "value", "arrival"),
)

parse = VISITS.parse
