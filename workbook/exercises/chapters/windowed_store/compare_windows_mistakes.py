"""Wrong answers to "Compare two windows", from two lists of rows to what has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbook.exercises.engine.mistakes import Mistake, Mistakes, same_idea

Row = dict[str, Any]
Rows = dict[str, Row]
Rate = Callable[[int, int, int, int], float | None]
Find = Callable[[Rows, Rows], set[str]]

KEYS = ("came", "left", "silent", "rates")

MISTAKES = Mistakes()


def _left(was: Rows, now: Rows) -> set[str]:
    return {g for g in _empty(was, now) if g not in was or was[g]["members"] != 0}


def _came(was: Rows, now: Rows) -> set[str]:
    return now.keys() - was.keys() - _left(was, now)


def _silent(was: Rows, now: Rows) -> set[str]:
    return was.keys() - now.keys()


def _rate(offset: int, at: int, began: int, since: int) -> float | None:
    return (offset - began) * 1000 / (at - since) if at > since else None


def _rates(was: Rows, now: Rows, rate: Rate = _rate) -> dict[Any, float]:
    rates = {}
    for group in was.keys() & now.keys():
        former = was[group]["committed"]
        for part, (offset, at) in now[group]["committed"].items():
            moved = rate(offset, at, *former[part]) if part in former else None
            if moved is not None:
                rates[(group, *part)] = moved
    return rates


def _by(
    left: Find = _left,
    came: Find = _came,
    silent: Find = _silent,
    rates: Callable[[Rows, Rows], dict[Any, float]] = _rates,
) -> Callable[[Sequence[Row], Sequence[Row]], dict[str, Any]]:
    """Return the answer that finds one or more of the four otherwise."""

    def answer(before: Sequence[Row], after: Sequence[Row]) -> dict[str, Any]:
        was = {row["group"]: row for row in before}
        now = {row["group"]: row for row in after}
        found = (came(was, now), left(was, now), silent(was, now), rates(was, now))
        return dict(zip(KEYS, found, strict=True))

    return answer


def _missing(was: Rows, now: Rows) -> set[str]:
    return was.keys() - now.keys()


def _new(was: Rows, now: Rows) -> set[str]:
    return now.keys() - was.keys()


def _none(was: Rows, now: Rows) -> set[str]:
    return set()


def _empty(was: Rows, now: Rows) -> set[str]:
    return {group for group, row in now.items() if row["members"] == 0}


def _no_members(was: Rows, now: Rows) -> set[str]:
    return {group for group, row in now.items() if not row["members"]}


def _falsy(was: Rows, now: Rows) -> set[str]:
    return {g for g in _no_members(was, now) if g not in was or was[g]["members"] != 0}


def _falsy_twice(was: Rows, now: Rows) -> set[str]:
    return {g for g in _no_members(was, now) if g not in was or was[g]["members"]}


def _had_members(was: Rows, now: Rows) -> set[str]:
    return {g for g in _empty(was, now) if g in was and was[g]["members"] != 0}


def _had_some(was: Rows, now: Rows) -> set[str]:
    return {g for g in _empty(was, now) if g not in was or was[g]["members"]}


_DEAD = (
    "A group without a row in `after` is taken for one that left. A window holds changes: who "
    "didn't commit has none. Who left has a row, with 0 members."
)
MISTAKES += same_idea(
    _by(left=_missing),
    _by(left=_missing, came=_new),
    _by(left=_missing, silent=_none),
    _by(left=_missing, came=_new, silent=_none),
    _by(left=lambda was, now: _missing(was, now) | _left(was, now)),
    _by(left=lambda was, now: _missing(was, now) | _empty(was, now), came=_new),
    _by(left=lambda was, now: _missing(was, now) | _left(was, now), silent=_none),
    cause=_DEAD,
)
MISTAKES += same_idea(
    _by(came=_new),
    _by(came=_new, left=_empty),
    cause="A group whose only row says 0 members didn't come: it was silent before, and left.",
)
MISTAKES += same_idea(
    _by(left=_had_members),
    _by(left=_had_members, came=_new),
    _by(left=_had_members, came=lambda was, now: _new(was, now) - _empty(was, now)),
    cause="A group that was silent in `before` can leave, too: it has no row there to look at.",
)
MISTAKES += same_idea(
    _by(left=_empty),
    _by(left=_empty, came=lambda was, now: _new(was, now) - _empty(was, now)),
    cause="It lists groups that had no members in `before` either. Those had left already.",
)
MISTAKES += same_idea(
    _by(left=_falsy, came=lambda was, now: _new(was, now) - _falsy(was, now)),
    _by(left=_falsy_twice, came=lambda was, now: _new(was, now) - _falsy_twice(was, now)),
    _by(left=_falsy_twice, came=_new),
    _by(left=_falsy),
    _by(left=_falsy, came=_new),
    _by(left=_no_members),
    _by(left=_no_members, came=_new),
    _by(left=_no_members, came=lambda was, now: _new(was, now) - _no_members(was, now)),
    _by(left=_had_some),
    _by(left=_had_some, came=_new),
    cause="None is taken for 0 members. It says that no record describes the group: ask `== 0`.",
)
MISTAKES += same_idea(
    _by(silent=_none),
    cause="No group is silent. Those with a row in `before` only are.",
)
MISTAKES += same_idea(
    _by(silent=lambda was, now: {g for g in _silent(was, now) if was[g]["members"] != 0}),
    _by(silent=lambda was, now: {g for g in _silent(was, now) if was[g]["members"]}),
    cause="Silent are all groups with a row in `before` only, also those without members: the task "
    "makes no exception.",
)
MISTAKES += same_idea(
    _by(silent=_left, left=_missing),
    cause="`left` and `silent` have changed places.",
)


def _with_rate(*rates: Rate, cause: str) -> list[Mistake]:
    return same_idea(*(_by(rates=_through(rate)) for rate in rates), cause=cause)


def _through(rate: Rate) -> Callable[[Rows, Rows], dict[Any, float]]:
    return lambda was, now: _rates(was, now, rate)


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
    lambda offset, at, began, since: (offset - began) * 1000 / (at - since),
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
    lambda offset, at, began, since: offset * 1000 / (at - since) if at > since else None,
    cause="It divides the offset itself. How far has it moved since the former commit?",
)


def _new_from_zero(was: Rows, now: Rows) -> dict[Any, float]:
    rates = _rates(was, now)
    for group in was.keys() & now.keys():
        for part, (offset, at) in now[group]["committed"].items():
            if part not in was[group]["committed"]:
                rates[(group, *part)] = offset * 1000 / at
    return rates


def _by_group(was: Rows, now: Rows) -> dict[Any, float]:
    sums: dict[Any, float] = {}
    for (group, *_), rate in _rates(was, now).items():
        sums[group] = sums.get(group, 0) + rate
    return sums


def _without_topic(was: Rows, now: Rows) -> dict[Any, float]:
    return {(group, part): rate for (group, _, part), rate in _rates(was, now).items()}


def _without_group(was: Rows, now: Rows) -> dict[Any, float]:
    return {(topic, part): rate for (_, topic, part), rate in _rates(was, now).items()}


def _nested(was: Rows, now: Rows) -> dict[Any, float]:
    return {(group, (topic, p)): rate for (group, topic, p), rate in _rates(was, now).items()}


MISTAKES += same_idea(
    _by(rates=_new_from_zero),
    cause="A partition without a commit in `before` is counted from offset 0. Where it began isn't "
    "known: it has no rate.",
)
MISTAKES += same_idea(
    _by(rates=_by_group),
    cause="The partitions of a group are added up. Each has a rate of its own: a slow one hides "
    "behind the others.",
)
MISTAKES += same_idea(
    _by(rates=_without_topic),
    _by(rates=_without_group),
    _by(rates=_nested),
    cause="The key of a rate is (group, topic, partition), three values in one tuple.",
)
MISTAKES += same_idea(
    _by(rates=lambda was, now: {}),
    cause="There are no rates. Take the groups with a row in both windows, and of them the "
    "partitions that are in both rows.",
)


def form(value: Any, *args: Any) -> str:
    """Return what is wrong with the form of a value that should have the four keys; or ''."""
    if not isinstance(value, dict):
        return f"A dictionary with the keys {', '.join(KEYS)} is asked for."
    if missing := [key for key in KEYS if key not in value]:
        return f"The dictionary has no {missing[0]!r}. Its keys are {', '.join(KEYS)}."
    if more := [key for key in value if key not in KEYS]:
        return f"{more[0]!r} isn't asked for. The keys are {', '.join(KEYS)}."
    for key in KEYS[:3]:
        if isinstance(value[key], (list, tuple)):
            kind = type(value[key]).__name__
            return f"{key!r} is a {kind}. Groups have no order here: a set is asked for."
        if isinstance(value[key], dict):
            return f"{key!r} is a dictionary. The groups' names are enough: a set of them."
    return ""
