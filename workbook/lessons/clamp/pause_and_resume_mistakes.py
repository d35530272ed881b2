"""Wrong answers to "Pause and resume"."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea

Tops = Mapping[str, int | None]
Rule = Callable[[Any, Any, int], bool]
Answer = Callable[[Tops, Sequence[str], int], Any]


def _goes_on(own: int | None, other: int | None, max_lead: int) -> bool:
    return own is None or (other is not None and own - other <= max_lead)


def _waiting(tops: Tops, max_lead: int, rule: Rule = _goes_on) -> list[str]:
    one, other = tops
    wait = {one: not rule(tops[one], tops[other], max_lead)}
    wait[other] = not rule(tops[other], tops[one], max_lead)
    return [topic for topic in tops if wait[topic]]


def _by(rule: Rule) -> Answer:
    """Return an answer that is right but for its rule."""

    def steer(tops: Tops, paused: Sequence[str], max_lead: int) -> Any:
        return _changes(_waiting(tops, max_lead, rule), tops, paused)

    return steer


def _changes(
    wait: Sequence[str], tops: Collection[str], paused: Sequence[str]
) -> tuple[list[str], list[str]]:
    pause = [topic for topic in tops if topic in wait and topic not in paused]
    return pause, [topic for topic in tops if topic in paused and topic not in wait]


_right = _by(_goes_on)

MISTAKES = Mistakes()

MISTAKES += same_idea(
    lambda tops, paused, max_lead: (_right(tops, paused, max_lead)[0], []),
    lambda tops, paused, max_lead: (_waiting(tops, max_lead), []),
    cause="It never resumes anything: who was paused once, waits for good.",
)
MISTAKES += same_idea(
    lambda tops, paused, max_lead: (
        _waiting(tops, max_lead),
        [t for t in tops if t not in _waiting(tops, max_lead)],
    ),
    cause="It doesn't look at `paused`. Name only what changes: pause what isn't paused yet, and "
    "resume what is.",
)
MISTAKES += same_idea(
    lambda tops, paused, max_lead: (
        _waiting(tops, max_lead),
        _right(tops, paused, max_lead)[1],
    ),
    cause="It pauses again what is paused already. Leave that out.",
)
MISTAKES += same_idea(
    lambda tops, paused, max_lead: (
        _right(tops, paused, max_lead)[0],
        [t for t in tops if t not in _waiting(tops, max_lead)],
    ),
    cause="It resumes what isn't paused. Resume only what is in `paused`.",
)
MISTAKES += same_idea(
    lambda tops, paused, max_lead: (_right(tops, paused, max_lead)[0], list(paused)),
    cause="It resumes everything that is paused, whether it may go on or not.",
)
MISTAKES += same_idea(
    lambda tops, paused, max_lead: _right(tops, paused, max_lead)[::-1],
    cause="The two lists are exchanged: what to pause comes first.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: _goes_on(other, own, max_lead)),
    _by(lambda own, other, max_lead: own is None or other is None or other - own <= max_lead),
    cause="It pauses the topic that is behind. That one must catch up; the leader waits.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: None not in (own, other) and own - other <= max_lead),
    cause="While a topic has given nothing, it pauses both. Then that topic is never read: who has "
    "no top goes on.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: None in (own, other) or own - other <= max_lead),
    cause="While a topic has given nothing, it pauses nobody. The one that has begun must wait.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: _goes_on(own, own, max_lead)),
    cause="Nobody ever waits. A topic never leads when it's compared with itself: ask `goes_on` "
    "about its own top and the other's.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: own is None or (other is not None and own <= other)),
    cause="Any lead is too much for it. `max_lead` is allowed.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: own is None or (other is not None and own - other < max_lead)),
    cause="A lead of exactly `max_lead` is allowed. Does it ask `goes_on`?",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: not own or bool(other and own - other <= max_lead)),
    _by(lambda own, other, max_lead: own is None or bool(other and own - other <= max_lead)),
    _by(lambda own, other, max_lead: not own or (other is not None and own - other <= max_lead)),
    cause="Time 0 is taken for no top. Does it ask `goes_on`, and with what stands in `tops`?",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: _goes_on(own, other, 10)),
    cause="It always allows 10. What is allowed is `max_lead`.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: False),
    cause="Both wait, whatever their tops. Perhaps your `goes_on` returns None: run the cell with "
    "`resolve`.",
)
MISTAKES += same_idea(
    _by(lambda own, other, max_lead: not _goes_on(own, other, max_lead)),
    cause="It's inverted: `goes_on` is true for the ones that needn't wait.",
)


def _by_names(wait: Callable[[Tops, int], list[str]]) -> Answer:
    def steer(tops: Tops, paused: Sequence[str], max_lead: int) -> Any:
        return _changes(wait(tops, max_lead), tops, paused)

    return steer


def _named(tops: Tops, max_lead: int) -> list[str]:
    rivals = {"tracking": "orders", "orders": "tracking"}
    return [t for t in tops if not _goes_on(tops[t], tops[rivals[t]], max_lead)]


def _both_named(tops: Tops, paused: Sequence[str], max_lead: int) -> Any:
    wait = _named({name: tops[name] for name in ("tracking", "orders")}, max_lead)
    return _changes(wait, ["tracking", "orders"], paused)


MISTAKES += same_idea(
    _by_names(_named),
    _both_named,
    cause="It knows the topics by their names, and they may have others, as in the loop below: "
    "take the names from `tops`.",
)


def _leader(tops: Tops, max_lead: int, place: int) -> list[str]:
    return [topic for topic in _waiting(tops, max_lead) if topic == list(tops)[place]]


MISTAKES += same_idea(
    _by_names(lambda tops, max_lead: _leader(tops, max_lead, 0)),
    lambda tops, paused, max_lead: _changes(_waiting(tops, max_lead), list(tops)[:1], paused),
    cause="It asks about the first topic only. The other one may lead just as well. (Does a loop "
    "over both `return` too early?)",
)
MISTAKES += same_idea(
    _by_names(lambda tops, max_lead: _leader(tops, max_lead, 1)),
    cause="It asks about the second topic only. The first one may lead just as well.",
)


MISTAKES += same_idea(
    lambda tops, paused, max_lead: (
        (
            _waiting(tops, max_lead),
            [t for t in paused if t not in _waiting(tops, max_lead)],
        )
        if not paused
        else ([], [t for t in paused if t not in _waiting(tops, max_lead)])
    ),
    cause="While one is paused, it pauses nobody else. A topic may take the lead just then.",
)
MISTAKES += same_idea(
    lambda tops, paused, max_lead: (
        (_right(tops, paused, max_lead)[0], [])
        if _right(tops, paused, max_lead)[0]
        else ([], _right(tops, paused, max_lead)[1])
    ),
    cause="Where it pauses one, it resumes nobody. Both may be due: the one that waited may go on "
    "because it's the other's turn to wait.",
)


def _as_paused(model: Answer) -> Answer:
    """Return the same answer with what to resume in the order of ``paused``."""

    def steer(tops: Tops, paused: Sequence[str], max_lead: int) -> Any:
        pause, resume = model(tops, paused, max_lead)
        return pause, sorted(resume, key=[*paused, *tops].index)

    return steer


MISTAKES += [replace(mistake, model=_as_paused(mistake.model)) for mistake in MISTAKES]
