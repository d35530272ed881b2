"""Wrong answers to "Records on Spark", as queries over the rows of counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from workbook.classroom.frames import Row
from workbook.classroom.mistakes import Mistake, same_idea


def _second(count: Any) -> int:
    return int(count.window[0].timestamp())


def _double(number: int) -> str:
    """Format a number as Java formats a double: with an exponent from ten million on."""
    power = len(str(number)) - 1
    return f"{float(number)}" if number < 10**7 else f"{number / 10**power!r}E{power}"


def _date(time: Any) -> str:
    return str(time.strftime("%F %T"))


def _iso(time: Any) -> str:
    return str(time.strftime("%FT%T.000Z"))


def _keys(key: Callable[[Any], Any]) -> Callable[[list[Any]], list[Row]]:
    """Return a query that is right in all but its key."""
    return lambda counts: [(key(c), str(c.views)) for c in counts]


def _values(value: Callable[[Any], Any]) -> Callable[[list[Any]], list[Row]]:
    """Return a query that is right in all but its value."""
    return lambda counts: [(str(_second(c)), value(c)) for c in counts]


def _per_second(aggregate: Callable[[list[int]], int]) -> Callable[[list[Any]], list[Row]]:
    """Return a query that groups by second and aggregates the views."""
    return lambda counts: [
        (str(second), str(aggregate([c.views for c in counts if _second(c) == second])))
        for second in {_second(c) for c in counts}
    ]


MISTAKES = [
    Mistake(
        _keys(lambda c: _date(c.window[0])),
        "The key is a date, and which one depends on the session's time zone. Take the seconds "
        "since 1970: `unix_seconds` gives them.",
    ),
    *same_idea(
        _keys(lambda c: f"{{{_date(c.window[0])}, {_date(c.window[1])}}}"),
        _keys(lambda c: f'{{"start":"{_iso(c.window[0])}","end":"{_iso(c.window[1])}"}}'),
        cause="The key is the whole window as text. Take its `start`, as seconds since 1970.",
    ),
    Mistake(
        _keys(lambda c: str(_second(c) % 60)),
        "The key is the second of the minute, 0 to 59: each minute would replace the one before "
        "it. Take the seconds since 1970: `unix_seconds`.",
    ),
    *same_idea(
        _keys(lambda c: str(_second(c) + 1)),
        _keys(lambda c: _date(c.window[1])),
        cause="The key is the window's end, which is the next second's name. Take its `start`.",
    ),
    Mistake(
        lambda counts: [(_second(c), c.views) for c in counts],
        "Both columns are still numbers. The sink would refuse them: cast both to STRING.",
    ),
    Mistake(_keys(_second), "The key is still a number: cast it to STRING, like the value."),
    Mistake(
        _values(lambda c: c.views), "The value is still a number: cast it to STRING, as the key."
    ),
    Mistake(
        lambda counts: [(str(c.views), str(_second(c))) for c in counts],
        "Key and value are swapped: the key is the second.",
    ),
    Mistake(
        lambda counts: [(str(_second(c)).encode(), str(c.views).encode()) for c in counts],
        "The bytes are right, and the sink would take them. But STRING is asked for, so leave out "
        "the last step to BINARY.",
    ),
    Mistake(
        _keys(lambda c: str(_second(c) * 1000)),
        "The key is in milliseconds. Seconds are asked for: `unix_seconds`.",
    ),
    Mistake(
        _keys(lambda c: _double(_second(c))),
        "The key was a double on its way to text: a cast from a timestamp to DOUBLE, or a division "
        "by `/`, makes one. `unix_seconds` gives a whole number.",
    ),
    Mistake(
        _values(lambda c: f"{c.views:,}"),
        "The value was formatted for people, with commas between the digits. Programs read it: a "
        "cast gives digits alone.",
    ),
    Mistake(
        _values(lambda c: f'{{"views":{c.views}}}'),
        "The value is JSON. The number alone is asked for.",
    ),
    Mistake(
        _values(lambda c: json.dumps({"second": _second(c), "views": c.views}).replace(" ", "")),
        "The value is JSON that repeats the second. The number of views alone is asked for.",
    ),
    *same_idea(
        _per_second(max),
        _per_second(lambda views: views[0]),
        cause="A window that comes again was merged into one row. Here nothing is counted: each "
        "row that comes in goes out.",
    ),
    Mistake(
        _per_second(sum),
        "The counts of one second were added up. Each row already holds all views so far: the "
        "later one replaces the earlier.",
    ),
    Mistake(
        lambda counts: list({(str(_second(c)), str(c.views)) for c in counts}),
        "Equal rows were dropped. A duplicate does no harm here, and finding duplicates on a "
        "stream costs state.",
    ),
    Mistake(lambda counts: [], "Nothing is left: here no row has to be filtered out."),
]
