"""Chapter 05: The slowest clock."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import (
    Check,
    drawn_click,
    one_after_another,
    smallest_first,
)
from workbook.classroom.judging import Case, NotYet, by_cases
from workbook.events.clicks import Click, ClickType
from workbook.lessons.many_partitions.slowest_clock_mistakes import MISTAKES, SHORTCUTS
from workbook.lessons.models.clocks import Arrival

SECOND = 1_700_000_000


def _page(partition: int, at: int) -> Arrival:
    """Build a page view at this time in ms; its id is the time too, which keeps the cases short."""
    return partition, Click(at, ClickType.PAGE, "/home", at, "Firefox")


def _action(partition: int, at: int) -> Arrival:
    return partition, Click(at, ClickType.ACTION, "buy", at, "Firefox")


def _pages(*arrivals: tuple[int, int]) -> list[Arrival]:
    return [_page(partition, at) for partition, at in arrivals]


def completed(clicks: Iterable[Arrival], partitions: int) -> Iterator[tuple[int, int]]:
    views: Counter[int] = Counter()
    clocks: dict[int, int] = {}
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        if click.click_type == "Page":
            views[click.epoch_second] += 1
        if len(clocks) == partitions:
            slowest = min(clocks.values())
            for second in sorted(second for second in views if second < slowest):
                yield second, views.pop(second)


def _drawn_arrivals() -> Iterator[Case]:
    """Yield arrivals from partitions that are each in order, and each at another place."""
    draw = random.Random(6)
    for size in range(1, 41, 2):
        partitions, arrivals = draw.choice((1, 2, 3, 4, 6)), []
        clocks = [draw.choice((9_000, 59_000, SECOND * 1000))] * partitions
        for _ in range(size):
            at = draw.randrange(partitions)
            clocks[at] += draw.choice((100, 300, 700, 1_000, 2_500))
            arrivals.append((at, drawn_click(draw, clocks[at])))
        yield Case(
            (arrivals, partitions),
            list(completed(arrivals, partitions)),
            "These clicks were drawn by chance. Where does the slowest clock stand at the end?",
        )


_TEACHING_ARRIVALS = [
    Case(
        (
            _pages(
                (0, 10_100),
                (1, 10_500),
                (0, 11_200),
                (1, 10_900),
                (1, 11_300),
                (0, 12_100),
                (1, 12_400),
            ),
            2,
        ),
        [(10, 3), (11, 2)],
        "Second 10 is complete when both clocks have come to 11, and second 11 when both "
        "have come to 12.",
    ),
    Case(
        (_pages((0, 10_100), (0, 11_000), (0, 12_000)), 2),
        [],
        "Nothing has come from partition 1 yet. It may still bring views of second 10.",
    ),
    Case(
        (
            _pages(
                (0, 11_100),
                (1, 10_200),
                (0, 15_000),
                (1, 15_500),
                (0, 17_000),
                (1, 17_200),
            ),
            2,
        ),
        [(10, 1), (11, 1), (15, 2)],
        "Seconds 10 and 11 are complete at the same click, and the earlier one goes "
        "first. In the seconds between 11 and 15 there are no views to emit.",
    ),
    Case(
        (
            [
                *_pages((0, 10_100), (1, 10_200)),
                *(_action(0, 11_500), _action(1, 12_500)),
                _page(0, 13_000),
            ],
            2,
        ),
        [(10, 2)],
        "The two actions move the clocks to 11 and 12, so second 10 is complete. Nobody "
        "looked at a page in second 11.",
    ),
    Case(
        (
            _pages(
                (0, 10_000),
                (0, 11_000),
                (0, 12_000),
                (0, 13_000),
                (1, 10_500),
                (1, 13_200),
            ),
            2,
        ),
        [(10, 2), (11, 1), (12, 1)],
        "Partition 1 is behind, and everybody waits. Its last click completes three "
        "seconds at once.",
    ),
    Case(
        (
            _pages(
                (0, 10_000),
                (2, 10_400),
                (0, 11_000),
                (2, 11_100),
                (1, 10_800),
                (1, 11_900),
            ),
            3,
        ),
        [(10, 3)],
        "The slowest of the three clocks decides. It comes to 11 with the last click.",
    ),
    Case(
        (_pages((0, 10_100), (0, 10_900), (0, 11_000)), 1),
        [(10, 2)],
        "With one partition it is the rule of chapter 02.",
    ),
    Case(
        (
            [
                *_pages((0, 10_100), (1, 10_200), (0, 14_000), (1, 11_500), (0, 15_000)),
                *_pages((0, 16_000)),
            ],
            2,
        ),
        [(10, 2)],
        "Partition 0 has run ahead to 16, and partition 1 stands in second 11, which still goes "
        "on there. Only second 10 is complete.",
    ),
    Case(
        ([*_pages((0, 10_100), (1, 10_200)), _action(0, 11_500), _action(1, 12_500)], 2),
        [(10, 2)],
        "Only actions have come since, and they complete second 10: it's emitted then, not with "
        "the next page view.",
    ),
    Case(
        ([_page(0, 10_100), _action(1, 11_000), _page(0, 11_200)], 2),
        [(10, 1)],
        "Partition 1 has had an action only. That's a click as well: it sets the clock there.",
    ),
    Case(
        (_pages((0, 14_000), (1, 10_200)), 2),
        [],
        "Partition 1 has just come to second 10, which goes on there.",
    ),
    Case(
        (_pages((0, 10_100), (0, 700_000), (1, 10_500), (1, 11_000)), 2),
        [(10, 2)],
        "Partition 1 is more than eleven minutes behind. Its clicks count all the same, and second "
        "10 waits for them however long it takes.",
    ),
    Case(
        (_pages((0, 10_100), (0, 10_100), (1, 11_000), (0, 11_300)), 2),
        [(10, 2)],
        "The same click came twice, and both count. To leave out duplicates would take a memory of "
        "its own, and nobody asks for it here.",
    ),
    Case(([], 24), [], "No clicks give no pairs."),
]


def _as_a_stream(check: Check) -> Check:
    """Hand the clicks to the answer as the notebook's reader does: they come once."""

    def diagnose(answer: Any) -> NotYet | None:
        if not callable(answer):
            return check(answer)

        @functools.wraps(answer)
        def once(clicks: Iterable[Arrival], partitions: int) -> Any:
            return answer(iter(clicks), partitions)

        return check(once)

    return diagnose


