"""What a group of a table is reduced to: each with an adder and a subtractor, in columns.

An aggregate keeps a small table per bucket of groups and merges a batch of changes into it. A
change is a row of the grouped table with ``__op``: +1 where the row came, -1 where it went.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl
from pyspark.sql.types import ArrayType, DataType, IntegralType, LongType, StructType

from workbook.errors import CannotSubtract

GROUP, OP, RESULT = "__group", "__op", "__result"
_ELEMENT, _TIMES = "element", "times"


class Aggregate(Protocol):
    """A fold with a way back: what comes in can be taken out again."""

    @property
    def column(self) -> str:
        """The column of the table that it looks at; empty for none, "*" for all."""

    def returns(self, schema: StructType) -> DataType:
        """The type of the result over a table of this schema; raises where that cannot be."""

    def merge(
        self, state: pl.DataFrame | None, changes: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """State and changes (``__group``, columns, ``__op``) to the new state and the results.

        The results have ``__group`` and ``__result`` for each group that the changes touch; a
        group without a row may be missing.
        """


# --- sums -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Total:
    """A sum of whole numbers, or with no column the number of rows."""

    column: str = ""

    def returns(self, schema: StructType) -> DataType:
        """A bigint; raises ``CannotSubtract`` for what is no whole number."""
        if self.column and not isinstance(schema[self.column].dataType, IntegralType):
            raise CannotSubtract(
                f"Expected a column of whole numbers to add up, but {self.column!r} is "
                f"{schema[self.column].dataType.simpleString()}. A sum of fractions does not come "
                "back to where it was when one is taken out: use cents, or another whole unit."
            )
        return LongType()

    def merge(
        self, state: pl.DataFrame | None, changes: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """As ``Aggregate`` says."""
        amount = pl.col(OP) * pl.col(self.column) if self.column else pl.col(OP)
        fresh = changes.group_by(GROUP).agg(amount.cast(pl.Int64).sum().alias(RESULT))
        touched, rest = _split(state, fresh)
        after = pl.concat([touched, fresh]).group_by(GROUP).agg(pl.col(RESULT).sum())
        return pl.concat([rest, after]), after


# --- everything that is there -----------------------------------------------------------------


@dataclass(frozen=True)
class Elements:
    """The values of a column, and of each how many rows of the group have it.

    Kept whole, so that a value which two rows share stays when one of them goes.
    """

    column: str
    result: pl.Expr = field(repr=False)
    is_list: bool = True

    def returns(self, schema: StructType) -> DataType:
        """The type of the column, or an array of it."""
        kind = schema[self.column].dataType
        return ArrayType(kind) if self.is_list else kind

    def merge(
        self, state: pl.DataFrame | None, changes: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """As ``Aggregate`` says."""
        named = changes.select(
            GROUP, pl.col(self.column).alias(_ELEMENT), pl.col(OP).cast(pl.Int64).alias(_TIMES)
        )
        touched, rest = _split(state, named)
        after = pl.concat([touched, named.drop_nulls(_ELEMENT)])
        after = after.group_by(GROUP, _ELEMENT).agg(pl.col(_TIMES).sum())
        after = after.filter(pl.col(_TIMES) != 0)
        results = after.group_by(GROUP).agg(self.result.alias(RESULT))
        return pl.concat([rest, after]), results


# --- any pair of functions --------------------------------------------------------------------


@dataclass(frozen=True)
class Fold:
    """Two functions of Python, called for each change: slower, and free."""

    adder: Callable[[Any, Mapping[str, Any]], Any]
    subtractor: Callable[[Any, Mapping[str, Any]], Any]
    start: Any
    kind: str
    column: str = "*"

    def returns(self, schema: StructType) -> DataType:
        """What the fold was told."""
        return DataType.fromDDL(self.kind)

    def merge(
        self, state: pl.DataFrame | None, changes: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """As ``Aggregate`` says; state and results hold the values pickled."""
        known = {} if state is None else dict(state.select(GROUP, "value").iter_rows())
        values: dict[Any, Any] = {}
        for row in changes.sort(OP, maintain_order=True).iter_rows(named=True):  # remove, then add
            group = row[GROUP]
            if group not in values:
                kept = known.pop(group, None)
                # A copy, since the functions may change it in place.
                values[group] = deepcopy(self.start) if kept is None else pickle.loads(kept)
            step = self.adder if row[OP] > 0 else self.subtractor
            values[group] = step(values[group], row)
        left = {group: value for group, value in values.items() if not _is_empty(value)}
        known |= {group: pickle.dumps(value) for group, value in left.items()}
        kind = changes.schema[GROUP]
        after = _frame(kind, "value", known)
        shown = {group: pickle.dumps(_shown(value)) for group, value in left.items()}
        return after, _frame(kind, RESULT, shown)


def _frame(kind: pl.DataType, name: str, values: Mapping[Any, bytes]) -> pl.DataFrame:
    return pl.DataFrame(
        {GROUP: list(values), name: list(values.values())}, schema={GROUP: kind, name: pl.Binary()}
    )


def _shown(value: Any) -> Any:
    """As Arrow takes it: it knows neither sets nor dictionaries."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    return list(value.items()) if isinstance(value, dict) else value


def _is_empty(value: Any) -> bool:
    """As in Kafka Streams, where null deletes the group; and so does what holds nothing."""
    return value is None or (hasattr(value, "__len__") and len(value) == 0)


def _split(state: pl.DataFrame | None, changes: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of the state whose group the changes touch, and the others."""
    if state is None:
        return changes.clear(), changes.clear()
    groups = changes.select(pl.col(GROUP).unique())
    return (
        state.join(groups, on=GROUP, how="semi"),
        state.join(groups, on=GROUP, how="anti"),
    )
