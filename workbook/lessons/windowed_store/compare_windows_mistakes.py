"""Wrong answers to "Compare two windows", from two lists of rows to what has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.lessons.windowed_store.compare_windows_sets import (
    SETS,
    Rate,
    Rows,
    by,
    rates_of,
)

MISTAKES = Mistakes(SETS)
"""The answers of learners, as models; the first that gives the same names the cause."""


def _per_window(seconds: int) -> Rate:
    return lambda offset, at, began, since: (offset - began) / seconds if at > since else None


def _with_rate(*rates: Rate, cause: str) -> list[Mistake]:
    return same_idea(*(by(rates=_through(rate)) for rate in rates), cause=cause)


def _zero_safe(divide: Callable[[int, int, int, int], float]) -> Rate:
    """Return a rate that doesn't exist where no time has passed."""
    return lambda offset, at, began, since: (
        divide(offset, at, began, since) if at != since else None
    )


def _through(rate: Rate) -> Callable[[Rows, Rows], dict[Any, float]]:
    return lambda was, now: rates_of(was, now, rate)


MISTAKES += _with_rate(
    lambda offset, at, began, since: (offset - began) / (at - since) if at > since else None,
    cause="It's a rate per millisecond: the times are in ms.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: offset - began if at > since else None,
    lambda offset, at, began, since: float(offset - began) if at > since else None,
    lambda offset, at, began, since: offset - began,
    cause="It says how many records, not how many a second: divide by the time between the "
    "commits.",
)
MISTAKES += _with_rate(
    _zero_safe(lambda offset, at, began, since: (offset - began) * 1000 / (at - since)),
    _zero_safe(lambda offset, at, began, since: (offset - began) * 1000 / abs(at - since)),
    _zero_safe(lambda offset, at, began, since: abs(offset - began) * 1000 / abs(at - since)),
    cause="A commit in `after` that's older than the one in `before` gets a rate. Only a newer one "
    "has a rate: ask for `>`, since `!=` lets an older one through.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: (offset - began) * 1000 / (at - since),
    lambda offset, at, began, since: (
        (offset - began) * 1000 / (at - since) if at >= since else None
    ),
    cause="Where the partition has no newer commit, no time has passed, and it divides by 0. Such "
    "a partition has no rate.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: (offset - began) * 1000 / (at - since) if at > since else 0.0,
    lambda offset, at, began, since: (offset - began) * 1000 / max(at - since, 1),
    cause="A partition without a newer commit gets a rate of 0. How far it has moved isn't known: "
    "it has no rate.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: (
        abs(offset - began) * 1000 / (at - since) if at > since else None
    ),
    lambda offset, at, began, since: (
        max(offset - began, 0) * 1000 / (at - since) if at > since else None
    ),
    cause="An offset that was set back loses its sign. It's a step backwards: a negative rate.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: (
        (offset - began) * 1000 / (at - since) if offset > began else None
    ),
    lambda offset, at, began, since: (
        (offset - began) * 1000 / (at - since) if offset != began else None
    ),
    cause="It goes by the offset. What makes a commit newer is its time: an offset may have been "
    "set back, or committed again.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: (
        (offset - began) * 1000 / (at - since) if at != since and offset != began else None
    ),
    lambda offset, at, began, since: (
        (offset - began) * 1000 / (at - since) if at > since and offset > began else None
    ),
    lambda offset, at, began, since: (
        (offset - began) * 1000 / (at - since) if at > since and offset != began else None
    ),
    cause="A partition whose offset didn't grow has no rate. Its commit is newer, so it has one: "
    "0.0, or a negative one.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: (
        (offset - began) * 1000 // (at - since) if at > since else None
    ),
    lambda offset, at, began, since: (
        round((offset - began) * 1000 / (at - since)) if at > since else None
    ),
    cause="It's rounded to a whole number. One record in two seconds is 0.5 a second.",
)
MISTAKES += _with_rate(
    *map(_per_window, (5, 10, 60)),
    cause="It divides by the length of a window. The time between the two commits divides: they "
    "may be nearer to each other, or further apart.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: (
        (offset - began) / (at // 1000 - since // 1000) if at // 1000 > since // 1000 else None
    ),
    lambda offset, at, began, since: (
        (offset - began) / (at // 1000 - since // 1000) if at > since else None
    ),
    lambda offset, at, began, since: (
        (offset - began) / ((at - since) // 1000) if at > since else None
    ),
    cause="It cuts the time to whole seconds before it divides. Two commits may be half a second "
    "apart.",
)
MISTAKES += _with_rate(
    lambda offset, at, began, since: offset * 1000 / (at - since) if at > since else None,
    cause="It divides the offset itself. How far has it moved since the former commit?",
)


def _new_from_zero(was: Rows, now: Rows) -> dict[Any, float]:
    rates = rates_of(was, now)
    for group in was.keys() & now.keys():
        for part, (offset, at) in now[group]["committed"].items():
            if part not in was[group]["committed"]:
                rates[(group, *part)] = offset * 1000 / at
    return rates


def _new_from_zero_and_time_zero(was: Rows, now: Rows) -> dict[Any, float]:
    nothing: Rows = {group: {"committed": {}} for group in now.keys() - was.keys()}
    return rates_of(was, now) | _new_from_zero({**was, **nothing}, now)


def _by_group(was: Rows, now: Rows) -> dict[Any, float]:
    sums: dict[Any, float] = {}
    for (group, *_), rate in rates_of(was, now).items():
        sums[group] = sums.get(group, 0) + rate
    return sums


def _without_topic(was: Rows, now: Rows) -> dict[Any, float]:
    return {(group, part): rate for (group, _, part), rate in rates_of(was, now).items()}


def _without_partition(was: Rows, now: Rows) -> dict[Any, float]:
    return {(group, topic): rate for (group, topic, _), rate in rates_of(was, now).items()}


def _as_text(was: Rows, now: Rows) -> dict[Any, float]:
    return {f"{group}-{topic}-{p}": rate for (group, topic, p), rate in rates_of(was, now).items()}


def _without_group(was: Rows, now: Rows) -> dict[Any, float]:
    return {(topic, part): rate for (_, topic, part), rate in rates_of(was, now).items()}


def _nested(was: Rows, now: Rows) -> dict[Any, float]:
    return {(group, (topic, p)): rate for (group, topic, p), rate in rates_of(was, now).items()}


def _each_former(was: Rows, now: Rows) -> dict[Any, float]:
    """Ask for the former commit of each partition, also where there's none."""
    for group in was.keys() & now.keys():
        for part in now[group]["committed"]:
            was[group]["committed"][part]
    return rates_of(was, now)


MISTAKES += same_idea(
    by(rates=_each_former),
    cause="It raises for a partition without a commit in `before`. Such a partition has no rate: "
    "ask first whether there is one.",
)
MISTAKES += same_idea(
    by(rates=_new_from_zero),
    by(rates=_new_from_zero_and_time_zero),
    cause="A partition without a commit in `before` is counted from offset 0. Where it began isn't "
    "known: it has no rate.",
)
MISTAKES += same_idea(
    by(rates=_by_group),
    cause="The partitions of a group are added up. Each has a rate of its own: a slow one hides "
    "behind the others.",
)
MISTAKES += same_idea(
    by(rates=_without_topic),
    by(rates=_without_group),
    by(rates=_without_partition),
    by(rates=_as_text),
    by(rates=_nested),
    cause="The key of a rate is (group, topic, partition), three values in one tuple.",
)
MISTAKES += same_idea(
    by(rates=lambda was, now: {}),
    cause="There are no rates. Take the groups with a row in both windows, and of them the "
    "partitions that are in both rows.",
)
