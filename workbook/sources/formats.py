"""The formats of JSON records: clicks, positions, and the messages of visits.

What an event is, the strict rules in ``streams.events`` say. A position's value that can't be read
takes its row out of a table, as a tombstone does: nobody knows any more what is true of it, and
after compaction nobody could say what was.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workbook.sources.records import Format, texts
from workbook.streams.events.clicks import Click
from workbook.streams.events.positions import MAX_POSITION_BYTES, Position
from workbook.streams.events.visits import (
    MAX_MESSAGE_BYTES,
    Heartbeat,
    OrderMessage,
    TrackingMessage,
    read_message,
)


def _no_texts(keys: pa.Array, positions: list[Any]) -> pa.Array:
    return pc.equal(pc.fill_null(pc.binary_length(texts(keys)), 0), 0)


def _no_ssids(keys: pa.Array, messages: list[Any]) -> pa.Array:
    """Mark all keys but the ssids of the messages; a heartbeat may have any key."""
    ssids = pa.array([getattr(m, "ssid", None) for m in messages], pa.string()).cast(pa.binary())
    return pc.and_(ssids.is_valid(), pc.not_equal(keys, ssids).fill_null(True))


CLICKS = Format(
    (Click,),
    judge=lambda key, value, arrival, now: Click.from_json(value, arrival, now),
    marked=("reason",),
    timed=True,
)

POSITIONS = Format(
    (Position,),
    judge=lambda key, value, arrival, now: Position.from_record(key, value),
    marked=("position", "deleted", "reason", "offset"),
    largest=MAX_POSITION_BYTES,
    keys=_no_texts,
    key_field="position",
)

VISITS = Format(
    (Heartbeat, TrackingMessage, OrderMessage),
    judge=read_message,
    marked=("topic", "partition", "offset", "reason"),
    timed=True,
    largest=MAX_MESSAGE_BYTES,
    keys=_no_ssids,
)
