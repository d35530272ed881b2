"""Folds by themselves: changes in, results out; what is nothing, what is too much."""

import pickle
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import polars as pl

from workbook.tables.aggregates import GROUP, OP, RESULT, Aggregate
from workbook.tables.ktable import fold
from workbook.tables.segments import Segments


def changes(*rows: tuple[int, Any]) -> pl.DataFrame:
    """Rows of one group, each with +1 or -1 and a value."""
    schema = {GROUP: pl.String, "value": pl.Int64, OP: pl.Int64}
    return pl.DataFrame([("Bob", value, op) for op, value in rows], schema=schema, orient="row")


class Group:
    """What an aggregate keeps, brought from batch to batch."""

    def __init__(self, how: Aggregate) -> None:
        self.how = how
        self.table = Segments(how.keyed)

    def bring(self, *rows: tuple[int, Any]) -> Any:
        """The result of the group after a batch; None where it has none."""
        results = self.how.merge(self.table, changes(*rows))
        found = results.select(RESULT).to_series().to_list()
        [result] = found or [None]
        return pickle.loads(result) if isinstance(result, bytes) else result


def listing() -> Aggregate:
    """A fold that writes down what it is called with; a removal of 0 leaves nothing."""

    def add(value: Any, row: Mapping[str, Any]) -> Any:
        return [*value, f"+{row['value']}"]

    def take(value: Any, row: Mapping[str, Any]) -> Any:
        return None if row["value"] == 0 else [*value, f"-{row['value']}"]

    return fold(add, take, ["start"], "array<string>")


def test_from_nothing_an_adder_begins_anew_and_nothing_is_taken_out() -> None:
    """As in Kafka Streams: the initialiser applies again, the subtractor gets no null."""
    group = Group(listing())
    assert group.bring((1, 0), (1, 1), (1, 2)) == ["start", "+0", "+1", "+2"]
    assert group.bring((-1, 0), (-1, 1), (1, 3)) == ["start", "+3"]
    group = Group(listing())
    group.bring((1, 0), (1, 1), (1, 2))
    assert group.bring((-1, 0)) is None  # the same in three batches
    assert group.bring((-1, 1)) is None
    assert group.bring((1, 3)) == ["start", "+3"]


def test_what_holds_nothing_is_kept_while_there_are_rows() -> None:
    """Rows may cancel each other out: what is left when one of them goes must be right."""

    def add(value: dict[str, int], row: Mapping[str, Any]) -> dict[str, int]:
        left = value.get("sum", 10) + row["value"]
        return {"sum": left} if left != 10 else {}

    group = Group(fold(add, lambda v, r: add(v, {"value": -r["value"]}), {}, "map<string,bigint>"))
    assert group.bring((1, 5), (1, -5)) is None
    assert group.bring((-1, 5)) == [("sum", 5)]


def test_a_fold_may_change_its_value_in_place() -> None:
    def add(value: list[str], row: Mapping[str, Any]) -> list[str]:
        value.append(row["value"])
        return value

    how = fold(add, lambda value, row: value, [], "array<bigint>")
    assert Group(how).bring((1, 1)) == [1]
    assert Group(how).bring((1, 2)) == [2]


def test_a_dictionary_whose_default_is_a_lambda_is_still_one_in_the_next_batch() -> None:
    def add(held: dict[Any, int], row: Mapping[str, Any]) -> dict[Any, int]:
        held[row["value"]] += 1
        return held

    start = defaultdict(lambda: 0)
    group = Group(fold(add, lambda v, r: v, start, "map<bigint,bigint>"))
    assert group.bring((1, 7), (1, 8)) == [(7, 1), (8, 1)]
    assert group.bring((1, 7)) == [(7, 2), (8, 1)]
