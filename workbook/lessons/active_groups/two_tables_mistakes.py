"""Wrong answers to "Two tables, one group"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea
from workbook.lessons.active_groups.two_tables_steps import (
    STEPS,
    Group,
    Row,
    Step,
    Table,
    answer,
    is_commit,
    tables_of,
    value_of,
)

MISTAKES = Mistakes(STEPS)
"""The answers of learners, as models; the first that gives the same names the cause."""


@MISTAKES.add(
    "A tombstone takes the whole group. It's about one entry: an offset that expired, or a member "
    "who left."
)
def takes_the_group(group: Group | None, row: Row) -> Any:
    return None if row["deleted"] else answer()(group, row)


@MISTAKES.add(
    "A tombstone of the description takes the commits as well. They have records of their own, and "
    "tombstones of their own."
)
def takes_the_commits(group: Group | None, row: Row) -> Any:
    return None if row["deleted"] and not is_commit(row) else answer()(group, row)


@MISTAKES.add(
    "Once the last commit has gone it drops the description too. An application with members is "
    "alive without any commit."
)
def takes_the_description(group: Group | None, row: Row) -> Any:
    after = answer()(group, row)
    gone = row["deleted"] and is_commit(row)
    return None if after is None or (gone and not after["committed"]) else after


@MISTAKES.add("Each row begins the group anew. What was known before stays, but for its own key.")
def begins_anew(group: Group | None, row: Row) -> Any:
    return answer()(None, row)


def _replaces(table: Table, key: Any, value: Any) -> None:
    table.clear()
    table[key] = value


MISTAKES += same_idea(
    answer(put=_replaces, out=lambda table, key: table.clear()),
    answer(put=_replaces),
    cause="A row replaces its whole table, so other partitions or members are forgotten. It "
    "changes one entry.",
)


@MISTAKES.add(
    "The other table is lost: a commit forgets who the members are, a description the offsets. "
    "Copy both."
)
def forgets_the_other(group: Group | None, row: Row) -> Any:
    described, committed = tables_of(group)
    if is_commit(row):
        described = {}
    else:
        committed = {}
    return answer()({"described": described, "committed": committed}, row)


@MISTAKES.add(
    "Only `classic` rows describe a group here. The new protocol's are `group`, `member` and "
    "`assignment`: whatever isn't a commit is a description."
)
def only_classic(group: Group | None, row: Row) -> Any:
    return answer()(group, row) if row["kind"] in ("commit", "classic") else group


def _raising(touch: Callable[[Any], Any]) -> Step:
    """Return an answer that does something to `group` which `None` can't do."""

    def step(group: Group | None, row: Row) -> Any:
        touch(group)
        return answer()(group, row)

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
    return None if group is None else answer()(group, row)


@MISTAKES.add(
    "Each row sets an entry in both tables. A commit describes nobody, and a description commits "
    "nothing: one of the two changes."
)
def sets_both(group: Group | None, row: Row) -> Any:
    described, committed = tables_of(group)
    for table, names in ((committed, ("topic", "partition")), (described, ("kind", "member"))):
        key = (row[names[0]], row[names[1]])
        if row["deleted"]:
            table.pop(key, None)
        else:
            table[key] = row["committed" if table is committed else "details"]
    after = {"described": described, "committed": committed}
    return after if described or committed else None


@MISTAKES.add("The two tables have changed places: commits belong into `committed`.")
def tables_swapped(group: Group | None, row: Row) -> Any:
    described, committed = tables_of(group)
    after = answer()({"described": committed, "committed": described}, row)
    return after and {"described": after["committed"], "committed": after["described"]}


@MISTAKES.add("Everything goes into `committed`. Descriptions have a table of their own.")
def one_table(group: Group | None, row: Row) -> Any:
    described, committed = tables_of(group)
    key = (row["topic"], row["partition"]) if is_commit(row) else (row["kind"], row["member"])
    if row["deleted"]:
        committed.pop(key, None)
    else:
        committed[key] = value_of(row)
    after = {"described": described, "committed": committed}
    return after if described or committed else None


@MISTAKES.add(
    "The two entries have changed places: a commit's value is `committed`, a description's is "
    "`details`."
)
def swapped(group: Group | None, row: Row) -> Any:
    other = {**row, "committed": row["details"], "details": row["committed"]}
    return answer()(group, other)
