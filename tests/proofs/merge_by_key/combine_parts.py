"""Answers to "Combine two parts of a visit", right and wrong, as learners may write them."""

from __future__ import annotations

import heapq
from itertools import groupby

from proof import Catalogue

from workbook.lessons.merge_by_key.combine_parts_mistakes import MISTAKES


def order(message):
    return message["timestamp"], message["event_id"]


def step_by_step(one, other):
    result = {"ssid": one["ssid"], "tracking": list(one["tracking"]), "orders": list(one["orders"])}
    for side in ("tracking", "orders"):
        ids = [message["event_id"] for message in result[side]]
        for message in other[side]:
            if message["event_id"] not in ids:
                result[side].append(message)
        result[side].sort(key=order)
    return result


def by_sets(one, other):
    def united(side):
        pairs = {tuple(sorted(message.items())) for message in one[side] + other[side]}
        return sorted(map(dict, pairs), key=order)

    return {"ssid": other["ssid"], "tracking": united("tracking"), "orders": united("orders")}


def twice_sorted(one, other):
    out = dict(one)
    for side in ("orders", "tracking"):
        once = {m["event_id"]: m for m in [*other[side], *one[side]]}
        by_id = sorted(once.values(), key=lambda m: m["event_id"])
        out[side] = sorted(by_id, key=lambda m: m["timestamp"])
    return out


def merged(one, other):
    def united(side):
        both = heapq.merge(one[side], other[side], key=order)
        return [next(same) for _, same in groupby(both, lambda m: m["event_id"])]

    return {"ssid": one["ssid"], "tracking": united("tracking"), "orders": united("orders")}


def adds(one, other):
    return {
        "ssid": one["ssid"],
        "tracking": one["tracking"] + other["tracking"],
        "orders": one["orders"] + other["orders"],
    }


def adds_and_sorts(one, other):
    return {
        "ssid": one["ssid"],
        "tracking": sorted(one["tracking"] + other["tracking"], key=order),
        "orders": sorted(one["orders"] + other["orders"], key=order),
    }


def unsorted(one, other):
    return {
        "ssid": one["ssid"],
        **{
            side: one[side] + [m for m in other[side] if m not in one[side]]
            for side in ("tracking", "orders")
        },
    }


def by_time_alone(one, other):
    out = unsorted(one, other)
    for side in ("tracking", "orders"):
        out[side] = sorted(out[side], key=lambda m: m["timestamp"])
    return out


def by_number(one, other):
    out = unsorted(one, other)
    for side in ("tracking", "orders"):
        out[side] = sorted(out[side], key=lambda m: m["event_id"])
    return out


def updated(one, other):
    return one | other


def in_place(one, other):
    for side in ("tracking", "orders"):
        one[side].extend(m for m in other[side] if m not in one[side])
        one[side].sort(key=order)
    return one


def by_millisecond(one, other):
    return {
        "ssid": one["ssid"],
        **{
            side: sorted({m["timestamp"]: m for m in one[side] + other[side]}.values(), key=order)
            for side in ("tracking", "orders")
        },
    }


def one_set_of_ids(one, other):
    seen, out = set(), {"ssid": one["ssid"], "tracking": [], "orders": []}
    for side in ("tracking", "orders"):
        for message in one[side] + other[side]:
            if message["event_id"] not in seen:
                seen.add(message["event_id"])
                out[side].append(message)
        out[side].sort(key=order)
    return out


def newest_first(one, other):
    out = twice_sorted(one, other)
    return {**out, "tracking": out["tracking"][::-1], "orders": out["orders"][::-1]}


def by_text(one, other):
    out = twice_sorted(one, other)
    for side in ("tracking", "orders"):
        out[side].sort(key=lambda m: (m["timestamp"], str(m["event_id"])))
    return out


def appends(one, other):
    out = {"ssid": one["ssid"]}
    for side in ("tracking", "orders"):
        out[side] = list(one[side])
        out[side].append(other[side])
    return out


def tuples(one, other):
    out = twice_sorted(one, other)
    return {**out, "tracking": tuple(out["tracking"]), "orders": tuple(out["orders"])}


def sorts_in_place(one, other):
    out = twice_sorted(one, other)
    return {**out, **{side: out[side].sort(key=order) for side in ("tracking", "orders")}}


