"""Applies a batch to the two tables of a join and emits what they hold, in Polars.

No Spark in here. A row of a batch has the common column ``by`` and a struct per side, named as its
rows are: the side's other columns, ``__deleted`` and ``__order``; null where it's not the side's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from workbook.tables.segments import Keyed, Segments
from workbook.tables.state import BUCKET, State, Step
from workbook.tables.steps import DELETED, ORDER, last


@dataclass(frozen=True)
class Side:
    """A table in a join: what its rows are called; its key and columns without the common one."""

    rows: str
    key: tuple[str, ...]
    columns: tuple[str, ...]


def tables_of(by: str, sides: Sequence[Side]) -> dict[str, Keyed]:
    """Return what a ``joiner`` keeps: each side's rows, looked up by the common column."""
    return {side.rows: Keyed((by,), side.key) for side in sides}


def squeezed(batch: pl.DataFrame, by: str, sides: Sequence[Side]) -> pl.DataFrame:
    """Keep the last row per key of each side; a row that belongs to both becomes two."""
    parts = []
    for side in sides:
        rows = last(_own(batch, by, side), [by, *side.key])
        fields = pl.struct(*side.columns, DELETED, ORDER).alias(side.rows)
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
            lists = _lists(state[side.rows], values, rows.clear(), by, side)
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
    keys, columns = [by, *side.key], [by, *side.columns]
    new = last(batch, keys)
    live = new.filter(~pl.col(DELETED)).select(columns)
    found = table.of(new.select(by))
    old = live.clear() if found is None else found.join(new, on=keys, how="semi").select(columns)
    came = live.join(old, on=columns, how="anti", nulls_equal=True)
    went = old.join(live, on=columns, how="anti", nulls_equal=True)
    table.write(came, gone=went.join(came, on=keys, how="anti"))
    return new.join(pl.concat([came, went]), on=keys, how="semi")


def _lists(
    table: Segments, values: pl.DataFrame, empty: pl.DataFrame, by: str, side: Side
) -> pl.DataFrame:
    """Return a side's rows for these values: a sorted list of structs each, where there are any."""
    found = table.of(values)
    rows = empty if found is None else found
    lists = rows.sort(by, *side.key).group_by(by)
    return lists.agg(pl.struct(*side.columns).alias(side.rows))
