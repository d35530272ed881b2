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
    task="`newest` maps the name of a topic to the newest event time (ms) among its messages so "
    "far. A topic without a message isn't in it. `topics` lists the topics that are merged; "
    "`newest` may contain others, which don't count. Write a function that returns the event time "
    "which all topics in `topics` have reached, or `None` while that isn't known.\n\n"
    '`{"tracking": 40, "orders": 25}` with `["tracking", "orders"]` gives `25`.',
    cases=[
        case("Orders have reached 25. An order of 30 may still arrive, so only the time up to 25 "
             "is settled.", {"tracking": 40, "orders": 25}, BOTH),
        case("Now tracking is behind: both topics have reached 12.",
             {"tracking": 12, "orders": 25}, BOTH),
        case("There's no order yet, so the time that orders have reached isn't known.",
             {"tracking": 40}, BOTH),
        case("Neither topic has a message yet, so there's no clock.", {}, BOTH),
        case("Orders have reached time 0. That's a time like any other: the clock is 0, not None.",
             {"tracking": 40, "orders": 0}, BOTH),
        case("Tracking has reached time 0. That's a time like any other, and the smaller one.",
             {"tracking": 0, "orders": 40}, BOTH),
        case("`audit` isn't merged, so it doesn't hold the clock back.",
             {"tracking": 40, "orders": 25, "audit": 3}, BOTH),
        case("There's no order yet, and `audit` can't replace the orders.",
             {"tracking": 40, "audit": 3}, BOTH),
        case("Three topics are merged: the slowest decides.",
             {"tracking": 40, "orders": 33, "returns": 25}, [*BOTH, "returns"]),
        case("These two topics are merged. They have reached 5 and 9.",
             {"clicks": 9, "audit": 3, "returns": 5}, ["returns", "clicks"]),
        case("Real times, in ms since 1970: orders have reached the smaller one.",
             {"tracking": 1_700_000_040_000, "orders": 1_700_000_025_000}, BOTH),
    ],
    draw=draw,
    right=[by_list, of_times(min)],
    wrong=[
        wrong("It takes the topic that is ahead. The other topic may still deliver messages of "
              "earlier times, and their visits would be emitted without them.",
              of_times(max), lambda newest, topics: max(newest.values(), default=None)),
        wrong("It leaves out a topic without a message. The time that this topic has reached isn't "
              "known, so the clock isn't known either.", left_out),
        wrong("For a topic without a message it uses a number in place of a time. Even 0 is a "
              "time. Return `None`, because the time isn't known.", instead(0),
              instead(float("inf")), of_times(min, otherwise=0)),
        wrong("It raises an error if a topic has no message yet. Ask first whether the topic is in "
              "`newest`, and return `None` if it isn't.",
              of_times(min, lambda *_: True), instead(None)),
        wrong("It treats time 0 as if there were no time. 0 is a time like any other. Does an `if` "
              "ask whether the number is true?",
              of_times(min, lambda newest, topics: all(map(newest.get, topics))),
              lambda newest, topics: business_clock(newest, topics) or None),
        wrong("It looks at every topic in `newest`. There may be topics that aren't merged: look "
              "only at those in `topics`.",
              lambda newest, topics: min(newest.values()) if known(newest, topics) else None),
    ],
    hints=(
        "One topic has reached 40, the other 25. Up to which time can neither of them deliver "
        "another message?",
        "First ask whether every topic is in `newest`. Then find the slowest one.",
        "`all(topic in newest for topic in topics)` is the question, and "
        "`min(newest[topic] for topic in topics)` the answer.",
    ),
    discussion="This is the watermark of two inputs: each has its own, and the smaller one counts. "
    "Spark does the same by default if each topic is a stream of its own "
    "(`multipleWatermarkPolicy=min`). If a single `readStream` reads both topics, it has one "
    "watermark, which follows the fastest partition.\n\n"
    "The price is that the slowest topic decides: if it stops, the clock stops.",
)  # fmt: skip
