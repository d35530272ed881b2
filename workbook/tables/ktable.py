"""A table kept up to date from a changelog, and aggregates over its groups.

The idea is Kafka Streams' KTable: filter, groupBy, aggregate with an adder and a subtractor, as D.
Lebrero showed it for US share holders. Here:

    ktable(positions, key="position")
        .filter("exchange IN ('NYSE', 'NASDAQ')")
        .group_by("client")
        .aggregate(positions=collect_set("position"))
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    FloatType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from workbook.tables import changes
from workbook.tables.aggregates import Aggregate, Fold, collect_set, count, fold
from workbook.tables.changes import DELETED, GROUP_BUCKET, NUMBERED, ORDER, PLACE
from workbook.tables.join import joined
from workbook.tables.packing import pack, stateful, unpack
from workbook.tables.state import BUCKET

__all__ = ["GroupedTable", "KTable", "collect_set", "count", "fold", "ktable"]

BUCKETS = 8
"""Buckets of keys: at least as many as the cluster's cores, and fixed for a checkpoint."""

NO_GROUP = (FloatType, DoubleType, ArrayType, StructType, MapType)
"""Types of a column by which rows can't be grouped."""

RESERVED = ("deleted", "change", "step", "rows")
"""No names for aggregates: columns of the result, and a table of the state."""


@dataclass(frozen=True, eq=False)
class KTable:
    """The latest row per key of a changelog; made by ``ktable``.

    ``held`` tells which rows of the changelog belong to the table, ``gone`` which of those delete;
    ``place`` orders the rows of a key.
    """

    changelog: DataFrame
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    buckets: int
    held: Column
    gone: Column
    place: tuple[Column, Column]

    def filter(self, condition: str | Column) -> Self:
        """Keep rows for which the condition holds; a row that no longer does becomes a delete."""
        holds = F.expr(condition) if isinstance(condition, str) else condition
        gone = self.gone | ~F.coalesce(holds, F.lit(False))
        return replace(self, gone=gone)

    def group_by(self, column: str) -> "GroupedTable":
        """Group the rows by a column; one without a value there belongs to no group.

        Raises ValueError where its type can't tell groups apart: numbers with a decimal point (NaN
        equals nothing), lists, structs and maps.
        """
        if column not in self.columns:
            raise ValueError(f"Expected one of {list(self.columns)} to group by, got {column!r}.")
        kind = self.changelog.schema[column].dataType
        if isinstance(kind, NO_GROUP):
            raise ValueError(
                f"Expected a column whose values tell groups apart, such as a string or a whole "
                f"number, but {column!r} is {kind.simpleString()}. Cast it before, as in "
                f"changelog.withColumn({column!r}, F.col({column!r}).cast('string'))."
            )
        return GroupedTable(self, column)

    def join(
        self,
        right: Self,
        by: str,
        left_rows: str = "left",
        right_rows: str = "right",
        newest: str | None = None,
    ) -> DataFrame:
        """Join two tables by a column of both keys: a full outer join, kept up to date.

        A row per value of ``by`` for which a micro-batch changed a row on either side: ``by``,
        ``left_rows`` and ``right_rows`` (arrays of structs with the other columns of this table and
        of ``right``, sorted by the rest of its key; empty where it has none), ``deleted``
        (boolean): true where neither side has a row any more. For an inner join let a value that
        lacks a side count as deleted: ``.withColumn("deleted", F.expr("0 IN (size(left),
        size(right))"))``.

        ``newest`` names a column of both tables, such as the time of a record. It follows ``by``:
        its largest value among the rows of the micro-batch that changed something, tombstones
        included. The rows that are left may all be older than that.

        Tables of the same changelog (``ktable(..., where=...)``) are read in one pass.
        Raises ValueError where ``by`` isn't in both keys.
        """
        return joined(self, right, by, (left_rows, right_rows), newest)

    def _packed(
        self, columns: Sequence[str], group: Column, deleted: Column, *, squeeze: bool
    ) -> DataFrame:
        """Pack the changelog into buckets of keys; ``squeeze`` keeps a task's last row per key."""
        keys = list(self.keys)
        text = F.concat_ws("\0", *(F.col(key).cast("string") for key in keys))
        rows = self.changelog.where(self.held).select(
            *columns,
            F.crc32(text.cast("binary")).alias(BUCKET),
            group.alias(GROUP_BUCKET),
            deleted.alias(DELETED),
            *self.place,
        )
        return pack(rows, self.buckets, lambda f: changes.last(f, keys) if squeeze else f)


