"""The step of a join, without Spark: random changelogs of two tables against a recomputation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from test_table_steps import Stored

from workbook.tables import segments, state
from workbook.tables.join_steps import Side, joiner, squeezed, tables_of
from workbook.tables.state import BUCKET, empty
from workbook.tables.steps import DELETED, ORDER

BY = "group"
OFFSETS = Side("offsets", ("topic", "partition"), ("topic", "partition", "committed"))
DETAILS = Side("details", ("member",), ("member", "data"))
SIDES = (OFFSETS, DETAILS)
AT = "at"
TIMED = tuple(replace(side, columns=(*side.columns, AT)) for side in SIDES)
"""The same with the time of a row, of which a join emits the newest."""

GONE = "a tombstone"

FIELDS = {
    "offsets": {"topic": pl.String, "partition": pl.Int32, "committed": pl.Int64},
    "details": {"member": pl.String, "data": pl.Binary},
}
SCHEMA = {
    BUCKET: pl.Int32,
    BY: pl.String,
    **{
        name: pl.Struct({**fields, AT: pl.Int64, DELETED: pl.Boolean, ORDER: pl.Int64})
        for name, fields in FIELDS.items()
    },
}

Event = tuple[str, str, int, Any]
"""A change: the sides that it counts for, its group, the rest of its key, its value or GONE."""

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["offsets", "details", "both"]),
        st.sampled_from("abc"),
        st.integers(0, 2),
        st.sampled_from([GONE, GONE, None, 0, 1]),
    ),
    max_size=40,
)
SIZES = st.lists(st.sampled_from([1, 1, 2, 5, 20]), min_size=40, max_size=40)
TIMES = st.lists(st.integers(0, 9), min_size=40, max_size=40)
"""Of each event, by its number."""


def structs(side: str, key: int, value: Any) -> dict[str, Any]:
    """The columns of a side in a row with this key and value."""
    known = None if value is GONE else value
    if side == "offsets":
        return {"topic": f"t{key % 2}", "partition": key, "committed": known}
    return {"member": f"m{key}", "data": None if known is None else bytes([known, 255])}


def rows(events: list[tuple[int, Event]], times: Sequence[int] = ()) -> pl.DataFrame:
    """Numbered events as a batch, with their times."""
    found = []
    for order, (sides, group, key, value) in events:
        row: dict[str, Any] = {BUCKET: 0, BY: group, "offsets": None, "details": None}
        for side in FIELDS if sides == "both" else [sides]:
            time = times[order] if times else 0
            row[side] = structs(side, key, value) | {AT: time, DELETED: value is GONE, ORDER: order}
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


def truth(events: list[Event]) -> dict[str, Held]:
    """The rows of both sides of each group, from the whole changelog, in plain Python."""
    latest: dict[str, dict[tuple[str, int], Any]] = {"offsets": {}, "details": {}}
    for sides, group, key, value in events:
        for side in latest if sides == "both" else [sides]:
            latest[side][group, key] = value
    found: dict[str, Held] = {}
    for at, (side, held) in enumerate(latest.items()):
        for (group, key), value in held.items():
            if value is not GONE:
                found.setdefault(group, ([], []))[at].append(structs(side, key, value))
    for offsets, details in found.values():
        offsets.sort(key=lambda row: (row["topic"], row["partition"]))
        details.sort(key=lambda row: row["member"])
    return found


def follow(view: dict[str, Held], emitted: pl.DataFrame) -> None:
    """What a reader does with what is emitted: each row changes something."""
    assert emitted[BY].is_unique().all()
    for row in emitted.iter_rows(named=True):
        held = row["offsets"], row["details"]
        assert row["deleted"] == (held == ([], []))
        assert view.pop(row[BY], ([], [])) != held
        if not row["deleted"]:
            view[row[BY]] = held


@settings(deadline=None)
@given(EVENTS, SIZES, st.randoms(), st.sampled_from([256, 2]))
def test_a_join_equals_a_recomputation_after_every_batch(
    events: list[Event], sizes: list[int], draw: Any, young: int
) -> None:
    """However it's cut, in any order within a batch, also where each batch comes twice."""
    tables, view, done = Stored(tables_of(BY, SIDES)), dict[str, Held](), 0
    with (
        mock.patch.object(segments, "YOUNG_ROWS", young),
        mock.patch.object(state, "YOUNG_ROWS", young),
    ):
        for batch in cut(events, sizes):
            done += len(batch)
            draw.shuffle(batch)
            with tables.opened() as there:
                follow(view, joiner(BY, SIDES)(there, rows(batch + batch[:2])))
            assert view == truth(events[:done])
            with tables.opened() as there:
                assert joiner(BY, SIDES)(there, rows(batch)).is_empty()


