"""The groups of a table: their aggregates, and which rows joined or left them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    BooleanType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from workbook.tables import changes
from workbook.tables.aggregates import Aggregate, Fold
from workbook.tables.packing import stateful, unpack

if TYPE_CHECKING:
    from workbook.tables.ktable import KTable

RESERVED = ("deleted", "change", "step", "rows")
"""No names for aggregates: columns of the result, and a table of the state."""


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
        changed = stateful(
            self._packed(columns, squeeze=not every),
            lambda state, batch: compare(state, batch, keys, columns),
            changes.table_of(keys),
            buckets,
        )
        reduce = changes.reducer(self.column, aggregates, keys, per_update=per_update)
        reduced = stateful(changed, reduce, changes.groups_of(aggregates), buckets)
        return unpack(reduced, self._schema(aggregates, per_update), pickled=folds)

    def _packed(self, columns: Sequence[str], *, squeeze: bool) -> DataFrame:
        group = F.col(self.column)
        hashed = F.crc32(group.cast("string").cast("binary"))
        return self.table._packed(
            columns, F.coalesce(hashed, F.lit(0)), self.table.gone | group.isNull(), squeeze=squeeze
        )

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
