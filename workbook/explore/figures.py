"""Turns rows into the figures of a report, by Spark; they are small."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from workbook.explore.plan import Plan
from workbook.explore.rows import AHEAD, EMPTY, READ, REASONS
from workbook.streams.events.fields import MAX_AHEAD_MS

SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999)
TOLD_S = (0, 1, 10, 60, 600, 3_600, 86_400)
"""The watermarks whose costs are told, in seconds."""

ALSO_S = (
    2, 5, 15, 30, 120, 300, 900, 1_200, 1_800, 7_200, 21_600, 43_200, 172_800, 604_800, 2_592_000,
)  # fmt: skip
"""Those that may be recommended as well."""

BACKLOG = 100
"""The micro-batches in which a backlog is read, each with the same share of each partition."""

TOP = 10
TIMED = "with a time"
TIMES = (TIMED, "before 2000", "after their arrival", REASONS[AHEAD])
YEAR_2000 = 946_684_800_000


@dataclass(frozen=True)
class Figures:
    """All figures of a report, as plain values; see ``measure``."""

    partitions: list[dict[str, Any]]
    reasons: dict[str, int]
    sizes: dict[str, float]
    minutes: list[int]
    late: list[int]
    delay: dict[str, float]
    lateness: dict[str, float]
    times: dict[str, int]
    keys: dict[str, Any]
    repeats: dict[str, Any]
    watermarks: list[dict[str, Any]]
    table: dict[str, Any] | None


def measure(
    rows: DataFrame, plan: Plan, window_ms: int,
    during: Callable[[str], AbstractContextManager[Any]] = nullcontext,
) -> Figures:  # fmt: skip
    """Measure the rows of a plan; times are in ms, shares between 0 and 1.

    A watermark is told for one that reads records as they arrive, in micro-batches of a second
    ("live"), and for one that reads them all in a hundred micro-batches, with one clock as Spark
    has it ("backlog") or one per partition ("clocks"). A micro-batch drops a record whose window
    has ended before the newest event time of the micro-batches before, less the delay; where they
    follow each other without a pause, as in a backlog, of those before the previous one. ``during``
    is given what is counted.
    """

    def told(what: str, of: Callable[..., Any], *given: Any) -> Any:
        with during(f"Counting {what}"):
            return of(*given)

    placed = _placed(rows, plan, window_ms).cache()
    try:
        places = told("by partition", _places, placed)
        counted = told("sizes and delays", _counted, placed.selectExpr(
            "stack(3, 'size', size, 'delay', delay, 'lateness', lateness) AS (of, ms)"
        ))  # fmt: skip
        lateness = _quantiles(counted, "lateness")
        minutes, late = told("by minute", _minutes, placed, lateness)
        return Figures(
            partitions=_partitions(places),
            reasons=_reasons(places),
            sizes=_quantiles(counted, "size"),
            minutes=minutes,
            late=late,
            delay=_quantiles(counted, "delay"),
            lateness=lateness,
            times={name: int(places[name].sum()) for name in TIMES},
            keys=told("keys", _keys, placed),
            repeats=told("repeats", _repeats, placed),
            watermarks=told("what watermarks cost", _watermarks, placed, window_ms),
            table=told("the table's rows", _table, placed) if plan.compacted else None,
        )
    finally:
        placed.unpersist()


def _placed(rows: DataFrame, plan: Plan, window_ms: int) -> DataFrame:
    """Add to each row what its partition's order says, and the micro-batches it's in.

    ``silence``, ``delay`` and ``lateness`` in ms, ``second`` and ``share``, the micro-batches of
    the live reader and of the backlog, ``start`` of its window. All but the first need a time.
    """
    ranges = [plan.ranges.get(number, (0, 1)) for number in range(plan.partitions)]
    first, end = (F.lit([at[side] for at in ranges])[F.col("partition")] for side in (0, 1))
    ordered = Window.partitionBy("partition").orderBy("offset")
    before = ordered.rowsBetween(Window.unboundedPreceding, 0)
    arrival, at = F.col("arrival"), F.when(F.col("why") == READ, F.col("time"))
    # A record isn't there before those that precede it, whatever its producer's clock said.
    latest = int(time.time() * 1000) + MAX_AHEAD_MS
    past = F.when(at.isNotNull() & (arrival <= latest), arrival)
    return rows.select(
        "partition", "offset", "arrival", "time", "why", "keyless", "own", "key", "same",
        F.col("size").cast("bigint").alias("size"),
        (arrival - F.lag("arrival").over(ordered)).alias("silence"),
        (arrival - at).alias("delay"),
        (F.max(at).over(before) - at).alias("lateness"),
        F.floor(F.coalesce(F.max(past).over(before), arrival) / 1000).alias("second"),
        F.floor((F.col("offset") - first) * BACKLOG / (end - first)).alias("share"),
        (F.floor(at / window_ms) * window_ms).alias("start"),
    )  # fmt: skip


def _places(placed: DataFrame) -> pd.DataFrame:
    """Return the sums of each partition and reason."""
    valued = F.col("time").isNotNull() & (F.col("why") != EMPTY)
    times = {
        TIMED: valued,
        "before 2000": valued & (F.col("time") < YEAR_2000),
        "after their arrival": valued & (F.col("time") > F.col("arrival")),
        REASONS[AHEAD]: valued & (F.col("why") == AHEAD),
    }
    return placed.groupBy("partition", "why").agg(
        F.count("*").alias("records"), F.sum("size").alias("bytes"),
        F.max("silence").alias("silence"), F.count_if(F.col("silence") < 0).alias("backwards"),
        F.min("arrival").alias("first"),
        F.max("arrival").alias("last"), F.count_if("keyless").alias("keyless"),
        *(F.count_if(those).alias(name) for name, those in times.items()),
    ).toPandas()  # fmt: skip


def _partitions(places: pd.DataFrame) -> list[dict[str, Any]]:
    how = {"records": "sum", "bytes": "sum", "silence": "max", "backwards": "sum",
           "first": "min", "last": "max"}  # fmt: skip
    found: Any = places.groupby("partition", as_index=False).agg(how)
    return [
        {name: None if np.isnan(n) else int(n) for name, n in row.items()}
        for row in found.to_dict("records")
    ]


def _reasons(places: pd.DataFrame) -> dict[str, int]:
    found = {int(why): int(n) for why, n in places.groupby("why")["records"].sum().items()}
    return {
        "records": sum(found.values()), "decoded": found.get(READ, 0) + found.get(AHEAD, 0),
        **{words: found.get(why, 0) for why, words in REASONS.items()},
        "no key": int(places["keyless"].sum()),
    }  # fmt: skip


def _counted(values: DataFrame) -> pd.DataFrame:
    """Return by ``of`` how many rows are about as many ``ms``, to three digits."""
    found: Any = (
        values.where("ms IS NOT NULL")
        .groupBy("of", _about("ms").alias("about"))
        .agg(F.count("*").alias("n"), F.min("ms").alias("least"), F.max("ms").alias("most"))
        .toPandas()
    )
    return found.sort_values("about")


def _about(name: str) -> Column:
    """Round a column to three digits."""
    unit = F.expr(f"pow(10, greatest(0, floor(log10(abs({name}) + 1)) - 2))")
    return F.round(F.col(name) / unit) * unit


def _quantiles(counted: pd.DataFrame, of: str) -> dict[str, float]:
    """Return the quantiles of what was counted, and the least and the most exactly."""
    found = counted[counted["of"] == of]
    if found.empty:
        return {}
    passed = found["n"].cumsum().to_numpy() / found["n"].sum()
    picked = [found["about"].iloc[int(np.searchsorted(passed, q - 1e-12))] for q in SHARES]
    least, most = float(found["least"].min()), float(found["most"].max())
    picked = np.clip(picked, least, most)  # what is rounded may be outside
    told = {f"p{100 * q:g}": float(at) for q, at in zip(SHARES, picked, strict=True)}
    return {"least": least, **told, "most": most}


def _minutes(rows: DataFrame, lateness: dict[str, float]) -> tuple[list[int], list[int]]:
    """Return the records of each minute from the first to the last, and how many were later.

    Both are empty if they are of more than a week.
    """
    minute = F.floor(F.col("arrival") / 60_000).alias("minute")
    p99 = lateness.get("p99", 0.0)  # it's rounded, as long as it isn't the most
    later = F.count_if((_about("lateness") > p99) & (F.col("lateness") > p99)).alias("late")
    counted = rows.groupBy(minute).agg(F.count("*").alias("n"), later).collect()
    found = {row.minute: (row.n, row.late) for row in counted}
    minutes = range(min(found), max(found) + 1)
    each = [found.get(at, (0, 0)) for at in minutes] if len(minutes) <= 10_080 else []
    return [n for n, _ in each], [late for _, late in each]


def _keys(rows: DataFrame) -> dict[str, Any]:
    torn = (F.min("partition") != F.max("partition")).alias("torn")
    each = rows.where("key IS NOT NULL").groupBy("key").agg(F.count("*").alias("n"), torn)
    # By how many keys have each count: few rows, whatever the number of keys.
    keys = (F.count("*").alias("keys"), F.count_if("torn").alias("torn"))
    found: pd.DataFrame = each.groupBy("n").agg(*keys).toPandas()
    found = found.sort_values("n", ascending=False)
    total = int((found["n"] * found["keys"]).sum())
    most = found["n"].repeat(found["keys"].clip(upper=TOP)).head(TOP)
    return {
        "different": int(found["keys"].sum()), "of records": total,
        "in several partitions": int(found["torn"].sum()),
        "shares of the first ten": [n / total for n in most],
    }  # fmt: skip


def _repeats(rows: DataFrame) -> dict[str, Any]:
    before = F.lag("arrival").over(Window.partitionBy("same").orderBy("arrival", "offset"))
    apart = rows.where("same IS NOT NULL").select(
        F.lit("apart").alias("of"), (F.col("arrival") - before).alias("ms")
    )
    counted = _counted(apart)  # each but the first of its kind
    return {"again": int(counted["n"].sum()), "apart": _quantiles(counted, "apart")}


def _table(rows: DataFrame) -> dict[str, Any]:
    lives = F.max_by(F.col("why") != EMPTY, "offset").alias("lives")
    each = rows.where(F.col("own").isNotNull()).groupBy("partition", "own")
    of_key = each.agg(F.count("*").alias("n"), lives)
    [row] = of_key.agg(
        F.count("*").alias("keys"), F.avg("n").alias("changes"), F.count_if("lives").alias("rows")
    ).collect()
    return {"keys": row["keys"], "changes per key": row.changes, "rows now": row["rows"]}


# --- what a watermark costs -----------------------------------------------------------------------


def _watermarks(placed: DataFrame, window_ms: int) -> list[dict[str, Any]]:
    """Return for each delay (s) what it drops, read in three ways, and what is open at most."""
    delays, timed = sorted({*TOLD_S, *ALSO_S}), placed.where(F.col("why") == READ)
    limits = [1000 * delay for delay in delays]
    counts = (F.count("*").alias("n"), F.max("time").alias("top"))
    found: list[Any] = [
        timed.groupBy(of.alias("of"), F.col(batch).alias("batch"), "start").agg(*counts).toPandas()
        for of, batch in ((F.lit(0), "second"), (F.col("partition"), "share"))
    ]
    live, clocks = found
    if live.empty:
        return []
    total = live["n"].sum()
    lost = {
        "live": _dropped(live, 1, window_ms, limits),
        "backlog": _dropped(clocks.assign(of=0), 2, window_ms, limits),
        "clocks": _dropped(clocks, 2, window_ms, limits),
    }
    first = timed.groupBy("start", "key").agg(F.min("second").alias("batch"))
    opened: pd.DataFrame = first.groupBy("start", "batch").count().toPandas()
    windows = _open(opened, _clocks(live, 1), window_ms, limits)
    return [
        {
            "delay_s": delay,
            **{name: float(counts[at] / total) for name, counts in lost.items()},
            "windows": windows[at][0], "groups": windows[at][1],
        }
        for at, delay in enumerate(delays)
    ]  # fmt: skip


def _clocks(found: pd.DataFrame, before: int) -> "pd.Series[float]":
    """Return the newest event time ``before`` micro-batches earlier, none before the first."""
    tops = found.groupby(["batch", "of"])["top"].max().unstack()
    clocks: Any = tops.cummax().ffill().shift(before).unstack()  # also where one has no record
    return clocks.rename("clock")


def _dropped(found: pd.DataFrame, before: int, window_ms: int, delays: Sequence[int]) -> list[int]:
    clock = found.join(_clocks(found, before), on=["of", "batch"])["clock"]
    past = clock - (found["start"] + window_ms)  # by how much the window has ended
    return [int(found["n"][past >= delay].sum()) for delay in delays]


def _open(
    found: pd.DataFrame, clocks: "pd.Series[float]", window_ms: int, delays: Sequence[int]
) -> list[tuple[int, int]]:
    """Return for each delay the most windows, and windows of a key, that are open at once, live."""
    seconds = clocks.index.get_level_values("batch").to_numpy()
    clock = clocks.fillna(-np.inf).to_numpy()  # before the first one
    opened = np.searchsorted(seconds, found["batch"].to_numpy())
    ends = found["start"].to_numpy() + window_ms
    earliest = found.assign(at=opened).groupby("start")["at"].min()
    most = []
    for delay in delays:
        closed = np.searchsorted(clock, ends + delay)
        windows = np.searchsorted(clock, earliest.index.to_numpy() + window_ms + delay)
        most.append((
            _peak(earliest.to_numpy(), windows, np.ones(len(earliest), dtype=int), len(seconds)),
            _peak(opened, closed, found["count"].to_numpy(), len(seconds)),
        ))  # fmt: skip
    return most


def _peak(opened: Any, closed: Any, counts: Any, length: int) -> int:
    """Return the most that are open at once, of those that open before they close."""
    change, kept = np.zeros(length + 1, dtype=np.int64), closed > opened
    np.add.at(change, opened[kept], counts[kept])
    np.add.at(change, closed[kept], -counts[kept])
    return int(change.cumsum().max(initial=0))


def recommended(watermarks: Sequence[dict[str, Any]], loss: float) -> dict[str, Any] | None:
    """Return the smallest delay that loses no more than this share live; None if all lose more."""
    return next((each for each in watermarks if each["live"] <= loss), None)
