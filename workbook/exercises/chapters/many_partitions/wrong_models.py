"""Mistakes that learners of chapter 05 make by hand, each as a model and the cause to name."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from workbook.events.clicks import Click, ClickType
from workbook.exercises.engine.judging import Mistake, same_idea

Arrival = tuple[int, Click]
"""A click and the partition that it came from."""

Pair = tuple[int, int]


class Record(NamedTuple):
    """A record of the metrics topic, as a reader gets it."""

    key: bytes
    value: bytes


def _is_page(click: Click) -> bool:
    return click.click_type == ClickType.PAGE


def _completed(
    arrivals: Sequence[Arrival],
    partitions: int,
    *,
    clock: Callable[[Iterable[int]], int] = min,
    waits: bool = True,
    moves: Callable[[Click], bool] = lambda click: True,
    counts: Callable[[Click], bool] = _is_page,
    over: Callable[[int, int], bool] = operator.lt,
    order: Callable[[Iterable[int]], list[int]] = sorted,
    most: int | None = None,
    removes: bool = True,
    looks_first: bool = False,
    looks: Callable[[Click], bool] = lambda click: True,
    drops_late: bool = False,
) -> list[Pair]:
    """Model a mistake: the right answer with one idea exchanged."""
    views: Counter[int] = Counter()
    clocks: dict[int, int] = {}
    emitted: list[Pair] = []

    def emit() -> None:
        if not clocks or (waits and len(clocks) < partitions):
            return
        now = clock(clocks.values())
        for second in order(s for s in views if over(s, now))[:most]:
            emitted.append((second, views.pop(second) if removes else views[second]))

    for number, click in arrivals:
        second = click.epoch_second
        if looks_first:
            emit()
        late = drops_late and bool(clocks) and over(second, clock(clocks.values()))
        if moves(click):
            clocks[number] = second
        if counts(click) and not late:
            views[second] += 1
        if not looks_first and looks(click):
            emit()
    return emitted


def _within_a_minute(click: Click) -> Click:
    return replace(click, timestamp=click.timestamp % 60_000)


def _second_changed(
    arrivals: Sequence[Arrival], partitions: int, turns: Callable[[Click], bool] = _is_page
) -> list[Pair]:
    """Apply chapter 02's rule, which looks at no partition."""
    views: Counter[int] = Counter()
    emitted: list[Pair] = []
    current: int | None = None
    for _, click in arrivals:
        if turns(click) and click.epoch_second != current:
            if current is not None and views[current]:
                emitted.append((current, views.pop(current)))
            current = click.epoch_second
        if _is_page(click):
            views[click.epoch_second] += 1
    return emitted


def _each_alone(
    arrivals: Sequence[Arrival], partitions: int, turns: Callable[[Click], bool] = _is_page
) -> list[Pair]:
    """Apply chapter 02's rule within each partition."""
    views: dict[int, Counter[int]] = {}
    emitted: list[Pair] = []
    for number, click in arrivals:
        own = views.setdefault(number, Counter())
        if turns(click):
            done = [second for second in own if second != click.epoch_second]
            emitted += [(second, own.pop(second)) for second in done]
        if _is_page(click):
            own[click.epoch_second] += 1
    return emitted


def _totals(arrivals: Sequence[Arrival]) -> list[Pair]:
    return sorted(Counter(c.epoch_second for _, c in arrivals if _is_page(c)).items())


def _at_the_end(
    arrivals: Sequence[Arrival], partitions: int, clock: Callable[[Iterable[int]], int] = max
) -> list[Pair]:
    """Look once after the last click, if all partitions have a clock."""
    clocks = {number: click.epoch_second for number, click in arrivals}
    if not clocks or len(clocks) < partitions:
        return []
    now = clock(clocks.values())
    return [pair for pair in _totals(arrivals) if pair[0] < now]


