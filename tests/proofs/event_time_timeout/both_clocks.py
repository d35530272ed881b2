"""Answers to "The clock of both topics", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.event_time_timeout.both_clocks_mistakes import MISTAKES


def by_list(newest, topics):
    times = [newest.get(topic) for topic in topics]
    return None if None in times else min(times)


def by_sets(newest, topics):
    if set(topics) - set(newest):
        return None
    return sorted(newest[topic] for topic in topics)[0]


def by_length(newest, topics):
    if len(newest) < len(topics):
        return None
    return sorted(newest.values())[0]


def same_length(newest, topics):
    return min(newest.values()) if len(newest) == len(topics) else None


def by_loop(newest, topics):
    clock = None
    for topic in topics:
        if topic not in newest:
            return None
        if clock is None or newest[topic] < clock:
            clock = newest[topic]
    return clock


def fastest(newest, topics):
    return None if len(newest) < len(topics) else max(newest.values())


def of_those_that_came(newest, topics):
    return min(newest.values(), default=None)


def nothing_is_zero(newest, topics):
    return min(newest.get(topic, 0) for topic in topics)


def two(newest, topics):
    if len(newest) != 2:
        return None
    return min(newest.values())


def by_their_names(newest, topics):
    if "tracking" in newest and "orders" in newest:
        return min(newest["tracking"], newest["orders"])
    return None


def unpacks(newest, topics):
    one, other = topics
    if one in newest and other in newest:
        return min(newest[one], newest[other])
    return None


def by_truth(newest, topics):
    for topic in topics:
        if not newest.get(topic):
            return None
    return min(newest[topic] for topic in topics)


def key_error(newest, topics):
    return min([newest[t] for t in topics])


def tracking_only(newest, topics):
    return newest.get("tracking")


def the_mean(newest, topics):
    if not all(topic in newest for topic in topics):
        return None
    return sum(newest[topic] for topic in topics) / len(topics)


def distance(newest, topics):
    if not all(topic in newest for topic in topics):
        return None
    times = [newest[topic] for topic in topics]
    return max(times) - min(times)


def name(newest, topics):
    if not all(topic in newest for topic in topics):
        return None
    return min(topics, key=newest.get)


def minus_one(newest, topics):
    if not all(topic in newest for topic in topics):
        return -1
    return min(newest[topic] for topic in topics)


def none_among_them(newest, topics):
    return min([newest.get(topic) for topic in topics])


def from_zero(newest, topics):
    clock = 0
    for topic in topics:
        if topic not in newest:
            return None
        clock = min(clock, newest[topic])
    return clock


def last_one(newest, topics):
    clock = None
    for topic in topics:
        if topic not in newest:
            return None
        clock = newest[topic]
    return clock


def in_seconds(newest, topics):
    clock = by_list(newest, topics)
    return clock if clock is None else clock // 1000


def name_of_any(newest, topics):
    return min(newest, key=newest.get) if all(topic in newest for topic in topics) else None


def whether(newest, topics):
    return not set(topics) - newest.keys()


catalogue = Catalogue(
    right=[by_list, by_sets, by_loop],
    wrong=[
        (fastest, "the topic that is ahead"),
        (of_those_that_came, "is left out"),
        (nothing_is_zero, "the clock is 0"),
        (two, "counts to two"),
        (by_length, "every topic in `newest`"),
        (same_length, "makes it None"),
        (by_truth, "Time 0 is taken for nothing"),
        (key_error, "Return `None` there"),
        (tracking_only, "one topic only"),
        (the_mean, "a mean"),
        (distance, "distance between"),
        (name, "the name of the slowest"),
        (minus_one, "something else than a time"),
        (none_among_them, "`get` gives None"),
        (from_zero, "begins with 0"),
        (last_one, "by its place or its name"),
        (in_seconds, "nothing is to be converted"),
        (whether, "It says whether"),
        (lambda newest: min(newest.values()), "Keep the parameters"),
    ],
    models=MISTAKES,
    same=[(by_their_names, two), (unpacks, two), (name_of_any, name)],
)
