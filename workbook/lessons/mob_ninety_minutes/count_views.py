"""The mob's second step: count the page views."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from confluent_kafka import KafkaException

from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.step import Step
from workbook.lessons.mob_ninety_minutes.count_views_mistakes import MISTAKES
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR, Entry
from workbook.lessons.mob_ninety_minutes.rehearsal import numbers, rehearsed, shown_by


def mob(reader: Any, show: Callable[..., None], until: Callable[[], bool]) -> None:
    views = 0
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        click = json.loads(message.value())
        if click["click_type"] == "Page":
            views += 1
            show(views)


_rehearse = shown_by(numbers(1))


def _case(records: Sequence[Entry], cause: str) -> Case:
    return Case((list(records),), _rehearse(mob)(records), cause)


def _drawn() -> Iterator[Case]:
    draw = random.Random(2)
    names = ("/home", "/shoes", "Page", "buy", "/buy", "add-to-basket")
    for size in range(1, 16):
        records: list[Entry] = []
        for _ in range(size):
            kind = draw.choice(("Page", "Page", "Action"))
            records.append((kind, draw.randrange(10**13), draw.choice(names)))
            records += [None] * draw.choice((0, 0, 1))
        yield _case(
            records,
            "These clicks were drawn by chance. What a click is stands in its `click_type` and "
            "nowhere else.",
        )


_CASES = [
    _case(
        [("Page", 10_200), ("Action", 10_400), ("Page", 11_100)],
        "Two page views and an action between them: it shows 1, and then 2.",
    ),
    _case(
        [("Action", 10_200), ("Action", 10_300)],
        "Actions alone: nothing to show.",
    ),
    _case(
        [("Page", 10_200), None, None, ("Page", 11_100)],
        "Nothing came between the two. The count stays as it is, and nothing new is shown.",
    ),
    _case(
        [("Page", 10_200), ERROR, ("Page", 11_100)],
        "An error in place of a record is still to be raised, as in the step before.",
    ),
    _case(
        [("Action", 10_200, "Page"), ("Page", 10_300, "Action"), ("Page", 10_400)],
        "An action may be named `Page`, and a page `Action`. The kind stands in `click_type`.",
    ),
    _case([("Page", at) for at in range(10_000, 22_000, 1_000)], "Twelve page views give 12."),
]

count_views = Step(
    name="2. Count the page views",
    task="Edit the program: instead of showing each record, it counts the page views and shows the "
    "count so far after each of them. A value is JSON, which `json.loads` reads; of the clicks "
    'only those with the `click_type` "Page" count.\n\n'
    "A page view, an action and a page view show `1` and then `2`. Words may stand beside it.",
    stub="def mob(reader, show, until):\n"
    "    while not until():\n"
    "        message = reader.poll(0.1)\n"
    "        if message is None:\n"
    "            continue\n"
    "        if message.error():\n"
    "            raise KafkaException(message.error())\n"
    "        show(message.offset(), message.value())\n"
    "        ...  # your code\n",
    diagnose=rehearsed(
        one_after_another(
            by_cases(_CASES, [replace(m, model=_rehearse(m.model)) for m in MISTAKES]),
            by_cases(smallest_first(_drawn())),
        ),
        _rehearse,
        3,
    ),
    hints=(
        "Where does the program keep what it knows from one record to the next? That has to exist "
        "before the first record comes.",
        "A variable above the loop, set to 0. In the loop `json.loads(message.value())` gives a "
        "dictionary, which knows its `click_type`.",
        '`if click["click_type"] == "Page":`, and below it two lines: add 1, show.',
    ),
    reference=mob,
    discussion="One variable has made the program stateful: what it shows depends on all that "
    "came before. State and place in the topic are two things, kept in two places. And half a "
    "click ends this program by an error: chapter 03 puts such records aside.",
    called="count_views",
)
