"""The join of two tables by a column of both keys, as one stateful operator.

Kafka Streams joins two KTables by their whole keys. Here both tables' rows of one value lie
together in the value's bucket, so they are shuffled once, whatever else their keys have. Spark
refuses a join of two streams in update mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, BooleanType, LongType, StructField, StructType

from workbook.tables.grouped import require_groups
from workbook.tables.join_steps import Side, joiner, squeezed, tables_of
from workbook.tables.packing import pack, stateful, unpack
from workbook.tables.state import BUCKET
from workbook.tables.steps import DELETED, ORDER

if TYPE_CHECKING:
    from workbook.tables.ktable import KTable


def joined(
    left: KTable, right: KTable, by: str, names: tuple[str, str], newest: str | None
) -> DataFrame:
    """Join two tables as ``KTable.join`` says; ``names`` are those of the arrays of their rows."""
    _require_common(left, right, by)
    _require_names(left, right, by, names)
    if newest is not None:
        _require_newest(left, right, by, names, newest)
    tables = dict(zip(names, (left, right), strict=True))
    sides = tuple(_side(table, by, name) for name, table in tables.items())
    packs = pack(_rows(tables, by), left.buckets, lambda batch: squeezed(batch, by, sides))
    emitted = stateful(packs, joiner(by, sides, newest), tables_of(by, sides), left.buckets)
    arrays = [
        StructField(name, ArrayType(_fields(table, by), containsNull=False))
        for name, table in tables.items()
    ]
    named = [left.changelog.schema[name] for name in (by, newest) if name is not None]
    return unpack(emitted, StructType([*named, *arrays, StructField("deleted", BooleanType())]))


def _side(table: KTable, by: str, name: str) -> Side:
    key = tuple(each for each in table.keys if each != by)
    return Side(name, key, tuple(_fields(table, by).names))


def _fields(table: KTable, by: str) -> StructType:
    """Return what an element of a table's array has: its columns without the common one."""
    return StructType([table.changelog.schema[each] for each in table.columns if each != by])


# --- the rows on their way --------------------------------------------------------------------


def _rows(tables: dict[str, KTable], by: str) -> DataFrame:
    """Return the rows of both tables, each with a struct per side; null where it's the other's."""
    left, right = tables.values()
    if left.changelog is right.changelog:  # a union would read it twice
        own = [_struct(table, by).alias(name) for name, table in tables.items()]
        return left.changelog.where(left.held | right.held).select(*_common(by), *own)
    parts = [
        table.changelog.where(table.held).select(
            *_common(by),
            *(
                (_struct(table, by) if name == own else _none(other, by)).alias(name)
                for name, other in tables.items()
            ),
        )
        for own, table in tables.items()
    ]
    return parts[0].union(parts[1])


def _common(by: str) -> tuple[Column, Column]:
    return F.crc32(F.col(by).cast("string").cast("binary")).alias(BUCKET), F.col(by)


def _struct(table: KTable, by: str) -> Column:
    """Return a row of the table as a struct; null where it isn't one of the table's."""
    columns = (F.col(name) for name in _fields(table, by).names)
    order = F.col(table.order).cast("bigint").alias(ORDER)
    return F.when(table.held, F.struct(*columns, table.gone.alias(DELETED), order))


def _none(table: KTable, by: str) -> Column:
    """Return a null of the type that ``_struct`` has."""
    added = [StructField(DELETED, BooleanType()), StructField(ORDER, LongType())]
    return F.lit(None).cast(StructType([*_fields(table, by), *added]))


# --- what is refused --------------------------------------------------------------------------


def _require_common(left: KTable, right: KTable, by: str) -> None:
    """Raise ValueError for tables that can't be joined by this column."""
    require_groups(left.changelog.schema, by)
    lacking = [table.keys for table in (left, right) if by not in table.keys]
    if lacking:
        raise ValueError(
            f"Expected a column of both keys to join by, but {by!r} is not in {list(lacking[0])}. "
            "Make a table with it in its key, as in ktable(changelog, key=['group', 'topic'])."
        )
    kinds = [table.changelog.schema[by].dataType.simpleString() for table in (left, right)]
    if kinds[0] != kinds[1]:
        raise ValueError(
            f"Expected {by!r} to be of one type, but it is {kinds[0]} on the left and {kinds[1]} "
            f"on the right. Cast one of them before, as in F.col({by!r}).cast({kinds[0]!r})."
        )
    if left.buckets != right.buckets:
        raise ValueError(
            f"Expected as many buckets on both sides, but got {left.buckets} and {right.buckets}. "
            f"Make both tables with ktable(..., buckets={left.buckets})."
        )


def _require_names(left: KTable, right: KTable, by: str, names: tuple[str, str]) -> None:
    """Raise ValueError for arrays that can't have these names, or whose rows would be empty."""
    if len({*names, by, "deleted"}) < 4:
        raise ValueError(
            f"Expected two names for the rows other than {by!r} and 'deleted', but got {names}."
        )
    tables = zip(names, (left, right), strict=True)
    bare = [name for name, table in tables if table.columns == (by,)]
    if bare:
        raise ValueError(
            f"Expected a column beside {by!r} in both tables, but {bare[0]!r} has none to show. "
            "Add one to its changelog, for example its offset under another name."
        )


def _require_newest(
    left: KTable, right: KTable, by: str, names: tuple[str, str], newest: str
) -> None:
    """Raise ValueError for what isn't a column of both tables, or can't be one of the result."""
    if newest in (by, *names):
        raise ValueError(f"Expected newest= with another name than {by!r} and {names}.")
    kinds = [
        table.changelog.schema[newest].dataType.simpleString() if newest in table.columns else None
        for table in (left, right)
    ]
    if None in kinds or kinds[0] != kinds[1]:
        raise ValueError(
            f"Expected newest= with a column of both tables, of one type, but {newest!r} is "
            f"{kinds[0] or 'none'} on the left and {kinds[1] or 'none'} on the right. Name it in "
            f"both, as in ktable(..., columns=['committed', {newest!r}])."
        )
