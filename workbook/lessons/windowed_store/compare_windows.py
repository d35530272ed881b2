"""Chapter 32: Compare two windows."""

from workbook.classroom.exercise import case, exercise, wrong


def changed(before, after):
    was = {row["group"]: row for row in before}
    now = {row["group"]: row for row in after}
    empty = {group for group, row in now.items() if row["members"] == 0}
    left = {g for g in empty if g not in was or was[g]["members"] != 0}
    rates = {}
    for group in was.keys() & now.keys():
        former = was[group]["committed"]
        for part, (offset, at) in now[group]["committed"].items():
            began, since = former.get(part, (offset, at))
            if at > since:
                rates[group, *part] = (offset - began) * 1000 / (at - since)
    came, silent = now.keys() - was.keys() - left, was.keys() - now.keys()
    return {"came": came, "left": left, "silent": silent, "rates": rates}


NO_ROW = "no row"


def flat(rows):
    return {(row["group"], *part): said for row in rows for part, said in row["committed"].items()}


def compared(
    left=lambda old, new: new == 0 and old != 0,
    came=lambda old, new: old == NO_ROW and new != 0,
    newer=lambda moved, ms: ms > 0, rate=lambda moved, ms: moved * 1000 / ms,
    begins=lambda old, part: old.get(part),
):  # fmt: skip
    """Return an answer with some of its rules changed, as the wrong answers need it.

    ``left`` and ``came`` get a group's members in both windows, or NO_ROW.
    """

    def answer(before, after):
        was, now = ({row["group"]: row["members"] for row in rows} for rows in (before, after))
        members = {group: (was.get(group, NO_ROW), now.get(group, NO_ROW)) for group in was | now}
        rules = {"left": left, "came": came, "silent": lambda old, new: new == NO_ROW}
        old, rates = flat(before), {}
        for part, (offset, at) in flat(after).items():
            if began := begins(old, part):
                moved, ms = offset - began[0], at - began[1]
                if newer(moved, ms):
                    rates[part] = rate(moved, ms)
        sets = {name: {g for g, m in members.items() if rule(*m)} for name, rule in rules.items()}
        return {**sets, "rates": rates}

    return answer


def row(group, members, **committed):
    """Make a row; ``orders_1=(40, 2000)`` is an offset and its time, of partition 1."""
    parts = {(name[:-2], int(name[-1])): said for name, said in committed.items()}
    return {"group": group, "members": members, "committed": parts}


