"""Counts the page views of each second, and loses none where each partition is in order.

In order means: appended in the order of event time, which offsets alone don't promise.

Spark's native window, as in chapter 02, drops a page view behind its watermark without a word, and
the watermark runs with the fastest partition. Here each partition has a clock, the newest event
time that was read there. A second stays open until the slowest clock has passed it, and a later
event is named by its offset, so that it can go to the dead letters.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import polars as pl
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from workbook.sources.options import milliseconds
from workbook.sources.records import CLICKS, Then
from workbook.streams.events.clicks import ClickType
from workbook.streams.events.metrics import COMPLETE
from workbook.streams.events.reasons import Reason
from workbook.tables.packing import PACKED, packing, stateful, unpack
from workbook.tables.segments import Keyed
from workbook.tables.state import State

if TYPE_CHECKING:
    from workbook.kafka.dead_letters import DeadLetters

FIELDS = ("click_type", "timestamp", "partition", "offset", "reason", "now")

TOO_LATE = Reason.TOO_LATE.value
SUMS = ("read", "counted", "open", TOO_LATE, "rejected", "others")
"""Of all records so far: those read are page views that were counted in a complete second, are in
one that is still open, or came too late; those rejected; and others, which are no page views."""

RESULT = """
    kind STRING, second BIGINT, partition INT, views BIGINT, event_ids ARRAY<BIGINT>,
    offsets ARRAY<BIGINT>
"""
TABLES = dict.fromkeys(("open", "clocks", "sums"), Keyed())

IDLE_MS = 10_000
"""A partition that has given nothing readable for this time counts as read to its end."""

ASKED_MS = 5_000
"""The time between two micro-batches counts as idle up to this: an outage is no idleness."""

Tick = Callable[[], int]
UNKNOWN = -1
"""The time of a clock that nothing has set yet."""


def completed_views(
    raw: DataFrame,
    dead_letters: "DeadLetters | None",
    lateness: str = "5 seconds",
    *,
    with_events: bool = False,
) -> DataFrame:
    """Emit each second's page views once it is complete, and those that came too late.

    In: the columns of Spark's Kafka source; what is no click goes to ``dead_letters``, as by
    ``CLICKS.parse``. Out, by ``kind``:

    - ``complete``: ``second`` (bigint, since 1970) with its ``views`` (bigint), once and for all.
      ``with_events`` gives the ``event_ids`` (array of bigint) of what was counted.
    - ``too late``: ``views`` of a ``second`` that was complete in an earlier micro-batch, and where
      they lie: their ``partition`` and ``offsets`` (array of bigint).
    - each of ``SUMS``: its ``views`` (records) since the beginning of the checkpoint.
    - ``clock``: all seconds up to the time ``views`` (ms) are complete. ``slowest``: the partition
      whose clock is last (-1: none has given anything).

    A second is complete when the clock of the slowest partition is ``lateness`` beyond its end.
    Micro-batches run also where nothing was read, so that the last seconds are completed. Raises
    ValueError for a lateness that is no time. Needs Spark's RocksDB state store.
    """
    behind = milliseconds("lateness", lateness, 0)
    fields = (*FIELDS, *(["event_id"] if with_events else []))
    make = packing(1, partial(per_second, with_events=with_events))
    packs = CLICKS.parse(raw, dead_letters, fields, Then(make, PACKED))
    run, tick = secrets.randbits(62), lambda: monotonic_ns() // 1_000_000
    step = partial(complete, behind=behind, run=run, tick=tick)
    seconds = stateful(packs, step, TABLES, 1, lambda state, now: step(state, nothing_came(now)))
    result = StructType.fromDDL(RESULT)
    assert isinstance(result, StructType)
    return unpack(seconds, result)


# --- in each task -----------------------------------------------------------------------------

_PER_SECOND: dict[str, Any] = {
    "partition": pl.Int32,
    "second": pl.Int64,
    "clicks": pl.Int64,
    "views": pl.Int64,
    "newest": pl.Int64,
    "offsets": pl.List(pl.Int64),
    "now": pl.Int64,
    "event_ids": pl.List(pl.Int64),
}
"""The columns of ``per_second``."""


def per_second(rows: pl.DataFrame, with_events: bool = False) -> pl.DataFrame:
    """Group what a task has read by partition and second; rejected rows have no second.

    ``now`` becomes ms since 1970.
    """
    good = pl.col("reason").is_null()
    time, page = pl.col("time"), good & (pl.col("click_type") == ClickType.PAGE.value)
    ids = [pl.col("event_id").filter(page).alias("event_ids")] if with_events else []
    timed = rows.with_columns(pl.when(good).then("timestamp").alias("time"))
    read = timed.group_by("partition", (time // 1000).alias("second")).agg(
        pl.len().cast(pl.Int64).alias("clicks"),
        page.sum().cast(pl.Int64).alias("views"),
        time.max().alias("newest"),
        pl.col("offset").filter(page).alias("offsets"),
        pl.col("now").max().dt.epoch("ms"),
        *ids,
    )
    return pl.concat([pl.DataFrame(schema=_PER_SECOND), read], how="diagonal")


def nothing_came(now: int) -> pl.DataFrame:
    """Return an empty micro-batch, planned at this time (ms)."""
    return pl.DataFrame([{"clicks": 0, "views": 0, "now": now}], schema=_PER_SECOND)


# --- the clocks -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a partition: its newest event ``time`` (ms).

    ``idle`` is for how long (ms) the partition has given nothing readable although it was asked.
    """

    time: int = UNKNOWN
    idle: int = 0


