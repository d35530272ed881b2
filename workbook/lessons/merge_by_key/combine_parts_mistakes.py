"""Wrong answers to "Combine two parts of a visit"."""

from __future__ import annotations

from collections.abc import Callable, ValuesView
from itertools import pairwise
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea
from workbook.classroom.showing import type_name

Visit = dict[str, Any]
SIDES = ("tracking", "orders")

Messages = list[dict[str, Any]]


def _by_time(messages: Messages) -> Messages:
    return sorted(messages, key=lambda m: (m["timestamp"], m["event_id"]))


def _once(messages: Messages) -> Messages:
    return list({m["event_id"]: m for m in messages}.values())


def _with(unite: Callable[[Messages, Messages], Any]) -> Callable[[Visit, Visit], Visit]:
    """Return an answer that unites each side in this way."""
    return lambda one, other: {
        "ssid": one["ssid"],
        **{side: unite(one[side], other[side]) for side in SIDES},
    }


MISTAKES = Mistakes()

MISTAKES += same_idea(
    _with(lambda a, b: _by_time(a + b)),
    cause="It adds the lists and sorts them, so a message that was delivered twice is in the visit "
    "twice.",
)
MISTAKES += same_idea(
    _with(lambda a, b: a + b),
    _with(lambda a, b: b + a),
    cause="It puts one list behind the other. A message that was delivered twice is there twice, "
    "and nothing is sorted.",
)
MISTAKES += same_idea(
    _with(lambda a, b: _once(a + b)),
    _with(lambda a, b: a + [m for m in b if m not in a]),
    _with(lambda a, b: _once(b + a)),
    cause="It keeps each message once, in the order in which the parts came. Sort by `timestamp`: "
    "two topics have no order between them.",
)
MISTAKES += same_idea(
    _with(lambda a, b: sorted(_once(a + b), key=lambda m: m["timestamp"])),
    _with(lambda a, b: sorted(_once(b + a), key=lambda m: m["timestamp"])),
    _with(lambda a, b: sorted(a + [m for m in b if m not in a], key=lambda m: m["timestamp"])),
    cause="Messages of the same millisecond are in the order in which the parts came. So "
    "`combine(a, b)` and `combine(b, a)` differ: sort by `event_id`, too.",
)
MISTAKES += same_idea(
    _with(lambda a, b: sorted(_once(a + b), key=lambda m: m["event_id"])),
    cause="It sorts by `event_id`, which says what was numbered first, not what happened first.",
)
MISTAKES += same_idea(
    _with(lambda a, b: sorted(_once(a + b), key=lambda m: (m["timestamp"], str(m["event_id"])))),
    cause="It sorts numbers as text, where 10 comes before 9. Sort by the `event_id` itself.",
)
MISTAKES += same_idea(
    _with(lambda a, b: [m for m, later in pairwise(_by_time(a + b)) if m != later]),
    cause="The last message of each list is missing. A loop over neighbours ends before it.",
)
MISTAKES += same_idea(
    lambda one, other: {
        "ssid": one["ssid"],
        "tracking": _by_time(_once(one["orders"] + other["orders"])),
        "orders": _by_time(_once(one["tracking"] + other["tracking"])),
    },
    cause="`tracking` and `orders` have changed places.",
)
MISTAKES += same_idea(
    _with(lambda a, b: [*a, b]),
    _with(lambda a, b: [a, b]),
    _with(lambda a, b: [*a, *([b] if b else [])]),
    cause="A list lies within the list, as `append` puts it there. `+` and `extend` add its "
    "elements.",
)
MISTAKES += same_idea(
    _with(lambda a, b: _by_time(_once(a + b))[::-1]),
    cause="It's sorted, with the latest message first. The oldest one comes first.",
)


@MISTAKES.add(
    "A set can't hold dictionaries. Take a dictionary from `event_id` to message: it holds each "
    "message once."
)
def in_a_set(one: Visit, other: Visit) -> Visit:
    return _with(lambda a, b: _by_time(list({*a, *b})))(one, other)


@MISTAKES.add("It keeps what came last, and forgets the other part.")
def replaces(one: Visit, other: Visit) -> Visit:
    return other


@MISTAKES.add("It returns the first part as it is: nothing of the second one is in it.")
def keeps_the_first(one: Visit, other: Visit) -> Visit:
    return one


@MISTAKES.add(
    "A part whose list isn't empty replaces the other's. Both have messages of their own."
)
def either(one: Visit, other: Visit) -> Visit:
    return _with(lambda a, b: b or a)(one, other)


