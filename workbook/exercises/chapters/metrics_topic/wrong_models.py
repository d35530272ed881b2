"""Mistakes that learners of chapter 03 make, each as a model and the cause to name."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, pairwise
from typing import Any

from workbook.events.clicks import Click, ClickType
from workbook.exercises.engine.frames import Row
from workbook.exercises.engine.judging import Mistake, same_idea

Pair = tuple[Any, Any]


def _second(click: Click) -> Any:
    return click.timestamp // 1000


def _is_page(click: Click) -> bool:
    return click.click_type == ClickType.PAGE


def _named_as_page(click: Click) -> bool:
    return click.name.startswith("/")


def _text(number: Any) -> Any:
    return str(number).encode()


def _packed(number: int) -> bytes:
    return struct.pack(">q", number)


def _completed(
    clicks: Sequence[Click],
    *,
    first: Any = None,
    of: Callable[[Click], Any] = _second,
    turns: Callable[[Click], bool] = _is_page,
    counts: Callable[[Click], bool] = _is_page,
    opens: bool = True,
    resets: bool = True,
    to_the_end: bool = False,
) -> list[Pair]:
    """Return the completed seconds and their views, with one idea exchanged."""
    current, views, done = first, 0, []
    for click in clicks:
        changed = turns(click) and of(click) != current
        if changed and current is not None:
            done.append((current, views))
            views = 0 if resets else views
        if counts(click) and (opens or not changed or current is None):
            views += 1
        current = of(click) if changed else current
    return [*done, (current, views)] if to_the_end and current is not None else done


def _metrics(
    clicks: Sequence[Click],
    key: Callable[[Any], Any] = _text,
    value: Callable[[Any], Any] = _text,
    **exchanged: Any,
) -> list[Pair]:
    """Model a mistake: the metrics to produce, with one idea exchanged."""
    return [(key(second), value(views)) for second, views in _completed(clicks, **exchanged)]


def _labelled_with_the_new(clicks: Sequence[Click]) -> list[Pair]:
    done = _completed(clicks, to_the_end=True)
    return [(_text(new), _text(views)) for (_, views), (new, _) in pairwise(done)]


def _at_every_click(clicks: Sequence[Click]) -> list[Pair]:
    runs = [list(run) for _, run in groupby(filter(_is_page, clicks), key=_second)]
    return [(_text(_second(c)), _text(n)) for run in runs for n, c in enumerate(run, start=1)]


def _without_gaps(clicks: Sequence[Click]) -> list[Pair]:
    done = _completed(clicks)
    ends = [second for second, _ in done[1:]]
    if done:
        ends.append(max(_second(c) for c in clicks if _is_page(c)))
    filled: list[Pair] = []
    for (second, views), new in zip(done, ends, strict=True):
        filled += [(second, views), *((empty, 0) for empty in range(second + 1, new))]
    return [(_text(second), _text(views)) for second, views in filled]


def _as_json(clicks: Sequence[Click]) -> list[Pair]:
    done = _completed(clicks)
    return [(_text(s), json.dumps({"second": s, "views": v}).encode()) for s, v in done]


def _each(change: Callable[[Pair], Any]) -> Callable[[Sequence[Click]], list[Any]]:
    """Model the right metrics, each changed by ``change``."""
    return lambda clicks: [change(pair) for pair in _metrics(clicks)]


def _same(number: Any) -> Any:
    return number


_ANY_TURNS = partial(_metrics, turns=lambda click: True)

BY_HAND = [
    *same_idea(
        *(partial(_metrics, first=first) for first in (0, -1)),
        lambda clicks: [
            (b"None" if key == b"0" else key, value) for key, value in _metrics(clicks, first=0)
        ],
        cause="It sends a metric at the very first click, for a second that never was. No second "
        "comes before the first one.",
    ),
    Mistake(
        partial(_metrics, to_the_end=True),
        "It sends the last second too. That one is unfinished: more page views may come in it, and "
        "readers would take a part for the whole.",
    ),
    Mistake(
        _labelled_with_the_new,
        "The views are those of the completed second, but the key is the second that has just "
        "begun. Who reads it would look one second too late.",
    ),
    Mistake(
        partial(_metrics, opens=False),
        "The click that changes the second is not counted. It completes the old second, and it is "
        "the first view of the new one.",
    ),
    Mistake(
        partial(_metrics, resets=False),
        "The value goes on growing from metric to metric. Each second begins again with its own "
        "views.",
    ),
    Mistake(
        partial(_metrics, turns=lambda click: True, counts=lambda click: True),
        "It takes actions for page views: they neither count nor change the second.",
    ),
    Mistake(
        partial(_metrics, counts=lambda click: True),
        "Actions do not change the second, which is right, but they are counted.",
    ),
    *same_idea(
        _ANY_TURNS,
        lambda clicks: [pair for pair in _ANY_TURNS(clicks) if pair[1] != b"0"],
        cause="An action is not counted, which is right, but it changes the second. Only a page "
        "view does.",
    ),
    Mistake(
        partial(_metrics, turns=lambda c: not _is_page(c), counts=lambda c: not _is_page(c)),
        "It counts the actions and leaves out the pages: the condition is turned round.",
    ),
    Mistake(
        _at_every_click,
        "It sends a metric with every click. One for each second is asked for, when it is "
        "complete.",
    ),
    Mistake(
        _without_gaps,
        "It sends seconds in which nobody looked at a page. Only a second with page views has a "
        "metric.",
    ),
    Mistake(
        partial(_metrics, key=lambda second: _text(second * 1000)),
        "The counts are right, but the key is in milliseconds. Seconds since 1970 are asked for.",
    ),
    Mistake(
        partial(_metrics, key=lambda second: _text(float(second))),
        "The key has a fraction, such as `1700000000.0`: `/` gives one. Use `//`, or "
        "`epoch_second`.",
    ),
    Mistake(
        partial(_metrics, of=lambda click: _second(click) % 60),
        "The key is the second of the minute, 0 to 59, so a minute later another second has the "
        "same key. Seconds since 1970 are asked for.",
    ),
    Mistake(
        partial(_metrics, of=lambda click: click.timestamp),
        "It compares timestamps in milliseconds, so each click has a second of its own.",
    ),
    Mistake(
        partial(_metrics, of=lambda click: click.timestamp / 1000),
        "`/` gives a number with a fraction, so each click has a second of its own. A second is a "
        "whole number.",
    ),
    *same_idea(
        partial(_metrics, key=str, value=str),
        partial(_metrics, key=str, value=repr),
        cause="The contents are right, but it is text. Kafka carries bytes: `encode` makes them.",
    ),
    Mistake(
        partial(_metrics, key=_same, value=_same),
        "Key and value are numbers. Kafka carries bytes, so both have to become text and then "
        "bytes.",
    ),
    *same_idea(
        partial(_metrics, key=str),
        partial(_metrics, key=_same),
        cause="The value is right, but the key is no bytes yet: `str`, and then `encode`.",
    ),
    *same_idea(
        partial(_metrics, value=str),
        partial(_metrics, value=_same),
        cause="The key is right, but the value is no bytes yet: `str`, and then `encode`.",
    ),
    *same_idea(
        partial(_metrics, key=_packed, value=_packed),
        partial(_metrics, value=_packed),
        partial(_metrics, value=lambda views: bytes([views])),
        cause="It packs numbers into bytes. Decimal text is asked for, which every reader "
        "understands: 42 is the two characters `42`.",
    ),
    Mistake(
        partial(_metrics, value=bytes),
        "`bytes(number)` gives so many zero bytes. Make text first: `str(number).encode()`.",
    ),
    *same_idea(
        _as_json,
        _each(lambda pair: (pair[0], b'{"views": ' + pair[1] + b"}")),
        cause="The value is JSON. The number alone is asked for: the second stands in the key.",
    ),
    Mistake(
        _each(lambda pair: (pair[1], pair[0])),
        "Key and value are swapped: the key says what the number is about, so it is the second.",
    ),
    Mistake(
        _each(lambda pair: (None, pair[1])),
        "There is no key. A reader could not tell which second the number belongs to.",
    ),
    Mistake(
        _each(lambda pair: pair[1]),
        "It gives the values alone. Nobody can tell which second they belong to.",
    ),
    Mistake(
        _each(list),
        "The contents are right, but each pair is a list: a tuple in round brackets is asked for.",
    ),
    Mistake(
        lambda clicks: dict(_metrics(clicks)),
        "It returns a dictionary. Records are produced one after the other, so give pairs.",
    ),
    Mistake(
        lambda clicks: [_metrics(clicks)],
        "It gives one list with all pairs in it. Give each pair by itself, as soon as its second "
        "is complete.",
    ),
    Mistake(
        lambda clicks: [part for pair in _metrics(clicks) for part in pair],
        "The pairs are taken apart. Key and value of a metric stay together.",
    ),
    *same_idea(
        lambda clicks: [],
        lambda clicks: [] if clicks else None,
        cause="Nothing is ever sent. Does the `return` stand inside the loop, or is a comparison "
        "never true?",
    ),
    Mistake(
        lambda clicks: next(iter(_metrics(clicks)), None),
        "It returns at the first completed second. Collect the pairs, and return at the end.",
    ),
]
"""Models from clicks to the pairs (key, value)."""

SHORTCUTS = [
    Mistake(
        partial(_metrics, turns=_named_as_page, counts=_named_as_page),
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
]
"""The same, for what is right where names are as usual."""

# --- on Spark -----------------------------------------------------------------------------------


def _rows(
    key: Callable[[Any], Any] = str, value: Callable[[Any], Any] = str
) -> Callable[[list[Row]], list[Row]]:
    """Model the expected rows with the key or the value changed."""
    return lambda rows: sorted(((key(s), value(v)) for s, v in rows), key=repr)


def _double(number: int) -> str:
    """Format a number as Java formats a double: with an exponent from ten million on."""
    power = len(str(number)) - 1
    return f"{float(number)}" if number < 10**7 else f"{number / 10**power!r}E{power}"


def _per_second(
    keep: Callable[[list[int]], int],
) -> Callable[[list[Row]], list[Row]]:
    def model(rows: list[Row]) -> list[Row]:
        seconds = sorted({second for second, _ in rows})
        grouped = [(s, [views for second, views in rows if second == s]) for s in seconds]
        return sorted(((str(s), str(keep(views))) for s, views in grouped), key=repr)

    return model


_ONE_ROW = (
    "A second that comes again was merged into one row. Here nothing is counted: each row that "
    "comes in goes out."
)

ON_SPARK = [
    Mistake(
        _rows(key=_same, value=_same),
        "Both columns are still numbers. The sink would refuse them: cast both to STRING.",
    ),
    Mistake(_rows(key=_same), "The key is still a number: cast it to STRING, as the value."),
    Mistake(_rows(value=_same), "The value is still a number: cast it to STRING, as the key."),
    Mistake(
        lambda rows: sorted(((str(v), str(s)) for s, v in rows), key=repr),
        "Key and value are swapped: the key is the second.",
    ),
    Mistake(
        _rows(key=_text, value=_text),
        "The bytes are right, and the sink would take them. But STRING is asked for, so leave out "
        "the last step to BINARY.",
    ),
    Mistake(
        _rows(key=lambda second: str(second * 1000)),
        "The key is in milliseconds. It is the second as it stands.",
    ),
    Mistake(
        _rows(key=_double),
        "The key was a double on its way to text. Cast the BIGINT itself.",
    ),
    Mistake(
        _rows(key=lambda second: datetime.fromtimestamp(second, UTC).strftime("%F %T")),
        "The key is a date and a time. The number of the second is asked for, as decimal text.",
    ),
    Mistake(
        _rows(value=lambda views: f"{views:,}"),
        "The value was formatted for people, with commas between the digits. Programs read it: a "
        "cast gives digits alone.",
    ),
    Mistake(
        _rows(value=lambda views: f'{{"views":{views}}}'),
        "The value is JSON. The number alone is asked for.",
    ),
    Mistake(
        lambda rows: sorted(((str(s), f'{{"second":{s},"views":{v}}}') for s, v in rows), key=repr),
        "The value is JSON that repeats the second. The number of views alone is asked for.",
    ),
    *same_idea(_per_second(max), _per_second(lambda views: views[0]), cause=_ONE_ROW),
    Mistake(
        _per_second(sum),
        "The counts of one second were added up. Each row already holds all views so far: the "
        "later one replaces the earlier.",
    ),
    Mistake(
        lambda rows: sorted({(str(s), str(v)) for s, v in rows}, key=repr),
        "Equal rows were dropped. To be told something twice does no harm here, and to look for "
        "duplicates on a stream costs state.",
    ),
    Mistake(lambda rows: [], "Nothing is left: here no row has to be filtered out."),
]
"""Models from the rows of counts to the rows of keys and values."""
