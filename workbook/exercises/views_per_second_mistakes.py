"""Mistakes that learners of chapter 02 make, each as a model and the cause to name."""

from __future__ import annotations

import math
import operator
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from typing import Any

from workbook.events import Click, ClickType
from workbook.exercises.frames import Row
from workbook.exercises.judging import Mistake

_NONE_YET = object()
_END = Click(0, ClickType.PAGE, "the end", 10**15, "Firefox")


def _second(click: Click) -> int:
    return click.timestamp // 1000


def _is_page(click: Click) -> bool:
    return click.click_type == ClickType.PAGE


def _completed(
    clicks: Sequence[Click],
    *,
    first: Any = _NONE_YET,
    key: Callable[[Click], Any] = _second,
    turns: Callable[[Click], bool] = _is_page,
    counts: Callable[[Click], bool] = _is_page,
    changed: Callable[[Any, Any], bool] = operator.ne,
    take: Callable[[Counter[Any], Any], int] = lambda views, second: views.pop(second),
    emit: Callable[[Any, int, Any], list[Any]] = lambda done, views, new: [(done, views)],
    opens: Callable[[Any, Any], bool] = lambda current, second: True,
    bucket: Callable[[Any, Any], Any] = lambda current, second: second,
) -> list[Any]:
    """The right answer with one idea exchanged: the model of a mistake."""
    views: Counter[Any] = Counter()
    emitted: list[Any] = []
    current = first
    for click in clicks:
        second, before = key(click), current
        if turns(click) and (current is _NONE_YET or changed(second, current)):
            if current is not _NONE_YET:
                emitted += emit(current, take(views, current), second)
            current = second
        if counts(click) and opens(before, second):
            views[bucket(current, second)] += 1
    return emitted


def _or_zero(views: Counter[Any], second: Any) -> int:
    return views.pop(second, 0)


def _merged(clicks: Sequence[Click]) -> list[Any]:
    views = Counter(_second(c) for c in clicks if _is_page(c))
    return sorted(views.items())[:-1]


def _at_every_click(clicks: Sequence[Click]) -> list[Any]:
    """A second's running number for each page view; it starts again when the second changes."""

    def step(before: tuple[int, int], second: int) -> tuple[int, int]:
        return (second, before[1] + 1 if before[0] == second else 1)

    seconds = (_second(c) for c in clicks if _is_page(c))
    return list(accumulate(seconds, step, initial=(-1, 0)))[1:]


def _whole_map(clicks: Sequence[Click]) -> list[Any]:
    emitted: list[Any] = []
    views: Counter[int] = Counter()
    current: int | None = None
    for click in filter(_is_page, clicks):
        if current not in (None, _second(click)):
            emitted += views.items()
        current = _second(click)
        views[current] += 1
    return emitted


def _with_gaps(done: int, views: int, new: int) -> list[Any]:
    return [(done, views), *((empty, 0) for empty in range(done + 1, new))]


def _from_first_click(clicks: Sequence[Click], **exchanged: Any) -> list[Any]:
    return _completed(clicks, first=_second(clicks[0]), **exchanged)


def _from_first_page(clicks: Sequence[Click]) -> list[Any]:
    return _from_first_click([c for c in clicks if _is_page(c)])


def _all(*models: Callable[..., Any], cause: str) -> list[Mistake]:
    """One wrong idea that can be written in several ways."""
    return [Mistake(model, cause) for model in models]


_ACTION_TURNS = partial(_completed, turns=lambda click: True)

