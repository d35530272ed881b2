"""Decodes positions on Spark: tombstones are deletes, and what can't be read is rejected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from workbook.sources.records import DeadLetterSink, Format, read_records
from workbook.streams.events.positions import (
    MAX_POSITION_BYTES,
    POSITION_SCHEMA,
    PlainPosition,
    Position,
)

FIELDS = tuple(field.split()[0] for field in POSITION_SCHEMA.split(", "))
MARKED = ("position", *FIELDS, "deleted", "reason", "offset")


def parse(
    raw: DataFrame, dead_letters: DeadLetterSink | None = None, fields: Sequence[str] = MARKED
) -> DataFrame:
    """Read records as positions; no row is dropped.

    In: the columns of Spark's Kafka source. Out: ``fields``, some of ``position`` (the key as
    text), those of ``Position`` (null where there is none), ``deleted`` (true for a tombstone, and
    for what cannot be read), ``reason`` (null unless rejected) and of the record: ``topic``,
    ``partition``, ``offset``, ``arrival`` (timestamp), ``key``, ``value``. What a position is,
    ``Position.from_record`` says.

    A value that cannot be read goes to ``dead_letters``, and takes its row out of a table: nobody
    knows any more what is true of it, and after compaction nobody could say what was.
    """
    return read_records(raw, POSITIONS, dead_letters, fields)


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
    judge=lambda key, value, arrival, now: Position.from_record(key, value),
    looks_at=("key", "value"),
    key_field="position",
)
