"""The join of two tables by a column of both keys, as one stateful operator.

Kafka Streams joins two KTables by their whole keys. Here both tables' rows of one value lie
together in the value's bucket, so they are shuffled once, whatever else their keys have. Spark
refuses a join of two streams in update mode.

A row on its way has the common column ``by`` and a struct per side, named as its rows are: the
side's other columns, ``__deleted``, ``__order`` and ``__place``; null where it's not the side's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, BooleanType, StructField, StructType

from workbook.tables.changes import DELETED, ORDER, PLACE, compared, last
from workbook.tables.packing import pack, stateful, unpack
from workbook.tables.segments import Keyed, Segments
from workbook.tables.state import BUCKET, State, Step

if TYPE_CHECKING:
    from workbook.tables.ktable import KTable


def joined(
    left: "KTable", right: "KTable", by: str, names: tuple[str, str], newest: str | None
) -> DataFrame:
    """Join two tables as ``KTable.join`` says; ``names`` are those of the arrays of their rows."""
    tables = dict(zip(names, (left, right), strict=True))
    for table in tables.values():
        if by not in table.keys:
            raise ValueError(
                f"Expected a column of both keys to join by, but {by!r} is not in "
                f"{list(table.keys)}. Make a table with it in its key, as in "
                "ktable(changelog, key=['group', 'topic'])."
            )
    sides = tuple(
        Side(name, tuple(k for k in table.keys if k != by), tuple(_fields(table, by).names))
        for name, table in tables.items()
    )
    packs = pack(_rows(tables, by), left.buckets, lambda batch: squeezed(batch, by, sides))
    emitted = stateful(packs, joiner(by, sides, newest), tables_of(by, sides), left.buckets)
    arrays = [
        StructField(name, ArrayType(_fields(table, by), containsNull=False))
        for name, table in tables.items()
    ]
    named = [left.changelog.schema[name] for name in (by, newest) if name is not None]
    return unpack(emitted, StructType([*named, *arrays, StructField("deleted", BooleanType())]))


@dataclass(frozen=True)
class Side:
    """A table in a join: what its rows are called; its key and columns without the common one."""

    rows: str
    key: tuple[str, ...]
    columns: tuple[str, ...]


def _fields(table: "KTable", by: str) -> StructType:
    """Return what an element of a table's array has: its columns without the common one."""
    return StructType([table.changelog.schema[each] for each in table.columns if each != by])


# --- the rows on their way --------------------------------------------------------------------


def _rows(tables: dict[str, "KTable"], by: str) -> DataFrame:
    """Return the rows of both tables, each with a struct per side."""
    left, right = tables.values()
    bucket = F.crc32(F.col(by).cast("string").cast("binary")).alias(BUCKET)
    if left.changelog is right.changelog:  # a union would read it twice
        own = [_struct(table, by).alias(name) for name, table in tables.items()]
        return left.changelog.where(left.held | right.held).select(bucket, by, *own)
    parts = [
        table.changelog.where(table.held).select(bucket, by, _struct(table, by).alias(name))
        for name, table in tables.items()
    ]
    return parts[0].unionByName(parts[1], allowMissingColumns=True)


def _struct(table: "KTable", by: str) -> Column:
    """Return a row of the table as a struct; null where it isn't one of the table's."""
    columns = (F.col(name) for name in _fields(table, by).names)
    return F.when(table.held, F.struct(*columns, table.gone.alias(DELETED), *table.place))


# --- a bucket, in Polars ----------------------------------------------------------------------


def tables_of(by: str, sides: Sequence[Side]) -> dict[str, Keyed]:
    """Return the tables kept by a ``joiner``: each side's rows, looked up by the common column."""
    return {side.rows: Keyed((by,), side.key) for side in sides}


def squeezed(batch: pl.DataFrame, by: str, sides: Sequence[Side]) -> pl.DataFrame:
    """Keep the last row per key of each side; a row that belongs to both becomes two."""
    parts = []
    for side in sides:
        rows = last(_own(batch, by, side), [by, *side.key])
        fields = pl.struct(*side.columns, DELETED, ORDER, PLACE).alias(side.rows)
        parts.append(rows.select(BUCKET, by, fields))
    return pl.concat(parts, how="diagonal")


def joiner(by: str, sides: Sequence[Side], newest: str | None = None) -> Step:
    """Return a step that emits for each changed value of ``by`` the rows of both sides.

    ``newest`` is a column of both sides: it emits the largest value that this has in those rows of
    the batch that changed something, tombstones included.
    """
    named = [by] if newest is None else [by, newest]

    def join(state: State, batch: pl.DataFrame) -> pl.DataFrame:
        own = {side: _own(batch, by, side) for side in sides}
        changed = [_brought(state[side.rows], rows, by, side) for side, rows in own.items()]
        emitted = pl.concat([rows.select(named) for rows in changed])
        emitted = emitted.group_by(by).agg(pl.col(name).max() for name in named[1:])
        values = emitted.select(by)
        for side, rows in own.items():
            found = state[side.rows].of(values)
            kept = (rows.clear() if found is None else found).sort(by, *side.key)
            groups = kept.filter(~pl.col(DELETED)).group_by(by)
            lists = groups.agg(pl.struct(*side.columns).alias(side.rows))
            emitted = emitted.join(lists, on=by, how="left")
            none = pl.lit([], dtype=lists.schema[side.rows])
            emitted = emitted.with_columns(pl.col(side.rows).fill_null(none))
        empty = pl.all_horizontal(pl.col(side.rows).list.len() == 0 for side in sides)
        return emitted.with_columns(empty.alias("deleted"))

    return join


def _own(batch: pl.DataFrame, by: str, side: Side) -> pl.DataFrame:
    """Return the rows of one side, its columns beside the common one."""
    rows = batch.filter(pl.col(side.rows).is_not_null())
    return rows.select(BUCKET, by, side.rows).unnest(side.rows)


def _brought(table: Segments, batch: pl.DataFrame, by: str, side: Side) -> pl.DataFrame:
    """Bring a batch into a side's table; return those of its rows that changed something."""
    if not len(batch):
        return batch
    keys = [by, *side.key]
    new = last(batch, keys)
    went, came = compared(table, new, keys, [by, *side.columns])
    return new.join(pl.concat([went.select(keys), came.select(keys)]), on=keys, how="semi")
