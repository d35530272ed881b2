"""Decodes clicks on Spark: reads the JSON, and marks what isn't a click with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from workbook.sources.records import DeadLetterSink, Format, Then, arrivals, planned, read_records
from workbook.streams.events.clicks import CLICK_SCHEMA, MAX_AHEAD_MS, Click, PlainClick

FIELDS = tuple(field.split()[0] for field in CLICK_SCHEMA.split(", "))
MARKED = (*FIELDS, "reason")


def parse(
    raw: DataFrame,
    dead_letters: DeadLetterSink | None = None,
    fields: Sequence[str] = MARKED,
    then: Then | None = None,
) -> DataFrame:
    """Read record values as clicks and mark what is none; no row is dropped.

    In: the columns of Spark's Kafka source. Out: ``fields``, some of those of ``Click`` (null
    where rejected), ``reason`` (string; null where accepted) and of the record: ``topic``,
    ``partition``, ``offset``, ``arrival`` (timestamp), ``key``, ``value``. Name only what you need:
    each column costs time. What a click is, ``Click.from_json`` says.

    Each rejected record also goes to ``dead_letters``, at least once, before its micro-batch is
    committed. ``then`` is as in ``read_records``.
    """
    return read_records(raw, CLICKS, dead_letters, fields, then)


def _doubtful(batch: pa.RecordBatch, clicks: list[Any]) -> pa.Array:
    times = pa.array([c.timestamp for c in clicks], pa.int64())
    latest = pc.add(pc.min_element_wise(arrivals(batch), planned(batch)), MAX_AHEAD_MS)
    return pc.or_(pc.less(times, 0), pc.greater(times, latest))


CLICKS = Format(
    schema=CLICK_SCHEMA,
    plain=PlainClick,
    unread=PlainClick(0, "Page", "", -1, ""),
    doubtful=_doubtful,
    judge=lambda key, value, arrival, now: Click.from_json(value, arrival, now),
)
