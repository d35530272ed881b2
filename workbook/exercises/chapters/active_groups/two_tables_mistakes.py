"""Wrong answers to "Two tables, one group"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbook.exercises.engine.mistakes import Mistakes, same_idea

Row = Mapping[str, Any]
Table = dict[Any, Any]
Group = dict[str, Table]
Step = Callable[["Group | None", Row], Any]


def _tables(group: Group | None) -> tuple[Table, Table]:
    return (dict(group["described"]), dict(group["committed"])) if group else ({}, {})


def _is_commit(row: Row) -> bool:
    return bool(row["kind"] == "commit")


def _deleted(row: Row) -> bool:
    return bool(row["deleted"])


def _set(table: Table, key: Any, value: Any) -> None:
    table[key] = value


def _take_out(table: Table, key: Any) -> None:
    table.pop(key, None)


def _answer(
    *,
    place: Callable[[Row], Any] = lambda row: (row["topic"], row["partition"]),
    part: Callable[[Row], Any] = lambda row: (row["kind"], row["member"]),
    goes: Callable[[Row], bool] = _deleted,
    put: Callable[[Table, Any, Any], None] = _set,
    out: Callable[[Table, Any], None] = _take_out,
    left: Callable[[Table, Table], Any] = lambda described, committed: described or committed,
) -> Step:
    """Return an answer with one idea of its own; all else is right."""

    def step(group: Group | None, row: Row) -> Any:
        described, committed = _tables(group)
        table, key = (committed, place(row)) if _is_commit(row) else (described, part(row))
        if goes(row):
            out(table, key)
        else:
            put(table, key, row["committed"] if _is_commit(row) else row["details"])
        after = {"described": described, "committed": committed}
        return after if left(described, committed) else None

    return step


MISTAKES = Mistakes()

MISTAKES += same_idea(
    _answer(left=lambda described, committed: described and committed),
    cause="A group with only one of the two vanishes, as in an inner join. An application that "
    "commits and was never described is unknown, and not gone: only where both tables are empty is "
    "there nothing.",
)
MISTAKES += same_idea(
    _answer(left=lambda described, committed: described),
    cause="A group without a description vanishes, though it commits. It's unknown, not gone: its "
    "commits stay.",
)
MISTAKES += same_idea(
    _answer(left=lambda described, committed: committed),
    cause="A group without commits vanishes. It may have members who haven't read anything yet.",
)
MISTAKES += same_idea(
    _answer(left=lambda described, committed: True),
    cause="Where nothing is left it keeps a group of two empty tables. Return `None`.",
)
MISTAKES += same_idea(
    _answer(out=lambda table, key: table.clear()),
    cause="A tombstone empties its whole table. Its key names the one entry that goes.",
)
MISTAKES += same_idea(
    _answer(goes=lambda row: False),
    cause="A tombstone is written into the table as `None`. `deleted` means that the entry goes.",
)
MISTAKES += same_idea(
    _answer(out=lambda table, key: None),
    cause="Tombstones change nothing. Where `deleted` is true, the entry goes.",
)
MISTAKES += same_idea(
    _answer(out=lambda table, key: table.__delitem__(key)),
    cause="A tombstone may come for an entry that isn't there, as after a compaction: taking out "
    "must work then too.",
)
MISTAKES += same_idea(
    _answer(goes=lambda row: not (row["committed"] if _is_commit(row) else row["details"])),
    _answer(goes=lambda row: not (row["committed"] or row["details"])),
    cause="It takes offset 0 for a tombstone. Whoever starts at the beginning has committed 0: ask "
    "`deleted`, or `is None`.",
)
MISTAKES += same_idea(
    _answer(place=lambda row: row["topic"]),
    _answer(place=lambda row: (row["topic"], 0)),
    cause="Partitions of a topic overwrite each other. The key is `(topic, partition)`.",
)
MISTAKES += same_idea(
    _answer(place=lambda row: (row["partition"], row["topic"])),
    _answer(part=lambda row: (row["member"], row["kind"])),
    cause="A key is turned round: `(topic, partition)` and `(kind, member)`, in this order.",
)
MISTAKES += same_idea(
    _answer(place=lambda row: row["partition"]),
    cause="Topics overwrite each other's partitions. The key is `(topic, partition)`.",
)
MISTAKES += same_idea(
    _answer(part=lambda row: row["kind"]),
    _answer(part=lambda row: (row["kind"], None)),
    cause="Members overwrite each other: the new protocol has a record for each. The key is "
    "`(kind, member)`.",
)
MISTAKES += same_idea(
    _answer(part=lambda row: row["member"]),
    cause="Records of different kinds overwrite each other, as the group's own and a classic one, "
    "which both have no member. The key is `(kind, member)`.",
)
MISTAKES += same_idea(
    _answer(put=lambda table, key, value: _set(table, key, _larger(value, table.get(key)))),
    cause="It keeps the highest offset. A group can be set back: the newest commit counts.",
)
MISTAKES += same_idea(
    _answer(put=lambda table, key, value: table.setdefault(key, value)),
    cause="What was there first stays for ever. The newest record of a key counts.",
)


def _larger(value: Any, before: Any) -> Any:
    return max(value, before) if isinstance(value, int) and before is not None else value


@MISTAKES.add(
    "A tombstone takes the whole group. It's about one entry: an offset that expired, or a member "
    "who left."
)
def takes_the_group(group: Group | None, row: Row) -> Any:
    return None if row["deleted"] else _answer()(group, row)


@MISTAKES.add(
    "A tombstone of the description takes the commits as well. They have records of their own, and "
    "tombstones of their own."
)
def takes_the_commits(group: Group | None, row: Row) -> Any:
    return None if row["deleted"] and not _is_commit(row) else _answer()(group, row)


@MISTAKES.add(
    "Once the last commit has gone it drops the description too. An application with members is "
    "alive without any commit."
)
def takes_the_description(group: Group | None, row: Row) -> Any:
    after = _answer()(group, row)
    gone = row["deleted"] and _is_commit(row)
    return None if after is None or (gone and not after["committed"]) else after


@MISTAKES.add("Each row begins the group anew. What was known before stays, but for its own key.")
def begins_anew(group: Group | None, row: Row) -> Any:
    return _answer()(None, row)


@MISTAKES.add(
    "A row replaces its whole table, so other partitions or members are forgotten. It changes one "
    "entry."
)
def replaces_the_table(group: Group | None, row: Row) -> Any:
    described, committed = _tables(group)
    alone = _answer()(None, row) or {"described": {}, "committed": {}}
    if _is_commit(row):
        committed = alone["committed"]
    else:
        described = alone["described"]
    after = {"described": described, "committed": committed}
    return after if described or committed else None


@MISTAKES.add(
    "The other table is lost: a commit forgets who the members are, a description the offsets. "
    "Copy both."
)
def forgets_the_other(group: Group | None, row: Row) -> Any:
    described, committed = _tables(group)
    if _is_commit(row):
        described = {}
    else:
        committed = {}
    return _answer()({"described": described, "committed": committed}, row)


@MISTAKES.add(
    "Only `classic` rows describe a group here. The new protocol's are `group`, `member` and "
    "`assignment`: whatever isn't a commit is a description."
)
def only_classic(group: Group | None, row: Row) -> Any:
    return _answer()(group, row) if row["kind"] in ("commit", "classic") else group


def _raising(touch: Callable[[Any], Any]) -> Step:
    """Return an answer that does something to `group` which `None` can't do."""

    def step(group: Group | None, row: Row) -> Any:
        touch(group)
        return _answer()(group, row)

    return step


