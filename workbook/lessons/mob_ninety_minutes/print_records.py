"""The mob's first step: print the records."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from confluent_kafka import KafkaException

from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.step import Step
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR, Entry
from workbook.lessons.mob_ninety_minutes.print_records_mistakes import MISTAKES
from workbook.lessons.mob_ninety_minutes.rehearsal import raw, rehearsed, shown_by


def mob(reader: Any, show: Callable[..., None], until: Callable[[], bool]) -> None:
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        show(message.offset(), message.value())


_rehearse = shown_by(raw)
_BROKEN = b'{"event_id": 77, "click_type": "Page", "na'


def _case(records: Sequence[Entry], cause: str) -> Case:
    return Case((list(records),), _rehearse(mob)(records), cause)


def _drawn() -> Iterator[Case]:
    draw = random.Random(1)
    for size in range(1, 16):
        records: list[Entry] = []
        for _ in range(size):
            page = draw.choice(("Page", "Action")), draw.randrange(10**13), draw.choice(_NAMES)
            records.append(draw.choice((page, page, None, _BROKEN, b"")))
        yield _case(
            records, "These records were drawn by chance: each has its line, as it came, in turn."
        )


_NAMES = ("/home", "/shoes", "None", "error", "buy")

_CASES = [
    _case(
        [("Page", 10_200), ("Action", 10_400), ("Page", 11_100)],
        "Three records, three lines on the screen, by `show`: each with its offset and its value "
        "as it came.",
    ),
    _case(
        [None, ("Page", 10_200), None, None, ("Page", 11_100)],
        "`poll` brings None where nothing came for a tenth of a second. Then the loop asks again.",
    ),
    _case(
        [_BROKEN, ("Page", 10_200)],
        "The first record is half a click. Raw means: its bytes, whatever they are.",
    ),
    _case(
        [("Page", 10_200), ERROR, ("Page", 11_100)],
        "The second message is an error in place of a record: `message.error()` says so. Raise it "
        "as `KafkaException`, so that somebody gets to know.",
    ),
    _case([None, None], "Nothing came, so there's nothing to show."),
]

print_records = Step(
    name="1. Print the records",
    task="Write the loop's inside. `reader.poll(0.1)` brings one message, or None where nothing "
    "came within 0.1 seconds: then ask again. A message may be an error in place of a record: "
    "where `message.error()` is something, `raise KafkaException(message.error())`. Everything "
    "else is a record: `show` its offset and its value, raw. `show` is a `print` onto the screen "
    "beside the shop.\n\n"
    "Expected for the record at offset 0: `0 b'{\"event_id\": …'`. More than that may stand in "
    "the line: `message.key()`, `message.timestamp()`.",
    stub="def mob(reader, show, until):\n"
    "    while not until():\n"
    "        message = reader.poll(0.1)\n"
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
        "A poll has three outcomes: nothing, an error, a record. What does the loop do in each?",
        "`continue` goes back to the loop's head. The message's parts are methods: `offset()`, "
        "`value()`, `error()`.",
        "First `if message is None`, then `if message.error()`, and below both "
        "`show(message.offset(), message.value())`.",
    ),
    reference=mob,
    discussion="Print first, whatever the topic: you see bytes, keys and times before you believe "
    "anything about them. This loop ends at the first error, which is better than one that goes on "
    "in silence. It keeps no state at all.",
    called="print_records",
)
