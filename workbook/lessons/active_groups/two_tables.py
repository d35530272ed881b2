"""Chapter 31: Two tables, one group."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.active_groups.two_tables_mistakes import MISTAKES

Row = Mapping[str, Any]
"""A decoded record: kind, topic, partition, committed, member, details, deleted."""

Group = dict[str, dict[tuple[Any, Any], Any]]
"""``described``: (kind, member) to details; ``committed``: (topic, partition) to an offset."""


def next_group(group: Group | None, row: Row) -> Group | None:
    described = dict(group["described"]) if group else {}
    committed = dict(group["committed"]) if group else {}
    if row["kind"] == "commit":
        table, key, value = committed, (row["topic"], row["partition"]), row["committed"]
    else:
        table, key, value = described, (row["kind"], row["member"]), row["details"]
    if row["deleted"]:
        table.pop(key, None)
    else:
        table[key] = value
    after = {"described": described, "committed": committed}
    return after if described or committed else None


def commit(topic: str, partition: int, committed: int | None) -> dict[str, Any]:
    """Return the row of a commit, or with None of its tombstone."""
    at = {"kind": "commit", "topic": topic, "partition": partition, "committed": committed}
    return {**at, "member": None, "details": None, "deleted": committed is None}


def described(kind: str, member: str | None, details: str | None) -> dict[str, Any]:
    """Return a row that describes a group, or with ``details`` None its tombstone."""
    what = {"kind": kind, "topic": None, "partition": None, "committed": None}
    return {**what, "member": member, "details": details, "deleted": details is None}


def _case(group: Group | None, row: Row, says: str) -> Case:
    return Case((group, row), next_group(group, row), says)


def _of(
    parts: Mapping[tuple[str, str | None], str], offsets: Mapping[tuple[str, int], int]
) -> Group:
    return {"described": dict(parts), "committed": dict(offsets)}


_OF_ADA: dict[tuple[str, str | None], str] = {("classic", None): "members: Ada"}
_OF_TWO: dict[tuple[str, str | None], str] = {
    ("group", None): "epoch 2",
    ("member", "A"): "Ada",
    ("member", "B"): "Bo",
}
_AT = {("orders", 0): 40, ("orders", 1): 7, ("returns", 0): 3}

_CASES = [
    _case(None, commit("orders", 0, 40), "The group's first record is a commit. It's known by it."),
    _case(None, described("classic", None, "members: Ada"), "Its first record describes it."),
    _case(
        None, commit("orders", 0, 0),
        "Its only commit is one of 0: it has read nothing yet, and it's known by it.",
    ),
    _case(
        _of({}, _AT), described("classic", None, "members: Ada"),
        "Commits came first, and now it's described: both stay side by side.",
    ),
    _case(
        _of(_OF_ADA, {}), commit("orders", 0, 40),
        "Its members were known, and now it commits: both stay side by side.",
    ),
    _case(_of(_OF_ADA, _AT), commit("orders", 1, 9), "A newer commit: only this partition moves."),
    _case(
        _of(_OF_ADA, _AT), commit("orders", 0, 12),
        "Somebody has set the group back from 40 to 12. The newest commit counts, not the highest.",
    ),
    _case(
        _of(_OF_ADA, _AT), commit("orders", 0, 0),
        "Set back to offset 0: that's a commit like any other. Only `deleted` marks a tombstone.",
    ),
    _case(_of(_OF_ADA, _AT), commit("audit", 0, 1), "A topic that it hadn't read before."),
    _case(
        _of(_OF_ADA, _AT), described("classic", None, "no members"),
        "Ada has left. The new description takes the place of the old one, and the offsets stay.",
    ),
    _case(
        _of(_OF_TWO, _AT), described("member", "B", "Bo, moved"),
        "One member's record: the group has others, which stay as they are.",
    ),
    _case(_of(_OF_TWO, {}), described("assignment", "A", "orders 0"), "A further part of it."),
    _case(
        _of(_OF_TWO, _AT), described("member", "A", None),
        "A tombstone of member A: it leaves, and B stays, and so do the offsets.",
    ),
    _case(
        _of({**_OF_TWO, ("assignment", "A"): "orders 0"}, _AT), described("member", "A", None),
        "A tombstone of member A. What it was assigned has a record, and a tombstone, of its own.",
    ),
    _case(
        _of(_OF_TWO, _AT), described("group", None, None),
        "A tombstone of the group's own record. Those of its members are other records.",
    ),
    _case(
        _of(_OF_ADA, _AT), described("group", None, "epoch 1"),
        "It goes over to the new protocol. Its classic record stays until its tombstone comes.",
    ),
    _case(
        _of({}, _AT), {**described("unknown", None, None), "deleted": False},
        "A record in a version that the decoder can't read: no details, and no tombstone either.",
    ),
    _case(
        _of(_OF_ADA, _AT), described("classic", None, None),
        "A tombstone of its description. Its commits are still there: the group is unknown, and "
        "not gone.",
    ),
    _case(
        _of(_OF_ADA, _AT), commit("orders", 1, None),
        "A tombstone of one commit, as when it expired. The other offsets stay.",
    ),
    _case(
        _of(_OF_ADA, {("orders", 0): 40}), commit("orders", 0, None),
        "Its last commit goes. Its members are still there.",
    ),
    _case(_of({}, {("orders", 0): 40}), commit("orders", 0, None), "Nothing is left of the group."),
    _case(_of(_OF_ADA, {}), described("classic", None, None), "Nothing is left of the group."),
    _case(
        _of(_OF_ADA, _AT), commit("orders", 5, None),
        "A tombstone for a partition that isn't there: nothing changes.",
    ),
    _case(
        _of({}, _AT), described("member", "C", None),
        "A tombstone for a member that isn't there: nothing changes.",
    ),
    _case(
        None, commit("orders", 0, None),
        "A tombstone, and no such group: there's none after it.",
    ),
    _case(
        None, described("group", None, None),
        "A tombstone, and no such group: there's none after it.",
    ),
]  # fmt: skip


def _form(value: Any, group: Group | None, row: Row) -> str:
    """Return what is wrong with the form of a value, or ''."""
    if value is None:
        return ""
    if value == {}:
        return "It returns an empty dictionary where nothing is left. None is asked for."
    if not isinstance(value, dict) or set(value) != {"described", "committed"}:
        return "Return a dictionary with the keys 'described' and 'committed', and no other."
    if not all(isinstance(table, dict) for table in value.values()):
        return "`described` and `committed` are dictionaries."
    keys = [key for table in value.values() for key in table]
    pairs = all(isinstance(key, tuple) and len(key) == 2 for key in keys)
    return "" if pairs else "A key is a pair: `(topic, partition)`, or `(kind, member)`."


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(31)
    kinds: Sequence[tuple[str, str | None]] = (
        ("classic", None),
        ("group", None),
        ("member", "m1"),
        ("member", "m2"),
    )
    for _ in range(40):
        parts = {key: draw.choice("xyz") for key in draw.sample(kinds, draw.randrange(4))}
        places = [(topic, number) for topic in ("a", "b", "commit") for number in (0, 1, 11)]
        offsets = {key: draw.randrange(4) for key in draw.sample(places, draw.randrange(4))}
        group = _of(parts, offsets) if parts or offsets else None
        if draw.random() < 0.5:
            row = commit(*draw.choice(places), draw.choice((None, None, 0, 1, 5)))
        else:
            kind, member = draw.choice(kinds)
            row = described(kind, member, draw.choice((None, "x", "")))
        yield _case(group, row, "This group was drawn by chance. What does the row change?")


two_tables = Problem(
    name="Two tables, one group",
    task="`group` is what is known of one group: `{'described': {...}, 'committed': {...}}`, or "
    "`None` if nothing is. `row` is the group's next record, a dictionary with `kind`, `topic`, "
    "`partition`, `committed`, `member`, `details` and `deleted`. Return what is known after it, "
    "as a new value; leave `group` as it is.\n\n"
    "- A row of kind `'commit'` sets `committed[topic, partition]` to its `committed`.\n"
    "- A row of any other kind sets `described[kind, member]` to its `details`.\n"
    "- Where `deleted` is true, that one entry goes instead, if it's there.\n"
    "- Nothing left in either table: `None`.\n\n"
    "From `None`, a commit of 40 for `orders` 0 gives `{'described': {}, 'committed': {('orders', "
    "0): 40}}`. Its tombstone gives `None` again.",
    stub="def next_group(group, row):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_CASES, MISTAKES, form=_form), by_cases(smallest_first(_drawn_cases()))
    ),
    hints=(
        "Two questions to each row: in which of the two tables, and under which key? Then chapter "
        "20's step: set it, or take it out.",
        "Copy both tables first, each as `dict(...)`: a copy of `group` alone still holds the same "
        "two inside. `pop(key, None)` takes out what may be missing.",
        "With `table` and `key` chosen by the kind, `table.pop(key, None)` or `table[key] = value` "
        "is all that happens. At the end: is either of the two tables still filled?",
    ),
    reference=next_group,
    discussion="It's a full outer join by key, kept up to date record by record: a group stays "
    "as long as either side has something. Whoever wants only groups with both filters the result; "
    "the other way round, what an inner join has dropped nobody can bring back.\n\n"
    "It needs both tables' entries of a group in one place. That's all `KTable.join` sees to.",
)