@MISTAKES.add(
    "It takes two messages of the same millisecond for one. The `event_id` says which message it "
    "is."
)
def by_timestamp(one: Visit, other: Visit) -> Visit:
    return _with(lambda a, b: _by_time(list({m["timestamp"]: m for m in a + b}.values())))(
        one, other
    )


@MISTAKES.add(
    "It combines the tracking messages only. Orders may be in both parts, and come twice, too."
)
def tracking_only(one: Visit, other: Visit) -> Visit:
    united = _with(lambda a, b: _by_time(_once(a + b)))(one, other)
    return {**united, "orders": one["orders"]}


@MISTAKES.add("It adds up the orders, and one that was delivered twice is there twice.")
def adds_orders(one: Visit, other: Visit) -> Visit:
    united = _with(lambda a, b: _by_time(_once(a + b)))(one, other)
    return {**united, "orders": _by_time(one["orders"] + other["orders"])}


@MISTAKES.add(
    "A tracking message and an order with the same `event_id` are taken for one. Each topic "
    "numbers its own messages: look within one list."
)
def one_number_for_all(one: Visit, other: Visit) -> Visit:
    seen = {m["event_id"] for part in (one, other) for m in part["tracking"]}
    united = _with(lambda a, b: _by_time(_once(a + b)))(one, other)
    return {**united, "orders": [m for m in united["orders"] if m["event_id"] not in seen]}


@MISTAKES.add("The `ssid` is missing: the result is a part of a visit like any other.")
def without_ssid(one: Visit, other: Visit) -> Visit:
    united = _with(lambda a, b: _by_time(_once(a + b)))(one, other)
    return {side: united[side] for side in SIDES}


@MISTAKES.add(
    "Fields of the messages are missing: each message is in the result as it is, with all it has."
)
def two_fields(one: Visit, other: Visit) -> Visit:
    few = ("event_id", "timestamp")
    return _with(lambda a, b: [{f: m[f] for f in few} for m in _by_time(_once(a + b))])(one, other)


MISTAKES += same_idea(
    _with(lambda a, b: {m["event_id"]: m for m in _by_time(_once(a + b))}),
    _with(lambda a, b: {m["event_id"]: m for m in a + b}),
    _with(lambda a, b: {m["event_id"]: m for m in a} | {m["event_id"]: m for m in b}),
    cause="`tracking` and `orders` are dictionaries by `event_id` in the result. Expected: two "
    "lists of messages, as in both parts: `sorted(by_id.values(), …)`.",
)
MISTAKES += same_idea(
    _with(lambda a, b: [m["event_id"] for m in _by_time(_once(a + b))]),
    cause="The lists hold numbers. They should hold the messages themselves.",
)


@MISTAKES.add(
    "All messages are in one list. A visit has two of them, `tracking` and `orders`, as both parts "
    "have."
)
def one_list(one: Visit, other: Visit) -> Visit:
    every = [m for side in SIDES for m in one[side] + other[side]]
    return {"ssid": one["ssid"], "messages": _by_time(every)}


MISTAKES += same_idea(
    lambda one, other: {
        "ssid": one["ssid"],
        "tracking": _by_time(_once(one["tracking"] + other["tracking"])),
        "orders": [],
    },
    lambda one, other: {
        "ssid": one["ssid"],
        "tracking": _by_time(_once(one["tracking"] + other["tracking"])),
    },
    cause="`orders` is left as it began, or isn't there. Does the loop over both names return "
    "after the first one?",
)


def form(value: Any, *args: Any) -> str:
    """Return what is wrong with the form of a value that should be a part of a visit; or ''."""
    if not isinstance(value, dict):
        return (
            f"It returns a {type_name(value)}. A part of a visit is a dictionary with `ssid`, "
            "`tracking` and `orders`."
        )
    if missing := [key for key in ("ssid", *SIDES) if key not in value]:
        return f"The result has no `{missing[0]}`: its keys are the same as those of both parts."
    if more := [key for key in value if key not in ("ssid", *SIDES)]:
        return f"`{more[0]}` isn't asked for: the keys are the same as those of both parts."
    return next((cause for side in SIDES if (cause := _of_side(side, value[side]))), "")


def _of_side(side: str, messages: Any) -> str:
    if messages is None:
        return (
            f"`{side}` is None: `sort` sorts a list in place, and returns nothing. `sorted(...)` "
            "returns the list."
        )
    if isinstance(messages, ValuesView):
        return f"`{side}` is a view of a dictionary's values. `sorted(...)` makes a list of it."
    if isinstance(messages, (int, float)):
        return f"`{side}` is a number. The messages themselves are kept, in a list."
    if isinstance(messages, list) and not all(isinstance(m, dict) for m in messages):
        return f"`{side}` holds something else than messages, each of which is a dictionary."
    return ""
