"""Answers to "Two tables, one group", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.active_groups.two_tables_mistakes import MISTAKES


def place(row):
    if row["kind"] == "commit":
        return "committed", (row["topic"], row["partition"]), row["committed"]
    return "described", (row["kind"], row["member"]), row["details"]


def begin(group):
    group = group or {"described": {}, "committed": {}}
    return {side: dict(table) for side, table in group.items()}


def by_side(group, row):
    after = begin(group)
    side, key, value = place(row)
    if not row["deleted"]:
        after[side][key] = value
    elif key in after[side]:
        del after[side][key]
    return after if any(after.values()) else None


def by_comprehension(group, row):
    after = begin(group)
    side, at, value = place(row)
    rest = {key: its for key, its in after[side].items() if key != at}
    after[side] = rest if row["deleted"] else {**rest, at: value}
    if after == {"described": {}, "committed": {}}:
        return None
    return after


def by_none(group, row):
    after = begin(group)
    side, key, value = place(row)
    if value is None:
        after[side].pop(key, None)
    else:
        after[side][key] = value
    return after if after["described"] or after["committed"] else None


def ends_with(left):
    def next_group(group, row):
        after = begin(group)
        side, key, value = place(row)
        if row["deleted"]:
            after[side].pop(key, None)
        else:
            after[side][key] = value
        return after if left(after) else None

    return next_group


inner = ends_with(lambda after: after["described"] and after["committed"])
only_described = ends_with(lambda after: after["described"])
only_committed = ends_with(lambda after: after["committed"])
keeps_empty = ends_with(lambda after: True)


def whole_group_goes(group, row):
    if row["deleted"]:
        return None
    return by_side(group, row)


def whole_table_goes(group, row):
    after = begin(group)
    side, key, value = place(row)
    if row["deleted"]:
        after[side] = {}
    else:
        after[side][key] = value
    return after if any(after.values()) else None


def commits_go_too(group, row):
    if row["deleted"] and row["kind"] != "commit":
        return None
    return by_side(group, row)


def description_goes_too(group, row):
    after = by_side(group, row)
    if after and row["kind"] == "commit" and row["deleted"] and not after["committed"]:
        return None
    return after


def writes_none(group, row):
    after = begin(group)
    side, key, value = place(row)
    after[side][key] = value
    return after


def ignores_tombstones(group, row):
    if row["deleted"]:
        return group
    return by_side(group, row)


def must_be_there(group, row):
    after = begin(group)
    side, key, value = place(row)
    if row["deleted"]:
        del after[side][key]
    else:
        after[side][key] = value
    return after if any(after.values()) else None


def by_truth(group, row):
    after = begin(group)
    side, key, value = place(row)
    if value:
        after[side][key] = value
    else:
        after[side].pop(key, None)
    return after if any(after.values()) else None


def keyed(commit=None, part=None):
    def next_group(group, row):
        after = begin(group)
        side, key, value = place(row)
        if side == "committed" and commit:
            key = commit(row)
        if side == "described" and part:
            key = part(row)
        if row["deleted"]:
            after[side].pop(key, None)
        else:
            after[side][key] = value
        return after if any(after.values()) else None

    return next_group


by_topic = keyed(commit=lambda row: row["topic"])
by_partition = keyed(commit=lambda row: row["partition"])
turned = keyed(commit=lambda row: (row["partition"], row["topic"]))
by_kind = keyed(part=lambda row: row["kind"])
by_member = keyed(part=lambda row: row["member"])


def highest(group, row):
    after = begin(group)
    side, key, value = place(row)
    if row["deleted"]:
        after[side].pop(key, None)
    elif side == "committed":
        after[side][key] = max(value, after[side].get(key, 0))
    else:
        after[side][key] = value
    return after if any(after.values()) else None


def first_stays(group, row):
    after = begin(group)
    side, key, value = place(row)
    if row["deleted"]:
        after[side].pop(key, None)
    elif key not in after[side]:
        after[side][key] = value
    return after if any(after.values()) else None


def anew(group, row):
    return by_side(None, row)


def replaces(group, row):
    after = begin(group)
    side, key, value = place(row)
    after[side] = {} if row["deleted"] else {key: value}
    return after if any(after.values()) else None


def forgets(group, row):
    after = {"described": {}, "committed": {}}
    side, key, value = place(row)
    after[side] = dict(group[side]) if group else {}
    if row["deleted"]:
        after[side].pop(key, None)
    else:
        after[side][key] = value
    return after if any(after.values()) else None


def classic_only(group, row):
    if row["kind"] not in ("commit", "classic"):
        return group
    return by_side(group, row)


def no_start(group, row):
    after = {side: dict(table) for side, table in group.items()}
    return by_side(after, row)


def none_stays(group, row):
    if group is None:
        return None
    return by_side(group, row)


def all_in_one(group, row):
    after = begin(group)
    _, key, value = place(row)
    if row["deleted"]:
        after["committed"].pop(key, None)
    else:
        after["committed"][key] = value
    return after if any(after.values()) else None


def exchanged(group, row):
    after = begin(group)
    side, key, _ = place(row)
    if row["deleted"]:
        after[side].pop(key, None)
    else:
        after[side][key] = row["details" if side == "committed" else "committed"]
    return after if any(after.values()) else None


def in_place(group, row):
    after = group or {"described": {}, "committed": {}}
    side, key, value = place(row)
    if row["deleted"]:
        after[side].pop(key, None)
    else:
        after[side][key] = value
    return after if any(after.values()) else None


def a_shallow_copy(group, row):
    return in_place(dict(group) if group else None, row)


def a_pair(group, row):
    after = by_side(group, row) or {"described": {}, "committed": {}}
    return after["described"], after["committed"]


def tombstones_of_commits_only(group, row):
    if row["deleted"] and row["kind"] != "commit":
        return group
    return by_side(group, row)


def low_offsets_go(group, row):
    if row["kind"] == "commit" and (row["committed"] or 0) > 1_000:
        return group
    after = by_side(group, row)
    return after if after is None or len(after["committed"]) < 4 else group


def pair_as_text(group, row):
    return keyed(commit=lambda row: f"{row['topic']}-{row['partition']}")(group, row)


def only_its_own_key(group, row):
    after = by_side(group, row)
    return after and {"committed": after["committed"], "described": after["described"], "n": 1}


def by_matching(group, row):
    after = {"committed": {}, "described": {}}
    for side in after:
        after[side].update(group[side] if group else {})
    match row:
        case {"kind": "commit", "topic": topic, "partition": partition, "committed": value}:
            side, key = "committed", (topic, partition)
        case {"kind": kind, "member": member, "details": value}:
            side, key = "described", (kind, member)
    if not row["deleted"]:
        after[side][key] = value
    elif key in after[side]:
        del after[side][key]
    return None if after == {"committed": {}, "described": {}} else after


def out_of_both(group, row):
    after = begin(group)
    if row["deleted"]:
        after["committed"].pop((row["topic"], row["partition"]), None)
        after["described"].pop((row["kind"], row["member"]), None)
        return after if any(after.values()) else None
    return by_side(after, row)


def any_value(group, row):
    after = by_side(group, row)
    values = [value for table in (after or {}).values() for value in table.values()]
    return after if any(values) else None


def every_row_goes(group, row):
    after = begin(group)
    side, key, value = place(row)
    if "deleted" in row:
        after[side].pop(key, None)
    else:
        after[side][key] = value
    return after if any(after.values()) else None


def adds_up(group, row):
    after = begin(group)
    side, key, value = place(row)
    if row["deleted"]:
        after[side].pop(key, None)
    elif side == "committed":
        after[side][key] = after[side].get(key, 0) + value
    else:
        after[side][key] = value
    return after if any(after.values()) else None


def whole_row(group, row):
    after = begin(group)
    side, key, _ = place(row)
    if row["deleted"]:
        after[side].pop(key, None)
    else:
        after[side][key] = row
    return after if any(after.values()) else None


def in_both(group, row):
    after = begin(group)
    keys = {
        "committed": (row["topic"], row["partition"]),
        "described": (row["kind"], row["member"]),
    }
    for side, key in keys.items():
        if row["deleted"]:
            after[side].pop(key, None)
        else:
            after[side][key] = row["committed" if side == "committed" else "details"]
    return after if any(after.values()) else None


def in_the_other(group, row):
    after = begin(group)
    side, key, value = place(row)
    other = {"committed": "described", "described": "committed"}[side]
    if row["deleted"]:
        after[other].pop(key, None)
    else:
        after[other][key] = value
    return after if any(after.values()) else None


def replaces_but_takes_out(group, row):
    after = begin(group)
    side, key, value = place(row)
    if row["deleted"]:
        after[side].pop(key, None)
    else:
        after[side] = {key: value}
    return after if any(after.values()) else None


def an_empty_dictionary(group, row):
    return by_side(group, row) or {}


def all_records_of_the_member(group, row):
    after = by_side(group, row)
    if after and row["deleted"] and row["kind"] == "member":
        rest = {key: its for key, its in after["described"].items() if key[1] != row["member"]}
        return {**after, "described": rest}
    return after


def all_partitions_of_the_topic(group, row):
    after = by_side(group, row)
    if after and row["deleted"] and row["kind"] == "commit":
        rest = {key: its for key, its in after["committed"].items() if key[0] != row["topic"]}
        return {**after, "committed": rest}
    return after


def gone_if_not_there(group, row):
    _, key, _ = place(row)
    if row["deleted"] and not any(key in table for table in (group or {}).values()):
        return None
    return by_side(group, row)


catalogue = Catalogue(
    right=[by_side, by_comprehension, by_matching, out_of_both],
    wrong=[
        (inner, "as in an inner join"),
        (only_described, "It's unknown, not gone"),
        (only_committed, "members who haven't read anything"),
        (keeps_empty, "group of two empty tables"),
        (whole_group_goes, "takes the whole group"),
        (whole_table_goes, "empties its whole table"),
        (commits_go_too, "takes the commits as well"),
        (description_goes_too, "drops the description too"),
        (writes_none, "as `None`"),
        (ignores_tombstones, "Tombstones change nothing"),
        (must_be_there, "isn't there, as after a compaction"),
        (by_truth, "offset 0 for a tombstone"),
        (by_none, "without details for a tombstone"),
        (any_value, "only commit is 0 vanishes"),
        (every_row_goes, "every row for a tombstone"),
        (adds_up, "adds the offsets up"),
        (whole_row, "keeps the whole row"),
        (in_both, "an entry in both tables"),
        (in_the_other, "The two tables have changed places"),
        (an_empty_dictionary, "an empty dictionary"),
        (all_records_of_the_member, "has a record, and a tombstone, of its own"),
        (all_partitions_of_the_topic, "as when it expired"),
        (gone_if_not_there, "a partition that isn't there"),
        (by_topic, "Partitions of a topic overwrite"),
        (by_partition, "Topics overwrite"),
        (turned, "turned round"),
        (by_kind, "Members overwrite"),
        (by_member, "Records of different kinds overwrite"),
        (highest, "the highest offset"),
        (first_stays, "stays for ever"),
        (anew, "begins the group anew"),
        (replaces, "replaces its whole table"),
        (forgets, "The other table is lost"),
        (classic_only, "Only `classic` rows"),
        (no_start, "it raises there"),
        (none_stays, "From `None` it stays"),
        (all_in_one, "Everything goes into `committed`"),
        (exchanged, "changed places"),
        (in_place, "changes the input"),
        (a_pair, "the keys 'described'"),
        (tombstones_of_commits_only, "tombstone of member A"),
        (pair_as_text, "A key is a pair"),
    ],
    models=MISTAKES,
    same=[(a_shallow_copy, in_place), (replaces_but_takes_out, replaces)],
    shortcuts=[
        (low_offsets_go, "A topic that it hadn't read"),
        (only_its_own_key, "and no other"),
    ],
)
