"""Wrong answers to "Views per second on Spark", as queries over the rows of clicks."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from typing import Any

from workbook.classroom.frames import Row
from workbook.classroom.mistakes import Mistake
from workbook.exercises.models.rows import count, name, second, without_duplicates


def pages(clicks: list[Any]) -> list[Any]:
    """Return the page views."""
    return [click for click in clicks if click.click_type == "Page"]


def _clicks(clicks: list[Any]) -> list[Any]:
    return [click for click in clicks if click.click_type is not None]


def _arrived(click: Any) -> int:
    return int(click.arrival.timestamp())


def _every(seconds: int) -> Any:
    return lambda click: click.timestamp // 1000 // seconds * seconds


class _Now:
    """Equal to each epoch second within the last day, for answers that look at the clock."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Now):
            return True
        return isinstance(other, int) and 0 <= time.time() - other < 86_400


def _no_gap(clicks: list[Any]) -> list[Row]:
    views = dict(count(pages(clicks), second))
    return [(at, views.get(at, 0)) for at in range(min(views), max(views) + 1)]


def _as_text(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%F %T")


_local = datetime.fromtimestamp  # so does Spark's collect

MISTAKES = [
    Mistake(
        lambda clicks: count(_clicks(clicks), second),
        "It counts every click: keep the rows whose `click_type` is `Page`.",
    ),
    Mistake(
        lambda clicks: count(clicks, second),
        "It counts all rows, also the row of nulls, which is no click. Keep the rows whose "
        "`click_type` is `Page`.",
    ),
    Mistake(
        lambda clicks: count([c for c in _clicks(clicks) if c.click_type != "Action"], second),
        "It leaves out actions, and counts every other kind. Keep what is a `Page`.",
    ),
    Mistake(
        lambda clicks: count([c for c in _clicks(clicks) if c.click_type[:4] == "Page"], second),
        "It counts every kind that begins with `Page`. The type has to be equal to it.",
    ),
    Mistake(
        lambda clicks: count([c for c in _clicks(clicks) if c.name.startswith("/")], second),
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), _arrived),
        "It counts by `arrival`. A view belongs to the second in which it happened: that is its "
        "`timestamp`.",
    ),
    Mistake(
        lambda clicks: count(without_duplicates(pages(clicks)), second),
        "It counts distinct values or drops duplicates, so an event that was delivered twice "
        "counts once. That is a good idea with a price; here every row counts.",
    ),
    Mistake(
        lambda clicks: [(at, 1) for at, _ in count(pages(clicks), second)],
        "Each row has one view: duplicates were dropped before counting, or distinct values were "
        "counted. Here every event counts.",
    ),
    Mistake(
        lambda clicks: [],
        "Nothing is left. Is a filter never true? A type is written `Page`.",
    ),
    *(
        Mistake(
            lambda clicks, seconds=seconds: count(pages(clicks), _every(seconds)),
            f"Its windows are {told} long. One second is asked for.",
        )
        for seconds, told in ((10, "ten seconds"), (5, "five seconds"), (60, "a minute"))
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: click.timestamp / 1000),
        "`/` gives a double, and each millisecond a second of its own. Cut the fraction off: "
        "`floor`, or the operator `div`.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: click.timestamp),
        "The second is still in milliseconds. (A cast from BIGINT to a timestamp takes seconds; "
        "`timestamp_millis` takes milliseconds.)",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: round(click.timestamp / 1000)),
        "It rounds: what happens 999 ms after a second began is still in it. Use `floor`.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: math.ceil(click.timestamp / 1000)),
        "It rounds up, so views go to the second after theirs. Use `floor`.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: click.timestamp // 1000 % 60),
        "It takes the second of the minute, 0 to 59: views of different minutes are added up.",
    ),
    Mistake(
        lambda clicks: count(
            [c for c in pages(clicks) if _arrived(c) - c.timestamp // 1000 < 60], second
        ),
        "It leaves out a view that was long on its way. The watermark decides what is too late, "
        "and it compares the times of the clicks with each other: `arrival` has no say.",
    ),
    Mistake(
        lambda clicks: [(_Now(), len(pages(clicks)))],
        "It asks the clock on the wall when the program runs. A view belongs to the second in "
        "which it happened: that is its `timestamp`.",
    ),
    Mistake(
        lambda clicks: [
            (at, sum(c.click_type == "Page" for c in _clicks(clicks) if second(c) == at))
            for at, _ in count(_clicks(clicks), second)
        ],
        "A second that has only actions appears with 0. Filter before you group.",
    ),
    Mistake(
        _no_gap,
        "Seconds without a view were made up. A group exists only where a row is; whoever draws "
        "the chart may fill the gaps.",
    ),
    Mistake(
        lambda clicks: [(at, views) for at, _, views in count(pages(clicks), second, name)],
        "A second stands in several rows: it is grouped by more than the second.",
    ),
    Mistake(
        lambda clicks: [(_local(at), views) for at, views in count(pages(clicks), second)],
        "The counts are right, but the second is a timestamp. A bigint is asked for: "
        "`unix_seconds` makes one.",
    ),
    Mistake(
        lambda clicks: [
            ((_local(at), _local(at + 1)), views) for at, views in count(pages(clicks), second)
        ],
        "The counts are right, but `second` is the whole window with `start` and `end`. Take the "
        "start, as a bigint (`unix_seconds`).",
    ),
    Mistake(
        lambda clicks: [(_as_text(at), views) for at, views in count(pages(clicks), second)],
        "The counts are right, but the second is text. A bigint is asked for.",
    ),
]
