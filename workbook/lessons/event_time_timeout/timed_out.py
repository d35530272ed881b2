"""Chapter 11: Which visits are complete."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.event_time_timeout.timed_out_mistakes import (
    MISTAKES,
    Message,
    form,
)

Visits = dict[str, list[Message]]


def complete(visits: Mapping[str, Sequence[Message]], clock: int | None, timeout: int) -> list[str]:
    if clock is None:
        return []
    newest = {ssid: max(m["timestamp"] for m in messages) for ssid, messages in visits.items()}
    done = [ssid for ssid, time in newest.items() if time + timeout < clock]
    return sorted(done, key=lambda ssid: (newest[ssid], ssid))


def _visits(**times: Sequence[int]) -> Visits:
    return {ssid: [{"timestamp": time} for time in some] for ssid, some in times.items()}


def _case(visits: Visits, clock: int | None, says: str, timeout: int = 20) -> Case:
    return Case((visits, clock, timeout), complete(visits, clock, timeout), says)


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(12)
    for size in range(1, 21):
        at = draw.choice((0, 1_000, 1_700_000_000_000))
        names = draw.sample([f"v{n}" for n in range(100)], size)
        visits = _visits(**{
            name: [at + draw.randrange(60) for _ in range(draw.randint(1, 4))] for name in names
        })  # fmt: skip
        timeout = draw.choice((1, 20, 45))
        clock = draw.choice((None, at, at + 50, at + 50, at + 50, at + 200))
        yield _case(visits, clock, "These visits were drawn by chance. Which one differs?", timeout)


_CASES = [
    _case(_visits(v1=[5], v2=[40]), 50, "At 50, `v1` has had no message for 45: it's complete."),
    _case(
        _visits(v1=[5, 12, 33]),
        50,
        "Its newest message is of 33. Until 53 another one may come that belongs to it.",
    ),
    _case(_visits(v1=[33, 5]), 50, "Messages come in any order: the newest one is of 33."),
    _case(
        _visits(v1=[5, 33, 12]),
        50,
        "The newest message, of 33, is neither the first nor the last one that came.",
    ),
    _case(_visits(a=[45], v1=[5]), 50, "`a` is open, and `v1` behind it is complete."),
    _case(_visits(v1=[95]), 50, "Its newest message is ahead of the clock: it's open."),
    _case(_visits(v1=[30]), 50, "30 + 20 is 50, and the clock stands at 50: not passed yet."),
    _case(_visits(v1=[29]), 50, "29 + 20 is 49, and the clock has passed it."),
    _case(
        _visits(a=[25], b=[3], c=[11]),
        60,
        "All three are complete, and they're emitted by event time: 3, 11, 25.",
    ),
    _case(
        _visits(z=[7], a=[9], m=[7]),
        60,
        "Two visits of the same time: the smaller ssid comes first.",
    ),
    _case(
        _visits(a=[1, 30], b=[20]),
        60,
        "Both are complete. A visit's time is that of its newest message: 20, then 30.",
    ),
    _case(
        _visits(a=[30, 1], b=[20]),
        60,
        "The message of `a` that came last is its oldest one. Its time is 30: `b` comes first.",
    ),
    _case(
        _visits(m=[7], z=[7], a=[9]),
        60,
        "Two visits of the same time: the smaller ssid comes first.",
    ),
    _case(_visits(v10=[7], v7=[7]), 60, "As text, `v10` comes before `v7`."),
    _case(
        _visits(v1=[5], v2=[40]),
        None,
        "There's no clock yet, so nothing is complete, whatever the messages say.",
    ),
    _case(_visits(v1=[49], v2=[50]), 50, "A time-out of 0: the clock has passed 49, not 50.", 0),
    _case(_visits(v1=[0]), 0, "The clock stands at 0, and so does the visit."),
    _case({}, 50, "Nothing is open."),
]

timed_out = Problem(
    name="Which visits are complete",
    task="`visits` maps an `ssid` to the list of its messages so far, each a dictionary with a "
    "`timestamp`. `clock` is what `business_clock` returned, perhaps `None`, and `timeout` is a "
    "length of time, in the same unit. Return the list of the ssids that are complete: those whose "
    "newest message is more than `timeout` before the clock. Sort them by the time of that "
    "message, and by ssid where it's equal. Leave `visits` as it is.\n\n"
    '`{"v1": [{"timestamp": 5}], "v2": [{"timestamp": 40}]}` at clock 50 with time-out 20 gives '
    '`["v1"]`.',
    stub="def complete(visits, clock, timeout):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_CASES, MISTAKES, form=form), by_cases(smallest_first(_drawn_cases()))
    ),
    hints=(
        "Which of a visit's messages decides whether it's over? And what must the clock have done?",
        "First a dictionary from ssid to the newest time. Then the ones to keep, then the order.",
        '`max(m["timestamp"] for m in messages)` is a visit\'s time. A sort key may be a tuple.',
    ),
    reference=complete,
    discussion="It looks at every open visit, each time. That's what the original team had to do, "
    "because Spark's `updateStateByKey` gave them nothing else; the chapter measures it. A timer "
    "per visit, or segments of state that know their oldest and newest time, look at what is due "
    "only.\n\n"
    "A visitor who never pauses is never complete by this rule. The workbook's merge has a second "
    "limit: a maximum age, counted from the oldest message.",
)
