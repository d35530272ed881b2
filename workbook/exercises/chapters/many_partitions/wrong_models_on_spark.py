"""Chapter 05: wrong ideas about counting per second and partition on Spark, as models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from workbook.exercises.engine.frames import Row
from workbook.exercises.engine.judging import Mistake
from workbook.exercises.engine.row_models import (
    BOTH_TYPES,
    count_pages,
    named_as_page,
    second_or_null,
)

_local = datetime.fromtimestamp  # so does Spark's collect


def _second(row: Row) -> Any:
    return row[3] // 1000


def _views(
    rows: list[Row],
    *,
    second: Callable[[Row], Any] = _second,
    number: Callable[[Row], Any] = lambda row: row[7],
    besides: Callable[[Row], Any] = lambda row: None,
    click_types: tuple[str | None, ...] = ("Page",),
    accepted: Callable[[Row], bool] = lambda row: row[6] is None,
    counts: Callable[[Row], int] = lambda row: 1,
) -> list[Row]:
    """Model a mistake: the expected rows with one idea exchanged."""

    def key(row: Row) -> Any:
        return second(row), number(row), besides(row)

    views = count_pages(rows, key, click_types, accepted, counts)
    return sorted(((s, n, count) for (s, n, _), count in views), key=repr)


def _per_second(rows: list[Row], keep: Callable[[list[int]], Any]) -> list[Row]:
    """Group by the second alone, with one of its partitions, or another number, beside it."""
    pages = [row for row in rows if row[1] == "Page" and row[6] is None]
    seconds = sorted({_second(row) for row in pages})
    numbers = [[row[7] for row in pages if _second(row) == second] for second in seconds]
    return sorted(((s, keep(n), len(n)) for s, n in zip(seconds, numbers, strict=True)), key=repr)


def _sums_beside(rows: list[Row]) -> list[Row]:
    """Show the views of the whole second beside each partition."""
    whole: Counter[Any] = Counter()
    for second, _, views in _views(rows):
        whole[second] += views
    return sorted(((s, n, whole[s]) for s, n, _ in _views(rows)), key=repr)


def _shown(key: Callable[[int], Any]) -> Callable[[list[Row]], list[Row]]:
    """Model the right rows with each second changed by ``key``."""
    return lambda rows: sorted(((key(s), n, views) for s, n, views in _views(rows)), key=repr)


ON_SPARK = [
    *(
        Mistake(
            partial(_per_second, keep=keep),
            "It groups by the second alone and shows one of its partitions beside it. The "
            "partition belongs to the key: group by both.",
        )
        for keep in (max, min, lambda numbers: numbers[0], lambda numbers: numbers[-1])
    ),
    Mistake(
        partial(_per_second, keep=lambda numbers: len(set(numbers))),
        "The column `partition` holds how many partitions there are. Group by second and "
        "partition.",
    ),
    Mistake(
        _sums_beside,
        "Each partition stands beside the views of the whole second. Count within second and "
        "partition.",
    ),
    Mistake(
        partial(_views, number=lambda row: 0),
        "All rows are in partition 0. The partition of the topic stands in the column `partition`; "
        "Spark's own partitions are something else.",
    ),
    Mistake(
        partial(_views, second=lambda row: row[3] / 1000),
        "`/` gives a double, and each millisecond a second of its own. Cut the fraction off: "
        "`floor`, or the operator `div`.",
    ),
    Mistake(
        partial(_views, second=lambda row: row[3]),
        "The second is still in milliseconds.",
    ),
    Mistake(
        partial(_views, second=lambda row: round(row[3] / 1000)),
        "It rounds: what happens 999 ms after a second began is still in it. Use `floor`.",
    ),
    Mistake(
        partial(_views, click_types=BOTH_TYPES),
        "It counts actions as well: keep the rows whose `click_type` is `Page`.",
    ),
    Mistake(
        partial(_views, accepted=lambda row: True),
        "It counts rejected records: a click that carries a `reason` was not accepted.",
    ),
    Mistake(
        partial(
            _views,
            second=second_or_null,
            click_types=(*BOTH_TYPES, None),
            accepted=lambda row: True,
        ),
        "It counts all rows, actions and rejected records alike.",
    ),
    Mistake(
        partial(_views, click_types=BOTH_TYPES, accepted=named_as_page),
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
    Mistake(
        lambda rows: _views(list({row[0]: row for row in rows}.values())),
        "It counts distinct values or drops duplicates, so an event that was delivered twice "
        "counts once. That is a good idea with a price (chapter 14); here every row counts.",
    ),
    Mistake(
        lambda rows: sorted(((s, n, 1) for s, n, _ in _views(rows)), key=repr),
        "Each row has one view: duplicates were dropped before counting, or distinct values were "
        "counted.",
    ),
    Mistake(
        partial(_views, click_types=BOTH_TYPES, counts=lambda row: row[1] == "Page"),
        "A second that has only actions appears with 0. Filter before you group.",
    ),
    Mistake(
        partial(_views, besides=lambda row: row[2]),
        "A second of one partition stands in several rows: it is grouped by more than second and "
        "partition.",
    ),
    Mistake(
        _shown(_local),
        "The counts are right, but the second is a timestamp. A bigint is asked for: "
        "`unix_seconds` makes one.",
    ),
    Mistake(
        _shown(lambda second: (_local(second), _local(second + 1))),
        "The counts are right, but `second` is the whole window with `start` and `end`. Take the "
        "start, as a bigint (`unix_seconds`).",
    ),
    Mistake(
        lambda rows: sorted(((s, str(n), views) for s, n, views in _views(rows)), key=repr),
        "The counts are right, but the partition is text. It stays the number that it is.",
    ),
    Mistake(
        lambda rows: sorted(((n, s, views) for s, n, views in _views(rows)), key=repr),
        "The names are swapped: `second` holds the partition, and `partition` the second.",
    ),
    Mistake(
        lambda rows: [],
        "Nothing is left. Is a filter never true? `= NULL` never is (write `IS NULL`), and a type "
        "is written `Page`.",
    ),
]
"""Models from the rows of clicks to the rows of seconds, partitions and views."""
