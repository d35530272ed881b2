"""Wrong answers to "May it be read on?"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea

Top = int | None
Leads = Callable[[Any, Any, Any], bool]


def _by(fine: Leads) -> Callable[[Top, Top, int], bool]:
    """Return an answer with the right first two cases, and this comparison after them."""

    def goes_on(own: Top, other: Top, max_lead: int) -> bool:
        return own is None or (other is not None and fine(own, other, max_lead))

    return goes_on


MISTAKES = Mistakes()

MISTAKES += same_idea(
    lambda own, other, max_lead: own is not None and other is not None and own - other <= max_lead,
    cause="A partition without a top of its own goes on, or it never begins.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: other is not None and (own is None or own - other <= max_lead),
    cause="Where neither has a top, your function waits. Then neither is ever read: the first "
    "record is read in any case.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: own is None or other is None or own - other <= max_lead,
    cause="Your function goes on where the other one has no top yet. That may lead by an hour: "
    "wait for the other one's first record.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: other is None or (own is not None and own - other <= max_lead),
    lambda own, other, max_lead: own is not None and (other is None or own - other <= max_lead),
    cause="The first two cases are exchanged: without an own top it goes on, without the other's "
    "it waits.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: (
        (own is None and other is None)
        or (own is not None and other is not None and own - other <= max_lead)
    ),
    cause="It begins only while the other one hasn't begun either. Without an own top it goes on, "
    "whatever the other's is.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: not own or bool(other and own - other <= max_lead),
    lambda own, other, max_lead: not own or (other is not None and own - other <= max_lead),
    lambda own, other, max_lead: own is None or bool(other and own - other <= max_lead),
    cause="Time 0 is taken for no top. It's a time like any other: ask `is None`.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: (own or 0) - (other or 0) <= max_lead,
    lambda own, other, max_lead: own is None or own - (other or 0) <= max_lead,
    cause="A missing top counts as time 0. It isn't 1970, it's unknown: each has a case of its "
    "own.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: own - other < max_lead),
    cause="A lead of exactly `max_lead` is allowed: only a larger one waits.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: abs(own - other) <= max_lead),
    _by(lambda own, other, max_lead: abs(own - other) < max_lead),
    cause="It looks at the distance and not at who leads. A partition far behind must go "
    "on, or never catches up.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: other - own <= max_lead),
    _by(lambda own, other, max_lead: other - own < max_lead),
    cause="The difference is the wrong way round: it stops the one that is behind, and lets the "
    "leader go on.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: own - other > max_lead),
    _by(lambda own, other, max_lead: own - other >= max_lead),
    cause="The comparison is inverted: a lead that is larger than allowed waits.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: own <= other),
    _by(lambda own, other, max_lead: own < other),
    cause="It forgets `max_lead`: so much of a lead is allowed.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: own - other <= max_lead * 1000),
    _by(lambda own, other, max_lead: own - other <= max_lead // 1000),
    _by(lambda own, other, max_lead: own - other <= max_lead / 1000),
    _by(lambda own, other, max_lead: (own - other) // 1000 <= max_lead),
    _by(lambda own, other, max_lead: (own - other) * 1000 <= max_lead),
    cause="All times have one unit: nothing is to be converted.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: own - other <= 10),
    cause="It always allows 10. What is allowed is `max_lead`.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: other is None or (own is not None and other - own <= max_lead),
    cause="It decides for the other one: `own` and `other` have changed places.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: own - other <= max_lead,
    lambda own, other, max_lead: own <= other + max_lead,
    lambda own, other, max_lead: own - max_lead <= other,
    cause="It raises where there's no top yet. Two cases come before the comparison.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: own is None or own - other <= max_lead,
    lambda own, other, max_lead: own is None or own <= other + max_lead,
    cause="It raises where the other one has no top yet: wait there.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: other is not None and own - other <= max_lead,
    lambda own, other, max_lead: other is not None and own <= other + max_lead,
    cause="It raises where it has no top of its own, or doesn't begin: ask for that first.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: not _by(lambda a, b, c: a - b <= c)(own, other, max_lead),
    cause="It's true where it must wait. Return `True` where it may go on.",
)


@MISTAKES.add("It returns None where it should wait: return `False`.")
def falls_through(own: Top, other: Top, max_lead: int) -> bool | None:
    return True if own is None or (other is not None and own - other <= max_lead) else None


@MISTAKES.add("It returns None where it may go on: return `True`.")
def only_says_no(own: Top, other: Top, max_lead: int) -> bool | None:
    return None if own is None or (other is not None and own - other <= max_lead) else False


MISTAKES += same_idea(
    _by(lambda own, other, max_lead: own - other),
    _by(lambda own, other, max_lead: max_lead - (own - other)),
    cause="It returns a length of time. We want `True` or `False`.",
)
MISTAKES += same_idea(
    lambda own, other, max_lead: own is None or other is not None,
    cause="It never looks at the lead: any lead goes on.",
)


def form(value: Any, *args: Any) -> str:
    """Return what is wrong with the form of a value that should be True or False; or ''."""
    if isinstance(value, str):
        return "It returns text. We want `True` or `False`."
    if isinstance(value, (int, float)) and value not in (0, 1):
        return "It returns a number. We want `True` or `False`: what does the comparison give?"
    return ""
