"""Wrong answers to "Metrics on Spark", as queries over the rows of counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from workbook.exercises.engine.frames import Row
from workbook.exercises.engine.mistakes import Mistake, same_idea


def _double(number: int) -> str:
    """Format a number as Java formats a double: with an exponent from ten million on."""
    power = len(str(number)) - 1
    return f"{float(number)}" if number < 10**7 else f"{number / 10**power!r}E{power}"


def _date(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%F %T")


def _per_second(aggregate: Callable[[list[int]], int]) -> Callable[[list[Any]], list[Row]]:
    """Return a query that groups by second and aggregates the views."""
    return lambda counts: [
        (str(second), str(aggregate([c.views for c in counts if c.second == second])))
        for second in {c.second for c in counts}
    ]


MISTAKES = [
    Mistake(
        lambda counts: [(c.second, c.views) for c in counts],
        "Both columns are still numbers. The sink would refuse them: cast both to STRING.",
    ),
    Mistake(
        lambda counts: [(c.second, str(c.views)) for c in counts],
        "The key is still a number: cast it to STRING, like the value.",
    ),
    Mistake(
        lambda counts: [(str(c.second), c.views) for c in counts],
        "The value is still a number: cast it to STRING, as the key.",
    ),
    Mistake(
        lambda counts: [(str(c.views), str(c.second)) for c in counts],
        "Key and value are swapped: the key is the second.",
    ),
    Mistake(
        lambda counts: [(str(c.second).encode(), str(c.views).encode()) for c in counts],
        "The bytes are right, and the sink would take them. But STRING is asked for, so leave out "
        "the last step to BINARY.",
    ),
    Mistake(
        lambda counts: [(str(c.second * 1000), str(c.views)) for c in counts],
        "The key is in milliseconds. It is the second as it stands.",
    ),
    Mistake(
        lambda counts: [(_double(c.second), str(c.views)) for c in counts],
        "The key was a double on its way to text. Cast the BIGINT itself.",
    ),
    Mistake(
        lambda counts: [(_date(c.second), str(c.views)) for c in counts],
        "The key is a date and a time. The number of the second is asked for, as decimal text.",
    ),
    Mistake(
        lambda counts: [(str(c.second), f"{c.views:,}") for c in counts],
        "The value was formatted for people, with commas between the digits. Programs read it: a "
        "cast gives digits alone.",
    ),
    Mistake(
        lambda counts: [(str(c.second), f'{{"views":{c.views}}}') for c in counts],
        "The value is JSON. The number alone is asked for.",
    ),
    Mistake(
        lambda counts: [
            (str(c.second), f'{{"second":{c.second},"views":{c.views}}}') for c in counts
        ],
        "The value is JSON that repeats the second. The number of views alone is asked for.",
    ),
    *same_idea(
        _per_second(max),
        _per_second(lambda views: views[0]),
        cause="A second that comes again was merged into one row. Here nothing is counted: each "
        "row that comes in goes out.",
    ),
    Mistake(
        _per_second(sum),
        "The counts of one second were added up. Each row already holds all views so far: the "
        "later one replaces the earlier.",
    ),
    Mistake(
        lambda counts: [(str(c.second), str(c.views)) for c in set(counts)],
        "Equal rows were dropped. A duplicate does no harm here, and finding duplicates on a "
        "stream costs state.",
    ),
    Mistake(lambda counts: [], "Nothing is left: here no row has to be filtered out."),
]
