"""Wrong answers to "Views per second and partition", as queries over the rows of clicks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

from workbook.exercises.engine.frames import Row
from workbook.exercises.engine.mistakes import Mistake, same_idea
from workbook.exercises.models.rows import (
    count,
    miscounts,
    name,
    pages,
    partition,
    second,
    sum_pages,
)


def _right(clicks: list[Any]) -> list[Row]:
    return count(pages(clicks), second, partition)


def _beside(aggregate: Callable[[list[int]], int]) -> Callable[[list[Any]], list[Row]]:
    """Return a query that groups by the second alone and aggregates the partition."""
    return lambda clicks: [
        (at, aggregate([c.partition for c in pages(clicks) if second(c) == at]), views)
        for at, views in count(pages(clicks), second)
    ]


def _whole_seconds(clicks: list[Any]) -> list[Row]:
    """Show the views of the whole second beside each partition."""
    views = Counter(map(second, pages(clicks)))
    return [(at, number, views[at]) for at, number, _ in _right(clicks)]


_local = datetime.fromtimestamp  # so does Spark's collect

MISTAKES = [
    *miscounts(second, partition),
    *same_idea(
        _beside(max),
        _beside(min),
        _beside(lambda numbers: numbers[0]),
        _beside(lambda numbers: numbers[-1]),
        cause="It groups by the second alone and shows one of its partitions beside it. The "
        "partition belongs to the key: group by both.",
    ),
    Mistake(
        _beside(lambda numbers: len(set(numbers))),
        "The column `partition` holds how many partitions there are. Group by second and "
        "partition.",
    ),
    Mistake(
        _whole_seconds,
        "Each partition stands beside the views of the whole second. Count within second and "
        "partition.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), second, lambda click: 0),
        "All rows are in partition 0. The partition of the topic stands in the column `partition`; "
        "Spark's own partitions are something else.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: click.timestamp / 1000, partition),
        "`/` gives a double, and each millisecond a second of its own. Cut the fraction off: "
        "`floor`, or the operator `div`.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: click.timestamp, partition),
        "The second is still in milliseconds.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: round(click.timestamp / 1000), partition),
        "It rounds: what happens 999 ms after a second began is still in it. Use `floor`.",
    ),
    Mistake(
        lambda clicks: sum_pages(clicks, second, partition),
        "A second that has only actions appears with 0. Filter before you group.",
    ),
    Mistake(
        lambda clicks: [
            (at, number, views)
            for at, number, _, views in count(pages(clicks), second, partition, name)
        ],
        "A second of one partition stands in several rows: it is grouped by more than second and "
        "partition.",
    ),
    Mistake(
        lambda clicks: [(_local(at), number, views) for at, number, views in _right(clicks)],
        "The counts are right, but the second is a timestamp. A bigint is asked for: "
        "`unix_seconds` makes one.",
    ),
    Mistake(
        lambda clicks: [
            ((_local(at), _local(at + 1)), number, views) for at, number, views in _right(clicks)
        ],
        "The counts are right, but `second` is the whole window with `start` and `end`. Take the "
        "start, as a bigint (`unix_seconds`).",
    ),
    Mistake(
        lambda clicks: [(at, str(number), views) for at, number, views in _right(clicks)],
        "The counts are right, but the partition is text. It stays the number that it is.",
    ),
    Mistake(
        lambda clicks: [(number, at, views) for at, number, views in _right(clicks)],
        "The names are swapped: `second` holds the partition, and `partition` the second.",
    ),
]
