"""Chapter 12: May it be read on?"""

from __future__ import annotations

import random
from collections.abc import Iterator

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.clamp.four_cases_mistakes import MISTAKES, form


def goes_on(own: int | None, other: int | None, max_lead: int) -> bool:
    if own is None:
        return True
    if other is None:
        return False
    return own - other <= max_lead


def _case(own: int | None, other: int | None, says: str, max_lead: int = 10) -> Case:
    return Case((own, other, max_lead), goes_on(own, other, max_lead), says)


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(12)
    for _ in range(30):
        at = draw.choice((0, 1_000, 1_700_000_000_000))
        max_lead = draw.choice((1, 10, 60_000))
        leads = (-2 * max_lead, -max_lead - 1, -1, 0, 1, max_lead - 1, max_lead, max_lead + 1)
        other = at + 2 * max_lead
        own = other + draw.choice(leads)
        yield _case(own, other, "These tops were drawn by chance. How large is the lead?", max_lead)


_AT, _MINUTE, _DAY = 1_700_000_000_000, 60_000, 86_400_000

_CASES = [
    _case(12, 5, "It leads by 7, and 10 are allowed."),
    _case(30, 5, "It leads by 25, and 10 are allowed: it waits."),
    _case(15, 5, "It leads by exactly 10, and 10 are allowed: it goes on."),
    _case(16, 5, "It leads by 11: that's one too many."),
    _case(5, 30, "It's behind by 25, and must catch up."),
    _case(5, 15, "It's behind by 10, and must catch up."),
    _case(7, 7, "Both stand at the same time."),
    _case(None, 5, "Nothing of its own has been read yet: the first record is read in any case."),
    _case(None, 0, "Nothing of its own has been read yet: the first record is read in any case."),
    _case(None, 40, "Nothing of its own has been read yet: the first record is read in any case."),
    _case(5, None, "The other one has given nothing yet, so nobody knows the lead: wait."),
    _case(40, None, "The other one has given nothing yet, so nobody knows the lead: wait."),
    _case(0, None, "Its own top is 0, which is a time. The other one has given nothing: it waits."),
    _case(None, None, "Both have given nothing. Somebody has to begin, or nothing is ever read."),
    _case(40, 0, "The other's top is 0. That's a time like any other: the lead is 40."),
    _case(8, 0, "The other's top is 0. That's a time like any other: the lead is 8."),
    _case(0, 8, "Its own top is 0. It's behind, and goes on."),
    _case(0, 0, "Both stand at time 0."),
    _case(7, 7, "No lead is allowed, and it has none.", 0),
    _case(8, 7, "No lead is allowed, and it leads by 1.", 0),
    _case(500, 5, "Here a lead of 1,000 is allowed.", 1_000),
    _case(_AT + 50, _AT, "It leads by 50 ms, and a minute is allowed.", _MINUTE),
    _case(_AT + 60 * _MINUTE, _AT, "It leads by an hour, and a minute is allowed.", _MINUTE),
    _case(_AT + 30 * _DAY, _AT, "It leads by thirty days, and a minute is allowed.", _MINUTE),
    _case(_AT - 30 * _DAY, _AT, "It's behind by thirty days: it must catch up.", _MINUTE),
]  # fmt: skip

four_cases = Problem(
    name="May it be read on?",
    task="Two partitions of the same number, one of each topic. `own` is the top of the one that "
    "we ask about, `other` the top of its counterpart; a top is `None` while nothing of its "
    "partition has been read. All times have the same unit. Return `True` if our partition may be "
    "read on, and `False` if it must wait; the first case that fits decides:\n\n"
    "1. Our partition has no top yet: it goes on.\n"
    "2. The counterpart has no top yet: ours waits.\n"
    "3. Our partition leads by more than `max_lead`: it waits.\n"
    "4. Else it goes on.\n\n"
    "`goes_on(30, 5, 10)` gives `False`, and `goes_on(5, 30, 10)` gives `True`.",
    stub="def goes_on(own, other, max_lead):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_CASES, MISTAKES, form=form), by_cases(smallest_first(_drawn_cases()))
    ),
    hints=(
        "Make a table of four rows: each of the two tops is there, or missing. For which row can a "
        "lead be computed at all? For the others the task names the answer.",
        "`is None` asks whether there's a top. A lead has a sign: it's negative behind the other.",
        "The last two cases are one comparison: `own - other <= max_lead`.",
    ),
    reference=goes_on,
    discussion="The order of the first two cases matters. Where neither has a top, both may read "
    "a record, or neither would begin.\n\n"
    "The second case is strict: a topic that is empty stops the other after its first record, even "
    "where it's empty for good. The rule can't know. Heartbeats help.",
)
