"""Wrong answers to "Two tables, one group" that take one step in another way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea

Row = Mapping[str, Any]
Table = dict[Any, Any]
Group = dict[str, Table]
Step = Callable[["Group | None", Row], Any]


def tables_of(group: Group | None) -> tuple[Table, Table]:
    """Return a group's two tables, copied: descriptions and commits."""
    return (dict(group["described"]), dict(group["committed"])) if group else ({}, {})


def is_commit(row: Row) -> bool:
    """Return True if a row belongs to the table of commits."""
    return bool(row["kind"] == "commit")


def _deleted(row: Row) -> bool:
    return bool(row["deleted"])


def value_of(row: Row) -> Any:
    """Return what a row sets its entry to."""
    return row["committed"] if is_commit(row) else row["details"]


def _set(table: Table, key: Any, value: Any) -> None:
    table[key] = value


def _take_out(table: Table, key: Any) -> None:
    table.pop(key, None)


def answer(
    *,
    place: Callable[[Row], Any] = lambda row: (row["topic"], row["partition"]),
    part: Callable[[Row], Any] = lambda row: (row["kind"], row["member"]),
    goes: Callable[[Row], bool] = _deleted,
    put: Callable[[Table, Any, Any], None] = _set,
    value: Callable[[Row], Any] = value_of,
    out: Callable[[Table, Any], None] = _take_out,
    left: Callable[[Table, Table], Any] = lambda described, committed: described or committed,
) -> Step:
    """Return an answer with one idea of its own; all else is right."""

    def step(group: Group | None, row: Row) -> Any:
        described, committed = tables_of(group)
        table, key = (committed, place(row)) if is_commit(row) else (described, part(row))
        if goes(row):
            out(table, key)
        else:
            put(table, key, value(row))
        after = {"described": described, "committed": committed}
        return after if left(described, committed) else None

    return step


STEPS = Mistakes()
"""The answers of learners, as models; the first that gives the same names the cause."""

STEPS += same_idea(
    answer(left=lambda described, committed: described and committed),
    cause="A group with only one of the two vanishes, as in an inner join. An application that "
    "commits and was never described is unknown, and not gone: only where both tables are empty is "
    "there nothing.",
)
STEPS += same_idea(
    answer(left=lambda described, committed: described),
    cause="A group without a description vanishes, though it commits. It's unknown, not gone: its "
    "commits stay.",
)
STEPS += same_idea(
    answer(left=lambda described, committed: committed),
    cause="A group without commits vanishes. It may have members who haven't read anything yet.",
)
STEPS += same_idea(
    answer(left=lambda described, committed: True),
    cause="Where nothing is left it keeps a group of two empty tables. Return `None`.",
)
STEPS += same_idea(
    answer(out=lambda table, key: table.clear()),
    cause="A tombstone empties its whole table. Its key names the one entry that goes.",
)
STEPS += same_idea(
    answer(goes=lambda row: False),
    cause="A tombstone is written into the table as `None`. `deleted` means that the entry goes.",
)
STEPS += same_idea(
    answer(out=lambda table, key: None),
    cause="Tombstones change nothing. Where `deleted` is true, the entry goes.",
)
STEPS += same_idea(
    answer(out=lambda table, key: table.__delitem__(key)),
    cause="A tombstone may come for an entry that isn't there, as after a compaction: taking out "
    "must work then too.",
)
STEPS += same_idea(
    answer(goes=lambda row: not value_of(row)),
    answer(goes=lambda row: not (row["committed"] or row["details"])),
    cause="It takes offset 0 for a tombstone. Whoever starts at the beginning has committed 0: ask "
    "`deleted`.",
)
STEPS += same_idea(
    answer(goes=lambda row: value_of(row) is None),
    cause="It takes a record without details for a tombstone. One that the decoder can't read has "
    "none, and isn't deleted: ask `deleted`.",
)
STEPS += same_idea(
    answer(goes=lambda row: True),
    cause="It takes every row for a tombstone. All have the key `deleted`: its value says whether "
    "the entry goes.",
)
STEPS += same_idea(
    answer(left=lambda described, committed: any((*described.values(), *committed.values()))),
    answer(left=lambda described, committed: any(described) or any(committed.values())),
    answer(left=lambda described, committed: described or any(committed.values())),
    cause="A group whose only commit is 0 vanishes. Ask whether a table has an entry, not what its "
    "values are.",
)
STEPS += same_idea(
    answer(place=lambda row: row["topic"]),
    answer(place=lambda row: (row["topic"], 0)),
    cause="Partitions of a topic overwrite each other. The key is `(topic, partition)`.",
)
STEPS += same_idea(
    answer(place=lambda row: (row["partition"], row["topic"])),
    answer(part=lambda row: (row["member"], row["kind"])),
    cause="A key is turned round: `(topic, partition)` and `(kind, member)`, in this order.",
)
STEPS += same_idea(
    answer(place=lambda row: row["partition"]),
    cause="Topics overwrite each other's partitions. The key is `(topic, partition)`.",
)
STEPS += same_idea(
    answer(part=lambda row: row["kind"]),
    answer(part=lambda row: (row["kind"], None)),
    cause="Members overwrite each other: the new protocol has a record for each. The key is "
    "`(kind, member)`.",
)
STEPS += same_idea(
    answer(part=lambda row: row["member"]),
    cause="Records of different kinds overwrite each other, as the group's own and a classic one, "
    "which both have no member. The key is `(kind, member)`.",
)
STEPS += same_idea(
    answer(put=lambda table, key, value: _set(table, key, _larger(value, table.get(key)))),
    cause="It keeps the highest offset. A group can be set back: the newest commit counts.",
)
STEPS += same_idea(
    answer(
        put=lambda table, key, value: _set(
            table, key, value + table.get(key, 0) if isinstance(value, int) else value
        )
    ),
    cause="It adds the offsets up. A commit says how far the group has read, not how much more.",
)
STEPS += same_idea(
    answer(value=lambda row: row),
    answer(value=dict),
    cause="It keeps the whole row. Of a commit its `committed` is kept, of a description its "
    "`details`.",
)
STEPS += same_idea(
    answer(put=lambda table, key, value: table.setdefault(key, value)),
    cause="What was there first stays for ever. The newest record of a key counts.",
)


def _larger(value: Any, before: Any) -> Any:
    return max(value, before) if isinstance(value, int) and before is not None else value
