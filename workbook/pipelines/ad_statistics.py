"""Count ad actions by ad, day, type and source, each once: one stateful operator per partition.

The operator deduplicates *and* counts, so only counts leave it. FINN.no's aggregator did the same
in Kafka Streams, with a cache of the last 100,000 hashes.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    BinaryType,
    DateType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from workbook.sinks.viewers import GROUPS, LOG_K, sketch_of
from workbook.sources import ad_actions
from workbook.streams.events.ad_actions import CLOCK_AHEAD_MS, HORIZON_MS, ActionType, Fate
from workbook.streams.events.reasons import Reason
from workbook.streams.events.viewers import BASE, PLACES, TRAITS, UNKNOWN
from workbook.tables.packing import pack, stateful, unpack
from workbook.tables.segments import Keyed
from workbook.tables.state import BUCKET, State

if TYPE_CHECKING:
    from workbook.kafka.dead_letters import DeadLetters

VERSION = 3

RECENT, PASSED = 1_000, 0.9
"""A partition's clock is the arrival that nine in ten of its last 1,000 records have passed."""

KEPT = 100_000
"""A partition's newest hashes that are kept however old: the replicator repeats fewer at once."""

MOST = 10_000_000
"""The hashes of a partition, at most; it keeps that many only if the clock stops."""

SLICE_MS = 60_000
"""Hashes expire by whole slices of this length."""

COUNT, VIEWERS, GROUP, START = "count", "viewers", "group", "start"
"""Kinds of rows; the others are fates."""

RESULT = StructType(
    [
        *(StructField(name, StringType()) for name in ("kind", "ad", "type", "source", "reason")),
        StructField("day", DateType()),
        StructField("partition", IntegerType()),
        StructField("count", LongType()),
        StructField("sketch", BinaryType()),
    ]
)
_KEY = ("ad", "day", "type", "source")
_TABLES = {
    "seen": Keyed(("hash",), ("arrival",), expires="until"),
    "ahead": Keyed(),
    "clock": Keyed(),
    "slices": Keyed(),
}
_ANY = 1 << 20  # more than a topic has partitions


def ad_statistics(
    raw: DataFrame,
    schemas: Mapping[int, str],
    dead_letters: "DeadLetters | None" = None,
    *,
    ids: Callable[[], Collection[int]] | None = None,
    counted: Mapping[int, int] | None = None,
    same: Column | None = None,
    viewers: DataFrame | None = None,
) -> DataFrame:
    """Count each accepted action once, and account for all others.

    In: the columns of Spark's Kafka source, headers included, and the registry's ``schemas`` by
    id. A record whose bytes were accepted within ten minutes of its arrival, on its partition, is
    a duplicate. Rejected records and those that are too old also go to ``dead_letters``, at least
    once. Out, for each micro-batch and partition, by ``kind``:

    - ``count``: the accepted actions (``count``, bigint) by ``ad``, ``day``, ``type``, ``source``;
      0 if all of them are before ``counted``.
    - ``viewers``: the ``sketch`` of the users of accepted views, by ``ad`` and ``day``.
    - ``group``, only with ``viewers`` (the table of ``viewer_groups``): the ``sketch`` of the users
      of accepted views, by ``ad``, ``day``, trait (``type``) and its value (``source``). Users that
      aren't in the table are ``unknown``. Spark reads the table again in each micro-batch.
    - ``accepted``, ``duplicate``, ``filtered`` (the owner's own), ``rejected`` (by ``reason``) and
      ``too old``: the number of records (``count``); together these are all records.
    - ``start``: the offset (``count``) at which a query without this state must begin to read, to
      know all hashes that count, and all keys of this micro-batch.

    Records before the offset in ``counted`` (by partition) fill the state, and count as nothing;
    their letters have been sent.
    ``same`` is what makes two records the same; None: all bytes of the value (``parse``).
    ``ids`` asks the registry for all schema ids it knows now: a task that meets one that isn't in
    ``schemas`` raises ``NewSchema``. Needs Spark's RocksDB state store.
    """
    parsed = ad_actions.parse(raw, schemas, same)
    if viewers is not None:  # broadcast, since a shuffle of the actions would cost far more
        known = parsed.join(F.broadcast(viewers), "user", "left")
        parsed = known.withColumn("traits", F.coalesce("traits", F.lit(0)))
    squeeze = partial(
        squeezed, dead_letters=dead_letters, known=set(schemas), ids=ids, counted=counted or {}
    )
    cores = raw.sparkSession.sparkContext.defaultParallelism
    packs = pack(parsed.coalesce(cores), _ANY, squeeze)
    return unpack(stateful(packs, count, _TABLES, _ANY), RESULT)


