"""Aggregates that add and subtract rows, in columns.

An aggregate keeps a small table per bucket of groups and merges a batch of changes into it. A
change is a row of the grouped table with ``__op``: +1 where the row came, -1 where it went.
"""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sized
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl
from pyspark import cloudpickle
from pyspark.sql.types import ArrayType, DataType, LongType, StructType

from workbook.tables.segments import Keyed, Segments

GROUP, OP, RESULT = "__group", "__op", "__result"
_ELEMENT, _TIMES = "element", "times"


class Aggregate(ABC):
    """An aggregate that can add a row and subtract it again.

    It looks at ``column``: empty for none, "*" for all. Its table is kept as ``keyed`` says.
    """

    column: str = ""
    keyed: ClassVar[Keyed] = Keyed((GROUP,))

    @abstractmethod
    def returns(self, schema: StructType) -> DataType:
        """Return the type of the result over a table of this schema."""

    @abstractmethod
    def merge(self, table: Segments, changes: pl.DataFrame) -> pl.DataFrame:
        """Merge changes (``__group``, columns, ``__op``) into the table; return the results.

        The changes come in order. The results have ``__group`` and ``__result`` for each group that
        the changes touch; a group without a result may be missing.
        """


@dataclass(frozen=True)
class Count(Aggregate):
    """Count the group's rows."""

    def returns(self, schema: StructType) -> DataType:
        return LongType()

    def merge(self, table: Segments, changes: pl.DataFrame) -> pl.DataFrame:
        fresh = changes.group_by(GROUP).agg(pl.col(OP).cast(pl.Int64).sum().alias(RESULT))
        after = pl.concat([_old(table, fresh), fresh]).group_by(GROUP).agg(pl.col(RESULT).sum())
        table.write(after)
        return after


# --- everything that is there -----------------------------------------------------------------


@dataclass(frozen=True)
class Elements(Aggregate):
    """Collect the different values of a column, sorted: add by union, subtract by difference.

    Each is kept with its number of rows: it stays until the last of them has gone.
    """

    column: str

    keyed: ClassVar[Keyed] = Keyed((GROUP,), also=(_ELEMENT,))

    def returns(self, schema: StructType) -> DataType:
        return ArrayType(schema[self.column].dataType)

    def merge(self, table: Segments, changes: pl.DataFrame) -> pl.DataFrame:
        named = changes.select(
            GROUP, pl.col(self.column).alias(_ELEMENT), pl.col(OP).cast(pl.Int64).alias(_TIMES)
        )
        fresh = named.drop_nulls(_ELEMENT).group_by(GROUP, _ELEMENT).agg(pl.col(_TIMES).sum())
        both = pl.concat([_old(table, named), fresh])
        after = both.group_by(GROUP, _ELEMENT).agg(pl.col(_TIMES).sum())
        there = after.filter(pl.col(_TIMES) != 0)
        changed = fresh.select(GROUP, _ELEMENT)
        table.write(
            there.join(changed, on=[GROUP, _ELEMENT], how="semi"),
            gone=after.filter(pl.col(_TIMES) == 0),
        )
        return there.group_by(GROUP).agg(pl.col(_ELEMENT).sort().alias(RESULT))


# --- any pair of functions --------------------------------------------------------------------


@dataclass(frozen=True)
class Fold(Aggregate):
    """Aggregate by any two functions ``(value, row) -> value`` from ``start``; slow: plain Python.

    Both are called for every update of the changelog, in the order of its offsets, an update's old
    row first; so the value is the same whether results are asked ``per_update`` or not. As in Kafka
    Streams, None means that there is nothing: the adder begins at ``start`` again, and the
    subtractor is not called. So does a group without rows.

    ``kind`` is Spark's type of the value; a set is shown as a sorted list, None last. A group whose
    value is None or holds nothing is emitted as deleted. NaN can't be stored: JSON lacks it.
    """

    adder: Callable[[Any, Mapping[str, Any]], Any]
    subtractor: Callable[[Any, Mapping[str, Any]], Any]
    start: Any
    kind: str
    column: str = "*"

    def returns(self, schema: StructType) -> DataType:
        return DataType.fromDDL(self.kind)

    def merge(self, table: Segments, changes: pl.DataFrame) -> pl.DataFrame:
        """Merge as ``Aggregate`` says, in the order of the changes; results hold pickled values."""
        held = table.of(changes.select(GROUP))
        rested = () if held is None else held.select(GROUP, "value", "rows").iter_rows()
        kept = {group: (value, number) for group, value, number in rested}
        groups: dict[Any, tuple[Any, int]] = {}
        rows = changes.select(name for name in changes.columns if not name.startswith("__"))
        signs = zip(changes[GROUP], changes[OP], strict=True)
        for row, (group, sign) in zip(rows.iter_rows(named=True), signs, strict=True):
            if group not in groups:
                value, number = kept.pop(group, (None, 0))
                groups[group] = (None if value is None else pickle.loads(value), number)
            groups[group] = self._step(*groups[group], row, sign)
        found = [(group, _pickled(value), number) for group, (value, number) in groups.items()]
        shown = [(group, _pickled(_shown(value))) for group, (value, _) in groups.items()]
        kind = changes.schema[GROUP]
        schema = {GROUP: kind, "value": pl.Binary(), "rows": pl.Int64()}
        table.write(pl.DataFrame(found, schema=schema, orient="row"))
        results = pl.DataFrame(shown, schema={GROUP: kind, RESULT: pl.Binary()}, orient="row")
        return results.drop_nulls(RESULT)

    def _step(self, value: Any, number: int, row: Mapping[str, Any], sign: int) -> tuple[Any, int]:
        """Add or subtract a row as Kafka Streams does: with no value, only an adder runs."""
        number += sign
        if sign > 0:
            # A copy, since the functions may change it in place.
            value = self.adder(deepcopy(self.start) if value is None else value, row)
        elif value is not None:
            value = self.subtractor(value, row)
        return (value, number) if number else (None, 0)


def _pickled(value: Any) -> bytes | None:
    try:
        return None if value is None else pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):  # a defaultdict(lambda: 0)
        return cloudpickle.dumps(value)


def _shown(value: Any) -> Any:
    """Convert sets and dictionaries, which Arrow doesn't take; return None for an empty value."""
    if isinstance(value, Sized) and not len(value):
        return None
    if isinstance(value, set | frozenset):
        return sorted(value, key=lambda each: (each is None, each))
    return list(value.items()) if isinstance(value, dict) else value


def _old(table: Segments, changes: pl.DataFrame) -> pl.DataFrame:
    """Return the table's rows of the groups that the changes touch."""
    held = table.of(changes.select(GROUP))
    return changes.clear() if held is None else held.select(changes.columns)


count, collect_set, fold = Count, Elements, Fold
