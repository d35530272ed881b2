"""Chapter 11: The clock of both topics."""

from workbook.classroom.exercise import case, exercise, wrong


def business_clock(newest, topics):
    if any(topic not in newest for topic in topics):
        return None
    return min(newest[topic] for topic in topics)


def by_list(newest, topics):
    times = [newest.get(topic) for topic in topics]
    return None if None in times else sorted(times)[0]


def known(newest, topics):
    return all(topic in newest for topic in topics)


def of_times(pick, known=known, otherwise=None):
    """Make an answer that picks from the times of the ``topics``, where they are known."""

    def answer(newest, topics):
        return pick([newest[t] for t in topics]) if known(newest, topics) else otherwise

    return answer


def instead(other):
    return lambda newest, topics: min(newest.get(topic, other) for topic in topics)


def left_out(newest, topics):
    return min((newest[topic] for topic in topics if topic in newest), default=None)


NAMES = ("tracking", "orders", "returns", "clicks")
BOTH = ["tracking", "orders"]


def draw(random, size):
    topics = random.sample(NAMES, 1 + size % 4)
    missing = random.choice((0, 0, 0, 0, 1, 1, 2, 4))
    others = random.choice(([], [], ["audit"], ["audit", "a"]))
    there = random.sample([*topics[missing:], *others], len(topics[missing:]) + len(others))
    times = (0, 1, 7, 7, 10**6, 1_700_000_000_000 + size)
    return {name: random.choice(times) for name in there}, topics


both_clocks = exercise(
    business_clock,
    name="The clock of both topics",
    task="`newest` maps a topic to the newest event time that it has given, in ms; a topic that "
    "has given nothing isn't in it, and one that isn't merged may be. `topics` are all that are "
    "merged. Write the function that returns the event time up to which **all** of these have "
    "come, or `None` while that isn't known.\n\n"
    '`{"tracking": 40, "orders": 25}` with `["tracking", "orders"]` gives `25`.',
    cases=[
        case("Orders have come to 25. An order of 30 may still come, so nothing after 25 is "
             "settled.", {"tracking": 40, "orders": 25}, BOTH),
        case("Now tracking is behind: everything up to 12 has come from both.",
             {"tracking": 12, "orders": 25}, BOTH),
        case("Orders have given nothing yet. Nobody knows where they stand: there's no clock.",
             {"tracking": 40}, BOTH),
        case("Tracking has given nothing yet: there's no clock.", {"orders": 25}, BOTH),
        case("Nothing has come from either: there's no clock.", {}, BOTH),
        case("Orders stand at time 0. That's a time like any other: the clock is 0, not None.",
             {"tracking": 40, "orders": 0}, BOTH),
        case("Tracking stands at time 0. That's a time like any other, and the smaller one.",
             {"tracking": 0, "orders": 40}, BOTH),
        case("Both have come to 30.", {"tracking": 30, "orders": 30}, BOTH),
        case("`audit` is another topic, which isn't merged: it holds nobody back.",
             {"tracking": 40, "orders": 25, "audit": 3}, BOTH),
        case("Orders have given nothing yet; `audit` doesn't stand in for them.",
             {"tracking": 40, "audit": 3}, BOTH),
        case("Three topics: the slowest decides.",
             {"tracking": 40, "orders": 33, "returns": 25}, [*BOTH, "returns"]),
        case("Three topics are merged, and `returns` has given nothing yet.",
             {"tracking": 40, "orders": 25}, [*BOTH, "returns"]),
        case("These two topics are merged. They have come to 5 and 9.",
             {"clicks": 9, "audit": 3, "returns": 5}, ["returns", "clicks"]),
        case("Times of today, in ms since 1970: orders have come to the smaller one.",
             {"tracking": 1_700_000_040_000, "orders": 1_700_000_025_000}, BOTH),
    ],
    draw=draw,
    right=[by_list, of_times(min)],
    wrong=[
        wrong("It takes the topic that is ahead. The other one may still bring messages of earlier "
              "times, and their visits would be emitted without them.",
              of_times(max), lambda newest, topics: max(newest.values(), default=None)),
        wrong("A topic that has given nothing is left out. Where it stands isn't known, so neither "
              "is the clock.", left_out),
        wrong("Where a topic has given nothing, it takes some number in place of a time. Even 0 "
              "is a time. Nothing is known there: return `None`.", instead(0),
              instead(float("inf")), of_times(min, otherwise=0)),
        wrong("It raises an error where a topic has given nothing. Ask first whether it is in "
              "`newest`, and return `None` if not.", of_times(min, lambda *_: True), instead(None)),
        wrong("Time 0 is taken for nothing. It's a time like any other. Is an `if` asking whether "
              "the number is true?",
              of_times(min, lambda newest, topics: all(map(newest.get, topics))),
              lambda newest, topics: business_clock(newest, topics) or None),
        wrong("It looks at every topic in `newest`. One that isn't merged may be there, too: ask "
              "for those in `topics`.",
              lambda newest, topics: min(newest.values()) if known(newest, topics) else None),
    ],
    hints=(
        "One topic is at 40, another at 25. Up to which time is nothing more to be expected from "
        "either?",
        "First ask whether every topic is in `newest`. Then look for the slowest.",
        "`all(topic in newest for topic in topics)` is the question, and "
        "`min(newest[topic] for topic in topics)` the answer.",
    ),
    discussion="It's the watermark of two inputs: each has its own, and the smaller one counts. "
    "Spark does the same with `multipleWatermarkPolicy=min`, its default, if each topic is a "
    "stream of its own; a single `readStream` of both has one watermark, by the fastest.\n\n"
    "The price is that the slowest decides: a topic that stands still stops everybody.",
)  # fmt: skip
