"""Wrong answers to "Count the page views", as programs with a reader and a screen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes
from workbook.lessons.mob_ninety_minutes.print_records_mistakes import Show, Until, each

MISTAKES = Mistakes()

FORGETS = (
    "It never shows more than 1: the count is set to 0 inside the loop, so it forgets. Begin it "
    "above the loop."
)
NEVER_GROWS = (
    "It shows 0 each time: nothing is ever added. Is the condition ever true? (A type is written "
    "`Page`, with a capital letter.)"
)

Counts = Callable[[Iterator[Any], Show], None]


def _kind(message: Any) -> str:
    return str(json.loads(message.value())["click_type"])


def _by(counts: Counts, cause: str) -> Mistake:
    """Build a mistake that reads as it should and does something else with the records."""

    def model(reader: Any, show: Show, until: Until) -> None:
        counts(each(reader, until), show)

    return Mistake(model, cause)


def _still_raw(records: Iterator[Any], show: Show) -> None:
    for message in records:
        show(message.offset(), message.value())


def _raw_too(records: Iterator[Any], show: Show) -> None:
    views = 0
    for message in records:
        show(message.offset(), message.value())
        if _kind(message) == "Page":
            views += 1
            show(views)


def _each_click(records: Iterator[Any], show: Show) -> None:
    for views, _ in enumerate(records, 1):
        show(views)


def _actions(records: Iterator[Any], show: Show) -> None:
    views = 0
    for message in records:
        if _kind(message) == "Action":
            views += 1
            show(views)


def _from_zero(records: Iterator[Any], show: Show) -> None:
    for message in records:
        if _kind(message) == "Page":
            show(1)


def _forgets_after_each(records: Iterator[Any], show: Show) -> None:
    for message in records:
        show(int(_kind(message) == "Page"))


def _zero_after_each(records: Iterator[Any], show: Show) -> None:
    for _ in records:
        show(0)


def _too_early(records: Iterator[Any], show: Show) -> None:
    views = 0
    for message in records:
        if _kind(message) == "Page":
            show(views)
            views += 1


def _never_grows(records: Iterator[Any], show: Show) -> None:
    for message in records:
        if _kind(message) == "Page":
            show(0)


def _after_each(records: Iterator[Any], show: Show) -> None:
    views = 0
    for message in records:
        views += _kind(message) == "Page"
        show(views)


def _at_the_end(records: Iterator[Any], show: Show) -> None:
    show(sum(_kind(message) == "Page" for message in records))


def _nothing(records: Iterator[Any], show: Show) -> None:
    for _ in records:
        pass


MISTAKES += [
    _by(_still_raw, "It's still the program of the step before: it shows the records themselves."),
    _by(_raw_too, "It counts well, and still shows the raw records, too. That line may go."),
    _by(_each_click, "It counts every click, actions too."),
    _by(_actions, "It counts the actions and leaves out the page views."),
    _by(_from_zero, FORGETS),
    _by(_forgets_after_each, FORGETS),
    _by(_too_early, "It shows the count before it adds the page view."),
    _by(_never_grows, NEVER_GROWS),
    _by(_zero_after_each, NEVER_GROWS),
    _by(
        _after_each,
        "It shows the count after every click, also where it didn't change. Show it after a page "
        "view.",
    ),
    _by(
        _at_the_end,
        "It shows the count once, when the loop has ended. A stream doesn't end: show it as it "
        "grows.",
    ),
    _by(
        _nothing,
        "It shows nothing. Is the condition ever true (a type is written `Page`, with a capital "
        "letter, and the bytes have to be read by `json.loads`)? And does a line reach `show`?",
    ),
]


@MISTAKES.add("It passes over an error in silence, which the step before didn't: raise it.")
def passes_over_errors(reader: Any, show: Show, until: Until) -> None:
    views = 0
    while not until():
        message = reader.poll(0.1)
        if message is not None and not message.error() and _kind(message) == "Page":
            views += 1
            show(views)


@MISTAKES.add("It never asks `until()`, so nobody can end it: keep `while not until():`.")
def never_ends(reader: Any, show: Show, until: Until) -> None:
    views = 0
    for message in each(reader, lambda: False):
        if _kind(message) == "Page":
            views += 1
            show(views)
