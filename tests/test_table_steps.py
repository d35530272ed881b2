"""Random changelogs, cut into batches anywhere, against a recomputation from all that came."""

from __future__ import annotations

import pickle
import random
from collections import defaultdict
from typing import Any

import polars as pl
import pytest

from workbook.buckets.state import BUCKET
from workbook.tables import steps
from workbook.tables.aggregates import OP
from workbook.tables.ktable import collect_set, count, fold, max_of, sum_of
from workbook.tables.steps import DELETED, GROUP_BUCKET, ORDER

KEYS, GROUP = ["id"], "client"
COLUMNS = ["id", "client", "amount"]
SEEDS = range(100)

Row = tuple[str, str | None, int | None, bool]


def changelog(seed: int) -> list[Row]:
    """Opens, updates, moves, closes, of few ids, so that everything happens to each of them."""
    draw = random.Random(seed)
    rows: list[Row] = []
    for _ in range(draw.randint(1, 60)):
        key = f"p{draw.randrange(6)}"
        if draw.random() < 0.25:
            rows.append((key, None, None, True))
        else:
            rows.append((key, f"c{draw.randrange(3)}", draw.randint(1, 4), False))
    return rows


def bucket_of(client: str | None) -> int:
    return 0 if client is None else int(client[1:])


def batches(rows: list[Row], seed: int) -> list[pl.DataFrame]:
    """The same rows, numbered, in batches; within a batch in any order, as packs come in."""
    draw, left, found = random.Random(seed), list(enumerate(rows)), []
    while left:
        size = draw.choice([1, 1, 2, 5, 20])
        batch, left = left[:size], left[size:]
        draw.shuffle(batch)
        data = [(*row, order, bucket_of(row[1])) for order, row in batch]
        names = [*COLUMNS, DELETED, ORDER, GROUP_BUCKET]
        types = [pl.String, pl.String, pl.Int64, pl.Boolean, pl.Int64, pl.Int64]
        kinds = dict(zip(names, types, strict=True))
        found.append(pl.DataFrame(data, schema=kinds, orient="row"))
    return found


def aggregates() -> dict[str, Any]:
    return {
        "number": count(),
        "amount": sum_of("amount"),
        "ids": collect_set("id"),
        "amounts": collect_set("amount"),
        "largest": max_of("amount", recompute=True),
        "folded": fold(
            lambda value, row: value | {row["id"]},
            lambda value, row: value - {row["id"]},
            frozenset(),
            "array<string>",
        ),
    }


def truth(rows: list[Row]) -> dict[str, tuple[Any, ...]]:
    """What each client has, from the whole changelog, in plain Python."""
    latest = {key: (client, amount) for key, client, amount, _ in rows}
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for key, (client, amount) in latest.items():
        if client is not None and amount is not None:
            groups[client].append((key, amount))
    found = {}
    for client, held in groups.items():
        ids, amounts = sorted(key for key, _ in held), [amount for _, amount in held]
        result = (len(held), sum(amounts), ids, sorted(set(amounts)), max(amounts), ids)
        found[client] = result
    return found


def bring(view: dict[str, tuple[Any, ...]], told: pl.DataFrame) -> None:
    """What a reader does with the changes that it is told."""
    for row in told.iter_rows(named=True):
        if row["deleted"]:
            view.pop(row[GROUP], None)
        else:
            if "folded" in row:
                row["folded"] = pickle.loads(row["folded"])
            view[row[GROUP]] = tuple(row[name] for name in aggregates() if name in row)


MODES = {
    "collapsed": (steps.differences, False, False),
    "collapsed, with folds": (steps.every_difference, True, False),
    "per update": (steps.every_difference, True, True),
}
"""As ``reduce`` chooses them: how to compare, whether with a fold, whether to show each step."""


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("seed", SEEDS)
def test_groups_equal_a_recomputation_after_every_batch(seed: int, mode: Any) -> None:
    rows = changelog(seed)
    compare, folds, per_update = mode
    wanted = {name: how for name, how in aggregates().items() if folds or name != "folded"}
    reduce = steps.reducer(GROUP, wanted, KEYS, per_update=per_update)
    table: steps.Tables = {"rows": None}
    groups: steps.Tables = dict.fromkeys(["rows", *wanted])
    view: dict[str, tuple[Any, ...]] = {}
    done = 0
    for batch in batches(rows, seed):
        table, changes = compare(table, batch, KEYS, COLUMNS)
        if len(changes):
            groups, told = reduce(groups, changes)
            bring(view, told.sort("step") if per_update else told)
        done += len(batch)
        true = truth(rows[:done])
        assert view == (true if folds else {client: held[:-1] for client, held in true.items()})


