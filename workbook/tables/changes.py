"""Applies a batch to a table and to the groups over it, in Polars.

No Spark in here: each function takes the state and a batch, changes the one by the other, and
returns what it emits.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from workbook.tables.aggregates import GROUP, OP, RESULT, Aggregate, Count, Fold
from workbook.tables.segments import Keyed, Segments
from workbook.tables.state import BUCKET, State, Step

GROUP_BUCKET = "__group_bucket"
DELETED, ORDER, PLACE = "__deleted", "__order", "__place"
NUMBERED, REMEMBERED = 2**20, 50_000
"""``PLACE`` is a record's time (ms) * ``NUMBERED`` + its partition, or null; ``ORDER`` its offset.

A bucket with fewer than ``REMEMBERED`` rows keeps deleted keys, since another partition may have
an older value.
"""

SIZE = Count()
"""The number of rows in each group; a group without rows is gone."""


def table_of(keys: Sequence[str]) -> dict[str, Keyed]:
    """Return the table kept by the functions that compare rows."""
    return {"rows": Keyed(tuple(keys))}


def groups_of(aggregates: Mapping[str, Aggregate]) -> dict[str, Keyed]:
    """Return the tables kept by a ``reducer``."""
    return {"rows": SIZE.keyed} | {name: how.keyed for name, how in aggregates.items()}


# --- the table --------------------------------------------------------------------------------


def last(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Keep each key's last row of each partition, with the newest time of all its rows there."""
    ordered = rows.sort(ORDER, maintain_order=True)
    groups = ordered.with_row_index("__at").group_by(*keys, _PARTITION)
    found = groups.agg(pl.col("__at", PLACE).max())
    return ordered[found["__at"]].with_columns(found[PLACE])


