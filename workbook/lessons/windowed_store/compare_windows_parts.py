"""Says which part of an answer to "Compare two windows" is wrong, of which group, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

Row = dict[str, Any]
Rows = Mapping[str, Row]

KEYS = ("left", "came", "silent", "rates")


def shape(value: Any) -> str:
    """Return what is wrong with the form of a value that should have the four keys; or ''."""
    if not isinstance(value, dict):
        return f"A dictionary with the keys {', '.join(KEYS)} is asked for."
    if missing := [key for key in KEYS if key not in value]:
        return f"The dictionary has no {missing[0]!r}. Its keys are {', '.join(KEYS)}."
    if more := [key for key in value if key not in KEYS]:
        return f"{more[0]!r} isn't asked for. The keys are {', '.join(KEYS)}."
    for key in KEYS[:3]:
        kind = type(value[key]).__name__
        if isinstance(value[key], dict):
            return f"{key!r} is a dictionary. The groups' names are enough: a set of them."
        if not isinstance(value[key], Set):
            return f"{key!r} is of type {kind}. Groups have no order here: a set is asked for."
    if not isinstance(value["rates"], dict):
        return f"'rates' is of type {type(value['rates']).__name__}: a dictionary is asked for."
    return ""


def wrong_part(
    value: Mapping[str, Any], asked: Mapping[str, Any], before: Sequence[Row], after: Sequence[Row]
) -> str:
    """Return why the first part that differs from what's asked for is wrong; or ''."""
    was, now = ({row["group"]: row for row in rows} for rows in (before, after))
    wrong = [key for key in KEYS if value[key] != asked[key]]
    if not wrong:
        return ""
    key = wrong[0]
    why = _rates if key == "rates" else _SETS[key]
    missing = sorted(asked[key] - value[key] if key != "rates" else asked[key].keys() - value[key])
    more = sorted((k for k in value[key] if k not in asked[key]), key=repr)
    others = " The other three are right here." if len(wrong) == 1 else ""
    if missing:
        return f"`{key}` lacks {missing[0]}: {why(missing[0], was, now)}.{others}"
    if more:
        return f"`{key}` has {more[0]}: {why(more[0], was, now)}.{others}"
    other = next(k for k in asked[key] if value[key][k] != asked[key][k])
    return f"`{key}` has {value[key][other]} for {other}: {why(other, was, now)}.{others}"


def _members(row: Row) -> str:
    members = row["members"]
    if members is None:
        return "None for its members, which isn't 0"
    return f"{members} member{'s' * (members != 1)}"


def _left(group: str, was: Rows, now: Rows) -> str:
    if group not in now:
        return "it has no row in `after`. A window holds changes, and who left has a row there"
    if now[group]["members"] != 0:
        return f"its row in `after` has {_members(now[group])}"
    if group not in was:
        return "its row in `after` has 0 members, and it has none in `before`"
    if was[group]["members"] == 0:
        return "its row in `before` had 0 members as well, so it had left already"
    return f"its row in `after` has 0 members, and the one in `before` {_members(was[group])}"


def _came(group: str, was: Rows, now: Rows) -> str:
    if group not in now:
        return "it has no row in `after`"
    if group in was:
        return "it has a row in `before` as well"
    if now[group]["members"] == 0:
        return "its only row has 0 members, so it left"
    return f"it has a row in `after` only, with {_members(now[group])}"


def _silent(group: str, was: Rows, now: Rows) -> str:
    if group in now:
        return "it has a row in `after`"
    known = "only, and its members make no difference" if group in was else "neither"
    return f"it has a row in `before` {known}"


def _rates(key: Any, was: Rows, now: Rows) -> str:
    if not isinstance(key, tuple) or len(key) != 3:
        return "group, topic and partition make the key of a rate"
    group, *part = key
    for rows, name in ((was, "before"), (now, "after")):
        if group not in rows:
            return f"the group has no row in `{name}`"
        if tuple(part) not in rows[group]["committed"]:
            return f"the partition has no commit in `{name}`"
    began, since = was[group]["committed"][tuple(part)]
    offset, at = now[group]["committed"][tuple(part)]
    if at == since:
        return "both windows have the same commit of it, so nothing says how fast it is"
    if at < since:
        return f"its commit in `after`, of {at}, is older than the one in `before`, of {since}"
    moved, seconds = offset - began, (at - since) / 1000
    return f"{moved} records in {seconds} s are {moved / seconds} a second"


_SETS: dict[str, Callable[[str, Rows, Rows], str]] = {
    "left": _left,
    "came": _came,
    "silent": _silent,
}
