"""Wrong answers to "Print the records", as programs with a reader and a screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaException

from workbook.classroom.mistakes import Mistake, Mistakes

Show = Callable[..., None]
Until = Callable[[], bool]

MISTAKES = Mistakes()


def each(reader: Any, until: Until) -> Any:
    """Yield the records, as a right loop reads them."""
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        yield message


@MISTAKES.add(
    "It shows an error as if it were a record: `value()` has the error's text then. Ask "
    "`message.error()` first, and raise it."
)
def shows_errors(reader: Any, show: Show, until: Until) -> None:
    while not until():
        if (message := reader.poll(0.1)) is not None:
            show(message.offset(), message.value())


@MISTAKES.add(
    "It passes over an error in silence and polls on. If the topic isn't there, nobody ever gets "
    "to know: raise it."
)
def passes_over_errors(reader: Any, show: Show, until: Until) -> None:
    while not until():
        message = reader.poll(0.1)
        if message is not None and not message.error():
            show(message.offset(), message.value())


@MISTAKES.add(
    "It ends without a word at an error. A loop that's gone and says nothing looks like a topic in "
    "which nothing happens: raise it."
)
def ends_at_errors(reader: Any, show: Show, until: Until) -> None:
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            return
        show(message.offset(), message.value())


@MISTAKES.add(
    "`message.error()` isn't an exception, though it can be raised: no `except Exception` catches "
    "it. Wrap it: `raise KafkaException(message.error())`."
)
def raises_the_error_itself(reader: Any, show: Show, until: Until) -> None:
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise message.error()
        show(message.offset(), message.value())


def _ends_at_none(reader: Any, show: Show, until: Until) -> None:
    while not until():
        message = reader.poll(0.1)
        if message is None:
            break
        if message.error():
            raise KafkaException(message.error())
        show(message.offset(), message.value())


def _with(what: Callable[[Any], tuple[Any, ...]], cause: str) -> Mistake:
    """Build a mistake that is right in all but what it shows of a record."""

    def model(reader: Any, show: Show, until: Until) -> None:
        for message in each(reader, until):
            show(*what(message))

    return Mistake(model, cause)


MISTAKES += [
    Mistake(
        _ends_at_none,
        "It ends where `poll` brings None. That only means that nothing came just now: `continue`.",
        shows=lambda records: None in records[:-1],
    ),
    _with(
        lambda m: (json.loads(m.value()),),
        "It reads the value as JSON. Half a click would end the program: print what's there, "
        "before you believe in a format.",
    ),
    _with(
        lambda m: (m.offset(), json.loads(m.value())),
        "It reads the value as JSON, and half a click ends the program. Print what's there, before "
        "you believe in a format.",
    ),
    _with(
        lambda m: (m,),
        "It shows the message object. What's in it comes by its methods: `message.value()`.",
    ),
    _with(
        lambda m: (m.offset, m.value),
        "The parts of a message are methods: parentheses are missing, as in `message.value()`.",
    ),
    _with(lambda m: (m.value(),), "The offset is missing: `message.offset()`."),
    _with(lambda m: (m.offset(),), "The value is missing: `message.value()`."),
    _with(lambda m: (m.key(), m.value()), "It shows the key; the offset is asked for, too."),
]


@MISTAKES.add(
    "It shows nothing. `print` writes somewhere else: here a line goes to the screen by `show`."
)
def shows_nothing(reader: Any, show: Show, until: Until) -> None:
    for _ in each(reader, until):
        pass


@MISTAKES.add(
    "It collects the records and shows them when the loop has ended. This loop is to run for "
    "years: show each one as it comes."
)
def shows_at_the_end(reader: Any, show: Show, until: Until) -> None:
    for message in list(each(reader, until)):
        show(message.offset(), message.value())


@MISTAKES.add("It never asks `until()`, so nobody can end it: keep `while not until():`.")
def never_ends(reader: Any, show: Show, until: Until) -> None:
    for message in each(reader, lambda: False):
        show(message.offset(), message.value())


@MISTAKES.add(
    "It shows the first record and ends: is there a `return` or a `break` inside the loop?"
)
def shows_the_first(reader: Any, show: Show, until: Until) -> None:
    for message in each(reader, until):
        show(message.offset(), message.value())
        return