# --- in each task -----------------------------------------------------------------------------


def squeezed(
    rows: pl.DataFrame,
    dead_letters: "DeadLetters | None",
    known: Collection[int],
    ids: Callable[[], Collection[int]] | None,
    counted: Mapping[int, int],
) -> pl.DataFrame:
    """Send a task's dead letters; return its rows without their bytes."""
    fence = pl.col("partition").replace_strict(dict(counted), default=0, return_dtype=pl.Int64)
    rows = rows.with_columns((pl.col("offset") >= fence).alias("counts"))
    rejected = rows.filter(pl.col("reason").is_not_null())
    if ids and (rejected["reason"] == Reason.UNKNOWN_SCHEMA.value).any():
        unknown = rejected.filter(pl.col("reason") == Reason.UNKNOWN_SCHEMA.value)["value"]
        found = {int.from_bytes(value[1:5]) for value in unknown}
        ad_actions.require_unknown(found, set(ids()) - set(known))
    old = rows.filter(pl.col("reason").is_null() & pl.col("too_old") & ~pl.col("owner"))
    letters = pl.concat([rejected, old.with_columns(reason=pl.lit(Reason.TOO_OLD.value))])
    letters = letters.filter("counts")
    if dead_letters is not None and len(letters):
        with dead_letters:
            for row in letters.iter_rows(named=True):
                dead_letters.send(row, row["reason"])
    return rows.drop("key", "value", "topic").with_columns(pl.col("partition").alias(BUCKET))


# --- the state --------------------------------------------------------------------------------


def count(state: State, batch: pl.DataFrame) -> pl.DataFrame:
    """Process a micro-batch of one partition: change the state, return rows of ``RESULT``."""
    batch = batch.sort("offset")
    partition = batch["partition"][0]
    good = batch.filter(pl.col("reason").is_null())
    new = good.filter(_is_first(state, good))
    start = _remember(state, batch, new)
    counts, number = pl.col("counts"), pl.len().cast(pl.Int64).alias("count")
    fates = new.with_columns(
        pl.when("owner").then(pl.lit(Fate.FILTERED.value))
        .when("too_old").then(pl.lit(Fate.TOO_OLD.value))
        .otherwise(pl.lit(Fate.ACCEPTED.value)).alias("kind")
    )  # fmt: skip
    accepted = fates.filter(pl.col("kind") == Fate.ACCEPTED.value)
    by_key = accepted.group_by(_KEY).agg(counts.sum().cast(pl.Int64).alias("count"))
    fates = fates.filter(counts)
    rejected = batch.filter(pl.col("reason").is_not_null() & counts)
    duplicates = int(good["counts"].sum()) - len(fates)
    parts = [
        by_key.with_columns(kind=pl.lit(COUNT)),
        *_viewers(accepted.filter(counts)),
        fates.group_by("kind").agg(number),
        rejected.group_by("reason").agg(number).with_columns(kind=pl.lit(Fate.REJECTED.value)),
        pl.DataFrame({"kind": [Fate.DUPLICATE.value, START], "count": [duplicates, start]}),
    ]
    nothing = pl.DataFrame(pl.from_arrow(to_arrow_schema(RESULT).empty_table()))
    rows = pl.concat([nothing, *parts], how="diagonal_relaxed")
    return rows.with_columns(pl.lit(partition, pl.Int32).alias("partition"))