def _all_but_the_last(arrivals: Sequence[Arrival], partitions: int) -> list[Pair]:
    heard = {number for number, _ in arrivals}
    return _totals(arrivals)[:-1] if len(heard) == partitions else []


def _with_gaps(arrivals: Sequence[Arrival], partitions: int) -> list[Pair]:
    """Emit every second between two clocks, with views or without."""
    clocks: dict[int, int] = {}
    for number, click in arrivals:
        clocks[number] = click.epoch_second
    views = dict(_completed(arrivals, partitions))
    if not views or len(clocks) < partitions:
        return []
    return [(second, views.get(second, 0)) for second in range(min(views), min(clocks.values()))]


def _between(arrivals: Sequence[Arrival], partitions: int) -> list[Pair]:
    """Add the seconds without views, from the first complete second to the last one."""
    views = dict(_completed(arrivals, partitions))
    if not views:
        return []
    return [(second, views.get(second, 0)) for second in range(min(views), max(views) + 1)]


_COUNT_ALL = partial(_completed, counts=lambda click: True)

COMPLETED = [
    *same_idea(
        _second_changed,
        partial(_second_changed, turns=lambda click: True),
        cause="It is still the rule of chapter 02: the second changes, so it emits. Here every "
        "change of the partition looks like that, and a second is emitted many times.",
    ),
    *same_idea(
        _each_alone,
        partial(_each_alone, turns=lambda click: True),
        cause="Each partition emits by itself, so a second comes in parts. It is complete, and "
        "emitted once, when all partitions have passed it.",
    ),
    *same_idea(
        partial(_completed, clock=max, drops_late=True),
        partial(_completed, clock=max, drops_late=True, waits=False),
        cause="It follows the fastest clock and drops what comes after. The slowest clock decides, "
        "and nothing has to be dropped.",
    ),
    *same_idea(
        partial(_completed, clock=max),
        partial(_completed, clock=max, waits=False),
        _at_the_end,
        cause="It follows the fastest partition. The others may still bring views of that second: "
        "the slowest clock decides.",
    ),
    Mistake(
        partial(_completed, waits=False),
        "It takes the minimum over the partitions that it has heard of. One that is silent so far "
        "may still bring old views: wait until all have a clock.",
    ),
    *same_idea(
        partial(_completed, over=operator.le),
        partial(_completed, over=operator.le, waits=False),
        cause="It emits the second in which the slowest clock stands. That second still goes on: "
        "only those before it are complete.",
    ),
    Mistake(
        partial(_completed, order=list),
        "When several seconds are complete at once, they are emitted in the order in which "
        "they first came. Sort them.",
    ),
    Mistake(
        partial(_completed, order=lambda seconds: sorted(seconds, reverse=True)),
        "When several seconds are complete at once, the later one goes first. Seconds go up.",
    ),
    *same_idea(
        partial(_completed, most=1),
        partial(_completed, most=1, order=list),
        cause="It emits one second with each click at the most. When a slow partition catches up, "
        "several are complete at once.",
    ),
    Mistake(
        partial(_completed, removes=False),
        "What was emitted stays in the map, and is emitted again with the next click. Remove it.",
    ),
    Mistake(
        partial(_completed, moves=_is_page),
        "Only page views move the clocks. An action tells as well how far its partition has come.",
    ),
    Mistake(_COUNT_ALL, "It counts actions. They move the clock, and that is all."),
    Mistake(
        partial(_completed, counts=lambda click: not _is_page(click)),
        "It counts the actions and leaves out the pages: the condition is turned round.",
    ),
    *same_idea(
        _with_gaps,
        _between,
        cause="It emits seconds in which nobody looked at a page. Only a second with views is "
        "emitted.",
    ),
    Mistake(
        lambda arrivals, partitions: [
            (second, views and dict(_completed(arrivals, partitions)).get(second, 0))
            for second, views in _COUNT_ALL(arrivals, partitions)
        ],
        "A second that has only actions is emitted with 0. Put it into the map only when a page "
        "view comes.",
    ),
    Mistake(
        partial(_completed, looks_first=True),
        "It looks what is complete before the click has moved its clock, so each second "
        "comes one click too late.",
    ),
    Mistake(
        lambda arrivals, partitions: _totals(arrivals),
        "It counts to the end and emits every second. Those that the slowest clock has not passed "
        "are unfinished; and a stream has no end.",
    ),
    Mistake(
        partial(_completed, looks=_is_page),
        "It looks what is complete only when a page view comes. An action moves the clock too, so "
        "what it completes is emitted at once, and not with the next page view.",
    ),
    *same_idea(
        lambda arrivals, partitions: _totals(arrivals)[:-1],
        _all_but_the_last,
        cause="It counts to the end and leaves out the last second. That is not enough: all "
        "partitions must have passed a second before it is complete.",
    ),
    Mistake(
        lambda arrivals, partitions: [(v, s) for s, v in _completed(arrivals, partitions)],
        "Second and views are swapped: the second comes first.",
    ),
    Mistake(
        lambda arrivals, partitions: [list(pair) for pair in _completed(arrivals, partitions)],
        "The contents are right, but each pair is a list: a tuple in round brackets is asked for.",
    ),
    Mistake(
        lambda arrivals, partitions: [views for _, views in _completed(arrivals, partitions)],
        "It keeps the views alone. Nobody can tell which second they belong to.",
    ),
    Mistake(
        lambda arrivals, partitions: dict(_completed(arrivals, partitions)),
        "It returns a dictionary. Give pairs, each when its second is complete.",
    ),
    Mistake(
        lambda arrivals, partitions: [_completed(arrivals, partitions)],
        "It gives one list with all pairs in it. Give each pair by itself.",
    ),
    *same_idea(
        lambda arrivals, partitions: [],
        lambda arrivals, partitions: [] if arrivals else None,
        cause="Nothing is ever emitted. Do the clocks move, does the `return` stand inside the "
        "loop, or is a comparison never true?",
    ),
]
"""Models from arrivals and the number of partitions to the pairs (second, views)."""

