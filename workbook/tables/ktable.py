"""A table kept up to date from a changelog, and aggregates over its groups.

The idea is Kafka Streams' KTable: filter, groupBy, aggregate with an adder and a subtractor, as D.
Lebrero showed it for US share holders. Here:

    ktable(positions, key="position")
        .filter("exchange IN ('NYSE', 'NASDAQ')")
        .group_by("client")
        .aggregate(positions=collect_set("position"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
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

from workbook.buckets.packing import pack, stateful, unpack
from workbook.buckets.state import BUCKET, LAYOUT
from workbook.errors import CannotSubtract
from workbook.spark.checkpoints import Facts, computed, condition_text, marked
from workbook.tables import steps
from workbook.tables.aggregates import Aggregate, Count, Elements, Fold, Total
from workbook.tables.steps import DELETED, GROUP_BUCKET, ORDER

RESERVED = ("deleted", "change", "step", "rows", "table", "groups")
"""No names for aggregates: columns of the result, and tables of the state."""

NO_GROUP = (FloatType, DoubleType, ArrayType, StructType, MapType)
"""Types of a column by which rows can't be grouped."""

BUCKETS = 8
"""Buckets of keys: at least as many as the cluster's cores, and fixed for a checkpoint."""


# --- aggregates ------------------------------------------------------------------------------


def count() -> Aggregate:
    """Count the group's rows."""
    return Count()


def sum_of(column: str) -> Aggregate:
    """Add up a column of whole numbers, up to 2^63 - 1; null where all of them are.

    The query ends with ``SumTooLarge`` where a sum is beyond that.
    """
    return Total(column)


def collect_set(column: str) -> Aggregate:
    """Collect the different values of a column, sorted: add by union, subtract by difference.

    A value that two rows of the group share stays until both have gone.
    """
    return Elements(column, "collect_set", pl.col("element").sort())


def max_of(column: str, *, recompute: bool = False) -> Aggregate:
    """Find the largest value of a column anew among all of them: ``recompute=True``.

    Raises ``CannotSubtract`` without it, since a maximum alone has no subtractor.
    """
    if not recompute:
        raise CannotSubtract(
            f"A maximum has no subtractor: when the largest {column!r} goes, nothing in the "
            "maximum itself says which is the next. Expected collect_set, sum_of or count, or "
            f"max_of({column!r}, recompute=True), which keeps every value of the group in its "
            "state and looks for the largest again."
        )
    return Elements(column, "max_of", pl.col("element").max(), is_list=False)


def fold(
    adder: Callable[[Any, Mapping[str, Any]], Any],
    subtractor: Callable[[Any, Mapping[str, Any]], Any],
    start: Any,
    returns: str,
) -> Aggregate:
    """Aggregate by any two functions ``(value, row) -> value`` from ``start``; slow: plain Python.

    Both are called for every update of the changelog, in the order of its offsets, an update's old
    row first; so the value is the same whether results are asked ``per_update`` or not. As in Kafka
    Streams, None means that there is nothing: the adder begins anew from ``start``, and the
    subtractor is not called. A group without rows begins anew, too.

    ``returns`` is Spark's type of the value; a set is shown as a sorted list, None last. A group
    whose value is None or holds nothing is emitted as deleted.
    """
    return Fold(adder, subtractor, start, returns)


# --- the table --------------------------------------------------------------------------------


