"""Answers to "Publish to the metrics topic", right and wrong, as a mob may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.mob_ninety_minutes.helpers import page_second
from workbook.lessons.mob_ninety_minutes.publish_seconds_mistakes import MISTAKES


def complete(reader, until):
    views = {}
    while not until():
        second = page_second(reader.poll(0.1))
        if second is None:
            continue
        if views and second not in views:
            yield views.popitem()
        views[second] = views.get(second, 0) + 1


def as_bytes(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(topic=metrics, value=f"{views}".encode(), key=b"%d" % second)
        producer.poll(0)
    producer.flush()


def by_position(reader, producer, topic, until):
    for second, views in complete(reader, until):
        producer.produce(topic, str(views), str(second))
    while producer.flush(10):
        pass


def flushes_each(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(metrics, key=str(second), value=str(views))
        producer.flush()


def serves_itself(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(metrics, key=str(second), value=str(views), on_delivery=print)
    producer.flush()


def as_numbers(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(metrics, key=second, value=views)
    producer.flush()


def still_shows(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        show(second, views)  # noqa: F821  (the mistake)
    producer.flush()


def sends(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.send(metrics, key=str(second), value=str(views))
    producer.flush()


def into_the_clicks(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce("clicks", key=str(second), value=str(views))
    producer.flush()


def polls_for_ever(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(metrics, key=str(second), value=str(views))
        producer.poll()
        producer.poll()
    producer.flush()


def only_two_digits(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(metrics, key=str(second), value=str(views % 100))
    producer.flush()


def with_zeros(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(metrics, key=str(second), value=f"{views:03}")
    producer.flush()


def flushes_without_a_wait(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(metrics, key=str(second), value=str(views))
    producer.flush(0)


def flushes_before(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.flush()
        producer.produce(metrics, key=str(second), value=str(views))


def with_words(reader, producer, metrics, until):
    for second, views in complete(reader, until):
        producer.produce(metrics, key=f"second {second}", value=f"{views} page views")
    producer.flush()


catalogue = Catalogue(
    right=[as_bytes, by_position, flushes_each, serves_itself],
    wrong=[
        (as_numbers, "a bytes-like object is required"),
        (still_shows, "name 'show' is not defined"),
        (sends, "no attribute 'send'"),
        (into_the_clicks, "two metrics, each"),
        (polls_for_ever, "comes back only with a report"),
        (only_two_digits, "has 100"),
        (flushes_without_a_wait, "doesn't wait"),
        (lambda reader, show, until: 0, "Keep the parameters"),
        (None, "without parentheses"),
    ],
    shortcuts=[
        (with_zeros, "two metrics, each"),
        (flushes_before, "It never waits for the queue"),
        (with_words, "two metrics, each"),
    ],
    models=MISTAKES,
)
