"""Joins two tables by a key that both have as a part of theirs.

Spark refuses to join two streams in update mode. Here the rows of both tables that belong to one
value of the key lie in one bucket of state, so that a single operator keeps them both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, BooleanType, StructField, StructType

from workbook.buckets.packing import pack, stateful, unpack
from workbook.buckets.segments import Keyed
from workbook.buckets.state import BUCKET, State
from workbook.spark.checkpoints import marked
from workbook.tables.ktable import KTable
from workbook.tables.steps import DELETED, ORDER

SIDE = "__side"


@dataclass(frozen=True)
class Side:
    """A table of a join: the name of its rows in the result, its other keys, its other columns.

    In the state, and on the way there, its columns bear its name, so that both tables may have a
    column of the same one.
    """

    rows: str
    by: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def keyed(self) -> Keyed:
        """Return how its rows are kept."""
        return Keyed((self.by,), also=tuple(map(self.named, self.keys)))

    def named(self, column: str) -> str:
        """Return what a column is called in the state."""
        return f"{self.rows}__{column}"

    @property
    def kept(self) -> list[str]:
        """Return the columns of its rows in the state."""
        return [self.by, *map(self.named, self.columns)]


def join(left: KTable, right: KTable, by: str, rows: tuple[str, str]) -> DataFrame:
    """Join as ``KTable.join`` says."""
    sides = tuple(_side(table, by, name) for table, name in zip((left, right), rows, strict=True))
    if len({by, *rows, "deleted"}) < 4:
        raise ValueError(f"Expected other names than {list(rows)}: the result has them already.")
    tables = (left, right)
    first, second = (_named(tables[n], side, n) for n, side in enumerate(sides))
    both = first.unionByName(second, allowMissingColumns=True)
    buckets = left.buckets
    keys = [SIDE, by, *(side.named(key) for side in sides for key in side.keys)]
    emitted = stateful(
        pack(both, buckets, lambda frame: _last(frame, keys)),
        lambda state, batch: joined(state, batch, sides),
        {side.rows: side.keyed for side in sides},
        buckets,
    )
    facts = {"join": [{**table.facts, "columns": list(table.columns)} for table in tables]}
    emitted = marked(emitted, {**facts, "by": by, "gives": list(rows)})
    return unpack(emitted, _schema(tables, sides, by))


def _side(table: KTable, by: str, rows: str) -> Side:
    if by not in table.keys:
        raise ValueError(
            f"Expected two tables with {by!r} in their keys, but one has {list(table.keys)}. Group "
            "it by that column and join the result, or choose another one."
        )
    keys = tuple(key for key in table.keys if key != by)
    return Side(rows, by, keys, tuple(name for name in table.columns if name != by))


def _named(table: KTable, side: Side, number: int) -> DataFrame:
    """Return a table's changes, with its columns named as in the state."""
    key = F.col(side.by)
    return table.changelog.where(F.concat(*table.keys).isNotNull()).select(
        F.lit(number).alias(SIDE),
        key,
        *(F.col(name).alias(side.named(name)) for name in side.columns),
        F.crc32(key.cast("string").cast("binary")).alias(BUCKET),
        F.col(DELETED),
        F.col(table.order).cast("bigint").alias(ORDER),
    )


def _schema(tables: Sequence[KTable], sides: Sequence[Side], by: str) -> StructType:
    arrays = [
        StructField(
            side.rows,
            ArrayType(StructType([table.changelog.schema[name] for name in side.columns])),
        )
        for table, side in zip(tables, sides, strict=True)
    ]
    key = tables[0].changelog.schema[by]
    return StructType([key, *arrays, StructField("deleted", BooleanType())])


# --- in Polars ----------------------------------------------------------------------------------


def joined(state: State, batch: pl.DataFrame, sides: Sequence[Side]) -> pl.DataFrame:
    """Change both tables; return a row for each value of the key whose rows have changed."""
    by = sides[0].by
    touched = [_changed(state, batch.filter(pl.col(SIDE) == n), s) for n, s in enumerate(sides)]
    found = pl.concat(touched).unique()
    for side in sides:
        found = found.join(_rows_of(state, found, side), on=by, how="left")
    nothing = [pl.col(side.rows).fill_null([]) for side in sides]
    empty = pl.all_horizontal(pl.col(side.rows).list.len() == 0 for side in sides)
    return found.with_columns(nothing).with_columns(deleted=empty)


def _last(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    return rows.sort(ORDER, maintain_order=True).unique(keys, keep="last", maintain_order=True)


def _changed(state: State, batch: pl.DataFrame, side: Side) -> pl.DataFrame:
    """Bring one table's changes in; return the values of the key for which it has changed."""
    table, keys = state[side.rows], list(side.keyed.key)
    new = _last(batch, keys)
    fresh = new.filter(~pl.col(DELETED)).select(side.kept)
    held = table.of(new.select(side.by))
    old = fresh.clear() if held is None else held.select(side.kept)
    old = old.join(new.select(keys), on=keys, how="semi")
    same = old.join(fresh, on=side.kept, how="semi", nulls_equal=True).select(keys)
    came, went = (rows.join(same, on=keys, how="anti") for rows in (fresh, old))
    table.write(came, gone=went.join(came, on=keys, how="anti"))
    return pl.concat([came.select(side.by), went.select(side.by)])


def _rows_of(state: State, found: pl.DataFrame, side: Side) -> pl.DataFrame:
    """Return for each value of the key the table's rows, as a list in the order of their keys."""
    plain = {side.named(name): name for name in side.columns}
    held = state[side.rows].of(found)
    rows = found.clear().with_columns(pl.lit(None).alias(side.rows)) if held is None else (
        held.select(side.kept)
        .sort(side.keyed.key)
        .rename(plain)
        .select(side.by, pl.struct(side.columns).alias(side.rows))
        .group_by(side.by, maintain_order=True)
        .agg(pl.col(side.rows))
    )  # fmt: skip
    return rows.select(side.by, side.rows)
