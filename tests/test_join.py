"""A join in a bucket, without Spark: random changelogs of two tables against a recomputation."""

from collections.abc import Sequence
from typing import Any
from unittest import mock

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from test_table_changes import Stored

from workbook.tables import segments, state
from workbook.tables.changes import DELETED, ORDER, PLACE
from workbook.tables.join import Side, joiner, squeezed, tables_of
from workbook.tables.state import BUCKET, empty

BY, AT = "group", "at"
OFFSETS = Side("offsets", ("topic", "partition"), ("topic", "partition", "committed", AT))
DETAILS = Side("details", ("member",), ("member", "data", AT))
SIDES = (OFFSETS, DETAILS)
GONE = "a tombstone"

FIELDS = {
    "offsets": {"topic": pl.String, "partition": pl.Int32, "committed": pl.Int64},
    "details": {"member": pl.String, "data": pl.Binary},
}
MARKS = {DELETED: pl.Boolean, PLACE: pl.Int64}
SCHEMA = {
    BUCKET: pl.Int32,
    BY: pl.String,
    **{
        name: pl.Struct({**fields, AT: pl.Int64, **MARKS, ORDER: pl.Int64})
        for name, fields in FIELDS.items()
    },
}

Event = tuple[str, str, int, Any, int]
"""A change: the sides that it counts for, group, the rest of its key, its value or GONE, time."""

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["offsets", "details", "both"]),
        st.sampled_from("abc"),
        st.integers(0, 2),
        st.sampled_from([GONE, GONE, None, 0, 1]),
        st.integers(0, 9),
    ),
    max_size=40,
)
SIZES = st.lists(st.sampled_from([1, 1, 2, 5, 20]), min_size=40, max_size=40)


def structs(side: str, key: int, value: Any, at: int) -> dict[str, Any]:
    """The columns of a side in a row with this key and value."""
    known = None if value is GONE else value
    if side == "offsets":
        return {"topic": f"t{key % 2}", "partition": key, "committed": known, AT: at}
    return {"member": f"m{key}", "data": None if known is None else bytes([known, 255]), AT: at}


def rows(events: Sequence[tuple[int, Event]]) -> pl.DataFrame:
    """Numbered events as a batch."""
    found = []
    for order, (sides, group, key, value, at) in events:
        row: dict[str, Any] = {BUCKET: 0, BY: group, "offsets": None, "details": None}
        for side in FIELDS if sides == "both" else [sides]:
            row[side] = structs(side, key, value, at) | {DELETED: value is GONE, ORDER: order}
        found.append(row)
    return pl.DataFrame(found, schema=SCHEMA)


def cut(events: list[Event], sizes: list[int]) -> list[list[tuple[int, Event]]]:
    """The events, numbered, in batches of these sizes."""
    left, found = list(enumerate(events)), []
    for size in sizes:
        found.append(left[:size])
        left = left[size:]
    return [batch for batch in found if batch]


Held = tuple[list[dict[str, Any]], list[dict[str, Any]]]
Latest = dict[tuple[str, str, int], tuple[Any, int]]


def held(latest: Latest) -> dict[str, Held]:
    """The rows of both sides of each group, in plain Python."""
    found: dict[str, Held] = {}
    for (side, group, key), (value, at) in sorted(latest.items(), key=lambda kept: kept[0][2]):
        if value is not GONE:
            of = found.setdefault(group, ([], []))
            of[side == "details"].append(structs(side, key, value, at))
    for offsets, _ in found.values():
        offsets.sort(key=lambda row: row["topic"])
    return found


def newest(latest: Latest, batch: list[tuple[int, Event]]) -> dict[str, int]:
    """Bring a batch into the latest rows; return the newest time of what changed each group."""
    last: Latest = {}
    for _, (sides, group, key, value, at) in sorted(batch):
        for side in FIELDS if sides == "both" else [sides]:
            last[side, group, key] = value, at
    found: dict[str, int] = {}
    for place, (value, at) in last.items():
        before = latest.get(place, (GONE, 0))
        if before != (value, at) and (before[0], value) != (GONE, GONE):
            found[place[1]] = max(found.get(place[1], 0), at)
    latest.update(last)
    return found


@settings(deadline=None)
@given(EVENTS, SIZES, st.randoms(), st.sampled_from([256, 2]))
def test_a_join_equals_a_recomputation_after_every_batch(events, sizes, draw, young) -> None:
    """However it's cut, in any order within a batch, also where each batch comes twice."""
    join, tables, view, latest = (
        joiner(BY, SIDES, AT), Stored(tables_of(BY, SIDES)), dict[str, Held](), Latest(),
    )  # fmt: skip
    with (
        mock.patch.object(segments, "YOUNG_ROWS", young),
        mock.patch.object(state, "YOUNG_ROWS", young),
    ):
        for batch in cut(events, sizes):
            expected = newest(latest, batch)
            draw.shuffle(batch)
            parts = [squeezed(rows(part), BY, SIDES) for part in (batch[::2], batch[1::2])]
            with tables.opened() as there:
                emitted = join(there, pl.concat(parts))
            assert emitted.columns == [BY, AT, "offsets", "details", "deleted"]
            assert dict(emitted.select(BY, AT).iter_rows()) == expected
            for row in emitted.iter_rows(named=True):
                now = row["offsets"], row["details"]
                assert row["deleted"] == (now == ([], []))
                assert view.pop(row[BY], ([], [])) != now, "each row emitted changes something"
                if not row["deleted"]:
                    view[row[BY]] = now
            assert view == held(latest)
            with tables.opened() as there:
                assert join(there, rows(batch)).is_empty()


def test_nothing_is_kept_of_a_value_that_is_gone() -> None:
    there = empty(tables_of(BY, SIDES))
    for order, value in enumerate([1, GONE]):
        joiner(BY, SIDES)(there, rows([(order, ("both", "a", 0, value, 0))]))
    kept = [table.all() for table in there.values()]
    assert all(table is None or table.is_empty() for table in kept)
