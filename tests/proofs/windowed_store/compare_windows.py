"""Answers to "Compare two windows", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.windowed_store.compare_windows_mistakes import MISTAKES


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
            if now[key][1] > was[key][1]
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


def with_rate(rate):
    """The right answer, but for the rate of two commits of a partition."""

    def answer(before, after):
        found, old, rates = step_by_step(before, after), flat(before), {}
        for key, (offset, at) in flat(after).items():
            if key in old and (moved := rate(offset, at, *old[key])) is not None:
                rates[key] = moved
        return {**found, "rates": rates}

    return answer


older_too = with_rate(
    lambda offset, at, began, since: (offset - began) * 1000 / (at - since) if at != since else None
)
older_the_other_way = with_rate(
    lambda offset, at, began, since: (
        (offset - began) * 1000 / abs(at - since) if at != since else None
    )
)
by_offset = with_rate(
    lambda offset, at, began, since: (
        (offset - began) * 1000 / (at - since) if offset > began else None
    )
)
equal_too = with_rate(
    lambda offset, at, began, since: (offset - began) * 1000 / (at - since) if at >= since else None
)
only_forward = with_rate(
    lambda offset, at, began, since: (
        (offset - began) * 1000 / (at - since) if at > since and offset >= began else None
    )
)
per_window = with_rate(
    lambda offset, at, began, since: (offset - began) / 5 if at > since else None
)
in_whole_seconds = with_rate(
    lambda offset, at, began, since: (
        (offset - began) / (at // 1000 - since // 1000) if at // 1000 > since // 1000 else None
    )
)
to_one_decimal = with_rate(
    lambda offset, at, began, since: (
        round((offset - began) * 1000 / (at - since), 1) if at > since else None
    )
)


def from_zero(before, after):
    old, rates = flat(before), {}
    for key, (offset, at) in flat(after).items():
        began, since = old.get(key, (0, 0))
        if at > since:
            rates[key] = (offset - began) * 1000 / (at - since)
    return {**step_by_step(before, after), "rates": rates}


def each_former_one(before, after):
    was = {row["group"]: row for row in before}
    rates = {}
    for row in after:
        if row["group"] in was:
            for part, (offset, at) in row["committed"].items():
                began, since = was[row["group"]]["committed"][part]
                if at > since:
                    rates[(row["group"], *part)] = (offset - began) * 1000 / (at - since)
    return {**step_by_step(before, after), "rates": rates}


def windows_exchanged(before, after):
    return step_by_step(after, before)


def had_members(was, now):
    return {g for g in now if now[g]["members"] == 0 and g in was and was[g]["members"]}


def asks_before(was, now):
    return {g for g in now if now[g]["members"] == 0 and was[g]["members"] != 0}


def still_where_it_was(was, now):
    same = {g for g in was.keys() & now.keys() if was[g]["committed"] == now[g]["committed"]}
    return (was.keys() - now.keys()) | same


def back_again(was, now):
    back = {g for g in was.keys() & now.keys() if was[g]["members"] == 0 and now[g]["members"]}
    return (now.keys() - was.keys() - {g for g in now if now[g]["members"] == 0}) | back


def came_with_members(was, now):
    return {g for g in now.keys() - was.keys() if now[g]["members"]}


def fewer_members(was, now):
    left = {g for g in now if now[g]["members"] == 0 and (g not in was or was[g]["members"] != 0)}
    both = {g for g in was.keys() & now.keys() if was[g]["members"] and now[g]["members"]}
    return left | {g for g in both if now[g]["members"] < was[g]["members"]}


def of_those_who_stay(was, now):
    stay = [{**row, "group": group} for group, row in now.items() if row["members"] != 0]
    return step_by_step(list(was.values()), stay)["rates"]


catalogue = Catalogue(
    right=[step_by_step, by_flat_dictionaries],
    wrong=[
        (missing_is_dead, "taken for one that left"),
        (counted_per_ms, "per millisecond"),
        (zero_division, "divides by 0"),
        (brackets, "It raises for a group without a row"),
        (each_former_one, "It raises for a partition without a commit"),
        (older_too, "older than the one in `before` gets a rate"),
        (by_offset, "It goes by the offset"),
        (only_forward, "`rates` lacks ('till', 'orders', 0): -80 records in 4.0 s are -20.0"),
        (per_window, "the length of a window"),
        (in_whole_seconds, "whole seconds before it divides"),
        (to_one_decimal, "records in 4.0 s are 11.25 a second. The other three are right"),
        (from_zero, "counted from offset 0"),
        (windows_exchanged, "The two windows have changed places"),
        (with_other(left=had_members), "that was silent in `before` can leave"),
        (with_other(silent=still_where_it_was), "`silent` has office: it has a row in `after`."),
        (with_other(came=back_again), "`came` has mail: it has a row in `before` as well. The"),
        (with_other(left=fewer_members), "`left` has till: its row in `after` has 1 member."),
        (with_other(rates=of_those_who_stay), "`rates` lacks ('mail', 'orders', 0): 2 records"),
        (
            with_other(
                came=lambda was, now: was.keys() - now.keys(),
                silent=lambda was, now: {
                    g for g in now.keys() - was.keys() if now[g]["members"] != 0
                },
            ),
            "`came` and `silent` have changed places",
        ),
        (
            with_other(
                came=lambda was, now: {g for g in now.keys() - was.keys() if now[g]["members"]}
            ),
            "`came` lacks office: it has a row in `after` only, with None for its members",
        ),
        (exchanged, "changed places"),
        (prints_it, "prints the value"),
        (changes_rows, "changes the input"),
        (with_other(left=lambda was, now: {g for g in now if not now[g]["members"]}), "None"),
        (
            with_other(silent=lambda was, now: now.keys() - was.keys()),
            "`silent` lacks mail: it has",
        ),
        (with_other(came=lambda was, now: sorted(now.keys() - was.keys())), "a set is asked for"),
        (with_other(left=lambda was, now: set()), "`left` lacks mail: its row in `after` has 0"),
        (lambda before, after: {"came": set(), "left": set(), "silent": set()}, "no 'rates'"),
        (lambda before, after: (set(), set(), set(), {}), "A dictionary with the keys"),
        (lambda rows: {}, "Keep the parameters"),
    ],
    shortcuts=[
        (lambda before, after: step_by_step(before[:3], after[:3]), " has g4: it has a row in"),
    ],
    same=[
        (older_the_other_way, older_too),
        (equal_too, zero_division),
        (with_other(left=asks_before), brackets),
    ],
    models=MISTAKES,
)