def advance(
    before: Mapping[int, Clock], newest: Mapping[int, int | None], now: int, passed: int
) -> dict[int, Clock]:
    """Move the clocks of the partitions that gave something readable; the others have been idle.

    ``newest`` has the newest event time (ms) of each partition that was read, None where nothing
    was readable. ``now`` is the reader's time (ms): no clock runs ahead of it. ``passed`` is the
    time (ms) since the micro-batch before.
    """
    asked = min(max(passed, 0), ASKED_MS)
    after = {p: replace(clock, idle=clock.idle + asked) for p, clock in before.items()}
    for partition, time in newest.items():
        known = after.setdefault(partition, Clock())
        if time is not None:
            after[partition] = Clock(max(known.time, min(time, now)))
    return after


def slowest(clocks: Mapping[int, Clock], now: int, behind: int = 0) -> tuple[int, int]:
    """Return the time (ms) that all partitions have reached, and the slowest partition.

    Spark gives each partition that has unread records a part of every micro-batch. So a partition
    that has given nothing for ``IDLE_MS`` has been read to its end, and is as far as the reader's
    time less that. The reader's clock may be wrong, so it stops ``behind`` (ms) after the end of
    the newest second of all. A partition that never gave anything isn't waited for. Both are
    ``UNKNOWN`` if none has given anything.
    """
    newest = max((clock.time for clock in clocks.values()), default=UNKNOWN)
    end = min(now - IDLE_MS, (newest // 1000 + 1) * 1000 + behind)
    times = [
        (clock.time if clock.idle < IDLE_MS else max(clock.time, end), partition)
        for partition, clock in clocks.items()
    ]
    return min(times, default=(UNKNOWN, UNKNOWN))


# --- the state --------------------------------------------------------------------------------

_OPEN = ["second", "partition", "views", "event_ids"]


def complete(
    state: State, batch: pl.DataFrame, *, behind: int, run: int, tick: Tick
) -> pl.DataFrame:
    """Process one micro-batch: change the state by the new records, and return the output.

    ``tick``, a monotonic clock (ms), measures silences, each within one ``run`` of the query.
    """
    now, ticked = int(batch["now"].max()), tick()  # type: ignore[arg-type]
    sums, closed, before_run, since = _sums(state["sums"].all())
    known = _clocks(state["clocks"].all())
    if before_run != run:
        since, known = ticked, {p: replace(clock, idle=0) for p, clock in known.items()}
    pages = batch.filter(pl.col("views") > 0)
    late = pages.filter(pl.col("second") < closed)
    fresh = pages.filter(pl.col("second") >= closed).select(_OPEN)
    seen = batch.filter(pl.col("clicks") > 0).group_by("partition").agg(pl.col("newest").max())
    clocks = advance(known, dict(seen.iter_rows()), now, ticked - since)
    reached, partition = slowest(clocks, now, behind)
    closed = max(closed, (reached - behind) // 1000)
    before = state["open"].all()
    counts = _added(fresh if before is None else pl.concat([before, fresh]))
    done = counts.filter(pl.col("second") < closed)
    still = counts.filter(pl.col("second") >= closed)
    read, views = _total(batch, "clicks"), _total(batch, "views")
    rejected = _total(batch.filter(pl.col("second").is_null()), "clicks")
    sums["read"] += read
    sums["rejected"] += rejected
    sums["others"] += read - rejected - views
    sums["counted"] += _total(done, "views")
    sums[TOO_LATE] += _total(late, "views")
    sums["open"] = _total(still, "views")
    state["open"].replace(still)
    state["clocks"].replace(clock_table(clocks))
    state["sums"].replace(pl.DataFrame({**sums, "closed": closed, "run": run, "tick": ticked}))
    marks = {**sums, "clock": closed * 1000, "slowest": partition}
    seconds = _added(done.drop("partition"), "second")
    emitted = [
        seconds.sort("second").with_columns(kind=pl.lit(COMPLETE)),
        late.select("second", "partition", "views", "offsets", kind=pl.lit(TOO_LATE)),
        pl.DataFrame({"kind": list(marks), "views": list(marks.values())}),
    ]
    return pl.concat(emitted, how="diagonal_relaxed")


def _added(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Add up rows of the same second and partition, or of the same columns ``by``."""
    if rows.is_empty():
        return rows
    ids = pl.col("event_ids").explode().drop_nulls()
    return rows.group_by(by or ("second", "partition")).agg(pl.col("views").sum(), ids)


def _total(rows: pl.DataFrame, column: str) -> int:
    return int(rows[column].sum())


def _sums(table: pl.DataFrame | None) -> tuple[dict[str, int], int, int, int]:
    """Return the sums, the second before which all are complete, and the last run and its tick."""
    if table is None:
        return dict.fromkeys(SUMS, 0), 0, -1, 0
    sums = table.row(0, named=True)
    when = sums.get("run", -1), sums.get("tick", 0)  # none in a checkpoint of an older release
    return {name: sums[name] for name in SUMS}, sums["closed"], *when


def _clocks(table: pl.DataFrame | None) -> dict[int, Clock]:
    rows = [] if table is None else table.iter_rows()
    return {partition: Clock(time, idle) for partition, time, idle in rows}


def clock_table(clocks: Mapping[int, Clock]) -> pl.DataFrame:
    """Return the clocks by partition as the state keeps them: partition, time, idle (bigint)."""
    rows = [(partition, clock.time, clock.idle) for partition, clock in clocks.items()]
    kinds = dict.fromkeys(("partition", "time", "idle"), pl.Int64)
    return pl.DataFrame(rows, schema=kinds, orient="row")
