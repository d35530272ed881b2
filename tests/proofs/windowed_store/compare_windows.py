"""Answers to "Compare two windows", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.exercises.chapters.windowed_store.compare_windows_mistakes import MISTAKES


def step_by_step(before, after):
    found = {"came": set(), "left": set(), "silent": set(), "rates": {}}
    former = {row["group"]: row for row in before}
    for row in after:
        group, old = row["group"], former.pop(row["group"], None)
        if row["members"] == 0 and (old is None or old["members"] != 0):
            found["left"].add(group)
        elif old is None:
            found["came"].add(group)
        for (topic, partition), (offset, at) in row["committed"].items():
            start = old and old["committed"].get((topic, partition))
            if start and at > start[1]:
                rate = (offset - start[0]) / ((at - start[1]) / 1000)
                found["rates"][group, topic, partition] = rate
    found["silent"] = set(former)
    return found


def flat(rows):
    return {(row["group"], *part): said for row in rows for part, said in row["committed"].items()}


def by_flat_dictionaries(before, after):
    was, now = flat(before), flat(after)
    members = [{row["group"]: row["members"] for row in rows} for rows in (before, after)]
    left = {g for g, n in members[1].items() if n == 0 and members[0].get(g, 1) != 0}
    return {
        "rates": {
            key: 1000.0 * (now[key][0] - was[key][0]) / (now[key][1] - was[key][1])
            for key in was.keys() & now.keys()
            if now[key][1] != was[key][1]
        },
        "came": frozenset(set(members[1]) - set(members[0]) - left),
        "left": left,
        "silent": members[0].keys() - members[1].keys(),
    }


def with_other(**other):
    """The right answer with some of its parts made otherwise, from both windows' rows by group."""

    def answer(before, after):
        was, now = ({row["group"]: row for row in rows} for rows in (before, after))
        return {**step_by_step(before, after), **{k: f(was, now) for k, f in other.items()}}

    return answer


def counted_per_ms(before, after):
    rates = step_by_step(before, after)["rates"]
    slow = {key: rate / 1000 for key, rate in rates.items()}
    return {**step_by_step(before, after), "rates": slow}


def missing_is_dead(before, after):
    was, now = ({row["group"] for row in rows} for rows in (before, after))
    return {**step_by_step(before, after), "came": now - was, "left": was - now}


def brackets(before, after):
    former = {row["group"]: row for row in before}
    for row in after:
        former[row["group"]]
    return step_by_step(before, after)


def changes_rows(before, after):
    found = step_by_step(before, after)
    for row in after:
        row["members"] = row["members"] or 0
    return found


def exchanged(after, before):
    return step_by_step(before, after)


def prints_it(before, after):
    print(step_by_step(before, after))


def zero_division(before, after):
    old = flat(before)
    rates = {
        key: (offset - old[key][0]) * 1000 / (at - old[key][1])
        for key, (offset, at) in flat(after).items()
        if key in old
    }
    return {**step_by_step(before, after), "rates": rates}


catalogue = Catalogue(
    right=[step_by_step, by_flat_dictionaries],
    wrong=[
        (missing_is_dead, "taken for one that left"),
        (counted_per_ms, "per millisecond"),
        (zero_division, "divides by 0"),
        (brackets, "raised KeyError"),
        (exchanged, "changed places"),
        (prints_it, "prints the value"),
        (changes_rows, "changes the input"),
        (with_other(left=lambda was, now: {g for g in now if not now[g]["members"]}), "None"),
        (with_other(silent=lambda was, now: now.keys() - was.keys()), "`before` only"),
        (with_other(came=lambda was, now: sorted(now.keys() - was.keys())), "a set is asked for"),
        (with_other(left=lambda was, now: set()), "0 members: it left"),
        (lambda before, after: {"came": set(), "left": set(), "silent": set()}, "no 'rates'"),
        (lambda before, after: (set(), set(), set(), {}), "A dictionary with the keys"),
        (lambda rows: {}, "Keep the parameters"),
    ],
    shortcuts=[
        (lambda before, after: step_by_step(before[:3], after[:3]), "drawn by chance"),
    ],
    models=MISTAKES,
)