def _viewers(accepted: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Sketch the users of views by ad and day, and by each of their traits if they have some."""
    views = accepted.filter(pl.col("type") == ActionType.VIEW.value)
    of_all = views.group_by("ad", "day").agg(pl.col("user").unique())
    yield _sketched(of_all, LOG_K).with_columns(kind=pl.lit(VIEWERS))
    if "traits" not in views.columns:
        return
    views = views.select("ad", "day", "user", "traits").unique()
    for trait, values in TRAITS.items():
        digit = pl.col("traits") // PLACES[trait] % BASE
        of_group = views.group_by("ad", "day", digit.alias("digit")).agg(pl.col("user").unique())
        names = dict(enumerate((UNKNOWN, *values)))
        yield _sketched(of_group, GROUPS.log_k).select(
            "ad", "day", "sketch", kind=pl.lit(GROUP), type=pl.lit(trait),
            source=pl.col("digit").replace_strict(names, return_dtype=pl.String),
        )  # fmt: skip


def _sketched(rows: pl.DataFrame, log_k: int) -> pl.DataFrame:
    sketches = [sketch_of(users, log_k) for users in rows["user"].to_list()]
    return rows.drop("user").with_columns(sketch=pl.Series(sketches, dtype=pl.Binary))


def _is_first(state: State, good: pl.DataFrame) -> pl.Series:
    """Return whether each row's bytes were not accepted within the horizon before it."""
    seen = defaultdict[int, list[int]](list)
    for found in (state["seen"].of(good.select("hash")), state["ahead"].all()):
        for value, arrival in () if found is None else found.select("hash", "arrival").iter_rows():
            seen[value].append(arrival)
    doubtful = good["hash"].is_duplicated() | good["hash"].is_in(list(seen))
    first = np.ones(len(good), bool)
    where = doubtful.arg_true().to_numpy()
    some = good[where]
    for row, value, arrival in zip(where, some["hash"], some["arrival"], strict=True):
        first[row] = all(abs(arrival - before) > HORIZON_MS for before in seen[value])
        if first[row]:
            seen[value].append(arrival)
    return pl.Series(first)


def _remember(state: State, batch: pl.DataFrame, new: pl.DataFrame) -> int:
    """Keep the new hashes, let the old ones expire; return the offset where a new query starts.

    A hash expires by its arrival. If that is far ahead of the clock, either the clock or the
    arrival may be wrong. So it waits until RECENT more records have moved the clock. After that it
    expires as if it were CLOCK_AHEAD_MS ahead of the clock, at most.
    """
    seen, before = state["seen"], state["clock"].all()
    clock = -1 if before is None else int(before["clock"][0])
    recent = _both(before, batch.select("arrival", "offset")).tail(RECENT)
    if len(recent) == RECENT:
        clock = max(clock, int(recent["arrival"].sort()[round(RECENT * (1 - PASSED))]))
    state["clock"].replace(recent.with_columns(clock=pl.lit(clock)))

    fresh = _both(state["ahead"].all(), new.select("hash", "arrival", "offset"))
    waits = (pl.col("arrival") > clock + CLOCK_AHEAD_MS) & (pl.col("offset") >= recent["offset"][0])
    ahead = fresh.filter(waits)
    state["ahead"].replace(ahead)
    until = pl.min_horizontal("arrival", pl.lit(clock + CLOCK_AHEAD_MS))
    fresh = fresh.filter(~waits).with_columns(until=until)
    kept = fresh if seen.floor is None else fresh.filter(pl.col("until") >= seen.floor)
    seen.write(kept.drop("offset"))
    slices = _slices(state["slices"].all(), kept)
    expired = pl.col("slice") + SLICE_MS <= clock - HORIZON_MS
    older = slices.filter(pl.col("newer") >= pl.when(expired).then(KEPT).otherwise(MOST))
    if len(older):
        seen.floor = int(older["slice"].max()) + SLICE_MS  # type: ignore[arg-type]
        slices = slices.filter(pl.col("slice") >= seen.floor)
    state["slices"].replace(slices.drop("newer"))
    return int(pl.concat([batch["offset"], ahead["offset"], slices["first"]]).min())  # type: ignore[arg-type]


def _slices(before: pl.DataFrame | None, kept: pl.DataFrame) -> pl.DataFrame:
    """Count the hashes of each slice, and of all ``newer`` ones, and find its first offset."""
    slices = kept.select("offset", slice=pl.col("until") // SLICE_MS * SLICE_MS)
    rows, first = pl.len().cast(pl.Int64).alias("rows"), pl.col("offset").min().alias("first")
    slices = _both(before, slices.group_by("slice").agg(rows, first))
    slices = slices.group_by("slice").agg(pl.col("rows").sum(), pl.col("first").min())
    slices = slices.sort("slice", descending=True)
    return slices.with_columns((pl.col("rows").cum_sum() - pl.col("rows")).alias("newer"))


def _both(before: pl.DataFrame | None, now: pl.DataFrame) -> pl.DataFrame:
    return now if before is None else pl.concat([before.select(now.columns), now])