def steps_taken() -> Any:
    """A fold that does not invert at all: it writes down every step."""
    return fold(
        lambda value, row: f"{value}+{row['id']}{row['amount']}",
        lambda value, row: f"{value}-{row['id']}{row['amount']}",
        "",
        "string",
    )


def told_by(seed: int, shuffled: int, *, per_update: bool) -> list[dict[str, Any]]:
    """Per batch, what each group's fold is at its end."""
    reduce = steps.reducer(GROUP, {"steps": steps_taken()}, KEYS, per_update=per_update)
    table: steps.Tables = {"rows": None}
    groups: steps.Tables = {"rows": None, "steps": None}
    found = []
    for batch in batches(changelog(seed), seed):
        mixed = batch.sample(fraction=1, shuffle=True, seed=shuffled)
        table, changes = steps.every_difference(table, mixed, KEYS, COLUMNS)
        ends: dict[str, Any] = {}
        if len(changes):
            mixed = changes.sample(fraction=1, shuffle=True, seed=shuffled)  # as packs arrive
            groups, told = reduce(groups, mixed)
            told = told.sort("step") if per_update else told
            ends = {row[GROUP]: row["steps"] for row in told.iter_rows(named=True)}
        found.append({client: end and pickle.loads(end) for client, end in ends.items()})
    return found


@pytest.mark.parametrize("seed", SEEDS[:40])
def test_a_fold_that_looks_at_the_order_is_the_same_in_every_run(seed: int) -> None:
    first = told_by(seed, 1, per_update=False)
    assert told_by(seed, 2, per_update=False) == first
    assert told_by(seed, 3, per_update=True) == first


def numbered(*rows: tuple[str, str, int | None, int]) -> pl.DataFrame:
    """A batch of rows that stay: id, client, amount, offset."""
    types = [pl.String, pl.String, pl.Int64, pl.Int64]
    names = dict(zip([*COLUMNS, ORDER], types, strict=True))
    frame = pl.DataFrame(list(rows), schema=names, orient="row")
    return frame.with_columns(pl.lit(False).alias(DELETED), pl.lit(0).alias(GROUP_BUCKET))


def test_equal_offsets_of_two_partitions_have_an_order_too() -> None:
    rows = [("b", "c", 1, 7), ("a", "c", 1, 7), ("c", "c", 1, 7)]
    reduce = steps.reducer(GROUP, {"steps": steps_taken()}, KEYS)
    for batch in (rows, rows[::-1]):
        _, changes = steps.every_difference({"rows": None}, numbered(*batch), KEYS, COLUMNS)
        _, told = reduce({"rows": None, "steps": None}, changes)
        assert pickle.loads(told["steps"][0]) == "+a1+b1+c1"


def test_offsets_go_before_keys() -> None:
    rows = [("b", "c", 1, 1), ("a", "c", 1, 2), ("b", "c", 2, 3)]
    reduce = steps.reducer(GROUP, {"steps": steps_taken()}, KEYS)
    _, changes = steps.every_difference({"rows": None}, numbered(*rows), KEYS, COLUMNS)
    _, told = reduce({"rows": None, "steps": None}, changes)
    assert pickle.loads(told["steps"][0]) == "+b1+a1-b1+b2"


@pytest.mark.parametrize(
    ("names", "deleted"), [(["number", "largest"], False), (["largest"], True)]
)
def test_a_group_is_deleted_where_all_of_its_aggregates_are_null(
    names: list[str], deleted: bool
) -> None:
    wanted = {name: aggregates()[name] for name in names}
    _, changes = steps.differences({"rows": None}, numbered(("a", "c", None, 0)), KEYS, COLUMNS)
    _, told = steps.reducer(GROUP, wanted, KEYS)(dict.fromkeys(["rows", *names]), changes)
    assert told.select("largest", "deleted").rows() == [(None, deleted)]