COMPLETED = [
    *_all(
        *(partial(_completed, first=first, take=_or_zero) for first in (0, -1, None)),
        cause="At the first click it emits a second that never was. No second comes before the "
        "first one, so nothing is completed yet.",
    ),
    *_all(
        *(partial(_completed, first=first) for first in (0, -1, None)),
        cause="At the first click it looks in the map for a second that never was. No second comes "
        "before the first one, so nothing is completed yet.",
    ),
    *_all(
        partial(_completed, emit=lambda done, views, new: [(new, views)]),
        partial(_completed, emit=lambda done, views, new: [(new, 1)]),
        cause="It emits the second that begins. Completed is the one before it.",
    ),
    *_all(
        *(
            partial(_completed, take=take, opens=opens)
            for take in (_or_zero, lambda views, second: views.pop(second))
            for opens in (operator.eq, lambda cur, sec: cur in (_NONE_YET, sec))
        ),
        cause="The click that changes the second is not counted. It does two things: it completes "
        "the old second, and it is the first view of the new one.",
    ),
    Mistake(
        partial(_completed, take=lambda views, second: views[second]),
        "The completed second stays in the map. When a late click brings it back, its old views "
        "are emitted once more; and the map grows for ever.",
    ),
    Mistake(
        partial(_completed, take=lambda views, second: views.total()),
        "The count goes on growing from second to second: it should begin again with each.",
    ),
    Mistake(
        _whole_map,
        "It emits all that is in the map, and removes nothing. Only one second is completed.",
    ),
    Mistake(
        lambda clicks: _completed([*clicks, _END]),
        "It emits the last second too. Another click may still come in that second: as long as no "
        "other second has begun, it is unfinished.",
    ),
    Mistake(
        partial(_completed, turns=lambda click: True, counts=lambda click: True),
        "It takes actions for page views: they neither count nor change the second.",
    ),
    Mistake(
        partial(_completed, counts=lambda click: True),
        "Actions do not change the second, which is right, but they are counted.",
    ),
    *_all(
        _ACTION_TURNS,
        partial(_ACTION_TURNS, take=_or_zero),
        lambda clicks: [p for p in _ACTION_TURNS(clicks, take=_or_zero) if p[1]],
        cause="An action is not counted, which is right, but it changes the second.",
    ),
    Mistake(
        partial(_completed, turns=lambda c: not _is_page(c), counts=lambda c: not _is_page(c)),
        "It counts the actions and leaves out the pages: the condition is turned round.",
    ),
    Mistake(
        _at_every_click,
        "It emits at every click. A second is emitted once, when the second changes.",
    ),
    Mistake(
        partial(_completed, key=lambda click: click.timestamp),
        "The key is the timestamp in milliseconds, so each click has a second of its own.",
    ),
    Mistake(
        partial(_completed, key=lambda click: click.timestamp / 1000),
        "`/` gives a number with a fraction, so each click has a second of its own. A second is a "
        "whole number.",
    ),
    Mistake(
        partial(_completed, key=lambda click: round(click.timestamp / 1000)),
        "It rounds: 10,900 ms is still in second 10. Cut the fraction off.",
    ),
    *_all(
        _from_first_click,
        partial(_from_first_click, take=_or_zero),
        cause="It begins with the second of `clicks[0]`. There may be no click at all, and the "
        "first one may be an action.",
    ),
    Mistake(
        _from_first_page,
        "It begins with the second of the first page view, and there may be none. A stream starts "
        "empty.",
    ),
    Mistake(
        _merged,
        "A second that comes back is merged into what was emitted before. What was emitted is out "
        "of our hands: it starts again at 1, and is emitted again.",
    ),
    Mistake(
        lambda clicks: sorted(_completed(clicks)),
        "All pairs are there, but sorted. They are asked for in the order of their completion.",
    ),
    *_all(
        partial(_completed, changed=operator.gt),
        partial(_completed, changed=operator.gt, bucket=lambda current, second: current),
        cause="It waits for a larger second. Here every change completes the second before it, "
        "also a change back to an earlier one.",
    ),
    Mistake(
        partial(_completed, emit=_with_gaps),
        "It makes up pairs for seconds in which nobody looked at a page. Those were never in the "
        "map.",
    ),
    Mistake(
        lambda clicks: [(views, second) for second, views in _completed(clicks)],
        "Second and count are swapped: the second comes first.",
    ),
    Mistake(
        lambda clicks: [list(pair) for pair in _completed(clicks)],
        "The contents are right, but each pair is a list: a tuple in round brackets is asked for.",
    ),
    Mistake(
        lambda clicks: [views for _, views in _completed(clicks)],
        "It keeps the counts alone. Nobody can tell which second they belong to.",
    ),
    *_all(
        lambda clicks: dict(_merged(clicks)),
        lambda clicks: dict(_completed(clicks)),
        cause="It returns a dictionary, which holds each second once. A second that comes back is "
        "emitted twice: append pairs to a list.",
    ),
    *_all(
        lambda clicks: [],
        lambda clicks: [] if clicks else None,
        cause="Nothing is ever emitted. Does the `return` stand inside the loop, or is a "
        "comparison never true?",
    ),
    Mistake(
        lambda clicks: next(iter(_completed(clicks)), None),
        "It returns at the first completed second. Collect the pairs, and return at the end.",
    ),
]
"""Models from clicks to the pairs (second, count)."""


class _Now:
    """Equal to each epoch second within the last day, for answers that look at the clock."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and 0 <= time.time() - other < 86_400


def _views(
    rows: list[Row],
    key: Callable[[Row], Any] = lambda row: row[3] // 1000,
    click_types: tuple[str | None, ...] = ("Page",),
    accepted: Callable[[Row], bool] = lambda row: row[6] is None,
    counts: Callable[[Row], int] = lambda row: 1,
) -> list[Row]:
    """The rows asked for with one idea exchanged: the model of a mistake."""
    views: Counter[Any] = Counter()
    for row in rows:
        if row[1] in click_types and accepted(row):
            views[key(row)] += counts(row)
    return sorted(views.items(), key=repr)


def _keyed(rows: list[Row], key: Callable[[int], Any]) -> list[Row]:
    """The right rows, each second shown in another way."""
    return sorted(((key(second), views) for second, views in _views(rows)), key=repr)


def _no_gap(rows: list[Row]) -> list[Row]:
    views: dict[int, int] = dict(_views(rows))
    return [(second, views.get(second, 0)) for second in range(min(views), max(views) + 1)]


def _per_name(rows: list[Row]) -> list[Row]:
    apart = _views(rows, key=lambda row: (row[3] // 1000, row[2]))
    return sorted(((key[0], views) for key, views in apart), key=repr)


def _second_or_null(row: Row) -> int | None:
    return None if row[3] is None else row[3] // 1000


_local = datetime.fromtimestamp  # so does Spark's collect

_BOTH = ("Page", "Action")

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
        partial(_views, click_types=_BOTH),
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
            key=_second_or_null,
            click_types=(*_BOTH, None),
            accepted=lambda row: True,
        ),
        "It counts all rows, actions and rejected records alike.",
    ),
    Mistake(
        lambda rows: [(_Now(), sum(views for _, views in _views(rows)))],
        "It asks the clock on the wall when the program runs. A view belongs to the second in "
        "which it happened: that is its `timestamp`.",
    ),
    Mistake(
        lambda rows: _views(list({row[0]: row for row in rows}.values())),
        "It counts distinct ids, so an event that was delivered twice counts once. That is a good "
        "idea with a price (chapter 14); here every row counts.",
    ),
    Mistake(
        lambda rows: [(second, 1) for second, _ in _views(rows)],
        "Each second has one view: duplicates were dropped before counting, or distinct values "
        "were counted.",
    ),
    Mistake(
        partial(_views, click_types=_BOTH, counts=lambda row: row[1] == "Page"),
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
