"""Wrong answers to "Commit on delivery", as programs with a reader and a producer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.lessons.mob_ninety_minutes.helpers import commit_behind, page_second
from workbook.lessons.mob_ninety_minutes.print_records_mistakes import Until

MISTAKES = Mistakes()

Done = tuple[int, int, Any, Any]
"""A complete second, its page views, n0 and n1."""


def done(reader: Any, producer: Any, until: Until, *, serve: bool = True) -> Iterator[Done]:
    """Yield what is complete, and serve the reports at each turn."""
    views, n0 = dict[int, int](), None
    while not until():
        if serve:
            producer.poll(0)
        n1 = reader.poll(0.1)
        second = page_second(n1)
        if second is None:
            continue
        if views and second not in views:
            yield *views.popitem(), n0, n1
        views[second], n0 = views.get(second, 0) + 1, n1
    producer.flush()


def _with(
    report: Callable[[Any, Any, Any], Callable[..., None]], cause: str, *, serve: bool = True
) -> Mistake:
    """Build a mistake that is right in all but what it does at a delivery."""

    def model(reader: Any, producer: Any, metrics: str, until: Until) -> None:
        for second, views, n0, n1 in done(reader, producer, until, serve=serve):
            then = report(reader, n0, n1)
            producer.produce(metrics, key=str(second), value=str(views), on_delivery=then)

    return Mistake(model, cause)


def _at(offset: Callable[[Any, Any], int]) -> Callable[[Any, Any, Any], Callable[..., None]]:
    """Commit at an offset in a partition, as one may do in place of a message."""

    def report(reader: Any, n0: Any, n1: Any) -> Callable[..., None]:
        def then(error: Any, _: Any) -> None:
            if error:
                raise KafkaException(error)
            reader.commit(offsets=[TopicPartition(n1.topic(), 0, offset(n0, n1))])

        return then

    return report


def _whatever_came(reader: Any, n0: Any, n1: Any) -> Callable[..., None]:
    return lambda error, message: reader.commit(message=n0)


def _where_it_is_read(reader: Any, n0: Any, n1: Any) -> Callable[..., None]:
    def then(error: Any, _: Any) -> None:
        if error:
            raise KafkaException(error)
        reader.commit()

    return then


def _the_metric(reader: Any, n0: Any, n1: Any) -> Callable[..., None]:
    return lambda error, message: commit_behind(reader, message, error, None)


MISTAKES += [
    *(
        _with(
            lambda reader, n0, n1: partial(commit_behind, reader, n1),
            "It commits behind n1, the first page view of the second that is open. A restart "
            "begins behind it and never counts it. The one before, n0, is where the complete "
            "second ends.",
            serve=serve,
        )
        for serve in (True, False)
    ),
    _with(
        _at(lambda n0, n1: n0.offset()),
        "An offset is where reading goes on, so n0's own offset brings n0 again: a restart "
        "publishes the delivered second once more, with one page view. Add 1, or let "
        "`commit(message=n0)` do so.",
    ),
    _with(
        _whatever_came,
        "It doesn't look at the error: a second that the broker has refused is passed, and no "
        "restart sends it again. Raise it.",
    ),
    _with(
        _where_it_is_read,
        "`commit()` without a message, or with an `n0` that is still None, commits behind the last "
        "record that was read, and that is in the middle of the open second. Does each turn end by "
        "setting n0?",
    ),
    _with(
        _the_metric,
        "It commits the message that the report is about: that's the metric, with its place in the "
        "metrics topic. The bookmark is a place in the clicks: n0.",
    ),
    _with(
        lambda reader, n0, n1: partial(commit_behind, reader, n0),
        "The reports never run while it works: they run in `producer.poll` and `flush` only. Call "
        "`producer.poll(0)` in each turn of the loop.",
        serve=False,
    ),
]


def _too_late(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    """Look at n0 when the report comes, as a lambda does."""
    views, n0 = dict[int, int](), None
    while not until():
        producer.poll(0)
        n1 = reader.poll(0.1)
        second = page_second(n1)
        if second is None:
            continue
        if views and second not in views:
            key, value = map(str, views.popitem())
            then = lambda error, _: commit_behind(reader, n0, error, _)  # noqa: B023, E731
            producer.produce(metrics, key=key, value=value, on_delivery=then)
        views[second], n0 = views.get(second, 0) + 1, n1
    producer.flush()


def _too_late_n1(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    """Do the same with n1, which may be None by then."""
    newest = None
    for second, views, _, n1 in done(reader, producer, until):
        newest = n1
        then = lambda error, _: commit_behind(reader, newest, error, _)  # noqa: B023, E731
        producer.produce(metrics, key=str(second), value=str(views), on_delivery=then)


MISTAKES += same_idea(
    _too_late,
    _too_late_n1,
    cause="A `lambda` (or an inner function) looks at its variable when it's called. By the time "
    "of the report the loop has read on, and the variable holds a later record. `partial` keeps "
    "the one of now.",
)


@MISTAKES.add(
    "It commits right after `produce`, which has only put the metric into a queue. If the broker "
    "never takes it, no restart sends it again: commit in its report, `on_delivery`."
)
def commits_at_once(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    for second, views, n0, _ in done(reader, producer, until):
        producer.produce(metrics, key=str(second), value=str(views))
        reader.commit(message=n0)


@MISTAKES.add(
    "It commits once, when the loop has ended. A kill -9 lets no loop end: commit as it goes, in "
    "each metric's report."
)
def commits_at_the_end(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    last = None
    for second, views, n0, _ in done(reader, producer, until):
        producer.produce(metrics, key=str(second), value=str(views))
        last = n0
    if last is not None:
        reader.commit(message=last)


@MISTAKES.add(
    "It never commits: the program of the step before. A restart reads everything again, and "
    "publishes it once more."
)
def never_commits(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    for second, views, _, _ in done(reader, producer, until):
        producer.produce(metrics, key=str(second), value=str(views))


@MISTAKES.add(
    "It commits each record as soon as it's read. What is counted in memory and not published is "
    "gone after a crash."
)
def commits_what_it_reads(reader: Any, producer: Any, metrics: str, until: Until) -> None:
    views: dict[int, int] = {}
    while not until():
        producer.poll(0)
        message = reader.poll(0.1)
        second = page_second(message)
        if message is not None:
            reader.commit(message=message)
        if second is None:
            continue
        if views and second not in views:
            key, value = map(str, views.popitem())
            producer.produce(metrics, key=key, value=value)
        views[second] = views.get(second, 0) + 1
    producer.flush()