def draw(random, size):
    before, after = [], []
    for group in [f"g{number}" for number in range(1 + size // 5)]:
        first, second = {}, {}
        for part in random.sample(("a_0", "a_1", "b_0"), random.randrange(4)):
            offset, at = random.choice((0, 0, 1, 900)), random.choice((1000, 4750, 9000))
            first[part] = offset, at  # these times make every formula exact
            moved, ms = random.choice((0, 1, 3, 90)), random.choice((0, 250, 500, 2000, 4000, -500))
            second[part] = random.choice((0, offset + moved)), at + ms
        for rows, parts in ((before, first), (after, second)):
            kept = {part: said for part, said in parts.items() if random.random() < 0.9}
            if random.random() < 0.8:
                rows.append(row(group, random.choice((None, 0, 1, 2)), **kept))
    return before, after


TILL = row("till", 2, orders_0=(100, 1000), orders_1=(40, 2000))
MAIL, EMPTY, OFFICE = row("mail", 1), row("mail", 0), row("office", None)

compare_windows = exercise(
    changed,
    name="Compare two windows",
    task="`before` and `after` are lists of rows, one per group that changed in that window, with "
    "what was true at the window's end: `group`; `members`, their number (`None` where no record "
    "describes the group); and `committed`, a dictionary from (topic, partition) to (offset, time "
    "of the commit in ms). Return a dictionary:\n\n"
    "- `'left'`: the set of groups whose row in `after` has 0 members, unless their row in "
    "`before` had 0 as well;\n"
    "- `'came'`: the set of groups with a row in `after` only, except those that left;\n"
    "- `'silent'`: the set of groups with a row in `before` only;\n"
    "- `'rates'`: a dictionary from (group, topic, partition) to records per second, from one "
    "commit to the other. Only a partition with a commit in both windows, the one in `after` with "
    "a later time, has a rate. A rate may be 0 or negative: an offset can be committed again, or "
    "set back.\n\n"
    "From `('orders', 0): (100, 1000)` to `('orders', 0): (160, 7000)` it's `10.0`.",
    cases=[
        case("till moved by 60 in 6 s, and by 12 in 4 s: 10.0 and 3.0. It's in none of the sets.",
             [TILL], [row("till", 2, orders_0=(160, 7000), orders_1=(52, 6000))]),
        case("mail has a row in `before` only, so it's silent.", [MAIL], []),
        case("mail has a row in `before` only: with 0 members it's silent, too.", [EMPTY], []),
        case("mail has a row in `after` only, so it came.", [], [MAIL]),
        case("mail has 0 members in `after`, and 1 in `before`: it left.", [MAIL], [EMPTY]),
        case("mail's only row has 0 members: it left, and it didn't come.", [], [EMPTY]),
        case("mail had 0 members in `before` as well: it's in none of the sets.", [EMPTY], [EMPTY]),
        case("mail has members again. It has rows in both windows: it's in none of the sets.",
             [EMPTY], [MAIL]),
        case("No record describes office: None isn't 0, so it came.", [], [OFFICE]),
        case("No record described office in `before`. It has 0 members in `after`: it left.",
             [OFFICE], [row("office", 0)]),
        case("till has one member less, but not 0. It moved by 5 in 5 s: 1.0.",
             [row("till", 2, orders_0=(7, 1000))], [row("till", 1, orders_0=(12, 6000))]),
        case("till left, and it moved by 5 in 5 s before that: 1.0.",
             [row("till", 2, orders_0=(7, 1000))], [row("till", 0, orders_0=(12, 6000))]),
        case("Only partition 0 has a later commit: 1 has the same one, and 2 has none in `before`.",
             [TILL],
             [row("till", 2, orders_0=(160, 7000), orders_1=(40, 2000), orders_2=(5, 7000))]),
        case("till moved from 0 by 1 in 2 s: that's 0.5.",
             [row("till", 1, orders_0=(0, 1000))], [row("till", 1, orders_0=(1, 3000))]),
        case("Partition 0 was set back by 80 in 4 s: -20.0. Partition 1 committed 40 again: 0.0.",
             [TILL], [row("till", 2, orders_0=(20, 5000), orders_1=(40, 6000))]),
        case("The commit in `after` has an earlier time, so it has no rate.",
             [TILL], [row("till", 2, orders_0=(190, 500))]),
        case("Both commits have the same time, so there's no rate.",
             [TILL], [row("till", 2, orders_0=(104, 1000))]),
        case("The offset moved by 2 in half a second: that's 4.0.",
             [row("till", 1, orders_0=(7, 4900))], [row("till", 1, orders_0=(9, 5400))]),
        case("Two topics have a partition 0.",
             [row("till", 1, orders_0=(100, 1000), refunds_0=(8, 1000))],
             [row("till", 1, orders_0=(140, 5000), refunds_0=(10, 5000))]),
    ],
    draw=draw,
    right=[compared(), compared(rate=lambda moved, ms: moved / (ms / 1000))],
    wrong=[
        wrong("A group without a row in `after` is in `left`. A window holds changes, so a group "
              "that left has a row there, with 0 members.",
              compared(left=lambda old, new: new == NO_ROW),
              compared(left=lambda old, new: new == NO_ROW, came=lambda old, new: old == NO_ROW),
              compared(left=lambda old, new: new in (0, NO_ROW) and old != 0)),
        wrong("A group whose only row has 0 members is in `came`. It left, so leave it out.",
              compared(came=lambda old, new: old == NO_ROW)),
        wrong("A group that has no row in `before` can leave, too.",
              compared(left=lambda old, new: new == 0 and old not in (0, NO_ROW)),
              compared(left=lambda old, new: new == 0 and old not in (0, NO_ROW),
                       came=lambda old, new: old == NO_ROW)),
        wrong("Groups that had 0 members in `before` are in `left`. They had left already.",
              compared(left=lambda old, new: new == 0)),
        wrong("It takes None for 0 members. None says that no record describes the group.",
              compared(left=lambda old, new: not new and old != 0),
              compared(left=lambda old, new: not new and old,
                       came=lambda old, new: old == NO_ROW and new)),
        wrong("It isn't a rate per second: the times are in ms.",
              compared(rate=lambda moved, ms: moved / ms),
              compared(rate=lambda moved, ms: moved)),
        wrong("A commit that is older than the one in `before` gets a rate. Only a later one has "
              "one.", compared(newer=lambda moved, ms: ms)),
        wrong("It goes by the offset. What makes a commit newer is its time, so the offset may be "
              "the same, or smaller.", compared(newer=lambda moved, ms: moved > 0),
              compared(newer=lambda moved, ms: ms > 0 and moved)),
        wrong("A partition without a commit in `before` gets a rate. Where it began isn't known.",
              compared(begins=lambda old, part: old.get(part, (0, 0)))),
    ],
    hints=(
        "First make a dictionary of each list, by group. What three kinds of groups are there, "
        "and in which of them can a group have left?",
        "The keys of dictionaries can be subtracted like sets. For rates, look at the partitions "
        "that both rows have.",
        "`left` is `{g for g in now if now[g]['members'] == 0 and (g not in was or "
        "was[g]['members'] != 0)}`. A rate is `(offset - began) * 1000 / (at - since)`.",
    ),
    discussion="A window holds changes, so a group without a row is as it was: idle, or merely "
    "between two commits. A group that was killed is silent as well, until its session times out; "
    "then the broker writes that it has no members, and that is a change.\n\n"
    "`came` isn't certain either: the group may only have been silent in `before`. "
    "`fetch(group, 0, now)` shows its former windows, as far as they're kept.\n\n"
    "The time between the two commits divides, not the length of a window: in windows of 5 s two "
    "commits may be 0.1 s apart, or 9.9.",
)  # fmt: skip
