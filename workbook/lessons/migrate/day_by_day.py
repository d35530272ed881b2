"""Chapter 44: Compare two tables day by day."""

from datetime import date, timedelta

from workbook.classroom.exercise import case, exercise, wrong

NAMES = ("rows", "total", "checksum")


def reconcile(old, new):
    found = {}
    for day in sorted(old.keys() | new.keys()):
        if day not in new:
            found[day] = "missing"
        elif day not in old:
            found[day] = "extra"
        else:
            for place, name in enumerate(("rows", "total", "checksum")):
                if old[day][place] != new[day][place]:
                    found[day] = name
                    break
    return found


def comparing(
    days=lambda old, new: {*old, *new}, missing="missing", extra="extra", compared=(0, 1, 2),
    differ=lambda before, after: before != after, absent=None,
    say=lambda names: names[0],
):  # fmt: skip
    """Compare as the reference does; each wrong answer varies one part."""

    def answer(old, new):
        found = {}
        for day in days(old, new):
            before, after = old.get(day, absent), new.get(day, absent)
            if after is None or before is None:
                found[day] = missing if after is None else extra
            elif names := [NAMES[n] for n in compared if differ(before[n], after[n])]:
                found[day] = say(names)
        return found

    return answer


def day(number):
    return date(2026, 6, number)


def draw(random, size):
    old, new = {}, {}
    for n in range(1 + size // 4):
        each, sums = date(2026, 2, 20) + timedelta(n), [random.randrange(40) for _ in NAMES]
        moved = [number + random.choice((-1, 0, 0, 1)) for number in sums]
        for table, has in ((old, sums), (new, random.choice((sums, moved, [*sums[:2], moved[2]])))):
            if random.random() < 0.8:
                table[each] = tuple(has)
    return old, new


SAME = {day(8): (2, 12, 500), day(9): (3, 20, 900)}

day_by_day = exercise(
    reconcile,
    name="Compare two tables day by day",
    task="`old` and `new` are dictionaries from day to a tuple of three whole numbers: (rows, "
    "total, checksum). Write the function that compares them.\n\n"
    "Return a dictionary from each day that differs to a text:\n\n"
    '- `"missing"` if only `old` has the day, `"extra"` if only `new` has it;\n'
    '- else the first of `"rows"`, `"total"`, `"checksum"` that isn\'t equal.\n\n'
    "Leave out a day that is equal in all three. If all days are equal, return `{}`. Don't "
    "change `old` and `new`.\n\n"
    "With `old = {8: (2, 12, 500), 9: (1, 3, 77)}` and `new = {8: (2, 12, 460)}` return "
    '`{8: "checksum", 9: "missing"}`.',
    cases=[
        case("Both days are equal, so no day differs.", SAME, dict(SAME)),
        case("The new table has nothing of the 9th.", SAME, {day(8): (2, 12, 500)}),
        case("Only the new table has the 9th.", {day(8): (2, 12, 500)}, SAME),
        case("The new table lacks a row of the 9th, so all three differ. `rows` is the first one.",
             SAME, SAME | {day(9): (2, 13, 400)}),
        case("A count is larger, so the total and the checksum differ.",
             SAME, SAME | {day(9): (3, 21, 1000)}),
        case("Two rows have each other's counts. Only the checksum differs.",
             SAME, SAME | {day(9): (3, 20, 870)}),
        case("Only the number of rows differs.", SAME, SAME | {day(8): (3, 12, 500)}),
        case("The 8th lacks a row, and the 9th has one more: over both days, the sums are equal.",
             SAME, {day(8): (1, 7, 300), day(9): (4, 25, 1100)}),
        case("The checksums differ by one, and are too large for a float.",
             {day(8): (2, 12, 2**60)}, {day(8): (2, 12, 2**60 + 1)}),
        case("Equal numbers needn't be the same object: compare by `!=`, not by `is`.",
             {day(8): (2, 12, int("9" * 18))}, {day(8): (2, 12, int("9" * 18))}),
        case("A day without rows is still a day that only `old` has.", {day(8): (0, 0, 0)}, {}),
        case("A day without rows is still a day that only `new` has.", {}, {day(8): (0, 0, 0)}),
    ],
    draw=draw,
    right=[comparing()],
    wrong=[
        wrong("It looks at the days of `old` only, so it doesn't find a day that only `new` has.",
              comparing(days=lambda old, new: old)),
        wrong("It looks at the days of `new` only, so it doesn't find a day that wasn't migrated.",
              comparing(days=lambda old, new: new)),
        wrong('`"missing"` and `"extra"` are swapped: only `old` has a missing day.',
              comparing(missing="extra", extra="missing")),
        wrong("It compares the checksum only, so it can't say whether rows are missing.",
              comparing(compared=(2,))),
        wrong("It names the last number that differs. The first one says most: if a row is "
              "missing, the checksum differs, too.", comparing(compared=(2, 1, 0)),
              comparing(say=lambda names: names[-1])),
        wrong("It returns all numbers that differ. Only the first one is asked for.",
              comparing(say=list), comparing(say=", ".join)),
        wrong("It takes a day that isn't there for one with zeros.", comparing(absent=(0, 0, 0))),
        wrong("It notices only a larger number in `new`, or only a smaller one. Both are wrong.",
              comparing(differ=lambda before, after: before < after),
              comparing(differ=lambda before, after: before > after)),
    ],
    hints=(
        "Which days do you have to look at? And what must you know before you can compare the "
        "numbers of a day?",
        "Go through the days of both dictionaries. Two questions come first: is it in `new`, and "
        "is it in `old`? Then compare the three numbers in their order, and stop at the first "
        "difference.",
        '`for place, name in enumerate(("rows", "total", "checksum"))` goes through the numbers: '
        "compare `old[day][place]` with `new[day][place]`.",
    ),
    discussion="The three numbers answer three questions. Are all rows there? Is the sum of their "
    "counts the same? Is each count in the right row? Only the checksum needs the content of each "
    "row, and it alone would tell you that a day differs. The other two say what to look for.\n\n"
    "And why by day? A difference of one in billions of rows says nothing. A difference on a day "
    "is something that you can list row by row.",
)  # fmt: skip
