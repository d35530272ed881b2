"""Applies a batch to a table and to the groups over it: Polars tables in, Polars tables out.

No Spark in here: each function takes the state before and a batch, and gives the state after and
what it emits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from workbook.buckets.state import BUCKET, Tables
from workbook.tables.aggregates import GROUP, OP, RESULT, Aggregate, Count, Fold

GROUP_BUCKET = "__group_bucket"
DELETED, ORDER = "__deleted", "__order"

SIZE = Count()
"""Of each group the number of rows: with none left it is gone."""


def last(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Keep each key's row with the highest order."""
    return rows.sort(ORDER, maintain_order=True).unique(keys, keep="last")


# --- the table --------------------------------------------------------------------------------


def newest(
    tables: Tables, batch: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> tuple[Tables, pl.DataFrame]:
    """Emit the rows that changed, with ``deleted``, as ``KTable.changes`` does."""
    after, went, came = _compared(tables, batch, keys, columns)
    closed = went.join(came, on=keys, how="anti").select(
        *keys, *(pl.lit(None, went.schema[c]).alias(c) for c in columns if c not in keys)
    )
    emitted = [
        came.select(columns).with_columns(deleted=False),
        closed.select(columns).with_columns(deleted=True),
    ]
    return after, pl.concat(emitted)


def differences(
    tables: Tables, batch: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> tuple[Tables, pl.DataFrame]:
    """Emit each old row that went (-1) and each new one that came (+1), by its group's bucket."""
    after, went, came = _compared(tables, batch, keys, columns)
    emitted = [_signed(went, -1), _signed(came, 1)]
    return after, pl.concat(emitted)


def moves(
    tables: Tables,
    batch: pl.DataFrame,
    keys: Sequence[str],
    columns: Sequence[str],
    group: str,
) -> tuple[Tables, pl.DataFrame]:
    """Emit by group and key the row that came, or ``deleted`` where it left the group."""
    after, went, came = _compared(tables, batch, keys, columns)
    left = went.join(came, on=list({group, *keys}), how="anti")
    emitted = [
        came.select(columns).with_columns(deleted=False),
        left.select(columns).with_columns(deleted=True),
    ]
    return after, pl.concat(emitted)


def every_difference(
    tables: Tables, batch: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> tuple[Tables, pl.DataFrame]:
    """Emit the differences of every single row, in order, also of one that is as before."""
    old, _ = _split(tables["rows"], batch, keys, columns)
    rows = batch.select(*columns, GROUP_BUCKET, DELETED, ORDER)
    before = old.with_columns(
        pl.lit(False).alias(DELETED), pl.lit(None, pl.Int64).alias(ORDER)
    ).select(rows.columns)
    both = pl.concat([before, rows.sort(ORDER, maintain_order=True)])
    former = [
        pl.col(name).shift(1).over(keys).alias(name) for name in (*columns, GROUP_BUCKET, DELETED)
    ]
    went = both.with_columns(former).filter(pl.col(ORDER).is_not_null() & ~pl.col(DELETED))
    came = both.filter(pl.col(ORDER).is_not_null() & ~pl.col(DELETED))
    emitted = pl.concat([_signed(went, -1), _signed(came, 1)])
    after, _, _ = _compared(tables, batch, keys, columns)
    return after, in_order(emitted, keys)


def in_order(changes: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Sort changes as they happened; a key's old row goes before the new one comes.

    Offsets of two partitions may be equal: then the keys decide, so that a micro-batch which comes
    again has the same order.
    """
    return changes.sort(ORDER, *keys, OP)


def _compared(
    tables: Tables, batch: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> tuple[Tables, pl.DataFrame, pl.DataFrame]:
    """Return the table after the batch, the old rows that are no longer true, and the new ones."""
    new = last(batch, keys)
    old, rest = _split(tables["rows"], batch, keys, columns)
    live = new.filter(~pl.col(DELETED)).select(*columns, GROUP_BUCKET, ORDER)
    same = old.join(live, on=columns, how="semi", nulls_equal=True).select(keys)
    went = old.join(same, on=keys, how="anti").with_columns(pl.lit(None, pl.Int64).alias(ORDER))
    came = live.join(same, on=keys, how="anti")
    return {"rows": pl.concat([rest, live.drop(ORDER)])}, went, came


def _split(
    state: pl.DataFrame | None, batch: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split the state into the rows whose keys are in the batch, and the others."""
    if state is None:
        empty = batch.select(*columns, GROUP_BUCKET).clear()
        return empty, empty
    touched = batch.select(keys).unique()
    return state.join(touched, on=keys, how="semi"), state.join(touched, on=keys, how="anti")


def _signed(rows: pl.DataFrame, sign: int) -> pl.DataFrame:
    return (
        rows.drop(DELETED, strict=False)
        .rename({GROUP_BUCKET: BUCKET})
        .with_columns(pl.lit(sign, pl.Int64).alias(OP))
    )


# --- its groups -------------------------------------------------------------------------------


def reducer(
    group: str,
    aggregates: Mapping[str, Aggregate],
    keys: Sequence[str],
    *,
    per_update: bool = False,
) -> Callable[[Tables, pl.DataFrame], tuple[Tables, pl.DataFrame]]:
    """Return a step that brings changes into the groups by ``group``: at once, or one by one."""
    ordered = per_update or any(isinstance(how, Fold) for how in aggregates.values())

    def reduce(tables: Tables, batch: pl.DataFrame) -> tuple[Tables, pl.DataFrame]:
        changes = batch.with_columns(pl.col(group).alias(GROUP))
        changes = in_order(changes, keys) if ordered else changes
        if per_update:
            named = [key for key in keys if key != group]
            after, emitted = _reduced_one_by_one(tables, changes, aggregates, named)
        else:
            after, emitted = _reduced(tables, changes, aggregates)
        return after, emitted.rename({GROUP: group})

    return reduce


def _reduced(
    tables: Tables, changes: pl.DataFrame, aggregates: Mapping[str, Aggregate]
) -> tuple[Tables, pl.DataFrame]:
    """Bring the changes into the groups; a row per group that they touch."""
    sizes, size = SIZE.merge(tables["rows"], changes)
    emitted = size.filter(pl.col(RESULT) > 0).select(GROUP)
    gone = size.filter(pl.col(RESULT) == 0).select(GROUP)
    after: Tables = {"rows": sizes.join(gone, on=GROUP, how="anti")}
    for name, how in aggregates.items():
        state, results = how.merge(tables[name], changes)
        after[name] = state.join(gone, on=GROUP, how="anti")
        emitted = emitted.join(results.rename({RESULT: name}), on=GROUP, how="left")
    empty = pl.all_horizontal(pl.col(name).is_null() for name in aggregates)
    emitted = pl.concat([emitted, gone], how="diagonal")
    return after, emitted.with_columns(empty.alias("deleted"))


def _reduced_one_by_one(
    tables: Tables,
    changes: pl.DataFrame,
    aggregates: Mapping[str, Aggregate],
    keys: Sequence[str],
) -> tuple[Tables, pl.DataFrame]:
    """Emit a row for every single change, in order within its group.

    Groups do not know of each other, so the first changes of all groups are taken together, then
    the second ones, and so on.
    """
    emitted, step = [], "__step"
    numbered = changes.with_columns(pl.int_range(pl.len()).over(GROUP).alias(step))
    for _, nth in sorted(numbered.partition_by(step, as_dict=True).items()):
        tables, rows = _reduced(tables, nth, aggregates)
        change = pl.when(pl.col(OP) > 0).then(pl.lit("add")).otherwise(pl.lit("remove"))
        of = nth.select(GROUP, change.alias("change"), *keys, pl.col(step).alias("step"))
        emitted.append(rows.join(of, on=GROUP))
    return tables, pl.concat(emitted)
