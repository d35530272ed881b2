"""Wrong answers to "Publish to the metrics topic", as programs with a reader and a producer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.lessons.mob_ninety_minutes import per_second as before
from workbook.lessons.mob_ninety_minutes.helpers import page_second
from workbook.lessons.mob_ninety_minutes.print_records_mistakes import Until, each


def seconds_of(reader: Any, until: Until) -> Iterator[int]:
    """Yield the second of each page view, as a right loop reads them."""
    for message in each(reader, until):
        second = page_second(message)
        if second is not None:
            yield second


Rule = Callable[[Iterator[int]], Iterator[tuple[int, int]]]
"""Yields lines of second and page views; without changes ``before.in_two_variables`` is right."""

Record = Callable[[int, int], dict[str, Any]]


def _text(second: Any, views: Any, **more: Any) -> dict[str, Any]:
    return {"key": str(second), "value": str(views), **more}


def _both(
    cause: str, record: Record = _text, rule: Rule = before.in_two_variables
) -> list[Mistake]:
    """Build a mistake in what is sent, or when: with a flush behind the loop, and without one."""

    def model(reader: Any, producer: Any, metrics: str, until: Until) -> None:
        for second, views in rule(seconds_of(reader, until)):
            producer.produce(**{"topic": metrics, **record(second, views)})

    def and_flushes(reader: Any, producer: Any, metrics: str, until: Until) -> None:
        model(reader, producer, metrics, until)
        producer.flush()

    return same_idea(and_flushes, model, cause=cause)


def _sends(record: Record, cause: str) -> list[Mistake]:
    return _both(cause, record=record)


def _rule(rule: Rule, cause: str) -> list[Mistake]:
    return _both(cause, rule=rule)


MISTAKES = Mistakes(
    [
        *_sends(
            lambda second, views: _text(views, second),
            "Key and value are swapped: the key is the second. (Without names, the second argument "
            "of `produce` is the value and the third is the key.)",
        ),
        *_sends(
            lambda second, views: {"value": str(views)},
            "The key is missing: a reader sees a count and can't know of which second.",
        ),
        *_sends(
            lambda second, views: {"value": f"{second} {views}"},
            "Second and count stand together in the value, and there's no key. The key is the "
            "second: by it a reader knows that two records are about the same.",
        ),
        *_sends(
            lambda second, views: _text(second, json.dumps({"views": views})),
            "The value is JSON. That's a good format; here the count alone is asked for, as text.",
        ),
        *_sends(
            lambda second, views: _text(second, views, topic="metrics"),
            "It always writes to `metrics`, in quotes. The topic's name is what the variable "
            "`metrics` holds.",
        ),
        *_sends(
            lambda second, views: _text(second * 1000, views),
            "The key is in milliseconds; the second is asked for.",
        ),
        *_sends(
            lambda second, views: {"key": bytes(second % 1000), "value": bytes(views)},
            "`bytes(n)` with a number gives n zero bytes. Make text of it: `str(n)`.",
        ),
        *_rule(
            before.shows_each,
            "It publishes the open second after each page view. Publish it once, when another "
            "second begins.",
        ),
        *_rule(
            before.shows_the_open_one,
            "When the loop ends it publishes the open second, too. It isn't complete: a restart "
            "may bring more of it, and a part would stand as the whole.",
        ),
        *_rule(before.shows_the_new, "It publishes the second that begins. Complete is the other."),
        *_rule(
            partial(before.in_two_variables, removes=False),
            "Its count goes on from second to second: remove what has been published.",
        ),
        *_rule(
            lambda seconds: (pair for pair in before.shows_each(seconds) if not pair),
            "Nothing is produced. Is `producer.produce` reached when the second changes?",
        ),
    ]
)


@MISTAKES.add(
    "It never waits for the queue: `produce` only puts records there, and what is still in it when "
    "the program ends is lost. `flush()` once, behind the loop."
)
def forgets_to_flush(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    _publish(seconds_of(reader, until), producer, metrics)


@MISTAKES.add(
    "`flush(0)` doesn't wait: it only runs the reports that are due. What is still in the queue is "
    "lost. Leave out the 0."
)
def flushes_without_a_wait(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    _publish(seconds_of(reader, until), producer, metrics)
    producer.flush(0)


@MISTAKES.add("It never asks `until()`, so nobody can end it: keep `while not until():`.")
def never_ends(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    _publish(seconds_of(reader, lambda: False), producer, metrics)


def _publish(seconds: Iterator[int], producer: Any, metrics: str) -> None:
    for second, views in before.in_two_variables(seconds):
        producer.produce(metrics, key=str(second), value=str(views))
