"""Answers to "Which visits are complete", right and wrong, as learners may write them."""

from __future__ import annotations

import numpy as np
from proof import Catalogue

from workbook.lessons.event_time_timeout.timed_out_mistakes import MISTAKES


def newest(messages):
    return max(m["timestamp"] for m in messages)


def by_pairs(visits, clock, timeout):
    if clock is None:
        return []
    pairs = [(newest(messages), ssid) for ssid, messages in visits.items()]
    return [ssid for time, ssid in sorted(pairs) if clock - time > timeout]


def by_loop(visits, clock, timeout):
    done = []
    for ssid in sorted(visits):
        if clock is not None and all(m["timestamp"] < clock - timeout for m in visits[ssid]):
            done.append(ssid)
    done.sort(key=lambda ssid: newest(visits[ssid]))
    return done


def oldest(visits, clock, timeout):
    if clock is None:
        return []
    times = {ssid: min(m["timestamp"] for m in some) for ssid, some in visits.items()}
    return sorted((s for s in times if times[s] + timeout < clock), key=lambda s: (times[s], s))


def last_come(visits, clock, timeout):
    if clock is None:
        return []
    done = [s for s, some in visits.items() if some[-1]["timestamp"] + timeout < clock]
    return sorted(done, key=lambda s: (visits[s][-1]["timestamp"], s))


def any_message(visits, clock, timeout):
    if clock is None:
        return []
    done = [s for s in visits if any(m["timestamp"] + timeout < clock for m in visits[s])]
    return sorted(done, key=lambda s: (newest(visits[s]), s))


def at_once(visits, clock, timeout):
    pairs = sorted((newest(some), ssid) for ssid, some in visits.items())
    return [ssid for time, ssid in pairs if clock is not None and time + timeout <= clock]


def without_timeout(visits, clock, timeout):
    pairs = sorted((newest(some), ssid) for ssid, some in visits.items())
    return [ssid for time, ssid in pairs if clock is not None and time < clock]


def inverted(visits, clock, timeout):
    pairs = sorted((newest(some), ssid) for ssid, some in visits.items())
    return [ssid for time, ssid in pairs if clock is not None and time + timeout >= clock]


def with_rule(over):
    def answer(visits, clock, timeout):
        if clock is None:
            return []
        pairs = sorted((newest(some), ssid) for ssid, some in visits.items())
        return [ssid for time, ssid in pairs if over(time, clock, timeout)]

    return answer


def unsorted(visits, clock, timeout):
    if clock is None:
        return []
    return [ssid for ssid, some in visits.items() if newest(some) + timeout < clock]


def by_ssid(visits, clock, timeout):
    return sorted(unsorted(visits, clock, timeout))


def by_time(visits, clock, timeout):
    return sorted(unsorted(visits, clock, timeout), key=lambda ssid: newest(visits[ssid]))


def newest_first(visits, clock, timeout):
    return by_pairs(visits, clock, timeout)[::-1]


def no_none(visits, clock, timeout):
    pairs = [(newest(messages), ssid) for ssid, messages in visits.items()]
    return [ssid for time, ssid in sorted(pairs) if clock - time > timeout]


def falls_through(visits, clock, timeout):
    found = None
    if clock is not None:
        found = by_pairs(visits, clock, timeout)
    return found


def all_without_a_clock(visits, clock, timeout):
    return sorted(visits) if clock is None else by_pairs(visits, clock, timeout)


def as_a_dictionary(visits, clock, timeout):
    return {ssid: visits[ssid] for ssid in by_pairs(visits, clock, timeout)}


def messages_alone(visits, clock, timeout):
    return [visits[ssid] for ssid in by_pairs(visits, clock, timeout)]


def as_a_set(visits, clock, timeout):
    return set(by_pairs(visits, clock, timeout))


def an_array(visits, clock, timeout):
    return np.array(by_pairs(visits, clock, timeout))


def counts(visits, clock, timeout):
    return len(by_pairs(visits, clock, timeout))


def the_first(visits, clock, timeout):
    return next(iter(by_pairs(visits, clock, timeout)), "")


def dictionaries(visits, clock, timeout):
    return [{"ssid": ssid} for ssid in by_pairs(visits, clock, timeout)]


def pops(visits, clock, timeout):
    done = by_pairs(visits, clock, timeout)
    for ssid in done:
        visits.pop(ssid)
    return done


def by_the_newest(visits, clock, timeout):
    if clock is None:
        return []
    clock = max((newest(messages) for messages in visits.values()), default=0)
    return by_pairs(visits, clock, timeout)


def first_found(visits, clock, timeout):
    for ssid, messages in visits.items():
        if clock is not None and newest(messages) + timeout < clock:
            return [ssid]
    return []


def looks_at_one(visits, clock, timeout):
    done = []
    for ssid, messages in visits.items():
        if clock is not None and newest(messages) + timeout < clock:
            done.append(ssid)
        return done
    return done


def never(visits, clock, timeout):
    done = []
    for ssid, messages in visits.items():
        if clock is not None and newest(messages) > clock + 10 * timeout:
            done.append(ssid)
    return done


catalogue = Catalogue(
    right=[by_pairs, by_loop],
    wrong=[
        (oldest, "first or oldest message"),
        (last_come, "came last"),
        (any_message, "another one may come"),
        (at_once, "one step early"),
        (without_timeout, "forgets the time-out"),
        (inverted, "inverted"),
        (with_rule(lambda time, clock, timeout: time - timeout < clock), "on the wrong side"),
        (with_rule(lambda time, clock, timeout: abs(clock - time) > timeout), "the distance"),
        (with_rule(lambda time, clock, timeout: time + timeout * 1000 < clock), "one unit"),
        (with_rule(lambda time, clock, timeout: clock - time > 20), "always waits for 20"),
        (with_rule(lambda time, clock, timeout: time - clock > timeout), "wrong way round"),
        (never, "finds no complete visit"),
        (by_the_newest, "newest message of all visits"),
        (first_found, "one visit at most"),
        (as_a_set, "in a set"),
        (unsorted, "in which they were opened. Sort them"),
        (by_ssid, "sorts by ssid"),
        (by_time, "sort by ssid, too"),
        (newest_first, "begins with the newest"),
        (no_none, "raises where there's no clock"),
        (falls_through, "returns None"),
        (all_without_a_clock, "Without a clock"),
        (as_a_dictionary, "list of their ssids"),
        (an_array, "of numpy or pandas"),
        (counts, "returns a number"),
        (the_first, "one ssid"),
        (dictionaries, "something else than ssids"),
        (pops, "changes the input"),
        (lambda visits, clock: [], "Keep the parameters"),
    ],
    models=MISTAKES,
    same=[(looks_at_one, first_found), (messages_alone, as_a_dictionary)],
)
