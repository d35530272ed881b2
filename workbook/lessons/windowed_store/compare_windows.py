"""Chapter 32: Compare two windows."""

from workbook.classroom.exercise import case, exercise, wrong


def changed(before, after):
    left = {group for group, members in after.items() if members == 0 and before.get(group) != 0}
    came = after.keys() - before.keys() - left
    return {"left": left, "came": came, "silent": before.keys() - after.keys()}


NO_ROW = "no row"


def compared(
    left=lambda old, new: new == 0 and old != 0,
    came=lambda old, new: old == NO_ROW and new != 0,
    silent=lambda old, new: new == NO_ROW,
):
    """Return an answer with some of its rules changed, as the wrong answers need it.

    The rules get a group's members in both windows, or NO_ROW.
    """

    def answer(before, after):
        members = {g: (before.get(g, NO_ROW), after.get(g, NO_ROW)) for g in before | after}
        rules = {"left": left, "came": came, "silent": silent}
        return {name: {g for g, m in members.items() if rule(*m)} for name, rule in rules.items()}

    return answer


def draw(random, size):
    groups = [f"g{number}" for number in range(1 + size // 5)]
    return tuple(
        {group: random.choice((None, 0, 0, 1, 2)) for group in groups if random.random() < 0.8}
        for _ in ("before", "after")
    )


compare_windows = exercise(
    changed,
    name="Compare two windows",
    task="`before` and `after` are two windows of the store. Each is a dictionary with one entry "
    "for each group that changed in that window: from the group to the number of its members at "
    "the window's end. The number is `None` if no record describes the group. Return a dictionary "
    "of three sets:\n\n"
    "- `'left'`: groups with 0 members in `after`, unless they also had 0 in `before`;\n"
    "- `'came'`: groups with a row in `after` only, unless they are in `'left'`;\n"
    "- `'silent'`: groups with a row in `before` only.\n\n"
    "`changed({'till': 2, 'mail': 1, 'office': 1}, {'till': 2, 'mail': 0, 'audit': 1})` gives "
    "`{'left': {'mail'}, 'came': {'audit'}, 'silent': {'office'}}`.",
    cases=[
        case("till has the same members in both windows, so it's in none of the sets.",
             {"till": 2}, {"till": 2}),
        case("mail has a row in `before` only, so it's silent.", {"mail": 1}, {}),
        case("mail has a row in `before` only. It's silent with 0 members, too.", {"mail": 0}, {}),
        case("mail has a row in `after` only, so it came.", {}, {"mail": 1}),
        case("mail has 0 members in `after`, and 1 in `before`: it left.", {"mail": 1},
             {"mail": 0}),
        case("mail's only row has 0 members: it left, so it isn't in `came`.", {}, {"mail": 0}),
        case("mail had 0 members in `before` as well, so it's in none of the sets.", {"mail": 0},
             {"mail": 0}),
        case("mail has members again. It has rows in both windows, so it's in none of the sets.",
             {"mail": 0}, {"mail": 1}),
        case("No record describes office. None isn't 0, so it came.", {}, {"office": None}),
        case("No record described office in `before`. It has 0 members in `after`: it left.",
             {"office": None}, {"office": 0}),
        case("till has one member less, but not 0, so it's in none of the sets.",
             {"till": 2}, {"till": 1}),
    ],
    draw=draw,
    right=[compared()],
    wrong=[
        wrong("Your `left` contains groups without a row in `after`. A window holds changes, so a "
              "group that left has a row there, with 0 members.",
              compared(left=lambda old, new: new == NO_ROW),
              compared(left=lambda old, new: new == NO_ROW, came=lambda old, new: old == NO_ROW),
              compared(left=lambda old, new: new in (0, NO_ROW) and old != 0)),
        wrong("Your `came` contains a group whose only row has 0 members. It left: omit it.",
              compared(came=lambda old, new: old == NO_ROW)),
        wrong("A group that has no row in `before` can leave, too.",
              compared(left=lambda old, new: new == 0 and old not in (0, NO_ROW)),
              compared(left=lambda old, new: new == 0 and old not in (0, NO_ROW),
                       came=lambda old, new: old == NO_ROW)),
        wrong("Your `left` contains groups that had 0 members in `before`. They left earlier.",
              compared(left=lambda old, new: new == 0)),
        wrong("It treats None as 0 members. None means that no record describes the group.",
              compared(left=lambda old, new: not new and old != 0),
              compared(left=lambda old, new: not new and old,
                       came=lambda old, new: old == NO_ROW and new)),
        wrong("A silent group with 0 members is missing. Each group without a row in `after` is "
              "silent.", compared(silent=lambda old, new: new == NO_ROW and old != 0)),
    ],
    hints=(
        "Which groups have a row in both windows, which in one only? In which of these three "
        "kinds can a group have left?",
        "The keys of dictionaries can be subtracted like sets. `before.get(group)` is `None` for a "
        "group without a row.",
        "`left` is `{g for g in after if after[g] == 0 and before.get(g) != 0}`; then `came` is "
        "`after.keys() - before.keys() - left`.",
    ),
    discussion="A window holds changes, so nothing changed for a group without a row: it's idle, "
    "or merely between two commits. A group that was killed is silent as well until its session "
    "times out. Then the broker writes that it has no members, and that is a change.\n\n"
    "`came` isn't certain either, because the group may only have been silent in `before`. "
    "`fetch(group, 0, now)` shows its earlier windows, as far back as the store keeps them.",
)  # fmt: skip
