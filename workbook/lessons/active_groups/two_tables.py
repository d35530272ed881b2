"""Chapter 31: Two tables, one group."""

from workbook.classroom.exercise import case, exercise, wrong


def next_group(group, row):
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


def is_commit(row):
    return row["kind"] == "commit"


def value_of(row):
    return row["committed"] if is_commit(row) else row["details"]


def answer(
    start=lambda group, row: group, goes=lambda row: row["deleted"],
    place=lambda row: (row["topic"], row["partition"]),
    part=lambda row: (row["kind"], row["member"]),
    put=lambda table, key, value: table.update({key: value}),
    out=lambda table, key: table.pop(key, None), left=lambda after: any(after.values()),
):  # fmt: skip
    """Return an answer with some of its steps changed, as the wrong answers need it."""

    def step(group, row):
        tables = {"described": {}, "committed": {}, **(start(group, row) or {})}
        after = {side: dict(table) for side, table in tables.items()}
        side, key = ("committed", place) if is_commit(row) else ("described", part)
        if goes(row):
            out(after[side], key(row))
        else:
            put(after[side], key(row), value_of(row))
        return after if left(after) else None

    return step


def the_highest(table, key, value):
    table[key] = max(value, table.get(key, 0)) if isinstance(value, int) else value


NAMES = ("topic", "partition", "committed", "member", "details")


def commit(topic, partition, committed):
    """Make the row of a commit, or with None of its tombstone."""
    at = {"topic": topic, "partition": partition, "committed": committed}
    return {**dict.fromkeys(NAMES), **at, "kind": "commit", "deleted": committed is None}


def about(kind, member, details, deleted=False):
    what = {"kind": kind, "member": member, "details": details, "deleted": deleted}
    return {**dict.fromkeys(NAMES), **what}


def of(parts, offsets):
    return {"described": parts, "committed": offsets}


KINDS = ("classic", None), ("group", None), ("member", "A"), ("member", "B"), ("assignment", "A")
PLACES = [(topic, number) for topic in ("a", "b", "commit") for number in (0, 1, 11)]


def draw(random, size):
    parts, places = random.sample(KINDS, random.randrange(4)), random.sample(PLACES, size // 5)
    group = of({key: random.choice((None, "", "x", "y")) for key in parts},
               {key: random.choice((0, 1, 5, 70_000)) for key in places})  # fmt: skip
    if random.random() < 0.5:
        place = random.choice((*PLACES, *3 * places))
        row = commit(*place, random.choice((None, None, 0, 1, 80_000)))
    else:
        details = random.choice((("x", False), ("", False), (None, False), (None, True)))
        row = about(*random.choice((*KINDS, ("unknown", None), *5 * parts)), *details)
    return group if parts or places else None, row


ADA = {("classic", None): "members: Ada"}
TWO = {("member", "A"): "Ada", ("member", "B"): "Bo", ("assignment", "A"): "orders 0"}
AT = {("orders", 0): 40, ("orders", 1): 7, ("returns", 0): 3}

two_tables = exercise(
    next_group,
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
    cases=[
        case("The group's first record is a commit. Nothing describes the group yet.",
             None, commit("orders", 0, 40)),
        case("The group's first record describes it.", None, about("classic", None, "Ada")),
        case("Its only commit is one of 0, and that's an entry.", None, commit("orders", 0, 0)),
        case("Commits came first, and now it's described: both stay side by side.",
             of({}, AT), about("classic", None, "members: Ada")),
        case("A newer commit of partition 1. The other partitions stay.",
             of(ADA, AT), commit("orders", 1, 9)),
        case("Somebody has set the group back from 40 to 12, and the newest commit counts.",
             of(ADA, AT), commit("orders", 0, 12)),
        case("A record of member B. The group's other records stay.",
             of(TWO, AT), about("member", "B", "Bo, moved")),
        case("A tombstone of member A. Its assignment has a record of its own, which stays.",
             of(TWO, AT), about("member", "A", None, True)),
        case("This row has no details, and it isn't deleted: its entry is None.",
             of({}, AT), about("unknown", None, None)),
        case("A tombstone of one commit. The other offsets stay.",
             of(ADA, AT), commit("orders", 1, None)),
        case("Its last commit goes. Its members are still there.",
             of(ADA, {("orders", 0): 40}), commit("orders", 0, None)),
        case("Nothing is left of the group: `None`.",
             of({}, {("orders", 0): 40}), commit("orders", 0, None)),
        case("A tombstone for a partition that isn't there: nothing changes.",
             of(ADA, AT), commit("orders", 5, None)),
        case("A tombstone, and no such group: it stays `None`.", None, commit("orders", 0, None)),
    ],
    draw=draw,
    right=[answer(), answer(left=lambda after: after != of({}, {}))],
    wrong=[
        wrong("A group that has entries in only one of the tables vanishes, as in an inner join. "
              "Return `None` only if both tables are empty.",
              answer(left=lambda after: all(after.values())),
              answer(left=lambda after: after["described"]),
              answer(left=lambda after: after["committed"])),
        wrong("A tombstone removes more than its own entry. Other entries have tombstones of their "
              "own.", answer(out=lambda table, key: table.clear()),
              lambda group, row: None if row["deleted"] else next_group(group, row)),
        wrong("A tombstone doesn't remove its entry. Where `deleted` is true, the entry goes.",
              answer(goes=lambda row: False), answer(out=lambda table, key: None)),
        wrong("It asks the row's value. Neither offset 0 nor missing details make a tombstone: ask "
              "`deleted`.", answer(goes=lambda row: not value_of(row)),
              answer(goes=lambda row: value_of(row) is None)),
        wrong("Entries overwrite each other, because a key is only a part of its pair. The keys "
              "are `(topic, partition)` and `(kind, member)`.",
              answer(place=lambda row: row["topic"]), answer(place=lambda row: row["partition"]),
              answer(part=lambda row: row["kind"]), answer(part=lambda row: row["member"])),
        wrong("The newest value of a key counts, and not the first or the highest: a group can be "
              "set back.", answer(put=the_highest), answer(put=dict.setdefault)),
        wrong("Entries that the row isn't about are lost. Copy both tables, and change one entry.",
              answer(start=lambda group, row: None),
              answer(put=lambda table, key, value: (table.clear(), table.update({key: value})))),
    ],
    hints=(
        "Two questions to each row: in which of the two tables, and under which key? Then chapter "
        "20's step: set it, or take it out.",
        "Copy both tables first, each as `dict(...)`: a copy of `group` alone still holds the same "
        "two inside. `pop(key, None)` takes out what may be missing.",
        "With `table` and `key` chosen by the kind, `table.pop(key, None)` or `table[key] = value` "
        "is all that happens. At the end: is either of the two tables still filled?",
    ),
    discussion="It's a full outer join by key, kept up to date record by record: a group stays "
    "as long as either side has something. Whoever wants only groups with both filters the result; "
    "the other way round, what an inner join has dropped nobody can bring back.\n\n"
    "It needs both tables' entries of a group in one place. That's all `KTable.join` sees to.",
)  # fmt: skip