@dataclass(frozen=True)
class KTable:
    """The latest row per key of a changelog; made by ``ktable``."""

    changelog: DataFrame
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    order: str
    buckets: int
    facts: Facts

    def filter(self, condition: str | Column) -> KTable:
        """Keep rows for which the condition holds; a row that no longer does becomes a delete."""
        holds = F.expr(condition) if isinstance(condition, str) else condition
        gone = F.col(DELETED) | ~F.coalesce(holds, F.lit(False))
        filters = [*self.facts["filters"], condition_text(self.changelog, holds)]
        return replace(
            self,
            changelog=self.changelog.withColumn(DELETED, gone),
            facts={**self.facts, "filters": filters},
        )

    def changes(self) -> DataFrame:
        """Return the table's changes, at most a row per key and micro-batch.

        Columns: the keys, the other columns (null where deleted), ``deleted`` (boolean). A row
        that never was in the table, or is the same as before, changes nothing.
        """
        keys, columns = self.keys, self.columns
        packs = self._packed(columns, F.lit(0), F.col(DELETED), squeeze=True)
        emitted = stateful(
            packs,
            lambda state, batch: steps.newest(state, batch, keys, columns),
            steps.table_of(keys),
            self.buckets,
        )
        emitted = self._marked(emitted, columns, gives="changes")
        fields = [self.changelog.schema[name] for name in columns]
        return unpack(emitted, StructType([*fields, StructField("deleted", BooleanType())]))

    def group_by(self, column: str) -> GroupedTable:
        """Group the rows by a column; one without a value there belongs to no group.

        Raises ValueError where its type can't tell groups apart: numbers with a decimal point (NaN
        equals nothing), lists, structs and maps.
        """
        if not isinstance(column, str):
            raise ValueError(
                f"Expected the name of one column, but got {column!r}. For a group of several make "
                "one of them before: ktable(changelog.withColumn('both', ...), ...)."
            )
        kind = next((f.dataType for f in self.changelog.schema if f.name == column), None)
        if isinstance(kind, NO_GROUP):
            raise ValueError(
                f"Expected a column whose values tell groups apart, such as a string or a whole "
                f"number, but {column!r} is {kind.simpleString()}. Cast it before, as in "
                f"changelog.withColumn({column!r}, F.col({column!r}).cast('string'))."
            )
        return GroupedTable(self, column)

    def join(self, other: KTable, by: str, rows: tuple[str, str]) -> DataFrame:
        """Join this table and another by a key column that both have, whatever more keys they have.

        Returns for each value of ``by`` that a micro-batch changed, one row: ``by``; two arrays of
        structs, named ``rows``, with the other columns of this table's rows of that value and of
        the other's, in the order of their keys; ``deleted`` (boolean), true where neither has a row
        any more. An array is empty where its table has none, so inner and left joins are filters.
        Raises ValueError where ``by`` isn't in both keys.
        """
        from workbook.tables.join import join

        return join(self, other, by, rows)

    def _marked(self, rows: DataFrame, columns: Sequence[str], **more: Any) -> DataFrame:
        """Mark rows with what their query is made for: see ``checkpoints``."""
        kinds = (f"{c} {self.changelog.schema[c].dataType.simpleString()}" for c in columns)
        return marked(rows, {**self.facts, "columns": list(kinds), **more})

    def _packed(
        self, columns: Sequence[str], group: Column, deleted: Column, *, squeeze: bool
    ) -> DataFrame:
        """Pack the changelog into buckets of keys; ``squeeze`` keeps a task's last row per key."""
        keys = list(self.keys)
        text = F.concat_ws("\0", *(F.col(key).cast("string") for key in keys))
        rows = self.changelog.where(F.concat(*keys).isNotNull()).select(
            *columns,
            F.crc32(text.cast("binary")).alias(BUCKET),
            group.alias(GROUP_BUCKET),
            deleted.alias(DELETED),
            F.col(self.order).cast("bigint").alias(ORDER),
        )
        return pack(rows, self.buckets, lambda f: steps.last(f, keys) if squeeze else f)


