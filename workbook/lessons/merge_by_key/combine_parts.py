"""Chapter 10: Combine two parts of a visit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.merge_by_key.combine_parts_mistakes import (
    MISTAKES,
    SIDES,
    Visit,
    form,
)


def combine(one: Visit, other: Visit) -> Visit:
    both = {"ssid": one["ssid"]}
    for side in ("tracking", "orders"):
        by_id = {message["event_id"]: message for message in one[side] + other[side]}
        both[side] = sorted(by_id.values(), key=lambda m: (m["timestamp"], m["event_id"]))
    return both


def _message(event_id: int, timestamp: int) -> dict[str, Any]:
    return {"host": f"web-{event_id % 3}", "event_id": event_id, "timestamp": timestamp}


def _visit(tracking: Any = (), orders: Any = (), ssid: str = "v1") -> Visit:
    sides = ([_message(*each) for each in side] for side in (tracking, orders))
    return {"ssid": ssid, **dict(zip(SIDES, sides, strict=True))}


def _case(one: Visit, other: Visit, says: str) -> Case:
    return Case((one, other), combine(one, other), says)


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(10)
    for size in range(1, 21):
        known = {
            side: [(n, draw.choice((0, 5, 7, 1_700_000_000_000))) for n in range(size)]
            for side in SIDES
        }
        ssid = draw.choice(("v1", "v77", "a", "Zoë"))
        parts = []
        for _ in range(2):
            tracking, orders = (
                _in_order(draw.sample(known[side], draw.randint(0, size))) for side in SIDES
            )
            parts.append(_visit(tracking, orders, ssid))
        yield _case(parts[0], parts[1], "These parts were drawn by chance. What differs?")


def _in_order(side: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(side, key=lambda each: (each[1], each[0]))


_CASES = [
    _case(
        _visit([(1, 100)]), _visit([], [(1, 140)]),
        "A tracking message and an order: both are in the visit. (Each topic numbers its own "
        "messages: both may be number 1.)",
    ),
    _case(
        _visit([(1, 100), (2, 130)]), _visit([(3, 160)]),
        "Three tracking messages, in the order of time.",
    ),
    _case(
        _visit([(3, 160)]), _visit([(1, 100), (2, 130)]),
        "The part that came first has the latest message. The result is sorted by `timestamp`.",
    ),
    _case(
        _visit([(1, 100), (4, 190)]), _visit([(2, 130)]),
        "Message 2 belongs between the two of the first part.",
    ),
    _case(
        _visit([(1, 100), (2, 130)]), _visit([(2, 130), (3, 160)]),
        "Message 2 was delivered twice. It's in the visit once.",
    ),
    _case(
        _visit([(1, 100), (2, 130), (3, 160)]), _visit([(2, 130), (3, 160), (4, 190)]),
        "Two messages are in both parts. Each is in the visit once.",
    ),
    _case(
        _visit([(0, 100)]), _visit([], [(0, 90)], "v1"),
        "0 is a number like any other, as an `event_id`, too.",
    ),
    _case(
        _visit([(2, 100)], [], "v77"), _visit([(1, 90)], [], "v77"),
        "It's the visit `v77`, and its messages are sorted.",
    ),
    _case(
        _visit([(1, 100)], [(7, 140)]), _visit([(1, 100)], [(7, 140)]),
        "The same part came twice. Nothing changes.",
    ),
    _case(
        _visit([(1, 100)]), _visit([(2, 100)]),
        "Two messages of the same millisecond are two messages. The smaller `event_id` comes "
        "first.",
    ),
    _case(
        _visit([(9, 100)]), _visit([(2, 100)]),
        "Two messages of the same millisecond: the smaller `event_id` comes first, whichever part "
        "it's in.",
    ),
    _case(
        _visit([(10, 100)]), _visit([(9, 100)]),
        "Two messages of the same millisecond: as a number, 9 comes before 10.",
    ),
    _case(
        _visit([(9, 100)]), _visit([(2, 130)]),
        "It's sorted by `timestamp`. Message 9 happened first.",
    ),
    _case(
        _visit([], [(5, 150)]), _visit([], [(2, 120), (6, 170)]),
        "Orders are combined in the same way, also where no tracking message has come yet.",
    ),
    _case(_visit(), _visit([(1, 100)]), "One part is empty: the other one is the visit."),
]  # fmt: skip

combine_parts = Problem(
    name="Combine two parts of a visit",
    task="A part of a visit is a dictionary with its `ssid` and two lists, `tracking` and "
    "`orders`. Each message is a dictionary, too: "
    '`{"event_id": 7, "timestamp": 1700000000000, …}`, '
    "with more fields that stay as they are. Write a function that combines two parts of one "
    "visit: a new dictionary of the same form, "
    "with all messages of both parts.\n\n"
    "Each list is sorted by `timestamp`, and by `event_id` where that is equal, in both parts and "
    "in the result. A message may be in both parts, since it may be delivered twice: then it's "
    "there once. Within a list the `event_id` says which message it is; a tracking message and an "
    "order may have the same one. Leave both parts as they are.\n\n"
    'If `a` is older than `b`, and `b` than `c`: `{"ssid": "v1", "tracking": [a, c], "orders": '
    '[]}` and `{"ssid": "v1", "tracking": [b, c], "orders": [o]}`, whichever is first, make '
    '`{"ssid": "v1", "tracking": [a, b, c], "orders": [o]}`.',
    stub="def combine(one, other):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_CASES, MISTAKES, form=form), by_cases(smallest_first(_drawn_cases()))
    ),
    hints=(
        "Do the same for both lists. What must become of a message that both parts have, and how "
        "do you know that it's the same one?",
        "A dictionary from `event_id` to message has each one once. Sort its values, by two "
        "things.",
        '`by_id = {m["event_id"]: m for m in one[side] + other[side]}` for each `side`. A sort key '
        "may be a tuple.",
    ),
    reference=combine,
    discussion="Whatever the order in which messages come, however often, and however they're cut "
    "into parts, the visit is the same. In words of algebra: the function is commutative, "
    "associative and idempotent. That's what makes it fit for two topics without an order between "
    "them, and for at-least-once delivery.\n\n"
    "Counting isn't like that: a count of messages goes wrong with the first one that comes twice. "
    "And it costs something: the state holds every message of the visit, not a number.",
)  # fmt: skip
