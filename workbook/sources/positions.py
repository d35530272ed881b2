"""Decodes positions on Spark: tombstones are deletes, and what can't be read is rejected.

What a position is, ``Position.from_record`` says. A value that cannot be read takes its row out of
a table, as a tombstone does: nobody knows any more what is true of it, and after compaction nobody
could say what was.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workbook.sources.records import Format
from workbook.streams.events.positions import (
    MAX_POSITION_BYTES,
    POSITION_SCHEMA,
    PlainPosition,
    Position,
)


def _doubtful(batch: pa.RecordBatch, positions: list[Any]) -> pa.Array:
    unread = pc.equal(pa.array([p.amount for p in positions], pa.int64()), 0)
    keys, values = batch.column("key"), batch.column("value")
    no_key = pc.equal(pc.fill_null(pc.binary_length(keys), 0), 0)
    large = pc.greater(pc.fill_null(pc.binary_length(values), 0), MAX_POSITION_BYTES)
    return pc.or_(pc.or_(unread, large), pc.or_(no_key, _is_no_text(keys)))


def _is_no_text(keys: pa.Array) -> pa.Array:
    try:
        keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([True] * len(keys))  # judge them all: one of them is no UTF-8
    return pa.array([False] * len(keys))


POSITIONS = Format(
    schema=POSITION_SCHEMA,
    plain=PlainPosition,
    unread=PlainPosition("", "", 0, "LSE"),
    doubtful=_doubtful,
    marked=("position", "deleted", "reason", "offset"),
    judge=lambda key, value, arrival, now: Position.from_record(key, value),
    looks_at=("key", "value"),
    key_field="position",
)

parse = POSITIONS.parse