MISTAKES += same_idea(
    *map(
        _raising,
        (
            lambda group: group["described"],
            lambda group: group.items(),
            lambda group: group.copy(),
            lambda group: group.get("described"),
            lambda group: dict(group),
            lambda group: {**group},
        ),
    ),
    cause="A group of which nothing is known is `None`: it raises there. Begin with two empty "
    "tables.",
)


@MISTAKES.add(
    "From `None` it stays `None`. A group's first record makes it: begin with two empty tables."
)
def never_begins(group: Group | None, row: Row) -> Any:
    return None if group is None else _answer()(group, row)


@MISTAKES.add("Everything goes into `committed`. Descriptions have a table of their own.")
def one_table(group: Group | None, row: Row) -> Any:
    described, committed = _tables(group)
    key = (row["topic"], row["partition"]) if _is_commit(row) else (row["kind"], row["member"])
    if row["deleted"]:
        committed.pop(key, None)
    else:
        committed[key] = row["committed"] if _is_commit(row) else row["details"]
    after = {"described": described, "committed": committed}
    return after if described or committed else None


@MISTAKES.add(
    "The two entries have changed places: a commit's value is `committed`, a description's is "
    "`details`."
)
def swapped(group: Group | None, row: Row) -> Any:
    other = {**row, "committed": row["details"], "details": row["committed"]}
    return _answer()(group, other)
