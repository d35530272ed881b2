"""Answers to "Pause and resume", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.clamp.four_cases import goes_on
from workbook.lessons.clamp.pause_and_resume_mistakes import MISTAKES


def by_loop(tops, paused, max_lead):
    pause, resume = [], []
    for topic in tops:
        [other] = [name for name in tops if name != topic]
        may = goes_on(tops[topic], tops[other], max_lead)
        if may and topic in paused:
            resume.append(topic)
        elif not may and topic not in paused:
            pause.append(topic)
    return pause, resume


def by_reversed(tops, paused, max_lead):
    others = list(tops)[::-1]
    may = {t: goes_on(tops[t], tops[o], max_lead) for t, o in zip(tops, others, strict=True)}
    return (
        [t for t in tops if not may[t] and t not in paused],
        [t for t in tops if may[t] and t in paused],
    )


def by_hand(tops, paused, max_lead):
    (a, first), (b, second) = tops.items()
    leader = None
    if first is not None and (second is None or first - second > max_lead):
        leader = a
    elif second is not None and (first is None or second - first > max_lead):
        leader = b
    pause = [leader] if leader and leader not in paused else []
    return pause, [t for t in tops if t in paused and t != leader]


def by_begun(tops, paused, max_lead):
    pause, resume = [], []
    for topic, other in zip(tops, reversed(tops), strict=True):
        if tops[topic] is None:
            continue
        if goes_on(tops[topic], tops[other], max_lead):
            resume += [topic] if topic in paused else []
        elif topic not in paused:
            pause += [topic]
    return pause, resume


def waiting(tops, max_lead):
    a, b = tops
    found = [] if goes_on(tops[a], tops[b], max_lead) else [a]
    return found if goes_on(tops[b], tops[a], max_lead) else [*found, b]


def never_resumes(tops, paused, max_lead):
    return [t for t in waiting(tops, max_lead) if t not in paused], []


def all_of_them(tops, paused, max_lead):
    wait = waiting(tops, max_lead)
    return wait, [t for t in tops if t not in wait]


def pauses_again(tops, paused, max_lead):
    wait = waiting(tops, max_lead)
    return wait, [t for t in tops if t in paused and t not in wait]


def resumes_more(tops, paused, max_lead):
    wait = waiting(tops, max_lead)
    return [t for t in wait if t not in paused], [t for t in tops if t not in wait]


def resumes_all(tops, paused, max_lead):
    return [t for t in waiting(tops, max_lead) if t not in paused], list(paused)


def exchanged(tops, paused, max_lead):
    pause, resume = by_loop(tops, paused, max_lead)
    return resume, pause


def with_rule(rule):
    def steer(tops, paused, max_lead):
        pause, resume = [], []
        for topic in tops:
            [other] = [name for name in tops if name != topic]
            may = rule(tops[topic], tops[other], max_lead)
            if may and topic in paused:
                resume.append(topic)
            elif not may and topic not in paused:
                pause.append(topic)
        return pause, resume

    return steer


def no_start(own, other, max_lead):
    if own is None or other is None:
        return False
    return own - other <= max_lead


def free_start(own, other, max_lead):
    if own is None or other is None:
        return True
    return own - other <= max_lead


def first_only(tops, paused, max_lead):
    one, other = tops
    may = goes_on(tops[one], tops[other], max_lead)
    pause = [one] if not may and one not in paused else []
    return pause, [t for t in tops if t in paused and (t != one or may)]


def second_only(tops, paused, max_lead):
    one, other = tops
    may = goes_on(tops[other], tops[one], max_lead)
    pause = [other] if not may and other not in paused else []
    return pause, [t for t in tops if t in paused and (t != other or may)]


def one_list(tops, paused, max_lead):
    return waiting(tops, max_lead)


def list_of_lists(tops, paused, max_lead):
    return [*by_loop(tops, paused, max_lead)]


def sets(tops, paused, max_lead):
    wait = set(waiting(tops, max_lead))
    return wait - set(paused), set(paused) - wait


def one_name(tops, paused, max_lead):
    pause, resume = by_loop(tops, paused, max_lead)
    return (pause[0] if pause else None), (resume[0] if resume else None)


def one_at_a_time(tops, paused, max_lead):
    wait = waiting(tops, max_lead)
    if paused:
        return [], [t for t in paused if t not in wait]
    return wait, []


def either(tops, paused, max_lead):
    pause, resume = by_loop(tops, paused, max_lead)
    if pause:
        return pause, []
    return [], resume


def as_paused(tops, paused, max_lead):
    wait = waiting(tops, max_lead)
    return [t for t in wait if t not in paused], [t for t in paused if t not in wait]


def by_set(tops, paused, max_lead):
    wait = waiting(tops, max_lead)
    return list(set(wait) - set(paused)), list(set(paused) - set(wait))


def by_name(tops, paused, max_lead):
    return tuple(sorted(some) for some in by_loop(tops, paused, max_lead))


def one_object(tops, paused, max_lead):
    pause = resume = []
    wait = waiting(tops, max_lead)
    for topic in tops:
        if topic in wait and topic not in paused:
            pause.append(topic)
        elif topic in paused and topic not in wait:
            resume.append(topic)
    return pause, resume


def generators(tops, paused, max_lead):
    wait = waiting(tops, max_lead)
    return (t for t in wait if t not in paused), (t for t in paused if t not in wait)


def filters(tops, paused, max_lead):
    wait = waiting(tops, max_lead)
    return filter(lambda t: t not in paused, wait), filter(lambda t: t not in wait, paused)


def letters(tops, paused, max_lead):
    pause, resume = [], []
    wait = waiting(tops, max_lead)
    for topic in tops:
        if topic in wait and topic not in paused:
            pause += topic
        elif topic in paused and topic not in wait:
            resume += topic
    return pause, resume


def a_dictionary(tops, paused, max_lead):
    pause, resume = by_loop(tops, paused, max_lead)
    return {"pause": pause, "resume": resume}


def their_tops(tops, paused, max_lead):
    return tuple([tops[t] for t in some] for some in by_loop(tops, paused, max_lead))


def items(tops, paused, max_lead):
    pause, resume = by_loop(tops, paused, max_lead)
    return [i for i in tops.items() if i[0] in pause], [i for i in tops.items() if i[0] in resume]


def tuples(tops, paused, max_lead):
    return tuple(tuple(some) for some in by_loop(tops, paused, max_lead))


def three(tops, paused, max_lead):
    return *by_loop(tops, paused, max_lead), waiting(tops, max_lead)


def truths(tops, paused, max_lead):
    return tuple(bool(some) for some in by_loop(tops, paused, max_lead))


def in_a_text(tops, paused, max_lead):
    wait, there = waiting(tops, max_lead), " ".join(paused)
    return [t for t in wait if t not in there], [t for t in tops if t in there and t not in wait]


def resumes_by_text(tops, paused, max_lead):
    wait, there = waiting(tops, max_lead), str(paused)
    pause = [t for t in wait if t not in paused]
    return pause, [t for t in tops if t in there and t not in wait]


def by_two_names(tops, paused, max_lead):
    pause, resume = [], []
    for topic in tops:
        other = "orders" if topic == "tracking" else "tracking"
        may = goes_on(tops[topic], tops[other], max_lead)
        if may and topic in paused:
            resume.append(topic)
        elif not may and topic not in paused:
            pause.append(topic)
    return pause, resume


def in_place(tops, paused, max_lead):
    pause, resume = by_loop(tops, paused, max_lead)
    for topic in resume:
        paused.remove(topic)
    paused.extend(pause)
    return pause, resume


def returns_too_early(tops, paused, max_lead):
    pause, resume = [], []
    for topic in tops:
        [other] = [name for name in tops if name != topic]
        may = goes_on(tops[topic], tops[other], max_lead)
        if may and topic in paused:
            resume.append(topic)
        elif not may and topic not in paused:
            pause.append(topic)
        return pause, resume
    return pause, resume


def one_name_after_the_other(tops, paused, max_lead):
    pause, resume = [], []
    if not goes_on(tops["tracking"], tops["orders"], max_lead):
        if "tracking" not in paused:
            pause.append("tracking")
    elif "tracking" in paused:
        resume.append("tracking")
    if not goes_on(tops["orders"], tops["tracking"], max_lead):
        if "orders" not in paused:
            pause.append("orders")
    elif "orders" in paused:
        resume.append("orders")
    return pause, resume


catalogue = Catalogue(
    right=[by_loop, by_reversed, by_hand, by_begun],
    wrong=[
        (never_resumes, "never resumes"),
        (all_of_them, "doesn't look at `paused`"),
        (pauses_again, "pauses again"),
        (resumes_more, "resumes what isn't paused"),
        (resumes_all, "resumes everything"),
        (exchanged, "lists are exchanged"),
        (with_rule(lambda own, other, most: goes_on(other, own, most)), "that is behind"),
        (with_rule(no_start), "it pauses both"),
        (with_rule(free_start), "it pauses nobody. The one"),
        (with_rule(lambda own, other, most: goes_on(own, own, most)), "compared with itself"),
        (with_rule(lambda own, other, most: goes_on(own, other, 0)), "Any lead is too much"),
        (with_rule(lambda own, other, most: goes_on(own, other, most - 1)), "exactly `max_lead`"),
        (with_rule(lambda own, other, most: not goes_on(own, other, most)), "inverted"),
        (first_only, "first topic only"),
        (second_only, "second topic only"),
        (one_list, "returns one list"),
        (list_of_lists, "inside a third one"),
        (sets, "These are sets"),
        (one_name, "in place of lists"),
        (one_at_a_time, "pauses nobody else"),
        (either, "Both may be due"),
        (in_place, "changes the input"),
        (as_paused, "in the order of `tops`."),
        (one_object, "Both names mean one list"),
        (generators, "generator in place of a list"),
        (filters, "filter in place of a list"),
        (letters, "letter by letter"),
        (a_dictionary, "a dictionary"),
        (their_tops, "hold tops"),
        (items, "hold pairs"),
        (tuples, "These are tuples"),
        (three, "something else than two lists"),
        (truths, "a bool where"),
        (in_a_text, "`orders` isn't paused. It's another"),
        (resumes_by_text, "nothing to resume"),
        (by_two_names, "by their names"),
        (with_rule(lambda own, other, most: None), "your `goes_on` returns None"),
        (with_rule(lambda own, other, most: goes_on(own, other, 10)), "always allows 10"),
        (lambda tops, max_lead: ([], []), "Keep the parameters"),
    ],
    models=MISTAKES,
    shortcuts=[
        (by_set, "in the order of `tops`."),
        (by_name, "in the order of `tops`."),
        (lambda tops, paused, max_lead: ("tracking", None), "in place of lists"),
    ],
    same=[(returns_too_early, first_only), (one_name_after_the_other, by_two_names)],
)
