"""Counts the page views of each second, and loses none where each partition is in order.

In order means: appended in the order of event time, which offsets alone don't promise.

The same question as ``page_views.views_per_second``, which is Spark's native window. That one
drops a page view behind its watermark without a word, and the watermark runs with the fastest
partition. Here a second stays open until every partition has passed it (``clocks``), and
what comes later still is named by its offsets, so that it can go to the dead letters.
"""

from __future__ import annotations

from dataclasses import astuple, fields
from functools import partial
from typing import Any

import pandas as pd
import polars as pl
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from workbook.pipelines.page_views.clocks import RECENT, Clock, Unread, advance, slowest
from workbook.sources.clicks import parse
from workbook.sources.records import DeadLetterSink, Then
from workbook.streams.events.clicks import ClickType
from workbook.streams.events.metrics import COMPLETE
from workbook.streams.events.reasons import Reason
from workbook.tables.packing import PACKED, Tables, packing, stateful, unpack, whole
from workbook.tables.segments import Keyed

FIELDS = ("click_type", "timestamp", "partition", "offset", "arrival", "reason", "now")

TOO_LATE = Reason.TOO_LATE.value
SUMS = ("read", "counted", "open", TOO_LATE, "rejected", "others")
"""Of all records so far: those read are page views that were counted in a complete second, lie in
one that is still open, or came too late; those rejected; and others, which are no page views."""

RESULT = StructType(
    [
        StructField("kind", StringType()),
        StructField("second", LongType()),
        StructField("partition", IntegerType()),
        StructField("views", LongType()),
        StructField("event_ids", ArrayType(LongType())),
        StructField("offsets", ArrayType(LongType())),
    ]
)
_TABLES = ["open", "clocks", "sums"]


def completed_views(
    raw: DataFrame,
    dead_letters: DeadLetterSink | None,
    lateness: str = "5 seconds",
    *,
    unread: Unread,
    by_partition: bool = False,
    with_events: bool = False,
) -> DataFrame:
    """Emit each second's page views once it is complete, and those that came too late.

    In: the columns of Spark's Kafka source; what is no click goes to ``dead_letters``, as by
    ``clicks.parse``. Out, by ``kind``:

    - ``complete``: ``second`` (bigint, since 1970) with its ``views`` (bigint), once and for all.
      ``by_partition`` gives a row for each ``partition`` (int), ``with_events`` the ``event_ids``
      (array of bigint) of what was counted.
    - ``too late``: ``views`` of a ``second`` that was complete in an earlier micro-batch, and where
      they lie: their ``partition`` and ``offsets`` (array of bigint).
    - each of ``SUMS``: so many ``views`` (records) since the beginning of the checkpoint.
    - ``clock``: up to the time ``views`` (ms) all seconds are complete. ``slowest``: the partition
      that has come least far (-1: none has given anything).

    A second is complete when the slowest partition is ``lateness`` behind its end. ``unread(p,
    offset)`` says how many records wait on a partition from an offset on; it's asked where a
    partition has come to the reader's own time. Micro-batches come also where nothing was read, so
    that the last seconds are completed. Raises ValueError for a lateness that is no time. Needs
    Spark's RocksDB state store.
    """
    behind = milliseconds(lateness)
    fields = (*FIELDS, *(["event_id"] if with_events else []))
    make = packing(1, partial(_per_second_in_ms, with_events=with_events))
    packs = parse(raw, dead_letters, fields, Then(make, PACKED))
    step = whole(partial(complete, behind=behind, unread=unread, by_partition=by_partition))
    tables = dict.fromkeys(_TABLES, Keyed())
    idle = stateful(packs, step, tables, 1, lambda state, now: step(state, nothing_came(now)))
    return unpack(idle, RESULT)


def milliseconds(lateness: str) -> int:
    """Convert a length of time such as "5 seconds" to ms; raise ValueError for anything else."""
    try:
        length = pd.Timedelta(lateness)
        if pd.isna(length) or length < pd.Timedelta(0) or lateness.strip().isdecimal():
            raise ValueError
    except ValueError:
        raise ValueError(
            f"Expected a length of time such as '5 seconds' or '2 minutes', but got {lateness!r}."
        ) from None
    return int(length.total_seconds() * 1000)


# --- in each task -----------------------------------------------------------------------------


def _per_second_in_ms(rows: pl.DataFrame, with_events: bool) -> pl.DataFrame:
    times = pl.col("arrival", "now").dt.epoch("ms")
    return per_second(rows.with_columns(times), with_events)


