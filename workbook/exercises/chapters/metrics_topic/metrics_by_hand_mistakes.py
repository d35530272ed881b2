"""Wrong answers to "Metrics by hand", from clicks to the pairs (key, value)."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from workbook.exercises.engine.mistakes import Mistake, same_idea
from workbook.exercises.models.clicks import (
    Clicks,
    actions,
    actions_in_the_count,
    change_only_emits,
    changed_by_any,
    completed,
    emits_at_every_click,
    emits_the_start,
    fills_gaps,
    named_as_pages,
    never_begins_again,
    pages,
    runs,
)
from workbook.exercises.models.forms import in_other_forms

Pair = tuple[Any, Any]


def _text(number: Any) -> bytes:
    return str(number).encode()


def _packed(number: int) -> bytes:
    return struct.pack(">q", number)


def _sent(pairs: Iterable[Pair]) -> list[Pair]:
    return [(_text(second), _text(views)) for second, views in pairs]


def _right(clicks: Clicks) -> list[Pair]:
    return _sent(completed(clicks))


def _labelled_with_the_new(clicks: Clicks) -> list[Pair]:
    done = runs(pages(clicks))
    return _sent((new, views) for (_, views), (new, _) in pairwise(done))


def _as_json(clicks: Clicks) -> list[Pair]:
    done = completed(clicks)
    return [(_text(s), json.dumps({"second": s, "views": n}).encode()) for s, n in done]


MISTAKES = [
    *same_idea(
        lambda clicks: _sent(emits_the_start(clicks, 0)),
        lambda clicks: _sent(emits_the_start(clicks, -1)),
        lambda clicks: _sent(emits_the_start(clicks, None)),
        cause="It sends a metric at the very first click, for a second that never was. No second "
        "comes before the first one.",
    ),
    Mistake(
        lambda clicks: _sent(runs(pages(clicks))),
        "It sends the last second too. That one is unfinished: more page views may come in it, and "
        "readers would take a part for the whole.",
    ),
    Mistake(
        _labelled_with_the_new,
        "The views are those of the completed second, but the key is the second that has just "
        "begun. A reader would look one second too late.",
    ),
    Mistake(
        lambda clicks: _sent(change_only_emits(clicks)),
        "The click that changes the second is not counted. It completes the old second, and it is "
        "the first view of the new one.",
    ),
    Mistake(
        lambda clicks: _sent(never_begins_again(clicks)),
        "The value goes on growing from metric to metric. Each second begins again with its own "
        "views.",
    ),
    Mistake(
        lambda clicks: _sent(runs(clicks)[:-1]),
        "It takes actions for page views: they neither count nor change the second.",
    ),
    Mistake(
        lambda clicks: _sent(actions_in_the_count(clicks)),
        "Actions do not change the second, which is right, but they are counted.",
    ),
    *same_idea(
        lambda clicks: _sent(changed_by_any(clicks)),
        lambda clicks: _sent((second, n) for second, n in changed_by_any(clicks) if n),
        cause="An action is not counted, which is right, but it changes the second. Only a page "
        "view does.",
    ),
    Mistake(
        lambda clicks: _sent(runs(actions(clicks))[:-1]),
        "It counts the actions and leaves out the pages: the condition is inverted.",
    ),
    Mistake(
        lambda clicks: _sent(emits_at_every_click(clicks)),
        "It sends a metric with every click. One for each second is asked for, when it is "
        "complete.",
    ),
    Mistake(
        lambda clicks: _sent(fills_gaps(clicks)),
        "It sends seconds in which nobody looked at a page. Only a second with page views has a "
        "metric.",
    ),
    Mistake(
        lambda clicks: _sent((second * 1000, n) for second, n in completed(clicks)),
        "The counts are right, but the key is in milliseconds. Seconds since 1970 are asked for.",
    ),
    Mistake(
        lambda clicks: _sent((float(second), n) for second, n in completed(clicks)),
        "The key has a fraction, such as `1700000000.0`: `/` gives one. Use `//`, or "
        "`epoch_second`.",
    ),
    Mistake(
        lambda clicks: _sent(runs(pages(clicks), lambda c: c.epoch_second % 60)[:-1]),
        "The key is the second of the minute, 0 to 59, so a minute later another second has the "
        "same key. Seconds since 1970 are asked for.",
    ),
    Mistake(
        lambda clicks: _sent(runs(pages(clicks), lambda c: c.timestamp)[:-1]),
        "It compares timestamps in milliseconds, so each click has a second of its own.",
    ),
    Mistake(
        lambda clicks: _sent(runs(pages(clicks), lambda c: c.timestamp / 1000)[:-1]),
        "`/` gives a number with a fraction, so each click has a second of its own. A second is a "
        "whole number.",
    ),
    Mistake(
        lambda clicks: [(str(second), str(n)) for second, n in completed(clicks)],
        "The contents are right, but it is text. Kafka carries bytes: `encode` makes them.",
    ),
    Mistake(
        completed,
        "Key and value are numbers. Kafka carries bytes, so both have to become text and then "
        "bytes.",
    ),
    *same_idea(
        lambda clicks: [(str(second), _text(n)) for second, n in completed(clicks)],
        lambda clicks: [(second, _text(n)) for second, n in completed(clicks)],
        cause="The value is right, but the key is not bytes yet: `str`, and then `encode`.",
    ),
    *same_idea(
        lambda clicks: [(_text(second), str(n)) for second, n in completed(clicks)],
        lambda clicks: [(_text(second), n) for second, n in completed(clicks)],
        cause="The key is right, but the value is not bytes yet: `str`, and then `encode`.",
    ),
    *same_idea(
        lambda clicks: [(_packed(second), _packed(n)) for second, n in completed(clicks)],
        lambda clicks: [(_text(second), _packed(n)) for second, n in completed(clicks)],
        lambda clicks: [(_text(second), bytes([n])) for second, n in completed(clicks)],
        cause="It packs numbers into bytes. Decimal text is asked for, which every reader "
        "understands: 42 is the two characters `42`.",
    ),
    Mistake(
        lambda clicks: [(_text(second), bytes(n)) for second, n in completed(clicks)],
        "`bytes(number)` gives so many zero bytes. Make text first: `str(number).encode()`.",
    ),
    *same_idea(
        _as_json,
        lambda clicks: [(key, b'{"views": ' + value + b"}") for key, value in _right(clicks)],
        cause="The value is JSON. The number alone is asked for: the second stands in the key.",
    ),
    Mistake(
        lambda clicks: [(None, value) for _, value in _right(clicks)],
        "There is no key. A reader couldn't know which second the number belongs to.",
    ),
    *in_other_forms(
        _right,
        swapped="Key and value are swapped: the key says what the number is about, so it is the "
        "second.",
        as_lists="The contents are right, but each pair is a list: a tuple in round brackets is "
        "asked for.",
        values_alone="It gives the values alone. Nobody can tell which second they belong to.",
        as_a_dictionary="It returns a dictionary. Records are produced one after the other, so "
        "give pairs.",
        in_one_list="It gives one list with all pairs in it. Give each pair by itself, as soon as "
        "its second is complete.",
        taken_apart="The pairs are taken apart. Key and value of a metric stay together.",
        first_only="It returns at the first completed second. Collect the pairs, and return at the "
        "end.",
    ),
    *same_idea(
        lambda clicks: [],
        lambda clicks: [] if clicks else None,
        cause="Nothing is ever sent. Does the `return` stand inside the loop, or is a comparison "
        "never true?",
    ),
]

SHORTCUTS = [
    Mistake(
        lambda clicks: _sent(runs(named_as_pages(clicks))[:-1]),
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
]
"""Mistakes that don't show where names are as usual."""
