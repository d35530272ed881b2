"""Random changelogs, cut into batches anywhere, against a recomputation from all that came."""

import pickle
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest

from workbook.tables import segments, state
from workbook.tables.aggregates import OP
from workbook.tables.changes import (
    DELETED,
    GROUP_BUCKET,
    NUMBERED,
    ORDER,
    PLACE,
    differences,
    every_difference,
    groups_of,
    reducer,
    table_of,
)
from workbook.tables.ktable import collect_set, count, fold
from workbook.tables.segments import Keyed
from workbook.tables.state import State, closed, empty, opened

KEYS, GROUP = ["id"], "client"
COLUMNS = ["id", "client", "amount"]

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
            amount = draw.choice([None, 1, 2, 3, 4])
            rows.append((key, f"c{draw.randrange(3)}", amount, False))
    return rows


def a_table() -> State:
    """What the functions that compare rows begin with."""
    return empty(table_of(KEYS))


class Stored:
    """A bucket's state between batches, as bytes in a store; every row rests in some segment."""

    def __init__(self, tables: Mapping[str, Keyed]) -> None:
        self.tables, self.kept = tables, dict[str, bytes]()
        self.list: bytes | None = None

    @contextmanager
    def opened(self) -> Iterator[State]:
        state = opened("bucket", self.list, self.tables, self.kept.__getitem__)
        yield state
        self.list, stored, removed = closed("bucket", state)
        self.kept |= stored
        for name in removed:
            self.kept.pop(name, None)


@pytest.fixture
def sizes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let segments of each other seed be stored by themselves when they have two rows."""
    for module in (segments, state):
        monkeypatch.setattr(module, "YOUNG_ROWS", 2 if seed % 2 else 256)


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
        found.append(pl.DataFrame(data, schema=kinds, orient="row").with_columns(*NOWHERE))
    return found


NOWHERE = (pl.lit(None, pl.Int64).alias(PLACE),)
"""Rows of a changelog that doesn't name the partitions of its records."""


def aggregates() -> dict[str, Any]:
    return {
        "number": count(),
        "ids": collect_set("id"),
        "amounts": collect_set("amount"),
        "folded": fold(
            lambda value, row: value | {row["id"]},
            lambda value, row: value - {row["id"]},
            frozenset(),
            "array<string>",
        ),
    }


def truth(rows: list[Row]) -> dict[str, tuple[Any, ...]]:
    """What each client has, from the whole changelog, in plain Python."""
    groups: dict[str, list[tuple[str, int | None]]] = defaultdict(list)
    for key, client, amount, gone in {row[0]: row for row in rows}.values():
        if client is not None and not gone:
            groups[client].append((key, amount))
    found = {}
    for client, held in groups.items():
        ids, amounts = sorted(key for key, _ in held), {amount for _, amount in held} - {None}
        found[client] = (len(held), ids, sorted(amounts) or None, ids)
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
    "collapsed": (differences, False, False),
    "collapsed, with folds": (every_difference, True, False),
    "per update": (every_difference, True, True),
}
"""As ``reduce`` chooses them: how to compare, whether with a fold, whether to show each step."""


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.usefixtures("sizes")
def test_groups_equal_a_recomputation_after_every_batch(seed: int, mode: Any) -> None:
    rows = changelog(seed)
    compare, folds, per_update = mode
    wanted = {name: how for name, how in aggregates().items() if folds or name != "folded"}
    reduce = reducer(GROUP, wanted, KEYS, per_update=per_update)
    table, groups = Stored(table_of(KEYS)), Stored(groups_of(wanted))
    view: dict[str, tuple[Any, ...]] = {}
    done = 0
    for batch in batches(rows, seed):
        with table.opened() as rows_there:
            changes = compare(rows_there, batch, KEYS, COLUMNS)
        if len(changes):
            with groups.opened() as groups_there:
                told = reduce(groups_there, changes)
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


def numbered(*rows: tuple[str, str, int | None, int]) -> pl.DataFrame:
    """A batch of rows that stay: id, client, amount, offset."""
    types = [pl.String, pl.String, pl.Int64, pl.Int64]
    names = dict(zip([*COLUMNS, ORDER], types, strict=True))
    frame = pl.DataFrame(list(rows), schema=names, orient="row")
    marks = (pl.lit(False).alias(DELETED), pl.lit(0).alias(GROUP_BUCKET))
    return frame.with_columns(*marks, *NOWHERE)


