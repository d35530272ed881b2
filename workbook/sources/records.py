"""Decodes record values on Spark: msgspec reads most of them, strict rules judge the rest.

What an event is, the strict rules in ``streams.events`` say. A position's value that can't be read
takes its row out of a table, as a tombstone does: nobody knows any more what is true of it, and
after compaction nobody could say what was.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import Rejected
from workbook.streams.events.clicks import Click
from workbook.streams.events.fields import MAX_AHEAD_MS, Event, columns
from workbook.streams.events.positions import MAX_POSITION_BYTES, Position
from workbook.streams.events.visits import (
    MAX_MESSAGE_BYTES,
    Heartbeat,
    OrderMessage,
    TrackingMessage,
    read_message,
)

if TYPE_CHECKING:
    from workbook.kafka.dead_letters import DeadLetters

RECORD_SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, arrival TIMESTAMP"
)
RECORD = tuple(column.split()[0] for column in RECORD_SCHEMA.split(", "))

PLANNED = "now TIMESTAMP"
"""A further column: when the micro-batch was planned."""

Batches = Iterator[pa.RecordBatch]

_ARROW = {"BIGINT": pa.int64(), "STRING": pa.string(), "BOOLEAN": pa.bool_()}


@dataclass(frozen=True)
class Then:
    """A function that each task applies to its decoded rows; it returns rows of ``schema``."""

    make: Callable[[Batches], Batches]
    schema: str


@dataclass(frozen=True)
class Format:
    """A format of records: its events, and the strict rules that read it.

    msgspec reads nearly all values as one of ``events``, in C. The strict rules judge the others,
    and those that are in doubt: with an event time that may be too late (``timed``), with more
    bytes than ``largest``, or with a key that ``keys(column of keys, events)`` marks.
    ``judge(key, value, arrival, now)`` returns an event, None for a tombstone, or raises
    ``Rejected``; ``now`` is when the micro-batch was planned, so that a repeated one judges alike.
    So the rules stand in one place, and the fast way can be narrow. ``key_field`` is the name of a
    further column, which holds the key as text. ``marked`` are the columns that ``parse`` gives
    beside those of the events, unless asked for others.
    """

    events: tuple[type[Event], ...]
    judge: Callable[[bytes | None, bytes | None, int, int], Any]
    marked: tuple[str, ...]
    timed: bool = False
    largest: int | None = None
    keys: Callable[[pa.Array, list[Any]], pa.Array] | None = None
    key_field: str = ""

    @property
    def types(self) -> dict[str, str]:
        """Return the Spark type of each column that can be asked for."""
        key = {self.key_field: "STRING"} if self.key_field else {}
        own = {**key, **columns(*self.events), "deleted": "BOOLEAN", "reason": "STRING"}
        return own | dict(column.split() for column in f"{RECORD_SCHEMA}, {PLANNED}".split(", "))

    def parse(
        self,
        raw: DataFrame,
        dead_letters: "DeadLetters | None" = None,
        fields: Sequence[str] = (),
        then: Then | None = None,
    ) -> DataFrame:
        """Decode Spark's Kafka source into the columns ``fields``, without dropping a row.

        Fields are those of the form and its ``key_field`` (null where rejected), ``deleted`` (true
        where there is no event: a tombstone, or rejected), ``reason`` (null where accepted), the
        columns of the record, with the ``arrival`` for its timestamp, and ``now``: when its
        micro-batch was planned. Name only what you need: each column costs time. With ``then`` the
        tasks hand on what it makes of these rows, which costs less than another operator would.

        As many tasks read as Spark has cores, since one with Python costs about 50 ms; a task reads
        several partitions, one after the other. Each rejected record also goes to ``dead_letters``,
        at least once: a task ends, and with it a micro-batch is committed, only when all its
        rejected records have been delivered.
        """
        fields = tuple(fields) or (*columns(*self.events), *self.marked)
        needed = {"value", *(RECORD if dead_letters else ()), *fields}
        needed |= {"key"} if self.keys or self.key_field in fields else set()
        needed |= {"arrival", "now"} if self.timed else set()
        now = ["now"] if "now" in needed else []
        record = (
            raw.withColumn("arrival", F.col("timestamp"))
            .withColumn("now", F.current_timestamp())
            .select(*(column for column in RECORD if column in needed), *now)
        )

        def read(batches: Batches) -> Batches:
            with dead_letters or nullcontext():
                marked = (_marked(batch, self, dead_letters, fields) for batch in batches)
                yield from then.make(marked) if then else marked

        schema = then.schema if then else ", ".join(f"{f} {self.types[f]}" for f in fields)
        cores = raw.sparkSession.sparkContext.defaultParallelism
        return record.coalesce(cores).mapInArrow(read, schema)


def arrivals(batch: pa.RecordBatch) -> pa.Array:
    """Return when the records arrived, in ms since 1970."""
    return pc.divide(batch.column("arrival").cast(pa.int64()), 1000)


def planned(batch: pa.RecordBatch) -> int:
    """Return when the micro-batch of these records was planned, in ms since 1970."""
    return batch.column("now")[0].value // 1000 if batch.num_rows else 0


_UNREAD = SimpleNamespace(timestamp=-1)
"""Stands where msgspec could read no event."""


@lru_cache
def _decoder(events: tuple[type[Event], ...]) -> Callable[[Any], Any]:
    return msgspec.json.Decoder(reduce(or_, events)).decode  # it can't travel to workers by pickle


def _marked(
    batch: pa.RecordBatch, form: Format, dead_letters: "DeadLetters | None", fields: Sequence[str]
) -> pa.RecordBatch:
    """Convert a batch of records to one of ``fields``."""
    events, reasons = _read(batch, form)
    for row, reason in reasons.items():
        if dead_letters is not None:
            record = {name: batch.column(name)[row].as_py() for name in RECORD[:-1]}
            dead_letters.send({**record, "arrival": arrivals(batch)[row].as_py()}, reason)
    columns = [_column(field, batch, form, events, reasons) for field in fields]
    return pa.RecordBatch.from_arrays(columns, names=list(fields))


def _read(batch: pa.RecordBatch, form: Format) -> tuple[list[Any], dict[int, str]]:
    """Return an event per record (None where there is none), and the rejected rows' reasons."""
    values, decode = batch.column("value").to_pylist(), _decoder(form.events)
    events: list[Any] = []
    doubtful: set[int] = set()
    left = iter(values)
    while len(events) < len(values):
        try:
            events.extend(map(decode, left))  # keeps the records before an error
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError, RecursionError):
            doubtful.add(len(events))
            events.append(_UNREAD)
    for marks in _doubts(batch, events, form):
        doubtful.update(pc.indices_nonzero(marks).to_pylist())
    reasons = {}
    for row in sorted(doubtful):
        key = batch.column("key")[row].as_py() if form.keys else None
        arrival, now = (arrivals(batch)[row].as_py(), planned(batch)) if form.timed else (0, 0)
        try:
            events[row] = form.judge(key, values[row], arrival, now)
        except Rejected as why:
            events[row], reasons[row] = None, str(why.reason)
    return events, reasons