def a_view(one, other):
    out = twice_sorted(one, other)
    views = {
        side: {m["event_id"]: m for m in out[side]}.values() for side in ("tracking", "orders")
    }
    return {**out, **views}


def counts(one, other):
    out = twice_sorted(one, other)
    return {**out, "tracking": len(out["tracking"]), "orders": len(out["orders"])}


def two_lists(one, other):
    out = twice_sorted(one, other)
    return out["tracking"], out["orders"]


def in_the_singular(one, other):
    out = twice_sorted(one, other)
    return {"ssid": out["ssid"], "tracking": out["tracking"], "order": out["orders"]}


def neighbours(one, other):
    out = {"ssid": one["ssid"], "tracking": [], "orders": []}
    for side in ("tracking", "orders"):
        both = sorted(one[side] + other[side], key=order)
        for n in range(len(both) - 1):
            if both[n] != both[n + 1]:
                out[side].append(both[n])
    return out


def exchanged(one, other):
    out = twice_sorted(one, other)
    return {**out, "tracking": out["orders"], "orders": out["tracking"]}


def tracking_alone(one, other):
    return {**one, "tracking": twice_sorted(one, other)["tracking"]}


def orders_twice(one, other):
    out = twice_sorted(one, other)
    return {**out, "orders": sorted(one["orders"] + other["orders"], key=order)}


def no_ssid(one, other):
    out = twice_sorted(one, other)
    del out["ssid"]
    return out


def returns_a_list(one, other):
    return [*one["tracking"], *other["tracking"], *one["orders"], *other["orders"]]


def numbers_and_times(one, other):
    out = twice_sorted(one, other)
    for side in ("tracking", "orders"):
        out[side] = [{"event_id": m["event_id"], "timestamp": m["timestamp"]} for m in out[side]]
    return out


def dictionaries(one, other):
    out = {"ssid": one["ssid"]}
    for side in ("tracking", "orders"):
        out[side] = {m["event_id"]: m for m in one[side]}
        out[side].update({m["event_id"]: m for m in other[side]})
    return out


def numbers(one, other):
    out = twice_sorted(one, other)
    return out | {side: [m["event_id"] for m in out[side]] for side in ("tracking", "orders")}


def all_in_one(one, other):
    both = one["tracking"] + one["orders"] + other["tracking"] + other["orders"]
    return {"ssid": one["ssid"], "messages": sorted(both, key=order)}


def returns_in_the_loop(one, other):
    out = {"ssid": one["ssid"], "tracking": [], "orders": []}
    for side in ("tracking", "orders"):
        once = {m["event_id"]: m for m in one[side] + other[side]}
        out[side] = sorted(once.values(), key=order)
        return out
    return out


def counted(one, other):
    out = twice_sorted(one, other)
    return {**out, "count": len(out["tracking"]) + len(out["orders"])}


catalogue = Catalogue(
    right=[step_by_step, by_sets, twice_sorted, merged],
    wrong=[
        (adds, "one list behind the other"),
        (adds_and_sorts, "adds the lists"),
        (unsorted, "in the order in which the parts came. Sort by `timestamp`"),
        (by_time_alone, "of the same millisecond are in the order"),
        (by_number, "sorts by `event_id`"),
        (updated, "keeps what came last"),
        (lambda one, other: one, "returns the first part"),
        (in_place, "changes the input"),
        (by_millisecond, "same millisecond for one"),
        (one_set_of_ids, "numbers its own messages"),
        (newest_first, "latest message first"),
        (by_text, "numbers as text"),
        (appends, "within the list"),
        (tuples, "a tuple for a list"),
        (tracking_alone, "tracking messages only"),
        (orders_twice, "adds up the orders"),
        (no_ssid, "`ssid` is missing"),
        (numbers_and_times, "with all it has"),
        (dictionaries, "dictionaries by `event_id`"),
        (numbers, "hold numbers"),
        (all_in_one, "in one list"),
        (returns_a_list, "It returns a list"),
        (sorts_in_place, "sorts a list in place"),
        (a_view, "a view of a dictionary's values"),
        (counts, "is a number"),
        (two_lists, "It returns a tuple"),
        (in_the_singular, "has no `orders`"),
        (neighbours, "over neighbours"),
        (exchanged, "changed places"),
        (returns_in_the_loop, "return after the first one"),
        (counted, "`count` isn't asked for"),
        (lambda one: one, "Keep the parameters"),
    ],
    models=MISTAKES,
)
