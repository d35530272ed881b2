"""Chapter 11: The clock of both topics."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.event_time_timeout.both_clocks_mistakes import MISTAKES


def business_clock(newest: Mapping[str, int], topics: Sequence[str]) -> int | None:
    if any(topic not in newest for topic in topics):
        return None
    return min(newest[topic] for topic in topics)


_BOTH = ["tracking", "orders"]


def _case(newest: dict[str, int], topics: list[str], says: str) -> Case:
    return Case((newest, topics), business_clock(newest, topics), says)


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(11)
    names = ["tracking", "orders", "returns", "clicks"]
    for size in range(1, 21):
        topics = draw.sample(names, 1 + size % 4)
        there = topics if draw.random() < 0.7 else draw.sample(topics, draw.randrange(len(topics)))
        others = ["audit"] if draw.random() < 0.3 else []
        times = (0, 7, 10**6, 1_700_000_000_000 + size)
        newest = {name: draw.choice(times) for name in [*others, *there]}
        yield _case(newest, topics, "These clocks were drawn by chance. What do they say?")


_CASES = [
    _case(
        {"tracking": 40, "orders": 25}, _BOTH,
        "Orders have come to 25. An order of 30 may still come, so nothing after 25 is settled.",
    ),
    _case(
        {"tracking": 12, "orders": 25}, _BOTH,
        "Now tracking is behind: everything up to 12 has come from both.",
    ),
    _case(
        {"tracking": 40}, _BOTH,
        "Orders have given nothing yet. Nobody knows where they stand: there's no clock.",
    ),
    _case({"orders": 25}, _BOTH, "Tracking has given nothing yet: there's no clock."),
    _case({}, _BOTH, "Nothing has come from either: there's no clock."),
    _case(
        {"tracking": 40, "orders": 0}, _BOTH,
        "Orders stand at time 0. That's a time like any other: the clock is 0, not None.",
    ),
    _case(
        {"tracking": 0, "orders": 40}, _BOTH,
        "Tracking stands at time 0. That's a time like any other, and the smaller one.",
    ),
    _case(
        {"tracking": 40, "orders": 25, "audit": 3}, _BOTH,
        "`audit` is another topic, which isn't merged: it holds nobody back.",
    ),
    _case(
        {"tracking": 40, "audit": 3}, _BOTH,
        "Orders have given nothing yet; `audit` doesn't stand in for them.",
    ),
    _case({"tracking": 30, "orders": 30}, _BOTH, "Both have come to 30."),
    _case(
        {"tracking": 1_700_000_040_000, "orders": 1_700_000_025_000}, _BOTH,
        "Times of today, in ms since 1970: orders have come to the smaller one.",
    ),
    _case(
        {"tracking": 40, "orders": 25, "returns": 33}, [*_BOTH, "returns"],
        "Three topics: the slowest decides.",
    ),
    _case(
        {"tracking": 40, "orders": 25}, [*_BOTH, "returns"],
        "Three topics are merged, and `returns` has given nothing yet.",
    ),
]  # fmt: skip

both_clocks = Problem(
    name="The clock of both topics",
    task="`newest` maps a topic to the newest event time that it has given, in ms; a topic that "
    "has given nothing isn't in it, and one that isn't merged may be. `topics` are all that are "
    "merged. Write the function that returns the event time up to which **all** of these have "
    "come, or `None` while that isn't known.\n\n"
    '`{"tracking": 40, "orders": 25}` with `["tracking", "orders"]` gives `25`.',
    stub="def business_clock(newest, topics):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_CASES, MISTAKES), by_cases(smallest_first(_drawn_cases()))
    ),
    hints=(
        "One topic is at 40, another at 25. Up to which time is nothing more to be expected from "
        "either?",
        "First ask whether every topic is in `newest`. Then look for the slowest.",
        "`all(topic in newest for topic in topics)` is the question, and "
        "`min(newest[topic] for topic in topics)` the answer.",
    ),
    reference=business_clock,
    discussion="It's the watermark of two inputs: each has its own, and the smaller one counts. "
    "Spark does the same with `multipleWatermarkPolicy=min`, its default, if each topic is a "
    "stream of its own; a single `readStream` of both has one watermark, by the fastest.\n\n"
    "The price is that the slowest decides: a topic that stands still stops everybody.",
)