def ktable(
    changelog: DataFrame,
    key: str | Sequence[str],
    buckets: int = BUCKETS,
    *,
    where: str | Column | None = None,
    columns: Sequence[str] | None = None,
) -> KTable:
    """Build a table from a changelog: of each key the row with the highest offset counts.

    Offsets order one partition only. If the changelog has ``partition`` (int) and ``arrival``
    (timestamp) of each record, then of a key with records in several partitions, as after some were
    added, the record with the latest arrival counts.

    ``changelog`` has the key columns, ``deleted`` (boolean, true: the row goes, as by a
    tombstone), ``offset`` (bigint) and the columns of the table. Rows without a key are left out,
    as in Kafka Streams. ``buckets`` divide the state and are fixed for a checkpoint: at least as
    many as the cluster has cores. Its queries need Spark's RocksDB state store
    (``spark.runner.start_query`` sees to it).

    A changelog of several tables is branched by ``where``: other rows aren't this table's, and
    delete nothing in it. ``columns`` are those that it has beside its key; without, it has all.
    """
    keys = (key,) if isinstance(key, str) else tuple(key)
    needed = [*keys, "offset", "deleted", *(columns or ())]
    missing = [name for name in needed if name not in changelog.columns]
    if missing:
        raise ValueError(
            f"Expected a changelog with {needed}, but {missing} are missing: it has "
            f"{changelog.columns}. Rename its columns before, or choose others by key=."
        )
    some = changelog.columns if columns is None else [*keys, *columns]
    record = {"partition", "arrival"} if {"partition", "arrival"} <= {*changelog.columns} else set()
    apart = {"offset", "deleted", *record}
    named = tuple(name for name in dict.fromkeys(some) if name in keys or name not in apart)
    branch = F.expr(where) if isinstance(where, str) else F.lit(True) if where is None else where
    held = F.coalesce(branch, F.lit(False)) & F.concat(*keys).isNotNull()
    gone = F.coalesce("deleted", F.lit(False))
    time = F.greatest(F.lit(0), F.least(F.unix_millis("arrival"), F.lit(2**43 - 1)))
    place = time * NUMBERED + F.col("partition") if record else F.lit(None)
    order = F.col("offset").cast("bigint").alias(ORDER), place.cast("bigint").alias(PLACE)
    return KTable(changelog, keys, named, buckets, held, gone, order)


# --- its groups -------------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupedTable:
    """The rows of a table by one of its columns; made by ``KTable.group_by``."""

    table: KTable
    column: str

    def aggregate(self, *, per_update: bool = False, **aggregates: Aggregate) -> DataFrame:
        """Reduce each group: an update takes the old row out before the new one goes in.

        A row per group that changed in a micro-batch: the group's column, one per aggregate by
        its name, ``deleted`` (boolean): true, and nulls, where the group has nothing left, no
        row or in its rows nothing but nulls for any of the aggregates. The updates of a key within
        a micro-batch collapse to its old row and its new one.

        With ``per_update`` none collapses, and there is a row for every single step, in order:
        also ``change`` ("remove" or "add"), the keys of the row, and ``step`` (bigint, from 0
        within group and micro-batch). Its last row of a group is what there is without it.
        """
        keys, buckets = self.table.keys, self.table.buckets
        columns = self._columns(aggregates)
        folds = [name for name, how in aggregates.items() if isinstance(how, Fold)]
        every = per_update or bool(folds)  # a fold may look at the order, and at each update
        compare = changes.every_difference if every else changes.differences
        group = F.col(self.column)
        bucket = F.coalesce(F.crc32(group.cast("string").cast("binary")), F.lit(0))
        gone = self.table.gone | group.isNull()
        changed = stateful(
            self.table._packed(columns, bucket, gone, squeeze=not every),
            lambda state, batch: compare(state, batch, keys, columns),
            changes.table_of(keys),
            buckets,
        )
        reduce = changes.reducer(self.column, aggregates, keys, per_update=per_update)
        reduced = stateful(changed, reduce, changes.groups_of(aggregates), buckets)
        return unpack(reduced, self._schema(aggregates, per_update), pickled=folds)

    def _columns(self, aggregates: Mapping[str, Aggregate]) -> list[str]:
        """Return the columns that are needed: keys, group, what the aggregates look at."""
        wrong = [how for how in aggregates.values() if not isinstance(how, Aggregate)]
        if wrong or not aggregates:
            raise ValueError(
                "Expected something to aggregate, such as number=count() or "
                f"tickers=collect_set('ticker'), but got {wrong[0] if wrong else 'nothing'!r}."
            )
        taken = {self.column, *RESERVED, *self.table.keys} & set(aggregates)
        if taken:
            raise ValueError(
                f"Expected other names than {sorted(taken)}: result or state have them already."
            )
        wanted = [how.column for how in aggregates.values() if how.column]
        known = self.table.columns
        if "*" in wanted:
            return list(known)
        if not {*wanted} <= {*known}:
            raise ValueError(f"Expected columns of the table, {list(known)}, but got {wanted}.")
        return list(dict.fromkeys([*self.table.keys, self.column, *wanted]))

    def _schema(self, aggregates: Mapping[str, Aggregate], per_update: bool) -> StructType:
        of = self.table.changelog.schema
        fields = [
            of[self.column],
            *(StructField(name, how.returns(of)) for name, how in aggregates.items()),
            StructField("deleted", BooleanType()),
        ]
        if per_update:
            fields += [
                StructField("change", StringType()),
                *(of[key] for key in self.table.keys if key != self.column),
                StructField("step", LongType()),
            ]
        return StructType(fields)
