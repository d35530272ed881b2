"""Records as clicks on Spark: read the JSON, and mark what is no click with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import Rejected
from workbook.events import CLICK_SCHEMA, MAX_AHEAD_MS, Click, PlainClick

FIELDS = tuple(field.split()[0] for field in CLICK_SCHEMA.split(", "))
RECORD_SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, arrival TIMESTAMP"
)
RECORD = tuple(column.split()[0] for column in RECORD_SCHEMA.split(", "))
MARKED = (*FIELDS, "reason")

_TYPES = dict(
    column.split() for column in f"{CLICK_SCHEMA}, reason STRING, {RECORD_SCHEMA}".split(", ")
)
_ARROW = {"BIGINT": pa.int64(), "STRING": pa.string()}
_UNREAD = PlainClick(0, "Page", "", -1, "")
_decode = msgspec.json.Decoder(PlainClick).decode


class Rejects(AbstractContextManager[Any], Protocol):
    """Takes what is no click; leaving its context means that everything has been delivered.

    It travels to Spark's workers by pickle, and each task enters a copy of its own.
    """

    def send(self, record: dict[str, Any], reason: str) -> None:
        """Take a record: key, value (bytes), topic, partition, offset, arrival (ms)."""


def parse(
    raw: DataFrame, rejects: Rejects | None = None, fields: Sequence[str] = MARKED
) -> DataFrame:
    """Read record values as clicks and mark what is none; no row is dropped.

    In: the columns of Spark's Kafka source. Out: ``fields``, some of those of ``Click`` (null
    where rejected), ``reason`` (string; null where accepted) and of the record: ``topic``,
    ``partition``, ``offset``, ``arrival`` (timestamp), ``key``, ``value``. Name only what you need:
    each column costs time. What a click is, ``Click.from_json`` says.

    As many tasks read as Spark has cores, since one with Python costs about 50 ms; a task reads
    several partitions, one after the other.

    Each rejected record also goes to ``rejects``, at least once: a task ends, and with it a
    micro-batch is committed, only when all its rejected records have been delivered.
    """
    needed = {"value", "arrival", *(RECORD if rejects else ()), *fields}
    record = raw.withColumn("arrival", F.col("timestamp")).select(
        *(column for column in RECORD if column in needed)
    )

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with rejects or nullcontext():
            for batch in batches:
                yield _marked(batch, rejects, fields)

    schema = ", ".join(f"{field} {_TYPES[field]}" for field in fields)
    cores = raw.sparkSession.sparkContext.defaultParallelism
    return record.coalesce(cores).mapInArrow(read, schema)


def _marked(
    batch: pa.RecordBatch, rejects: Rejects | None, fields: Sequence[str]
) -> pa.RecordBatch:
    """One batch of records as one of ``fields``."""
    clicks, reasons = _read(batch)
    for row, reason in reasons.items():
        if rejects is not None:
            record = {name: batch.column(name)[row].as_py() for name in RECORD[:-1]}
            rejects.send({**record, "arrival": _arrivals(batch)[row].as_py()}, reason)
    columns = [_column(field, batch, clicks, reasons) for field in fields]
    return pa.RecordBatch.from_arrays(columns, names=list(fields))


def _read(batch: pa.RecordBatch) -> tuple[list[Any], dict[int, str]]:
    """A click per record (None where rejected), and the reason by row of those rejected.

    msgspec reads nearly all of them, in C. Whatever it does not take as it is, ``Click.from_json``
    judges: so the rules stand in one place, and the fast way can be narrow.
    """
    values = batch.column("value").to_pylist()
    clicks: list[Any] = []
    left = iter(values)
    while len(clicks) < len(values):
        try:
            clicks.extend(map(_decode, left))  # keeps what came before an error
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
            clicks.append(_UNREAD)
    times, arrivals = pa.array([c.timestamp for c in clicks], pa.int64()), _arrivals(batch)
    doubtful = pc.or_(pc.less(times, 0), pc.greater(times, pc.add(arrivals, MAX_AHEAD_MS)))
    reasons = {}
    for row in pc.indices_nonzero(doubtful).to_pylist():
        try:
            clicks[row] = Click.from_json(values[row], arrivals[row].as_py())
        except Rejected as why:
            clicks[row], reasons[row] = None, str(why.reason)
    return clicks, reasons


def _arrivals(batch: pa.RecordBatch) -> pa.Array:
    """When the records arrived, in ms since 1970."""
    return pc.divide(batch.column("arrival").cast(pa.int64()), 1000)


def _column(
    field: str, batch: pa.RecordBatch, clicks: list[Any], reasons: dict[int, str]
) -> pa.Array:
    if field in RECORD:
        return batch.column(field)
    kind = _ARROW[_TYPES[field]]
    if field == "reason":
        if not reasons:
            return pa.nulls(len(clicks), kind)
        return pa.array([reasons.get(row) for row in range(len(clicks))], kind)
    if reasons:
        return pa.array([None if c is None else getattr(c, field) for c in clicks], kind)
    return pa.array([getattr(c, field) for c in clicks], kind)