def _doubts(batch: pa.RecordBatch, events: list[Any], form: Format) -> Iterator[pa.Array]:
    """Yield marks of the rows that the strict rules must judge."""
    if form.timed:
        times = pa.array([event.timestamp for event in events], pa.int64())
        latest = pc.add(pc.min_element_wise(arrivals(batch), planned(batch)), MAX_AHEAD_MS)
        yield pc.or_(pc.less(times, 0), pc.greater(times, latest))
    if form.largest is not None:
        yield pc.greater(pc.binary_length(batch.column("value")), form.largest)
    if form.keys is not None:
        yield form.keys(batch.column("key"), events)


def _column(
    field: str, batch: pa.RecordBatch, form: Format, events: list[Any], reasons: dict[int, str]
) -> pa.Array:
    if field in RECORD or field == "now":
        return batch.column(field)
    if field == form.key_field:
        return texts(batch.column("key"))
    kind = _ARROW[form.types[field]]
    if field == "deleted":
        return pa.array([e is None for e in events], kind)
    if field == "reason":
        if not reasons:
            return pa.nulls(len(events), kind)
        return pa.array([reasons.get(row) for row in range(len(events))], kind)
    try:
        return pa.array([getattr(e, field) for e in events], kind)
    except AttributeError:  # one is no event, or of another kind
        return pa.array([getattr(e, field, None) for e in events], kind)


def texts(keys: pa.Array) -> pa.Array:
    """Decode keys as text; null where one isn't UTF-8."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_decoded(key) for key in keys.to_pylist()], pa.string())


def _decoded(key: bytes | None) -> str | None:
    try:
        return None if key is None else key.decode("utf-8")
    except UnicodeDecodeError:
        return None


# --- the formats of JSON records ----------------------------------------------------------------


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
