"""Wrong answers to "Publish a count", as functions that are handed a producer."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea

Report = Callable[..., Any]
Given = tuple[Any, Any]


def _sends(record: Callable[[int, int], Given], cause: str) -> Mistake:
    """Build a mistake that is right in all but its key and value."""

    def model(producer: Any, topic: str, second: int, views: int, report: Report) -> None:
        key, value = record(second, views)
        producer.produce(topic, key=key, value=value, on_delivery=report)
        producer.poll(0)

    return Mistake(model, cause)


def _produce(producer: Any, topic: str, second: int, views: int, report: Report) -> None:
    producer.produce(topic, key=str(second), value=str(views), on_delivery=report)


MISTAKES = Mistakes()


@MISTAKES.add("It asks for no report: if the broker never gets the record, nothing shows it.")
def asks_for_no_report(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    p.produce(topic, key=str(second), value=str(views))
    p.poll(0)


MISTAKES += [
    Mistake(
        _produce,
        "It serves no reports: they are called in `poll` and `flush` only, so a loop that calls "
        "neither never learns of a failure.",
    ),
]


@MISTAKES.add(
    "`poll` without a number waits until a report is due, and with another number than 0 it waits "
    "as long as that. Serve only what is due by now."
)
def waits_in_poll(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _produce(p, topic, second, views, report)
    p.poll()


def _flushes(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _produce(p, topic, second, views, report)
    p.flush()


def _flushes_too(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _flushes(p, topic, second, views, report)
    p.poll(0)


MISTAKES += same_idea(
    _flushes,
    _flushes_too,
    cause="`flush` waits until the broker has answered: a round trip for each record, while clicks "
    "wait. It belongs at the end of a program.",
)


@MISTAKES.add(
    "Key and value are swapped: the key is the second. (Without names, the second argument of "
    "`produce` is the value and the third is the key.)"
)
def without_names(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    p.produce(topic, str(second), str(views), on_delivery=report)
    p.poll(0)


def _calls_report(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    p.produce(topic, key=str(second), value=str(views))
    report(None, None)
    p.poll(0)


def _calls_it_too(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _produce(p, topic, second, views, report)
    report(None, None)


def _calls_it_as_well(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _calls_it_too(p, topic, second, views, report)
    p.poll(0)


MISTAKES += same_idea(
    _calls_report,
    _calls_it_too,
    _calls_it_as_well,
    cause="It calls `report` itself, before the broker has answered. Hand the function over; "
    "`poll` calls it once the answer is there.",
)


@MISTAKES.add("Its deliveries are reported to another function. Hand over `report`.")
def to_another_function(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _produce(p, topic, second, views, lambda error, message: None)
    p.poll(0)


@MISTAKES.add(
    "`report` hears of successes only. A failure is a report too, and the one that matters: the "
    "record is lost then, and nobody else knows."
)
def reports_successes(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _produce(p, topic, second, views, lambda e, m: report(e, m) if e is None else None)
    p.poll(0)


@MISTAKES.add(
    "`report` hears of failures only. The broker's answer goes to it, also where the record has "
    "arrived."
)
def reports_failures(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _produce(p, topic, second, views, lambda e, m: report(e, m) if e is not None else None)
    p.poll(0)


@MISTAKES.add(
    "It calls `report` (there are brackets behind it) while it produces. Hand over the function "
    "itself, by its name alone."
)
def calls_report_too_early(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    p.produce(topic, key=str(second), value=str(views), on_delivery=report())
    p.poll(0)


@MISTAKES.add("It produces the record twice.")
def twice(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _produce(p, topic, second, views, report)
    _produce(p, topic, second, views, report)
    p.poll(0)


@MISTAKES.add("It produces a record for each view. One record holds the number.")
def one_for_each_view(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    for _ in range(views):
        _produce(p, topic, second, views, report)
    p.poll(0)


@MISTAKES.add("It always takes partition 0. Leave the choice to the key.")
def into_partition_0(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    p.produce(topic, key=str(second), value=str(views), partition=0, on_delivery=report)
    p.poll(0)


@MISTAKES.add("The topic is its parameter, and not the text `topic` or `metrics`.")
def into_a_fixed_topic(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    _produce(p, "topic", second, views, report)
    p.poll(0)


def _if_any(p: Any, topic: str, second: int, views: int, report: Report) -> None:
    if views:
        _produce(p, topic, second, views, report)
    p.poll(0)


MISTAKES += [
    Mistake(_if_any, "It doesn't publish a count of 0, which may be a correction."),
    *same_idea(
        lambda p, topic, second, views, report: None,
        lambda p, topic, second, views, report: p.poll(0),
        cause="Nothing is produced. `producer.produce` puts a record into the topic; what the "
        "function returns goes nowhere.",
    ),
    *same_idea(
        _sends(lambda second, views: (second, views), "").model,
        _sends(lambda second, views: (second, str(views)), "").model,
        _sends(lambda second, views: (str(second), views), "").model,
        cause="Kafka takes bytes, and the client makes them of a str. It refuses a number: use "
        "`str(...)`.",
    ),
    *same_idea(
        _sends(lambda second, views: (None, str(views)), "").model,
        _sends(lambda second, views: (None, str(second)), "").model,
        _sends(lambda second, views: (None, f"{second}:{views}"), "").model,
        _sends(lambda second, views: (None, f"{second},{views}"), "").model,
        _sends(lambda second, views: (None, f"{second} {views}"), "").model,
        cause="There is no key. Of records without one no reader can know which is the last of a "
        "second, and they go to any partition.",
    ),
    *same_idea(
        _sends(lambda second, views: (str(second), json.dumps({"views": views})), "").model,
        _sends(
            lambda second, views: (str(second), json.dumps({"second": second, "views": views})), ""
        ).model,
        cause="The value is JSON. That's a good format; but the readers of this topic were "
        "promised the number alone, as decimal text.",
    ),
    *same_idea(
        _sends(
            lambda second, views: (struct.pack(">q", second), struct.pack(">q", views)), ""
        ).model,
        _sends(lambda second, views: (second.to_bytes(8, "big"), str(views)), "").model,
        _sends(lambda second, views: (str(second), views.to_bytes(8, "big")), "").model,
        _sends(lambda second, views: (str(second), views.to_bytes(4, "big")), "").model,
        cause="A number is packed as binary. Decimal text is asked for: `str(...)`.",
    ),
    _sends(
        lambda second, views: (bytes(second), bytes(views)),
        "`bytes(n)` with a number gives n zero bytes. Make text of it first: `str(n)`.",
    ),
    _sends(
        lambda second, views: (str(second * 1000), str(views)),
        "The key is in milliseconds; seconds are asked for.",
    ),
    _sends(
        lambda second, views: (str(float(second)), str(views)),
        "The key has a fraction, such as `10.0`. The second is a whole number already.",
    ),
    _sends(
        lambda second, views: (f"{second}", f"{views:,}"),
        "The value was formatted for people, with commas between the digits. Programs read it.",
    ),
    _sends(
        lambda second, views: (repr(str(second).encode()), repr(str(views).encode())),
        "`str` of bytes gives `b'10'` with the quotes in it. Leave out one of the two steps: "
        "`str(...)` is enough, or `str(...).encode()`.",
    ),
    *same_idea(
        _sends(lambda second, views: ("second", "views"), "").model,
        _sends(lambda second, views: ("second", str(views)), "").model,
        cause="The key is the word `second`, and not the number: leave out the quotes.",
    ),
]
