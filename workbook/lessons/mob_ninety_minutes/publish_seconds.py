"""The mob's fourth step: publish to the metrics topic."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.step import Step
from workbook.lessons.mob_ninety_minutes.helpers import page_second
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR, Entry
from workbook.lessons.mob_ninety_minutes.per_second import draw
from workbook.lessons.mob_ninety_minutes.publish_seconds_mistakes import MISTAKES
from workbook.lessons.mob_ninety_minutes.rehearsal import published_by, rehearsed


def mob(reader: Any, producer: Any, metrics: str, until: Callable[[], bool]) -> None:
    views: dict[int, int] = {}
    while not until():
        second = page_second(reader.poll(0.1))
        if second is None:
            continue
        if views and second not in views:
            done, count = views.popitem()
            producer.produce(metrics, key=str(done), value=str(count))
        views[second] = views.get(second, 0) + 1
    producer.flush()


def _case(records: Sequence[Entry], cause: str, topic: str = "metrics") -> Case:
    args = list(records), topic
    return Case(args, published_by(mob)(*args), cause)


def _pages(*times: int) -> list[Entry]:
    return [("Page", at) for at in times]


_CASES = [
    _case(
        _pages(10_200, 10_900, 11_100, 12_000),
        "Two seconds are complete: two metrics, each when the next second begins.",
    ),
    _case(
        [*_pages(10_100), None, ("Action", 11_200), None, *_pages(11_900, 12_300), None],
        "Silence and actions publish nothing.",
        "metrics.k3f9",
    ),
    _case(_pages(10_200, 10_300), "Second 10 is still open, so nothing is published."),
    _case([*_pages(10_000, 11_000), ERROR], "An error in place of a record is still to be raised."),
    _case(
        [("Page", 10_000 + 10 * at) for at in range(1, 205)],
        "Second 10 has 99 page views, second 11 has 100: all of them count.",
    ),
]


def drawn_records(seed: int) -> Iterator[list[Entry]]:
    """Draw clicks in the order of their time, up to fifteen."""
    chance = random.Random(seed)
    yield from (draw(chance, size)[0] for size in range(1, 16))


_DRAWN = smallest_first(
    _case(
        records,
        "These clicks were drawn by chance. Follow them through your lines: where does the first "
        "metric differ?",
    )
    for records in drawn_records(4)
)

PUBLISHES = one_after_another(by_cases(_CASES), by_cases(_DRAWN))
"""The check of what a rehearsed program publishes, without a word on mistakes."""

_MODELS = [replace(m, model=published_by(m.model)) for m in MISTAKES]
_CHECK = one_after_another(by_cases(_CASES, _MODELS), by_cases(_DRAWN))

publish_seconds = Step(
    name="4. Publish to the metrics topic",
    task="Edit the program: instead of showing a complete second, it publishes it, so that others "
    "get it. It has confluent-kafka's `producer` and the name of the topic, `metrics`, in place of "
    "`show`. The record's key is the second and its value the count, both as decimal text: "
    "`producer.produce(topic, key=..., value=...)`. `produce` only puts a record into a queue, so "
    "when the loop has ended, the program waits until all are sent: `producer.flush()`.\n\n"
    "Page views in the seconds 10, 10, 11 and 12 send key `10`, value `2`, and key `11`, value "
    "`1`.",
    stub="def mob(reader, producer, metrics, until):\n"
    "    views = {}\n"
    "    while not until():\n"
    "        second = page_second(reader.poll(0.1))\n"
    "        if second is None:\n"
    "            continue\n"
    "        if views and second not in views:\n"
    "            show(*views.popitem())\n"
    "        views[second] = views.get(second, 0) + 1\n"
    "    ...  # your code\n",
    diagnose=rehearsed(_CHECK, published_by, 4),
    hints=(
        "One line shows. What does it know, and what does a record need? And what is to be done "
        "behind the loop?",
        "`popitem()` gives a pair: give its parts names. Kafka takes text or bytes, not an int.",
        "`done, count = views.popitem()`, and below it `producer.produce(metrics, key=str(done), "
        "value=str(count))`. The last line, outside the loop, is `producer.flush()`.",
    ),
    reference=mob,
    discussion="A metric of the same second gets the same key, so whoever reads the topic can keep "
    "the last value of each: published twice it does no harm. A weakness stays: nobody looks "
    "whether the broker has taken the record. And this program remembers no place: started again, "
    "it reads and publishes everything once more.",
    called="publish_seconds",
)