slowest_clock = Problem(
    name="The slowest clock",
    task="Write the loop for a topic of several partitions. It gets a stream of pairs `(partition, "
    "click)` as they arrive, which can be walked over once, and the number of partitions. Each "
    "partition's producer has appended its clicks in the order of event time; between partitions "
    "there is no order. Give pairs `(second, views)`, in a list or by `yield`, once a second is "
    "complete on **all** partitions. Seconds go up, each is emitted once, and none with zero "
    "views.\n\n"
    "A partition's clock is the second of its newest click. An action moves the clock too, but is "
    "not counted. A partition that has had no click yet holds everything back. With two "
    "partitions, views `(0, 10.1 s)`, `(0, 11.2 s)` and `(1, 10.9 s)` give nothing yet; then "
    "`(1, 11.3 s)` gives `(10, 2)`.",
    stub="def completed(clicks, partitions):\n    ...  # your code\n",
    diagnose=_as_a_stream(
        one_after_another(
            by_cases(_TEACHING_ARRIVALS, MISTAKES, any_iterable=True),
            by_cases(smallest_first(_drawn_arrivals()), SHORTCUTS, any_iterable=True),
        )
    ),
    hints=(
        "For second 10 to be complete, what must you know of each partition? Which one of them "
        "shows it last?",
        "Keep two maps: from second to views, and from partition to its newest second. Everything "
        "before the smallest clock is complete, as soon as all partitions have a clock.",
        "`if len(clocks) == partitions:` says whether all have a clock, and "
        "`min(clocks.values())` is the slowest. Emit the seconds below it, sorted, and remove "
        "them.",
    ),
    reference=completed,
    discussion="The minimum of the clocks is the most cautious watermark there is. As long as each "
    "partition is in order of event time, no click is ever late.\n\n"
    "It pays with patience: one idle partition of 24 holds everything back, and the map grows "
    "while we wait. A producer must send a click or a heartbeat now and then, or the loop must "
    "decide that a silent partition no longer counts. (The loop also looks at the whole map with "
    "each click. That is fine for a few seconds, and slow for an hour.)",
)
