"""Wrong answers to "The clock of both topics"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea

Newest = Mapping[str, int]
Topics = Sequence[str]


def _known(newest: Newest, topics: Topics) -> bool:
    return all(topic in newest for topic in topics)


def _unpacks(newest: Newest, topics: Topics) -> int | None:
    one, other = topics
    return min(newest[one], newest[other]) if _known(newest, topics) else None


def _two_that_came(newest: Newest, topics: Topics) -> int | None:
    times = [newest[topic] for topic in topics if topic in newest]
    return min(times) if len(times) == 2 else None


def _times(newest: Newest, topics: Topics) -> list[int]:
    return [newest[topic] for topic in topics]


def _or(otherwise: Any) -> Callable[[Newest, Topics], Any]:
    """Return an answer that is right but for what it gives while nothing is known."""
    return lambda newest, topics: (
        min(_times(newest, topics)) if _known(newest, topics) else otherwise
    )


MISTAKES = Mistakes()

MISTAKES += same_idea(
    lambda newest, topics: (
        max(newest[topic] for topic in topics) if _known(newest, topics) else None
    ),
    lambda newest, topics: max(newest.values()) if _known(newest, topics) else None,
    lambda newest, topics: max(newest.values(), default=None),
    lambda newest, topics: max(newest.values()),
    lambda newest, topics: None if len(newest) < len(topics) else max(newest.values()),
    cause="It takes the topic that is ahead. The other one may still bring messages of earlier "
    "times, and their visits would be emitted without them.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(newest.values(), default=None),
    lambda newest, topics: min(newest.values()),
    lambda newest, topics: min((newest[t] for t in topics if t in newest), default=None),
    cause="A topic that has given nothing is left out. Where it stands isn't known, so neither is "
    "the clock.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(newest.get(topic, 0) for topic in topics),
    cause="Where a topic has given nothing, the clock is 0. That would be 1970, which is a claim, "
    "too; return `None`.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(newest.get(topic, float("-inf")) for topic in topics),
    cause="Where a topic has given nothing, the clock is minus infinity. That isn't a time: return "
    "`None`.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(newest.get(topic, -1) for topic in topics),
    lambda newest, topics: min(newest.get(topic, float("inf")) for topic in topics),
    *(_or(it) for it in (float("inf"), float("nan"), "", "unknown", "None")),
    cause="Where a topic has given nothing, it gives something else than a time. Nothing is known "
    "there: return `None`.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(newest.get(topic) for topic in topics),
    lambda newest, topics: sorted(newest.get(topic) for topic in topics)[0],
    cause="`get` gives None for a topic that has given nothing, and None can't be compared with a "
    "time. Ask for it first, and return `None`.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(0, *_times(newest, topics)) if _known(newest, topics) else None,
    cause="It gives 0 whatever the times are: a loop that begins with 0 finds nothing smaller.",
)
MISTAKES += same_idea(
    lambda newest, topics: _times(newest, topics)[-1] if _known(newest, topics) else None,
    lambda newest, topics: _times(newest, topics)[0] if _known(newest, topics) else None,
    lambda newest, topics: newest[min(topics)] if _known(newest, topics) else None,
    lambda newest, topics: newest[max(topics)] if _known(newest, topics) else None,
    lambda newest, topics: newest[min(newest)] if _known(newest, topics) else None,
    cause="All topics are there, and it takes the time of one of them, by its place or its name. "
    "The smallest time decides.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(_times(newest, topics)) // 1000 if _known(newest, topics) else None,
    lambda newest, topics: min(_times(newest, topics)) / 1000 if _known(newest, topics) else None,
    cause="All times are in ms, and so is the clock: nothing is to be converted.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(newest.values()) if len(newest) == 2 else None,
    lambda newest, topics: (
        min(newest[topic] for topic in topics[:2]) if _known(newest, topics[:2]) else None
    ),
    _two_that_came,
    _unpacks,
    cause="It counts to two. `topics` may be three, with any names: ask for each of them.",
)


@MISTAKES.add(
    "Time 0 is taken for nothing. It's a time like any other. Is an `if` asking whether the number "
    "is true?"
)
def zero_is_nothing(newest: Newest, topics: Topics) -> int | None:
    times = [newest.get(topic) for topic in topics]
    return min(newest[topic] for topic in topics) if all(times) else None


MISTAKES += same_idea(
    lambda newest, topics: min(newest.values()) if _known(newest, topics) else None,
    lambda newest, topics: None if len(newest) < len(topics) else min(newest.values()),
    cause="It looks at every topic in `newest`. One that isn't merged may be there, too: ask for "
    "those in `topics`.",
)
MISTAKES += same_idea(
    lambda newest, topics: min(newest.values()) if len(newest) == len(topics) else None,
    lambda newest, topics: min(newest.values()) if set(newest) == set(topics) else None,
    cause="A topic in `newest` that isn't merged makes it None. Ask only whether those in `topics` "
    "are there.",
)


@MISTAKES.add("It raises where a topic has given nothing. Return `None` there.")
def believes_all_are_there(newest: Newest, topics: Topics) -> int:
    return min(newest[topic] for topic in topics)


MISTAKES += same_idea(
    lambda newest, topics: newest.get(topics[0]),
    lambda newest, topics: newest.get(topics[-1]),
    lambda newest, topics: newest.get("tracking"),
    lambda newest, topics: newest.get("orders"),
    cause="It's the clock of one topic only.",
)


@MISTAKES.add(
    "It's a mean. Half of the way between both clocks, one topic may still bring messages."
)
def mean(newest: Newest, topics: Topics) -> Any:
    known = _known(newest, topics)
    return sum(newest[topic] for topic in topics) / len(topics) if known else None


@MISTAKES.add("It's the distance between the topics. We want the time up to which both have come.")
def lead(newest: Newest, topics: Topics) -> int | None:
    times = [newest[topic] for topic in topics if topic in newest]
    return max(times) - min(times) if _known(newest, topics) else None


MISTAKES += same_idea(
    lambda newest, topics: min(topics, key=lambda t: newest[t]) if _known(newest, topics) else None,
    lambda newest, topics: min(newest, key=lambda t: newest[t]) if _known(newest, topics) else None,
    cause="It returns the name of the slowest topic. We want its time.",
)
MISTAKES += same_idea(
    _known,
    cause="It says whether all topics have given something. We want the time up to which they "
    "have come.",
)
