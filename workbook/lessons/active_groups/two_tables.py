"""Chapter 31: Two tables, one group."""

from workbook.classroom.exercise import case, exercise, wrong


def next_group(group, row):
    before = group or {"committed": {}, "described": {}}
    after = {name: dict(table) for name, table in before.items()}
    table = after[row["table"]]
    if row["value"] is None:
        table.pop(row["key"], None)
    else:
        table[row["key"]] = row["value"]
    return after if any(after.values()) else None


def answer(
    start=lambda group: group, goes=lambda value: value is None,
    name=lambda row: row["table"], put=lambda table, key, value: table.update({key: value}),
    out=lambda table, key: table.pop(key, None), left=lambda after: any(after.values()),
):  # fmt: skip
    """Return an answer with some of its steps changed, as the wrong answers need it."""

    def step(group, row):
        tables = {"committed": {}, "described": {}, **(start(group) or {})}
        after = {each: dict(table) for each, table in tables.items()}
        if goes(row["value"]):
            out(after[name(row)], row["key"])
        else:
            put(after[name(row)], row["key"], row["value"])
        return after if left(after) else None

    return step


def the_highest(table, key, value):
    table[key] = max(value, table.get(key, 0)) if isinstance(value, int) else value


def the_only_one(table, key, value):
    table.clear()
    table[key] = value


def row(table, key, value=None):
    return {"table": table, "key": key, "value": value}


def commit(key, value=None):
    return row("committed", key, value)


def about(key, value=None):
    return row("described", key, value)


def of(described, committed):
    return {"committed": committed, "described": described}


NAMES = ("orders 0", "orders 1", "returns 0", "classic", "group", "member A")


def draw(random, size):
    committed, described = (
        {
            name: random.choice((0, 1, 5, 70_000, "", "Ada"))
            for name in random.sample(NAMES, random.randrange(4))
        }
        for _ in range(2)
    )
    name = random.choice((*NAMES, *3 * (*committed, *described)))
    value = random.choice((None, None, 0, "", 1, 80_000, "Bo"))
    known = of(described, committed) if committed or described else None
    return known, row(random.choice(("committed", "described")), name, value)


ADA = {"classic": "members: Ada"}
TWO = {"group": "", "member A": "Ada", "member B": "Bo"}
AT = {"orders 0": 40, "orders 1": 7, "returns 0": 3}

two_tables = exercise(
    next_group,
    name="Two tables, one group",
    task="A group has two tables: its commits and its descriptions. Write the step that applies "
    "one record to them.\n\n"
    "`group` is `{'committed': {...}, 'described': {...}}`, or `None` if nothing is known of the "
    "group. `row` is the group's next record, a dictionary with `table` (`'committed'` or "
    "`'described'`), `key` and `value`. Return the group after the record, and leave "
    "`group` as it is.\n\n"
    "- Set `key` to `value` in the table that the row names.\n"
    "- If `value` is `None`, the record is a tombstone: remove `key` from that table, if it's "
    "there.\n"
    "- If both tables are empty, return `None`.\n\n"
    "From `None`, a commit with the key `orders 0` and the value 40 gives `{'committed': "
    "{'orders 0': 40}, 'described': {}}`. Its tombstone then gives `None`.",
    cases=[
        case("The group's first record is a commit. Nothing describes the group yet.",
             None, commit("orders 0", 40)),
        case("The group's first record describes it.", None, about("classic", "Ada")),
        case("The group's only commit is a commit of 0, and 0 is a value.",
             None, commit("orders 0", 0)),
        case("The group has commits, and now a record describes it. Both stay.",
             of({}, AT), about("classic", "members: Ada")),
        case("Somebody has set the group back from 40 to 12. The newest commit counts.",
             of(ADA, AT), commit("orders 0", 12)),
        case("A tombstone of member A. The group's other records stay.",
             of(TWO, AT), about("member A")),
        case("A record may be empty: the text `''` is a value, and no tombstone.",
             of({}, AT), about("group", "")),
        case("The last commit is deleted. The group still has a description.",
             of(ADA, {"orders 0": 40}), commit("orders 0")),
        case("Nothing is left of the group: return `None`.",
             of({}, {"orders 0": 40}), commit("orders 0")),
        case("A tombstone of a partition without a commit changes nothing.",
             of(ADA, AT), commit("orders 5")),
        case("A tombstone of an unknown group: the group stays `None`.", None, commit("orders 0")),
    ],
    draw=draw,
    right=[answer(), answer(left=lambda after: after != of({}, {}))],
    wrong=[
        wrong("A group that has entries in only one of the tables vanishes, as in an inner join. "
              "Return `None` only if both tables are empty.",
              answer(left=lambda after: all(after.values())),
              answer(left=lambda after: after["described"]),
              answer(left=lambda after: after["committed"])),
        wrong("A tombstone removes more than its own entry. The other entries stay until their own "
              "tombstones arrive.", answer(out=lambda table, key: table.clear()),
              lambda group, row: None if row["value"] is None else next_group(group, row)),
        wrong("A tombstone doesn't remove its entry. A row whose value is `None` removes its key "
              "from the table.",
              answer(goes=lambda value: False), answer(out=lambda table, key: None)),
        wrong("It writes to the wrong table. `row['table']` says which of the two the record "
              "belongs to.", answer(name=lambda row: "committed"),
              answer(name=lambda row: "described"),
              answer(name=lambda row: "committed" if isinstance(row["value"], int)
                     else "described")),
        wrong("It keeps the first or the highest value of a key. The newest value counts, because "
              "a group can be set back.", answer(put=the_highest), answer(put=dict.setdefault)),
        wrong("Entries that have nothing to do with the row are lost. Copy both tables, then "
              "change one entry.",
              answer(start=lambda group: None), answer(put=the_only_one)),
    ],
    hints=(
        "Choose the table by `row['table']`. Then it's chapter 20's step: set the key, or remove "
        "it.",
        "Copy each of the two tables with `dict(...)` first. A copy of `group` alone would still "
        "contain the same two dictionaries. `pop` with a second argument removes a key that may "
        "be missing.",
        "With `table = after[row['table']]`, either `table.pop(row['key'], None)` or "
        "`table[row['key']] = row['value']` is all that happens. At the end, ask whether one of "
        "the two tables still has an entry: `any(after.values())`.",
    ),
    discussion="This is a full outer join by group, kept up to date record by record: a group "
    "stays as long as either table has an entry of it. If you only want groups with both, filter "
    "the result. The other way round doesn't work: nobody can recover what an inner join has "
    "dropped.\n\n"
    "The step needs both tables' entries of a group in one place. On Spark, that place is the "
    "state of one operator.",
)  # fmt: skip
