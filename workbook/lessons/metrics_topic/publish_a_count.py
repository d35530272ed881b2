"""Chapter 03: Publish a count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.imports import import_for
from workbook.classroom.judging import Case, NotYet, by_cases, not_callable_so
from workbook.lessons.metrics_topic.noting_producer import (
    KEPT,
    calls_of,
    with_a_full_queue,
)
from workbook.lessons.metrics_topic.publish_a_count_mistakes import MISTAKES


def publish(producer: Any, topic: str, second: int, views: int, report: Callable[..., Any]) -> None:
    producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
    producer.poll(0)


_CASES = [
    Case(
        ("metrics", 10, 2),
        calls_of(publish)("metrics", 10, 2),
        "Compare the calls: one record, and then what is due is served.",
    ),
    Case(
        ("metrics.k3f9", 1_700, 1_234),
        calls_of(publish)("metrics.k3f9", 1_700, 1_234),
        "Another topic, another second, another count: each comes from its parameter.",
    ),
    Case(
        ("metrics", 1_701, 0),
        calls_of(publish)("metrics", 1_701, 0),
        "A count of 0 is a count: somebody may correct a number to it.",
    ),
]

_judge = by_cases(_CASES, [replace(m, model=calls_of(m.model)) for m in MISTAKES])

_full = by_cases(
    [
        Case(
            ("metrics", 10, 2),
            KEPT,
            "The producer's queue is full here: `produce` raises `BufferError`, and has not taken "
            "the record. An `except` that goes on loses the count, and nobody hears of it. Let "
            "the error go to the caller, or `poll` and produce again.",
        )
    ]
)


def _diagnose(answer: Any) -> NotYet | None:
    if misuse := not_callable_so(answer, (None,) * 5):
        return misuse
    import_for(answer)
    return _judge(calls_of(answer)) or _full(with_a_full_queue(answer))


publish_a_count = Problem(
    name="Publish a count",
    task="Write the function that publishes one number. It gets confluent-kafka's `producer`, the "
    "`topic`, a `second` since 1970, its page `views`, and the function `report`. The key of the "
    "record is the second and its value the views, both as decimal text: second 10 with 2 views "
    "becomes key `10`, value `2`. The broker's answer goes to `report`.\n\n"
    "Then it serves the reports that are due by now. It must not wait for its own: the loop that "
    "calls it has the next click to read.",
    stub="def publish(producer, topic, second, views, report):\n    ...  # your code\n",
    diagnose=_diagnose,
    hints=(
        "Two calls are enough, and both stand in the cells above. Which of the two methods that "
        "run reports can do so without waiting?",
        "Kafka takes bytes, and the client makes them of a str, not of an int. Name the arguments: "
        "without names the second one of `produce` is the value.",
        "`producer.produce(topic, key=..., value=..., on_delivery=...)`, and then "
        "`producer.poll(0)`.",
    ),
    reference=publish,
    discussion="The same key, the same number: published twice it does no harm, because the last "
    "value of a key counts. Decimal text takes a few bytes more than a packed number, and any "
    "program (and any person) can read it.\n\n"
    "Its weakness: `produce` puts the record into a queue of this program. What is queued and not "
    "delivered dies with it (chapter 04), and a full queue raises `BufferError`.",
)
