"""Wrong answers to "Compare two windows" that find other groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea

Row = dict[str, Any]
Rows = dict[str, Row]
Rate = Callable[[int, int, int, int], float | None]
Find = Callable[[Rows, Rows], set[str]]

SETS = Mistakes()
"""The answers of learners, as models; the first that gives the same names the cause."""


def _left(was: Rows, now: Rows) -> set[str]:
    return {g for g in _empty(was, now) if g not in was or was[g]["members"] != 0}


def _came(was: Rows, now: Rows) -> set[str]:
    return now.keys() - was.keys() - _left(was, now)


def _silent(was: Rows, now: Rows) -> set[str]:
    return was.keys() - now.keys()


def _rate(offset: int, at: int, began: int, since: int) -> float | None:
    return (offset - began) * 1000 / (at - since) if at > since else None


def rates_of(was: Rows, now: Rows, rate: Rate = _rate) -> dict[Any, float]:
    """Return the rates of all partitions for which ``rate`` has one."""
    rates = {}
    for group in was.keys() & now.keys():
        former = was[group]["committed"]
        for part, (offset, at) in now[group]["committed"].items():
            moved = rate(offset, at, *former[part]) if part in former else None
            if moved is not None:
                rates[(group, *part)] = moved
    return rates


def by(
    left: Find = _left,
    came: Find = _came,
    silent: Find = _silent,
    rates: Callable[[Rows, Rows], dict[Any, float]] = rates_of,
) -> Callable[[Sequence[Row], Sequence[Row]], dict[str, Any]]:
    """Return the answer that finds one or more of the four otherwise."""

    def answer(before: Sequence[Row], after: Sequence[Row]) -> dict[str, Any]:
        was = {row["group"]: row for row in before}
        now = {row["group"]: row for row in after}
        found = {"left": left(was, now), "came": came(was, now), "silent": silent(was, now)}
        return {**found, "rates": rates(was, now)}

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


def _had_members_or_none(was: Rows, now: Rows) -> set[str]:
    return {g for g in _empty(was, now) if g in was and was[g]["members"]}


def _had_some(was: Rows, now: Rows) -> set[str]:
    return {g for g in _empty(was, now) if g not in was or was[g]["members"]}


_DEAD = (
    "A group without a row in `after` is taken for one that left. A window holds changes: who "
    "didn't commit has none. Who left has a row, with 0 members."
)
SETS += same_idea(
    by(left=_missing),
    by(left=_missing, came=_new),
    by(left=_missing, silent=_none),
    by(left=_missing, came=_new, silent=_none),
    by(left=lambda was, now: _missing(was, now) | _left(was, now)),
    by(left=lambda was, now: _missing(was, now) | _empty(was, now), came=_new),
    by(left=lambda was, now: _missing(was, now) | _left(was, now), silent=_none),
    cause=_DEAD,
)
SETS += same_idea(
    by(came=_new),
    by(came=_new, left=_empty),
    cause="A group whose only row says 0 members didn't come: it was silent before, and left.",
)
SETS += same_idea(
    by(left=_had_members),
    by(left=_had_members, came=_new),
    by(left=_had_members, came=lambda was, now: _new(was, now) - _empty(was, now)),
    by(left=_had_members_or_none),
    by(left=_had_members_or_none, came=_new),
    by(left=_had_members_or_none, came=lambda was, now: _new(was, now) - _empty(was, now)),
    cause="A group that was silent in `before` can leave, too: it has no row there to look at.",
)
SETS += same_idea(
    by(left=_empty),
    by(left=_empty, came=lambda was, now: _new(was, now) - _empty(was, now)),
    cause="It lists groups that had no members in `before` either. Those had left already.",
)
SETS += same_idea(
    by(left=_falsy, came=lambda was, now: _new(was, now) - _falsy(was, now)),
    by(left=_falsy_twice, came=lambda was, now: _new(was, now) - _falsy_twice(was, now)),
    by(left=_falsy_twice, came=_new),
    by(left=_falsy),
    by(left=_falsy, came=_new),
    by(left=_no_members),
    by(left=_no_members, came=_new),
    by(left=_no_members, came=lambda was, now: _new(was, now) - _no_members(was, now)),
    by(left=_had_some),
    by(left=_had_some, came=_new),
    cause="None is taken for 0 members. It says that no record describes the group: ask `== 0`.",
)
SETS += same_idea(
    by(silent=_none),
    cause="No group is silent. Those with a row in `before` only are.",
)
SETS += same_idea(
    by(silent=lambda was, now: {g for g in _silent(was, now) if was[g]["members"] != 0}),
    by(silent=lambda was, now: {g for g in _silent(was, now) if was[g]["members"]}),
    cause="Silent are all groups with a row in `before` only, also those without members: the task "
    "makes no exception.",
)
SETS += same_idea(
    by(silent=_left, left=_missing),
    cause="`left` and `silent` have changed places.",
)
SETS += same_idea(
    by(silent=_came, came=_silent),
    cause="`came` and `silent` have changed places.",
)
SETS += same_idea(
    lambda before, after: by()(after, before),
    cause="The two windows have changed places: `before` is the earlier one.",
)


def _asks(group: Callable[[Rows, Rows], Any]) -> Callable[[Rows, Rows], set[str]]:
    """Return a way to `left` that raises where a row isn't there."""

    def left(was: Rows, now: Rows) -> set[str]:
        for name in group(was, now):
            was[name]
        return _left(was, now)

    return left


SETS += same_idea(
    by(left=_asks(lambda was, now: now)),
    by(left=_asks(_empty)),
    cause="It raises for a group without a row in `before`, such as one that came. Ask first "
    "whether there is one: `in`, or `get`.",
)