def per_second(rows: pl.DataFrame, with_events: bool = False) -> pl.DataFrame:
    """Group what a task has read by partition and second; rejected rows have no second."""
    page, time = pl.col("click_type") == ClickType.PAGE.value, pl.col("timestamp")
    to_the_end = pl.int_range(pl.len(), 0, -1).over("partition")
    good = rows.filter(pl.col("reason").is_null()).with_columns(
        (time // 1000).alias("second"), (to_the_end <= RECENT).alias("recent")
    )
    ids = [pl.col("event_id").filter(page).alias("event_ids")] if with_events else []
    read = good.group_by("partition", "second").agg(
        *_ALL,
        page.sum().cast(pl.Int64).alias("views"),
        pl.col("offset").filter("recent").alias("recent"),
        time.max().alias("newest"),
        (pl.col("arrival") - time).max().alias("delay"),
        pl.col("offset").filter(page).alias("offsets"),
        *ids,
    )
    bad = rows.filter(pl.col("reason").is_not_null()).group_by("partition").agg(*_ALL)
    empty = pl.DataFrame(schema=_PER_SECOND)
    return pl.concat([empty, read, bad], how="diagonal").with_columns(pl.col("views").fill_null(0))


_ALL = [
    pl.len().cast(pl.Int64).alias("clicks"),
    pl.col("offset").max().alias("last"),
    pl.col("now").max(),
]


# --- the state --------------------------------------------------------------------------------


def complete(
    tables: Tables, batch: pl.DataFrame, *, behind: int, unread: Unread, by_partition: bool
) -> tuple[Tables, pl.DataFrame]:
    """Process one micro-batch: take the state and what came in, return the state and the output."""
    now = int(batch["now"].max())  # type: ignore[arg-type]
    batch = batch.filter(pl.col("clicks") > 0)
    sums, closed, since = _sums(tables["sums"], now)
    pages = batch.filter(pl.col("views") > 0)
    late = pages.filter(pl.col("second") < closed)
    fresh = pages.filter(pl.col("second") >= closed).select(_OPEN)
    clocks = advance(_clocks(tables["clocks"]), batch, now, since, unread)
    time, partition = slowest(clocks, now)
    closed = max(closed, (time - behind) // 1000)
    before = tables["open"]
    counts = _added(fresh if before is None else pl.concat([before, fresh]))
    done, still = (
        counts.filter(pl.col("second") < closed),
        counts.filter(pl.col("second") >= closed),
    )
    read, views = _total(batch, "clicks"), _total(batch, "views")
    rejected = _total(batch.filter(pl.col("second").is_null()), "clicks")
    sums["read"] += read
    sums["rejected"] += rejected
    sums["others"] += read - rejected - views
    sums["counted"] += _total(done, "views")
    sums[TOO_LATE] += _total(late, "views")
    sums["open"] = _total(still, "views")
    after: Tables = {
        "open": still,
        "clocks": clock_table(clocks),
        "sums": pl.DataFrame({**sums, "closed": closed, "now": now}),
    }
    marks = {"clock": closed * 1000, "slowest": partition}
    emitted = [_seconds(done, by_partition), _late(late), _sum_rows(sums | marks)]
    return after, pl.concat(emitted, how="diagonal_relaxed")


_PER_SECOND: dict[str, Any] = {
    "partition": pl.Int32,
    "second": pl.Int64,
    "clicks": pl.Int64,
    "views": pl.Int64,
    "recent": pl.List(pl.Int64),
    "newest": pl.Int64,
    "delay": pl.Int64,
    "last": pl.Int64,
    "offsets": pl.List(pl.Int64),
    "now": pl.Int64,
    "event_ids": pl.List(pl.Int64),
}
"""The columns of ``per_second``."""

_OPEN = ["second", "partition", "views", "event_ids"]


def _added(rows: pl.DataFrame, by: tuple[str, ...] = ("second", "partition")) -> pl.DataFrame:
    """Add up rows of the same second (and partition)."""
    if not len(rows):
        return rows
    ids = pl.col("event_ids").explode().drop_nulls()
    return rows.group_by(*by).agg(pl.col("views").sum(), ids)


def _total(rows: pl.DataFrame, column: str) -> int:
    return int(rows[column].sum())


def nothing_came(now: int) -> pl.DataFrame:
    """Return an empty micro-batch, planned at this time (ms)."""
    return pl.DataFrame([{"clicks": 0, "now": now}], schema=_PER_SECOND)


def _sums(table: pl.DataFrame | None, now: int) -> tuple[dict[str, int], int, int]:
    """Return the sums so far, the second before which all are complete, and when that was (ms)."""
    if table is None:
        return dict.fromkeys(SUMS, 0), 0, now
    sums = table.row(0, named=True)
    return {name: sums[name] for name in SUMS}, sums["closed"], sums["now"]


def _clocks(table: pl.DataFrame | None) -> dict[int, Clock]:
    if table is None:
        return {}
    return {
        partition: Clock(time, idle, delay, tuple(recent))
        for partition, time, idle, delay, recent in table.iter_rows()
    }


def clock_table(clocks: dict[int, Clock]) -> pl.DataFrame:
    """Return the clocks by partition as they stand in the state."""
    names = ["partition", *(f.name for f in fields(Clock))]
    kinds = dict.fromkeys(names, pl.Int64) | {"recent": pl.List(pl.Int64)}
    rows = [(p, *astuple(clock)) for p, clock in clocks.items()]
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _seconds(done: pl.DataFrame, by_partition: bool) -> pl.DataFrame:
    counts = done if by_partition else _added(done.drop("partition"), ("second",))
    return counts.sort("second").with_columns(pl.lit(COMPLETE).alias("kind"))


def _late(late: pl.DataFrame) -> pl.DataFrame:
    columns = ["second", "partition", "views", "offsets"]
    return late.select(columns).with_columns(pl.lit(TOO_LATE).alias("kind"))


def _sum_rows(sums: dict[str, int]) -> pl.DataFrame:
    return pl.DataFrame({"kind": list(sums), "views": list(sums.values())})