@settings(deadline=None)
@given(EVENTS, SIZES, TIMES)
def test_batches_may_be_squeezed_before_they_come(
    events: list[Event], sizes: list[int], times: list[int]
) -> None:
    join = joiner(BY, TIMED, AT)
    plain, packed = empty(tables_of(BY, TIMED)), empty(tables_of(BY, TIMED))
    for batch in cut(events, sizes):
        parts = [squeezed(rows(part, times), BY, TIMED) for part in (batch[::2], batch[1::2])]
        expected = join(plain, rows(batch, times)).sort(BY)
        assert join(packed, pl.concat(parts)).sort(BY).equals(expected)


def newest(
    latest: dict[tuple[str, str, int], Any], batch: list[tuple[int, Event]], times: list[int]
) -> dict[str, int]:
    """The newest time of each group's rows that a batch changes, in plain Python."""
    last: dict[tuple[str, str, int], Any] = {}
    for order, (sides, group, key, value) in batch:
        for side in FIELDS if sides == "both" else [sides]:
            last[side, group, key] = value, times[order]
    found: dict[str, int] = {}
    for place, (value, time) in last.items():
        after = GONE if value is GONE else (value, time)
        if latest.get(place, GONE) != after:
            found[place[1]] = max(found.get(place[1], 0), time)
        latest[place] = after
    return found


@settings(deadline=None)
@given(EVENTS, SIZES, TIMES, st.randoms())
def test_the_newest_of_what_changed_a_group_is_emitted(
    events: list[Event], sizes: list[int], times: list[int], draw: Any
) -> None:
    there, latest = empty(tables_of(BY, TIMED)), dict[tuple[str, str, int], Any]()
    for batch in cut(events, sizes):
        expected = newest(latest, batch, times)
        draw.shuffle(batch)
        emitted = joiner(BY, TIMED, AT)(there, rows(batch, times))
        assert dict(emitted.select(BY, AT).iter_rows()) == expected
        assert emitted.columns == [BY, AT, "offsets", "details", "deleted"]


@settings(deadline=None)
@given(EVENTS, SIZES, TIMES, st.randoms())
def test_where_times_rise_the_newest_never_goes_back(
    events: list[Event], sizes: list[int], times: list[int], draw: Any
) -> None:
    """Whatever goes: of what is left, it's often less."""
    there, former = empty(tables_of(BY, TIMED)), dict[str, int]()
    for batch in cut(events, sizes):
        draw.shuffle(batch)
        emitted = joiner(BY, TIMED, AT)(there, rows(batch, sorted(times)))
        for row in emitted.iter_rows(named=True):
            left = [each[AT] for each in (*row["offsets"], *row["details"])]
            assert row[AT] >= max(former.get(row[BY], 0), *left, 0)
            former[row[BY]] = row[AT]


def joined(*batches: list[Event]) -> list[Mapping[str, Any]]:
    """What the last of these batches makes the join emit."""
    there, order, emitted = empty(tables_of(BY, SIDES)), 0, pl.DataFrame()
    for batch in batches:
        emitted = joiner(BY, SIDES)(there, rows(list(enumerate(batch, order))))
        order += len(batch)
    return emitted.sort(BY).to_dicts()


def test_a_side_without_rows_is_an_empty_array() -> None:
    assert joined([("offsets", "a", 1, 7)]) == [
        {
            BY: "a",
            "offsets": [{"topic": "t1", "partition": 1, "committed": 7}],
            "details": [],
            "deleted": False,
        }
    ]


def test_a_null_is_a_value_and_no_delete() -> None:
    (row,) = joined([("details", "a", 0, None)])
    assert (row["details"], row["deleted"]) == ([{"member": "m0", "data": None}], False)
    assert joined([("details", "a", 0, None)], [("details", "a", 0, None)]) == []


def test_only_the_changed_value_is_emitted_with_all_of_its_rows() -> None:
    before: list[Event] = [("offsets", "a", 0, 1), ("offsets", "a", 1, 1), ("offsets", "b", 0, 1)]
    (row,) = joined(before, [("details", "a", 0, 1)])
    assert (row[BY], len(row["offsets"]), len(row["details"])) == ("a", 2, 1)


def test_what_comes_and_goes_within_a_batch_was_never_there() -> None:
    assert joined([("both", "a", 0, 1), ("both", "a", 0, GONE)]) == []


def test_nothing_is_kept_of_a_value_that_is_gone() -> None:
    there = empty(tables_of(BY, SIDES))
    for order, value in enumerate([1, GONE]):
        joiner(BY, SIDES)(there, rows([(order, ("both", "a", 0, value))]))
    kept = [table.all() for table in there.values()]
    assert all(table is None or table.is_empty() for table in kept)


def test_a_tombstone_counts_by_its_own_time() -> None:
    there = empty(tables_of(BY, TIMED))
    events: list[Event] = [
        ("offsets", "a", 0, 1),
        ("offsets", "a", 1, 1),
        ("offsets", "a", 1, GONE),
    ]
    emitted = [
        joiner(BY, TIMED, AT)(there, rows([event], [5, 7, 9])) for event in enumerate(events)
    ]
    assert [rows[AT].to_list() for rows in emitted] == [[5], [7], [9]]
    assert [each[AT] for each in emitted[-1]["offsets"][0]] == [5]
