"""Mistakes that learners of chapter 02 make, each as a model and the cause to name."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from workbook.events.clicks import Click, ClickType
from workbook.exercises.engine.judging import Mistake, same_idea

_NONE_YET = object()
_END = Click(0, ClickType.PAGE, "the end", 10**15, "Firefox")


def _second(click: Click) -> int:
    return click.timestamp // 1000


def _is_page(click: Click) -> bool:
    return click.click_type == ClickType.PAGE


def _named_as_page(click: Click) -> bool:
    return click.name.startswith("/")


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
    """Model a mistake: the right answer with one idea exchanged."""
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


def _with_the_unfinished(clicks: Sequence[Click], at_the_end: Callable[[], Any]) -> list[Any]:
    """Complete the last second too; where there was no click, emit ``at_the_end()``."""
    return _completed([*clicks, _END]) or [at_the_end()]


def _at_every_click(clicks: Sequence[Click]) -> list[Any]:
    """Emit a second's running count for each page view; it restarts when the second changes."""

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


_ACTION_TURNS = partial(_completed, turns=lambda click: True)

COMPLETED = [
    *same_idea(
        *(partial(_completed, first=first, take=_or_zero) for first in (0, -1, None)),
        cause="At the first click it emits a second that never was. No second comes before the "
        "first one, so nothing is completed yet.",
    ),
    *same_idea(
        *(partial(_completed, first=first) for first in (0, -1, None)),
        cause="At the first click it looks in the map for a second that never was. No second comes "
        "before the first one, so nothing is completed yet.",
    ),
    *same_idea(
        partial(_completed, emit=lambda done, views, new: [(new, views)]),
        partial(_completed, emit=lambda done, views, new: [(new, 1)]),
        cause="It emits the second that begins. Completed is the one before it.",
    ),
    *same_idea(
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
    *same_idea(
        *(
            partial(_with_the_unfinished, at_the_end=at_the_end)
            for at_the_end in (
                lambda: (None, 0),
                lambda: (0, 0),
                lambda: (-1, 0),
                lambda: (None, None),
                lambda: (None, dict[None, int]().pop(None)),
                lambda: dict[int, int]().popitem(),
            )
        ),
        cause="After the loop it emits once more: the last second, which is unfinished, and for no "
        "clicks a second that never was. Only a change emits, so nothing is left to do at the end.",
    ),
    Mistake(
        partial(_completed, turns=lambda click: True, counts=lambda click: True),
        "It takes actions for page views: they neither count nor change the second.",
    ),
    Mistake(
        partial(_completed, counts=lambda click: True),
        "Actions do not change the second, which is right, but they are counted.",
    ),
    *same_idea(
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
    *same_idea(
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
    *same_idea(
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
    *same_idea(
        lambda clicks: dict(_merged(clicks)),
        lambda clicks: dict(_completed(clicks)),
        cause="It returns a dictionary, which holds each second once. A second that comes back is "
        "emitted twice: append pairs to a list.",
    ),
    Mistake(
        lambda clicks: [_completed(clicks)],
        "It gives one list with all pairs in it. Give each pair by itself: with `yield`, at the "
        "moment when its second is completed.",
    ),
    Mistake(
        lambda clicks: [number for pair in _completed(clicks) for number in pair],
        "The pairs are taken apart into single numbers. A pair stays together: `(second, count)`.",
    ),
    *same_idea(
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

SHORTCUTS = [
    Mistake(
        partial(_completed, key=lambda click: _second(click) % 60),
        "It takes the second of the minute, 0 to 59. A minute later the same number comes again: "
        "a second is counted since 1970.",
    ),
    Mistake(
        partial(_completed, turns=_named_as_page, counts=_named_as_page),
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
]
"""The same, for what is right where seconds are small and names as usual."""