SHORTCUTS = [
    Mistake(
        lambda arrivals, partitions: _completed(
            [(number, _within_a_minute(click)) for number, click in arrivals], partitions
        ),
        "It takes the second of the minute, 0 to 59. A minute later the same number comes again: "
        "a second is counted since 1970.",
    ),
    Mistake(
        partial(_completed, counts=lambda click: click.name.startswith("/")),
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
]
"""The same, for what is right where seconds are small and names as usual."""

# --- the reader ---------------------------------------------------------------------------------


def _parts(record: Record) -> tuple[int, int, int]:
    """Parse second, partition and views."""
    second, number = record.key.split(b"/")
    return int(second), int(number), int(record.value)


def _whole_key(second: int, number: int, views: int) -> Any:
    return second, number


def _last(before: int | None, views: int) -> int:
    return views


def _read(
    records: Sequence[Record],
    *,
    key: Callable[[int, int, int], Any] = _whole_key,
    keep: Callable[[Any, int], int] = _last,
    result: Callable[[int, int], Any] = lambda second, number: second,
    count: Callable[[int], int] = lambda views: views,
) -> dict[Any, Any]:
    """Model a mistake: the reader with one idea exchanged."""
    known: dict[Any, tuple[int, int, int]] = {}
    for second, number, views in map(_parts, records):
        at = key(second, number, views)
        before = known[at][2] if at in known else None
        known[at] = second, number, keep(before, views)
    added: dict[Any, int] = {}
    for second, number, views in known.values():
        to = result(second, number)
        added[to] = added.get(to, 0) + count(views)
    return added


def _sum(before: int | None, views: int) -> int:
    return (before or 0) + views


def _largest(before: int | None, views: int) -> int:
    return max(before or 0, views)


def _first(before: int | None, views: int) -> int:
    return views if before is None else before


def _only_second(second: int, number: int, views: int) -> Any:
    return second


def _joined(records: Sequence[Record]) -> dict[int, bytes]:
    joined: dict[int, bytes] = {}
    for key, value in {record.key: record.value for record in records}.items():
        second = int(key.split(b"/")[0])
        joined[second] = joined.get(second, b"") + value
    return joined


ADD_UP = [
    Mistake(
        partial(_read, keep=_sum),
        "It adds up every record. A metric that is delivered twice counts twice: first let the "
        "last value of each key win, then add.",
    ),
    Mistake(
        partial(_read, key=_only_second),
        "The last value of the second wins, whatever its partition. The partitions overwrite each "
        "other: they have to be added up.",
    ),
    Mistake(
        partial(_read, key=_only_second, keep=_largest),
        "The largest value of the second wins. The partitions have to be added up.",
    ),
    Mistake(
        partial(_read, key=_only_second, keep=_first),
        "The first value of the second wins. The partitions have to be added up.",
    ),
    Mistake(
        partial(_read, keep=_largest),
        "The largest value of each key wins. The last one is asked for, be it larger or smaller.",
    ),
    Mistake(
        partial(_read, keep=_first),
        "The first value of each key wins. A later record is the better one: it may correct the "
        "earlier.",
    ),
    Mistake(
        partial(_read, key=lambda second, number, views: (second, number, views)),
        "It drops records that are equal and adds up the others. A value that was corrected counts "
        "with both its values.",
    ),
    Mistake(
        partial(_read, key=lambda second, number, views: (second, views)),
        "Two partitions with as many views count as one. What tells records apart is the key, not "
        "the value.",
    ),
    Mistake(
        partial(_read, key=lambda second, number, views: (second, number % 10)),
        "It looks at the last digit of the key only, and partitions 2, 12 and 22 become one. Cut "
        "the key at the slash.",
    ),
    Mistake(
        partial(_read, result=lambda second, number: number),
        "It adds up per partition. The second is the part before the slash.",
    ),
    *same_idea(
        partial(_read, result=lambda second, number: (second, number)),
        partial(_read, result=lambda second, number: f"{second}/{number}"),
        partial(_read, result=lambda second, number: f"{second}/{number}".encode()),
        cause="The last values are right, but nothing is added up yet. The result has one number "
        "for each second.",
    ),
    *same_idea(
        partial(_read, result=lambda second, number: str(second)),
        partial(_read, result=lambda second, number: str(second).encode()),
        cause="The sums are right, but the seconds are still text or bytes. Whole numbers are "
        "asked for.",
    ),
    Mistake(
        _joined,
        "Values are bytes, and `+` puts them side by side. Make numbers first: `int(value)`.",
    ),
    Mistake(
        partial(_read, count=lambda views: 1),
        "It counts the partitions of a second. Their views are to be added up.",
    ),
    Mistake(
        lambda records: Counter(_parts(record)[0] for record in records),
        "It counts the records of a second. Their views are to be added up.",
    ),
    *same_idea(
        lambda records: list(_read(records).items()),
        lambda records: sorted(_read(records).items()),
        cause="It returns a list of pairs. A dictionary is asked for, in which a second can be "
        "looked up.",
    ),
    Mistake(
        lambda records: sum(_read(records).values()),
        "It adds up all seconds. The views of each one are asked for.",
    ),
    *same_idea(
        lambda records: {},
        lambda records: None if records else {},
        cause="Nothing is ever known. Does the `return` stand inside the loop?",
    ),
]
"""Models from records to the dictionary from second to views."""

ADD_UP_SHORTCUTS = [
    Mistake(
        partial(_read, result=lambda second, number: int(str(second)[:10])),
        "It cuts the key after ten characters. Only today's seconds have ten digits: cut at the "
        "slash.",
    ),
]
"""The same, for what is right where seconds have as many digits as today's."""
