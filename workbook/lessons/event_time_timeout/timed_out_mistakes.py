"""Wrong answers to "Which visits are complete"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea

Message = dict[str, Any]
Visits = Mapping[str, Sequence[Message]]
Of = Callable[[Sequence[int]], Any]


def _first(times: Sequence[int]) -> int:
    return times[0]


def _last(times: Sequence[int]) -> int:
    return times[-1]


def _answer(
    of: Of = max,
    *,
    over: Callable[[int, int, int], bool] = lambda time, clock, timeout: time + timeout < clock,
    order: Callable[[int, str], Any] | None = lambda time, ssid: (time, ssid),
) -> Callable[[Visits, int | None, int], Any]:
    """Return an answer whose visits have this time, are over by this rule, in this order."""

    def complete(visits: Visits, clock: int | None, timeout: int) -> list[str]:
        if clock is None:
            return []
        times = {ssid: of([m["timestamp"] for m in some]) for ssid, some in visits.items()}
        done = [ssid for ssid, time in times.items() if over(time, clock, timeout)]
        if order is None:
            return done
        return sorted(done, key=lambda ssid: order(times[ssid], ssid))

    return complete


def _by_the_newest_of_all(visits: Visits, clock: int | None, timeout: int) -> list[str]:
    if clock is None or not visits:
        return []
    newest = max(m["timestamp"] for some in visits.values() for m in some)
    return _answer()(visits, newest, timeout)


MISTAKES = Mistakes()

MISTAKES += same_idea(
    _answer(min),
    _answer(min, order=None),
    _answer(_first),
    _answer(_first, order=None),
    cause="It looks at the visit's first or oldest message. The newest one decides: as long as "
    "messages come, the visit goes on.",
)
MISTAKES += same_idea(
    _answer(_last),
    _answer(_last, order=None),
    cause="It looks at the message that came last. Between two topics there's no order: the newest "
    "one may have come before.",
)
MISTAKES += same_idea(
    _answer(over=lambda time, clock, timeout: time + timeout <= clock),
    _answer(over=lambda time, clock, timeout: time + timeout <= clock, order=None),
    cause="It's one step early: the newest message must be **more** than the time-out before the "
    "clock.",
)
MISTAKES += same_idea(
    _answer(over=lambda time, clock, timeout: time < clock),
    _answer(over=lambda time, clock, timeout: time < clock, order=None),
    cause="It forgets the time-out: a visit is complete only that much after its newest message.",
)
MISTAKES += same_idea(
    _answer(over=lambda time, clock, timeout: time + timeout > clock),
    _answer(over=lambda time, clock, timeout: time + timeout >= clock),
    cause="The condition is inverted: these are the visits that are still open.",
)
MISTAKES += same_idea(
    _answer(over=lambda time, clock, timeout: time < clock + timeout),
    _answer(over=lambda time, clock, timeout: time <= clock + timeout),
    _answer(over=lambda time, clock, timeout: abs(clock - time) < timeout),
    cause="The time-out is on the wrong side: the clock must have come past the newest message "
    "**plus** the time-out.",
)
MISTAKES += same_idea(
    _answer(over=lambda time, clock, timeout: abs(clock - time) > timeout),
    cause="It looks at the distance. A visit whose newest message is ahead of the clock is open.",
)
MISTAKES += same_idea(
    _answer(over=lambda time, clock, timeout: time + 1000 * timeout < clock),
    _answer(over=lambda time, clock, timeout: time / 1000 + timeout < clock),
    cause="All times have one unit: nothing is to be converted.",
)
MISTAKES += same_idea(
    _answer(over=lambda time, clock, timeout: time - clock > timeout),
    _answer(over=lambda time, clock, timeout: time - timeout > clock),
    cause="The difference is the wrong way round: these visits are ahead of the clock. It must "
    "have passed them.",
)
MISTAKES += same_idea(
    lambda visits, clock, timeout: [],
    cause="It finds no complete visit, whatever the clock. Follow one visit through your "
    "comparison, with numbers.",
)
MISTAKES += same_idea(
    _by_the_newest_of_all,
    cause="It takes the newest message of all visits for the clock. That's one topic's time; "
    "`clock` says how far both have come.",
)
MISTAKES += same_idea(
    lambda visits, clock, timeout: _answer(order=None)(visits, clock, timeout)[:1],
    lambda visits, clock, timeout: _answer()(visits, clock, timeout)[:1],
    lambda visits, clock, timeout: _answer()(dict([*visits.items()][:1]), clock, timeout),
    cause="It returns one visit at most, and there may be more. Does it `return` within the loop?",
)
MISTAKES += same_idea(
    _answer(over=lambda time, clock, timeout: time + 20 < clock),
    cause="It always waits for 20. The time to wait is `timeout`.",
)
MISTAKES += same_idea(
    _answer(order=None),
    cause="The right visits, in the order in which they were opened. Sort them by the time of "
    "their newest message.",
)
MISTAKES += same_idea(
    _answer(order=lambda time, ssid: ssid),
    cause="It sorts by ssid. The time of the newest message comes first, the ssid only where that "
    "is equal.",
)
MISTAKES += same_idea(
    _answer(order=lambda time, ssid: time),
    cause="Visits of the same time are in the order in which they were opened. Which that is, "
    "chance decides: sort by ssid, too.",
)
MISTAKES += same_idea(
    _answer(order=lambda time, ssid: (-time, ssid)),
    lambda visits, clock, timeout: _answer()(visits, clock, timeout)[::-1],
    cause="It begins with the newest visit. The oldest one comes first.",
)


def _in_spite_of_none(
    over: Callable[[Any, Any, Any], bool],
) -> Callable[[Visits, Any, int], list[str]]:
    def complete(visits: Visits, clock: Any, timeout: int) -> list[str]:
        newest = {ssid: max(m["timestamp"] for m in some) for ssid, some in visits.items()}
        done = [ssid for ssid, time in newest.items() if over(time, clock, timeout)]
        return sorted(done, key=lambda ssid: (newest[ssid], ssid))

    return complete


MISTAKES += same_idea(
    _in_spite_of_none(lambda time, clock, timeout: time + timeout < clock),
    _in_spite_of_none(lambda time, clock, timeout: clock > time + timeout),
    _in_spite_of_none(lambda time, clock, timeout: clock - time > timeout),
    _in_spite_of_none(lambda time, clock, timeout: clock - timeout > time),
    cause="It raises where there's no clock yet. Nothing is complete then: return `[]`.",
)


@MISTAKES.add("It returns None where there's no clock. Nothing is complete then: return `[]`.")
def none_for_none(visits: Visits, clock: int | None, timeout: int) -> Any:
    return None if clock is None else _answer()(visits, clock, timeout)


@MISTAKES.add("Without a clock it takes everything for complete. Nothing is: return `[]`.")
def all_for_none(visits: Visits, clock: int | None, timeout: int) -> list[str]:
    return sorted(visits) if clock is None else _answer()(visits, clock, timeout)


MISTAKES += same_idea(
    lambda visits, clock, timeout: {s: visits[s] for s in _answer()(visits, clock, timeout)},
    lambda visits, clock, timeout: [visits[s] for s in _answer()(visits, clock, timeout)],
    cause="It returns the visits' messages. We want the list of their ssids.",
)


@MISTAKES.add("It returns pairs of a time and an ssid. Sort by both, but return the ssids alone.")
def pairs(visits: Visits, clock: int | None, timeout: int) -> Any:
    done = _answer()(visits, clock, timeout)
    return [(max(m["timestamp"] for m in visits[ssid]), ssid) for ssid in done]


@MISTAKES.add("It returns pairs of an ssid and a time. Return the ssids alone.")
def pairs_by_ssid(visits: Visits, clock: int | None, timeout: int) -> Any:
    done = _answer()(visits, clock, timeout)
    return [(ssid, max(m["timestamp"] for m in visits[ssid])) for ssid in done]


def form(value: Any, *args: Any) -> str:
    """Return what is wrong with the form of a value that should be a list of ssids; or ''."""
    if isinstance(value, (int, float)):
        return "It returns a number or a truth value. We want the list of the ssids."
    if hasattr(value, "tolist"):
        return "It returns something of numpy or pandas. Its `tolist()` gives the list we want."
    if isinstance(value, str):
        return "It returns one ssid, or text. We want a list, which may hold several, or none."
    if isinstance(value, list) and not all(isinstance(each, str) for each in value):
        return "The list holds something else than ssids. Return the ssids alone."
    return ""