def compared(
    table: Segments, new: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Change the table by a batch's ``last`` rows; return the old rows that went, and the new ones.

    An unchanged row, or one that doesn't count, is in neither. ``columns`` are those that the
    table keeps.
    """
    held = _old(table, new, keys, [*columns, DELETED, PLACE])
    both = _counting(new.select(*columns, DELETED, PLACE, ORDER), held, keys)
    there, was = ~pl.col(DELETED), ~pl.col(DELETED + _OLD).fill_null(True)
    equal = (pl.col(each).eq_missing(pl.col(each + _OLD)) for each in columns)
    same = pl.all_horizontal(there, was, *equal)
    went = both.filter(was & ~same).select(pl.col(each + _OLD).alias(each) for each in columns)
    came = both.filter(there & ~same).select(*columns, ORDER)
    placed = pl.col(PLACE).is_not_null()
    remembered = placed & pl.lit(sum(each.rows for each in table.segments) < REMEMBERED)
    kept = pl.when(there).then(placed | ~same).otherwise(remembered)
    gone = both.filter(was & ~there & ~remembered)
    table.write(both.filter(kept).select(*columns, DELETED, PLACE), gone=gone)
    return went, came


_OLD = "__old"
_PARTITION = (pl.col(PLACE) % NUMBERED).alias("__partition")
_moved = (pl.col(PLACE) % NUMBERED != pl.col(PLACE + _OLD) % NUMBERED).fill_null(False)


def _counting(new: pl.DataFrame, held: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return at most one row per key, the one that counts, beside the row that the table has.

    Offsets order the records of one partition only: none there is older than the one before. If a
    key has records in several, the one with the newest time counts, as in Kafka Streams' versioned
    stores (KIP-889); at equal times, the one on the partition with the higher number.
    """
    both = new.join(held, on=keys, how="left", suffix=_OLD, coalesce=False)
    both = both.filter(~_moved | (pl.col(PLACE) > pl.col(PLACE + _OLD)))
    newest = pl.max_horizontal(PLACE, pl.when(~_moved).then(PLACE + _OLD))
    both = both.with_columns(newest.alias(PLACE))
    if both.select(keys).n_unique() < len(both):
        both = both.sort(PLACE).unique(keys, keep="last")
    return both


def differences(
    state: State, batch: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    """Emit each old row that went (-1) and each new one that came (+1), by its group's bucket."""
    went, came = compared(state["rows"], last(batch, keys), keys, [*columns, GROUP_BUCKET])
    return _signed(went.with_columns(pl.lit(None, pl.Int64).alias(ORDER)), came)


def every_difference(
    state: State, batch: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    """Emit the differences of every single row, in order, also of one that is as before."""
    kept = [*columns, GROUP_BUCKET]
    held = _old(state["rows"], batch, keys, [*kept, DELETED, PLACE])
    before = held.with_columns(pl.lit(None, pl.Int64).alias(ORDER))
    rows = batch.select(before.columns).sort(ORDER, maintain_order=True)
    places = _counting(last(rows, keys), held, keys).select(*keys, _PARTITION)
    rows = rows.with_columns(_PARTITION).join(
        places, on=places.columns, how="semi", nulls_equal=True, maintain_order="left"
    )
    both = pl.concat([before, rows.select(before.columns)])
    former = both.with_columns(pl.col(name).shift(1).over(keys) for name in (*kept, DELETED))
    of_the_batch = pl.col(ORDER).is_not_null() & ~pl.col(DELETED)
    emitted = _signed(former.filter(of_the_batch), both.filter(of_the_batch))
    compared(state["rows"], last(rows, keys), keys, kept)
    return in_order(emitted, keys)


def in_order(changes: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Sort changes as they happened; a key's old row goes before the new one comes.

    Offsets of two partitions may be equal: then the keys decide, so that a micro-batch which comes
    again has the same order.
    """
    return changes.sort(ORDER, *keys, OP)


def _old(
    table: Segments, batch: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    """Return the table's rows whose keys are in the batch."""
    found = table.of(batch.select(keys))
    if found is None:
        return batch.select(columns).clear()
    if table.keyed.also:  # they're looked up by a part of their keys
        found = found.join(batch, on=keys, how="semi")
    return found.select(columns)


def _signed(went: pl.DataFrame, came: pl.DataFrame) -> pl.DataFrame:
    """Return changes: rows that went, then rows that came, each by its group's bucket."""
    signed = [
        rows.drop(DELETED, PLACE, strict=False).with_columns(pl.lit(sign, pl.Int64).alias(OP))
        for rows, sign in ((went, -1), (came, 1))
    ]
    return pl.concat(signed).rename({GROUP_BUCKET: BUCKET})


# --- its groups -------------------------------------------------------------------------------


def reducer(
    group: str,
    aggregates: Mapping[str, Aggregate],
    keys: Sequence[str],
    *,
    per_update: bool = False,
) -> Step:
    """Return a step that brings changes into the groups by ``group``: at once, or one by one."""
    ordered = per_update or any(isinstance(how, Fold) for how in aggregates.values())

    def reduce(state: State, batch: pl.DataFrame) -> pl.DataFrame:
        changes = batch.with_columns(pl.col(group).alias(GROUP))
        changes = in_order(changes, keys) if ordered else changes
        if per_update:
            named = [key for key in keys if key != group]
            emitted = _reduced_one_by_one(state, changes, aggregates, named)
        else:
            emitted = _reduced(state, changes, aggregates)
        return emitted.rename({GROUP: group})

    return reduce


def _reduced(
    state: State, changes: pl.DataFrame, aggregates: Mapping[str, Aggregate]
) -> pl.DataFrame:
    """Bring the changes into the groups; a row per group that they touch."""
    size = SIZE.merge(state["rows"], changes)
    emitted = size.filter(pl.col(RESULT) > 0).select(GROUP)
    gone = size.filter(pl.col(RESULT) == 0).select(GROUP)
    for name, how in aggregates.items():
        results = how.merge(state[name], changes)
        emitted = emitted.join(results.rename({RESULT: name}), on=GROUP, how="left")
    for table in state.values():
        held = table.of(gone) if len(gone) else None
        if held is not None and len(held):
            table.write(held.clear(), gone=held)
    empty = pl.all_horizontal(pl.col(name).is_null() for name in aggregates)
    emitted = pl.concat([emitted, gone], how="diagonal")
    return emitted.with_columns(empty.alias("deleted"))


def _reduced_one_by_one(
    state: State,
    changes: pl.DataFrame,
    aggregates: Mapping[str, Aggregate],
    keys: Sequence[str],
) -> pl.DataFrame:
    """Emit a row for every single change, in order within its group.

    Groups do not know of each other, so the first changes of all groups are taken together, then
    the second ones, and so on.
    """
    emitted, step = [], "__step"
    numbered = changes.with_columns(pl.int_range(pl.len()).over(GROUP).alias(step))
    for _, nth in sorted(numbered.partition_by(step, as_dict=True).items()):
        rows = _reduced(state, nth, aggregates)
        change = pl.when(pl.col(OP) > 0).then(pl.lit("add")).otherwise(pl.lit("remove"))
        of = nth.select(GROUP, change.alias("change"), *keys, pl.col(step).alias("step"))
        emitted.append(rows.join(of, on=GROUP))
    return pl.concat(emitted)