def ktable(
    changelog: DataFrame,
    key: str | Sequence[str],
    order: str = "offset",
    deleted: str = "deleted",
    buckets: int = BUCKETS,
) -> KTable:
    """Build a table from a changelog: of each key the row with the highest ``order`` counts.

    ``changelog`` has the key columns, a column ``deleted`` (true: the row goes, as by a
    tombstone), ``order`` (bigint, rising per key as a partition's offsets do) and the columns of
    the table. Rows without a key are left out, as in Kafka Streams. ``buckets`` divide the state
    and are fixed for a checkpoint: at least as many as the cluster has cores. Its queries need
    Spark's RocksDB state store (``spark.queries.start_table`` sees to it).
    """
    keys = (key,) if isinstance(key, str) else tuple(key)
    missing = [name for name in (*keys, order, deleted) if name not in changelog.columns]
    if missing:
        raise ValueError(
            f"Expected a changelog with {[*keys, order, deleted]}, but {missing} are missing: it "
            f"has {changelog.columns}. Name its columns by key=, order= and deleted=."
        )
    if not keys or buckets < 1:
        raise ValueError(f"Expected a key and at least one bucket, got {key!r} and {buckets}.")
    columns = tuple(name for name in changelog.columns if name not in (order, deleted))
    facts = {
        "keys": list(keys),
        "order": order,
        "deleted": deleted,
        "changelog": computed(changelog),
        "filters": [],
        "buckets": buckets,
        **LAYOUT,
    }
    settled = changelog.withColumn(DELETED, F.coalesce(deleted, F.lit(False)))
    return KTable(settled, keys, columns, order, buckets, facts)


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
        compare = steps.every_difference if every else steps.differences
        changes = stateful(
            self._packed(columns, squeeze=not every),
            lambda state, batch: compare(state, batch, keys, columns),
            steps.table_of(keys),
            buckets,
        )
        reduce = steps.reducer(self.column, aggregates, keys, per_update=per_update)
        reduced = self.table._marked(
            stateful(changes, reduce, steps.groups_of(aggregates), buckets),
            columns,
            gives="groups, per update" if per_update else "groups",
            group=self.column,
            aggregates=[f"{name} = {how}" for name, how in aggregates.items()],
        )
        return unpack(reduced, self._schema(aggregates, per_update), pickled=folds)

    def changelog(self, *columns: str) -> DataFrame:
        """Return the changes as a changelog by group: which rows joined a group, and which left it.

        Columns: the group's, the keys, ``columns``, ``deleted`` (boolean): the rows of a topic that
        is partitioned by group, whose readers each see whole groups. As a table by group and keys
        it may come again, as at least once means, and says the same.
        """
        group, keys = self.column, self.table.keys
        wanted = list(dict.fromkeys([group, *keys, *columns]))
        changes = stateful(
            self._packed(wanted, squeeze=True),
            lambda state, batch: steps.moves(state, batch, keys, wanted, group),
            steps.table_of(keys),
            self.table.buckets,
        )
        changes = self.table._marked(changes, wanted, gives="changelog by group", group=group)
        fields = [self.table.changelog.schema[name] for name in wanted]
        return unpack(changes, StructType([*fields, StructField("deleted", BooleanType())]))

    def _packed(self, columns: Sequence[str], *, squeeze: bool) -> DataFrame:
        group = F.col(self.column)
        hashed = F.crc32(group.cast("string").cast("binary"))
        return self.table._packed(
            columns, F.coalesce(hashed, F.lit(0)), F.col(DELETED) | group.isNull(), squeeze=squeeze
        )

    def _columns(self, aggregates: Mapping[str, Aggregate]) -> list[str]:
        """Return the columns that are needed: keys, group, what the aggregates look at."""
        if not aggregates:
            raise ValueError("Expected something to aggregate, for example positions=count().")
        unfit = [name for name, how in aggregates.items() if not hasattr(how, "merge")]
        if unfit:
            raise ValueError(
                f"Expected aggregates, but {unfit[0]} is {aggregates[unfit[0]]!r}. Use count(), "
                "sum_of(column), collect_set(column), max_of(column, recompute=True) or fold(...)."
            )
        taken = {self.column, *RESERVED, *self.table.keys} & set(aggregates)
        if taken:
            raise ValueError(
                f"Expected other names than {sorted(taken)}: result or state have them already."
            )
        wanted = [how.column for how in aggregates.values() if how.column]
        known = self.table.columns
        unknown = [name for name in (self.column, *wanted) if name not in (*known, "*")]
        if unknown:
            raise ValueError(f"Expected columns of the table, {list(known)}, but got {unknown}.")
        if "*" in wanted:
            return list(known)
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
