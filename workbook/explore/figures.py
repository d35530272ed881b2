"""Turns rows into the figures of a report, by Spark; they are small."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from workbook.explore.plan import Plan
from workbook.explore.rows import AHEAD, EMPTY, MAX_AHEAD_MS, READ, REASONS

SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999)
TOLD_S = (0, 1, 10, 60, 600, 3_600, 86_400)
"""The watermarks whose costs are told, in seconds."""

ALSO_S = (
    2,
    5,
    15,
    30,
    120,
    300,
    900,
    1_200,
    1_800,
    7_200,
    21_600,
    43_200,
    172_800,
    604_800,
    2_592_000,
)
"""Those that may be recommended as well."""

BACKLOG = 100
"""The micro-batches in which a backlog is read, each with the same share of each partition."""

TOP = 10
TIMED = "with a time"


@dataclass(frozen=True)
class Figures:
    """All figures of a report, as plain values; see ``measure``."""

    partitions: list[dict[str, Any]]
    reasons: dict[str, int]
    sizes: dict[str, float]
    minutes: list[int]
    delay: dict[str, float]
    lateness: dict[str, float]
    times: dict[str, int]
    keys: dict[str, Any]
    repeats: dict[str, Any]
    watermarks: list[dict[str, Any]]
    table: dict[str, Any] | None


def measure(rows: DataFrame, plan: Plan, window_ms: int) -> Figures:
    """Measure the rows of a plan; times are in ms, shares between 0 and 1.

    A watermark is told for one that reads records as they arrive, in micro-batches of a second
    ("live"), and for one that reads them all in a hundred micro-batches, with one clock as Spark
    has it ("backlog") or one per partition ("clocks"). A micro-batch drops a record
    whose window has ended before the newest event time of the micro-batches before, less the delay.
    """
    timed = rows.where(F.col("why") == READ)
    ordered = Window.partitionBy("partition").orderBy("offset")
    newest = F.max("time").over(ordered.rowsBetween(Window.unboundedPreceding, 0))
    late = timed.select((newest - F.col("time")).alias("ms"))
    return Figures(
        partitions=_partitions(rows, ordered),
        reasons=_reasons(rows),
        sizes=_quantiles(rows.select(F.col("size").alias("ms"))),
        minutes=_minutes(rows),
        delay=_quantiles(timed.select((F.col("arrival") - F.col("time")).alias("ms"))),
        lateness=_quantiles(late),
        times=_times(rows),
        keys=_keys(rows),
        repeats=_repeats(rows),
        watermarks=_watermarks(timed, plan, window_ms),
        table=_table(rows) if plan.compacted else None,
    )


def _partitions(rows: DataFrame, ordered: Any) -> list[dict[str, Any]]:
    silence = F.col("arrival") - F.lag("arrival").over(ordered)
    found = (
        rows.withColumn("silence", silence)
        .groupBy("partition")
        .agg(
            F.count("*").alias("records"), F.sum("size").alias("bytes"),
            F.max("silence").alias("silence"), F.min("arrival").alias("first"),
            F.max("arrival").alias("last"),
        )
        .orderBy("partition")
    )  # fmt: skip
    return [row.asDict() for row in found.collect()]


def _reasons(rows: DataFrame) -> dict[str, int]:
    found = {row.why: row["count"] for row in rows.groupBy("why").count().collect()}
    keyless = rows.where("keyless").count()
    return {
        "records": sum(found.values()), "decoded": found.get(READ, 0) + found.get(AHEAD, 0),
        **{words: found.get(why, 0) for why, words in REASONS.items()}, "no key": keyless,
    }  # fmt: skip


def _quantiles(values: DataFrame) -> dict[str, float]:
    """Return the quantiles of ``ms`` to three digits, and the least and the most exactly."""
    unit = F.expr("pow(10, greatest(0, floor(log10(abs(ms) + 1)) - 2))")
    found: Any = (
        values.groupBy((F.round(F.col("ms") / unit) * unit).alias("about"))
        .agg(F.count("*").alias("n"), F.min("ms").alias("least"), F.max("ms").alias("most"))
        .orderBy("about")
        .toPandas()
    )
    if found.empty:
        return {}
    passed = found["n"].cumsum().to_numpy() / found["n"].sum()
    picked = [found["about"].iloc[int(np.searchsorted(passed, q - 1e-12))] for q in SHARES]
    told = {f"p{100 * q:g}": float(at) for q, at in zip(SHARES, picked, strict=True)}
    return {"least": float(found["least"].min()), **told, "most": float(found["most"].max())}


def _minutes(rows: DataFrame) -> list[int]:
    """Return the records of each minute from the first to the last, none of more than a week."""
    minute = F.floor(F.col("arrival") / 60_000).alias("minute")
    found = {row.minute: row["count"] for row in rows.groupBy(minute).count().collect()}
    first, last = min(found), max(found)
    return [found.get(at, 0) for at in range(first, last + 1)] if last - first < 10_080 else []


def _times(rows: DataFrame) -> dict[str, int]:
    valued = rows.where(F.col("time").isNotNull() & (F.col("why") != EMPTY))
    year_2000 = 946_684_800_000
    [row] = valued.agg(
        F.count("*").alias(TIMED),
        F.count_if(F.col("time") < year_2000).alias("before 2000"),
        F.count_if(F.col("time") > F.col("arrival")).alias("after their arrival"),
        F.count_if(F.col("why") == AHEAD).alias(REASONS[AHEAD]),
    ).collect()
    return {name: int(value) for name, value in row.asDict().items()}


def _keys(rows: DataFrame) -> dict[str, Any]:
    each = (
        rows.where(F.col("key").isNotNull())
        .groupBy("key")
        .agg(F.count("*").alias("n"), F.count_distinct("partition").alias("homes"))
        .cache()
    )
    try:
        [row] = each.agg(
            F.count("*").alias("keys"), F.sum("n").alias("records"),
            F.count_if(F.col("homes") > 1).alias("torn"),
        ).collect()  # fmt: skip
        most = [r.n for r in each.orderBy(F.col("n").desc()).limit(TOP).collect()]
    finally:
        each.unpersist()
    total = row.records or 0
    return {
        "different": row["keys"], "of records": total, "in several partitions": row.torn,
        "shares of the first ten": [n / total for n in most],
    }  # fmt: skip


def _repeats(rows: DataFrame) -> dict[str, Any]:
    counted = rows.where(F.col("same").isNotNull())
    many = counted.groupBy("same").count().where(F.col("count") > 1)
    [row] = many.agg(F.coalesce(F.sum(F.col("count") - 1), F.lit(0)).alias("again")).collect()
    if not row.again:
        return {"again": 0, "apart": {}}
    before = F.lag("arrival").over(Window.partitionBy("same").orderBy("arrival", "offset"))
    apart = counted.join(many.select("same"), "same", "left_semi").select(
        (F.col("arrival") - before).alias("ms")
    )
    return {"again": int(row.again), "apart": _quantiles(apart.where(F.col("ms").isNotNull()))}


def _table(rows: DataFrame) -> dict[str, Any]:
    lives = F.max_by(F.col("why") != EMPTY, "offset").alias("lives")
    each = rows.where(F.col("key").isNotNull()).groupBy("key")
    of_key = each.agg(F.count("*").alias("n"), lives)
    [row] = of_key.agg(
        F.count("*").alias("keys"), F.avg("n").alias("changes"), F.count_if("lives").alias("rows")
    ).collect()
    return {"keys": row["keys"], "changes per key": row.changes, "rows now": row["rows"]}


# --- what a watermark costs -----------------------------------------------------------------------


def _watermarks(timed: DataFrame, plan: Plan, window_ms: int) -> list[dict[str, Any]]:
    """Return for each delay (s) what it drops, read in three ways, and what is open at most."""
    ranges = [(number, begin, end - begin) for number, (begin, end) in plan.ranges.items()]
    known = timed.sparkSession.createDataFrame(ranges, "partition INT, first LONG, length LONG")
    # A record isn't there before those that precede it, whatever its producer's clock said.
    ordered = Window.partitionBy("partition").orderBy("offset")
    before = ordered.rowsBetween(Window.unboundedPreceding, 0)
    past = F.when(F.col("arrival") <= int(time.time() * 1000) + MAX_AHEAD_MS, F.col("arrival"))
    second = F.floor(F.coalesce(F.max(past).over(before), "arrival") / 1000)
    share = F.floor((F.col("offset") - F.col("first")) * BACKLOG / F.col("length"))
    start = F.floor(F.col("time") / window_ms) * window_ms
    placed = timed.join(F.broadcast(known), "partition")
    named = {"start": start, "second": second, "share": share}
    timed = placed.withColumns(named).select("partition", "time", "key", *named)
    ways = {
        "live": (["second"], []), "backlog": (["share"], []), "clocks": (["share"], ["partition"])
    }  # fmt: skip
    delays = sorted({*TOLD_S, *ALSO_S})
    total, lost = timed.count(), {}
    if not total:
        return []
    for name, (batch, apart) in ways.items():
        lost[name] = _dropped(timed, batch, apart, window_ms, [1000 * s for s in delays])
    windows = _open(timed, window_ms, [1000 * s for s in delays])
    return [
        {
            "delay_s": delay,
            **{name: counts[at] / total for name, counts in lost.items()},
            "windows": windows[at][0], "groups": windows[at][1],
        }
        for at, delay in enumerate(delays)
    ]  # fmt: skip


def _clocks(timed: DataFrame, batch: Sequence[str], apart: Sequence[str]) -> DataFrame:
    """Return the newest event time before each micro-batch; null before the first."""
    before = Window.partitionBy(*apart).orderBy(*batch)
    clock = F.max("top").over(before.rowsBetween(Window.unboundedPreceding, -1))
    tops = timed.groupBy(*apart, *batch).agg(F.max("time").alias("top"))
    return tops.select(*apart, *batch, "top", clock.alias("clock"))


def _dropped(
    timed: DataFrame, batch: list[str], apart: list[str], window_ms: int, delays: Sequence[int]
) -> list[int]:
    clocks = _clocks(timed, batch, apart).drop("top")
    past = F.col("clock") - (F.col("start") + window_ms)  # by how much the window has ended
    counts = [F.count_if(past >= delay).alias(str(delay)) for delay in delays]
    [row] = timed.join(clocks, [*apart, *batch]).agg(*counts).collect()
    return [int(row[str(delay)]) for delay in delays]


def _open(timed: DataFrame, window_ms: int, delays: Sequence[int]) -> list[tuple[int, int]]:
    """Return for each delay the most windows, and windows of a key, that are open at once, live."""
    clocks: Any = _clocks(timed, ["second"], []).orderBy("second").toPandas()
    first = timed.groupBy("start", "key").agg(F.min("second").alias("second"))
    found: pd.DataFrame = first.groupBy("start", "second").count().toPandas()
    seconds, clock = clocks["second"].to_numpy(), clocks["clock"].to_numpy(dtype=float)
    opened = np.searchsorted(seconds, found["second"].to_numpy())
    clock = np.where(np.isnan(clock), -np.inf, clock)  # before the first one
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