def test_offsets_decide_and_of_equal_ones_of_two_partitions_the_keys() -> None:
    reduce = reducer(GROUP, {"steps": steps_taken()}, KEYS)
    same, rising = [("b", "c", 1, 7), ("a", "c", 1, 7)], [("b", "c", 1, 1), ("a", "c", 1, 2)]
    for batch, taken in ((same, "+a1+b1"), (same[::-1], "+a1+b1"), (rising, "+b1+a1")):
        changes = every_difference(a_table(), numbered(*batch), KEYS, COLUMNS)
        for arrived in (changes, changes.reverse()):
            told = reduce(empty(groups_of({"steps": steps_taken()})), arrived)
            assert pickle.loads(told["steps"][0]) == taken


def test_nothing_is_kept_of_a_group_that_is_gone() -> None:
    reduce = reducer(GROUP, aggregates(), KEYS)
    table, groups = a_table(), empty(groups_of(aggregates()))
    changes = every_difference(table, numbered(("a", "c", None, 0)), KEYS, COLUMNS)
    reduce(groups, changes)
    gone = numbered(("a", "c", None, 1)).with_columns(pl.lit(True).alias(DELETED))
    changes = every_difference(table, gone, KEYS, COLUMNS)
    told = reduce(groups, changes)
    assert told.select(GROUP, "deleted").rows() == [("c", True)]
    left = {name: kept.all() for name, kept in groups.items()}
    assert not [name for name, rows in left.items() if rows is not None and len(rows)]


def test_a_row_with_a_null_that_comes_again_changes_nothing() -> None:
    table, batch = a_table(), numbered(("a", "c", None, 0))
    differences(table, batch, KEYS, COLUMNS)
    assert differences(table, batch, KEYS, COLUMNS).is_empty()
    told = differences(table, numbered(("a", "c", 0, 1)), KEYS, COLUMNS)
    assert told["amount"].to_list() == [None, 0]  # but null is not nought


def placed(seed: int) -> Iterator[list[dict[str, Any]]]:
    """Batches of rows whose keys are in three partitions, which are read at different speeds."""
    draw, parts = random.Random(seed), [list[dict[str, Any]]() for _ in range(3)]
    for _ in range(60):
        part = parts[at := draw.randrange(3)]
        values = (f"p{draw.randrange(3)}", f"c{draw.randrange(2)}", draw.randrange(2))
        marks = (draw.random() < 0.4, len(part), draw.randrange(30) * NUMBERED + at, 0)
        names = (*COLUMNS, DELETED, ORDER, PLACE, GROUP_BUCKET)
        part.append(dict(zip(names, values + marks, strict=True)))
    while any(parts):
        sizes = [draw.choice([0, 0, 1, 2, 9]) for _ in parts]
        yield [row for part, size in zip(parts, sizes, strict=True) for row in part[:size]]
        parts = [part[size:] for part, size in zip(parts, sizes, strict=True)]


@pytest.mark.parametrize("compare", [differences, every_difference])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.usefixtures("sizes")
def test_of_a_key_in_several_partitions_the_newest_record_counts(seed: int, compare: Any) -> None:
    table, read, held = Stored(table_of(KEYS)), list[dict[str, Any]](), Counter[Any]()
    for rows in filter(None, placed(seed)):
        with table.opened() as state:
            told = compare(state, pl.DataFrame(rows), KEYS, COLUMNS)
        for row in told.select(*COLUMNS, OP).iter_rows():
            held[row[:-1]] += row[-1]
        went, came = (told.filter(pl.col(OP) == op).select(COLUMNS).rows() for op in (-1, 1))
        assert compare is every_difference or not {*went} & {*came}, "each is a change"
        read += rows
        newest_of: dict[Any, int] = {}
        for row in read:
            at = row["id"], row[PLACE] % NUMBERED
            newest_of[at] = max(row[PLACE], newest_of.get(at, 0))
        by = sorted(read, key=lambda r: (newest_of[r["id"], r[PLACE] % NUMBERED], r[ORDER]))
        last = {row["id"]: row for row in by}
        true = Counter(tuple(r[n] for n in COLUMNS) for r in last.values() if not r[DELETED])
        assert {row: number for row, number in held.items() if number} == true