def test_nothing_is_kept_of_a_group_that_is_gone() -> None:
    reduce = steps.reducer(GROUP, aggregates(), KEYS)
    table, changes = steps.every_difference(
        {"rows": None}, numbered(("a", "c", None, 0)), KEYS, COLUMNS
    )
    groups, _ = reduce(dict.fromkeys(["rows", *aggregates()]), changes)
    gone = numbered(("a", "c", None, 1)).with_columns(pl.lit(True).alias(DELETED))
    _, changes = steps.every_difference(table, gone, KEYS, COLUMNS)
    groups, told = reduce(groups, changes)
    assert told.select(GROUP, "deleted").rows() == [("c", True)]
    assert {name for name, kept in groups.items() if kept is not None and len(kept)} == set()


def test_a_row_with_a_null_that_comes_again_changes_nothing() -> None:
    batch = numbered(("a", "c", None, 0))
    table, _ = steps.newest({"rows": None}, batch, KEYS, COLUMNS)
    for compare in (steps.newest, steps.differences):
        _, told = compare(table, batch, KEYS, COLUMNS)
        assert told.is_empty()
    _, told = steps.newest(table, numbered(("a", "c", 0, 1)), KEYS, COLUMNS)
    assert told["amount"].to_list() == [0]  # but null is not nought


def test_a_table_may_be_grouped_by_its_key() -> None:
    one, other = numbered(("a", "c", 1, 0)), numbered(("a", "d", 2, 1))
    reduce = steps.reducer("id", {"number": count()}, KEYS, per_update=True)
    table, changes = steps.every_difference({"rows": None}, one, KEYS, COLUMNS)
    _, told = reduce({"rows": None, "number": None}, changes)
    assert told.select("id", "number", "change", "step").rows() == [("a", 1, "add", 0)]
    _, told = steps.moves(table, other, KEYS, COLUMNS, "id")
    assert told.select("id", "client", "deleted").rows() == [("a", "d", False)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_changes_of_a_table_are_enough_to_follow_it(seed: int) -> None:
    rows = changelog(seed)
    table: steps.Tables = {"rows": None}
    view: dict[str, tuple[Any, ...]] = {}
    done = 0
    for batch in batches(rows, seed):
        table, told = steps.newest(table, batch, KEYS, COLUMNS)
        for row in told.iter_rows(named=True):
            if row["deleted"]:
                del view[row["id"]]  # never told of what was not there
            else:
                assert view.get(row["id"]) != (row["client"], row["amount"])  # a change
                view[row["id"]] = (row["client"], row["amount"])
        done += len(batch)
        latest = {key: (client, amount, gone) for key, client, amount, gone in rows[:done]}
        assert view == {key: row[:2] for key, row in latest.items() if not row[2]}


@pytest.mark.parametrize("seed", SEEDS[:50])
def test_each_old_row_goes_before_the_new_one_comes(seed: int) -> None:
    rows = changelog(seed)
    table: steps.Tables = {"rows": None}
    here: dict[str, str] = {}
    for batch in batches(rows, seed):
        table, told = steps.every_difference(table, batch, KEYS, COLUMNS)
        for row in told.iter_rows(named=True):
            assert row[BUCKET] == bucket_of(row["client"])
            if row[OP] < 0:
                assert here.pop(row["id"]) == row["client"]
            else:
                assert row["id"] not in here
                here[row["id"]] = row["client"]


@pytest.mark.parametrize("seed", SEEDS[:50])
def test_a_changelog_by_group_may_come_again(seed: int) -> None:
    """As a repartition topic may: each batch is sent twice, and the table is the same."""
    rows = changelog(seed)
    first: steps.Tables = {"rows": None}
    second: steps.Tables = {"rows": None}
    both, order = ["client", "id"], 0
    for batch in batches(rows, seed):
        first, moved = steps.moves(first, batch, KEYS, COLUMNS, GROUP)
        for _ in range(2):
            again = moved.rename({"deleted": DELETED}).with_columns(
                pl.int_range(order, order + len(moved)).alias(ORDER),
                pl.lit(0, pl.Int64).alias(GROUP_BUCKET),
            )
            order += len(moved)
            if len(again):
                second, _ = steps.differences(second, again, both, ["client", "id", "amount"])
    kept = second["rows"]
    held = [] if kept is None else kept.select("client", "id").sort("client", "id").rows()
    expected = [(client, key) for client, found in truth(rows).items() for key in found[2]]
    assert held == sorted(expected)
