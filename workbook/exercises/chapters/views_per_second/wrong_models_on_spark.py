"""Chapter 02: wrong ideas about counting per second on Spark, as models."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
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


class _Now:
    """Equal to each epoch second within the last day, for answers that look at the clock."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and 0 <= time.time() - other < 86_400


_views = partial(count_pages, key=lambda row: row[3] // 1000)


def _keyed(rows: list[Row], key: Callable[[int], Any]) -> list[Row]:
    """Model the right rows with each second changed by ``key``."""
    return sorted(((key(second), views) for second, views in _views(rows)), key=repr)


def _no_gap(rows: list[Row]) -> list[Row]:
    views: dict[int, int] = dict(_views(rows))
    return [(second, views.get(second, 0)) for second in range(min(views), max(views) + 1)]


def _per_name(rows: list[Row]) -> list[Row]:
    apart = _views(rows, key=lambda row: (row[3] // 1000, row[2]))
    return sorted(((key[0], views) for key, views in apart), key=repr)


_local = datetime.fromtimestamp  # so does Spark's collect


ON_SPARK = [
    Mistake(
        partial(_views, key=lambda row: row[3] / 1000),
        "`/` gives a double, and each millisecond a second of its own. Cut the fraction off: "
        "`floor`, or the operator `div`.",
    ),
    Mistake(
        partial(_views, key=lambda row: row[3]),
        "The second is still in milliseconds. (A cast from BIGINT to a timestamp takes seconds; "
        "`timestamp_millis` takes milliseconds.)",
    ),
    Mistake(
        partial(_views, key=lambda row: round(row[3] / 1000)),
        "It rounds: what happens 999 ms after a second began is still in it. Use `floor`.",
    ),
    Mistake(
        partial(_views, key=lambda row: math.ceil(row[3] / 1000)),
        "It rounds up, so views go to the second after theirs. Use `floor`.",
    ),
    Mistake(
        partial(_views, key=lambda row: row[3] // 1000 % 60),
        "It takes the second of the minute, 0 to 59: views of different minutes are added up.",
    ),
    Mistake(
        partial(_views, click_types=BOTH_TYPES),
        "It counts actions as well: keep the rows whose `click_type` is `Page`.",
    ),
    Mistake(
        partial(_views, accepted=lambda row: True),
        "It counts rejected records: a click that carries a `reason` was not accepted. One of them "
        "lies ten minutes ahead.",
    ),
    Mistake(
        partial(
            _views,
            key=second_or_null,
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
        lambda rows: [(_Now(), sum(views for _, views in _views(rows)))],
        "It asks the clock on the wall when the program runs. A view belongs to the second in "
        "which it happened: that is its `timestamp`.",
    ),
    Mistake(
        lambda rows: _views(list({row[0]: row for row in rows}.values())),
        "It counts distinct values or drops duplicates, so an event that was delivered twice "
        "counts once. That is a good idea with a price (chapter 14); here every row counts.",
    ),
    Mistake(
        lambda rows: [(second, 1) for second, _ in _views(rows)],
        "Each second has one view: duplicates were dropped before counting, or distinct values "
        "were counted.",
    ),
    Mistake(
        partial(_views, click_types=BOTH_TYPES, counts=lambda row: row[1] == "Page"),
        "A second that has only actions appears with 0. Filter before you group.",
    ),
    Mistake(
        _no_gap,
        "Seconds without a view were made up. A group exists only where a row is; whoever draws "
        "the chart may fill the gaps.",
    ),
    Mistake(
        _per_name,
        "A second stands in several rows: it is grouped by more than the second.",
    ),
    Mistake(
        partial(_keyed, key=_local),
        "The counts are right, but the second is a timestamp. A bigint is asked for: "
        "`unix_seconds` makes one.",
    ),
    Mistake(
        partial(_keyed, key=lambda second: (_local(second), _local(second + 1))),
        "The counts are right, but `second` is the whole window with `start` and `end`. Take the "
        "start, as a bigint (`unix_seconds`).",
    ),
    Mistake(
        partial(_keyed, key=lambda s: datetime.fromtimestamp(s, UTC).strftime("%F %T")),
        "The counts are right, but the second is text. A bigint is asked for.",
    ),
    Mistake(
        lambda rows: [],
        "Nothing is left. Is a filter never true? `= NULL` never is (write `IS NULL`), and a type "
        "is written `Page`.",
    ),
]
"""Models from the rows of clicks to the rows of seconds and views."""
