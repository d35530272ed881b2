"""Answers to "Commit on delivery", right and wrong, as a mob may write them."""

from __future__ import annotations

from functools import partial

from confluent_kafka import KafkaException, TopicPartition
from proof import Catalogue

from workbook.lessons.mob_ninety_minutes.commit_on_delivery_mistakes import MISTAKES
from workbook.lessons.mob_ninety_minutes.helpers import commit_behind, page_second


def complete(reader, producer, until):
    """Yield second, views, n0, n1; serve the reports in each turn."""
    views, n0 = {}, None
    while not until():
        producer.poll(0)
        n1 = reader.poll(0.1)
        second = page_second(n1)
        if second is None:
            continue
        if views and second not in views:
            yield *views.popitem(), n0, n1
        views[second] = views.get(second, 0) + 1
        n0 = n1
    producer.flush()


def with_a_default(reader, producer, metrics, until):
    for second, views, n0, _ in complete(reader, producer, until):
        producer.produce(
            metrics,
            key=str(second),
            value=str(views),
            on_delivery=lambda error, _, n0=n0: commit_behind(reader, n0, error, _),
        )


def at_n1(reader, producer, metrics, until):
    """The offset of n1 itself is where a restart reads on."""

    def report(place, error, message):
        if error is not None:
            raise KafkaException(error)
        reader.commit(offsets=[place], asynchronous=False)

    for second, views, _, n1 in complete(reader, producer, until):
        place = TopicPartition(n1.topic(), n1.partition(), n1.offset())
        producer.produce(metrics, str(views), str(second), callback=partial(report, place))


def up_to_the_gap(reader, producer, metrics, until):
    """As in chapter 04: no error is raised, and nothing behind a failure is committed."""
    sends = []

    def report(send, error, _):
        send[1] = error is None
        offset = None
        for place, delivered in sends:
            if not delivered:
                break
            offset = place
        if offset is not None:
            reader.commit(offsets=[TopicPartition("clicks", 0, offset)])

    for second, views, n0, _ in complete(reader, producer, until):
        sends.append([n0.offset() + 1, None])
        then = partial(report, sends[-1])
        producer.produce(metrics, key=str(second), value=str(views), on_delivery=then)


def flushes_and_commits(reader, producer, metrics, until):
    """Wait for each metric: slow, and right."""

    def report(error, _):
        if error:
            raise KafkaException(error)

    for second, views, n0, _ in complete(reader, producer, until):
        producer.produce(metrics, key=str(second), value=str(views), on_delivery=report)
        producer.flush()
        reader.commit(message=n0)


def polls_after_produce(reader, producer, metrics, until):
    views, last = {}, None
    while not until():
        message = reader.poll(0.1)
        second = page_second(message)
        if second is None:
            continue
        if views and second not in views:
            done, count = views.popitem()
            producer.produce(
                metrics,
                key=str(done),
                value=str(count),
                on_delivery=partial(commit_behind, reader, last),
            )
            producer.poll(0)
        views[second] = views.get(second, 0) + 1
        last = message
    producer.flush()


def the_record_before(reader, producer, metrics, until):
    """n0 is whatever was read before, an action too."""
    views, n0 = {}, None
    while not until():
        producer.poll(0)
        n1 = reader.poll(0.1)
        second = page_second(n1)
        if second is not None:
            if views and second not in views:
                done, count = views.popitem()
                then = partial(commit_behind, reader, n0)
                producer.produce(metrics, key=str(done), value=str(count), on_delivery=then)
            views[second] = views.get(second, 0) + 1
        if n1 is not None:
            n0 = n1
    producer.flush()


def moved_too_early(reader, producer, metrics, until):
    """n0 has become n1 before it's used."""
    views, n0 = {}, None
    while not until():
        producer.poll(0)
        n1 = reader.poll(0.1)
        second = page_second(n1)
        if second is None:
            continue
        n0 = n1
        if views and second not in views:
            done, count = views.popitem()
            then = partial(commit_behind, reader, n0)
            producer.produce(metrics, key=str(done), value=str(count), on_delivery=then)
        views[second] = views.get(second, 0) + 1
    producer.flush()


def never_moved(reader, producer, metrics, until):
    """n0 stays None."""
    views, n0 = {}, None
    while not until():
        producer.poll(0)
        n1 = reader.poll(0.1)
        second = page_second(n1)
        if second is None:
            continue
        if views and second not in views:
            done, count = views.popitem()
            then = partial(commit_behind, reader, n0)
            producer.produce(metrics, key=str(done), value=str(count), on_delivery=then)
        views[second] = views.get(second, 0) + 1
    producer.flush()


def silence_is_n0(reader, producer, metrics, until):
    """n0 is what the last poll brought, also where that was nothing."""
    views, n0, n1 = {}, None, None
    while not until():
        producer.poll(0)
        n0, n1 = n1, reader.poll(0.1)
        second = page_second(n1)
        if second is None:
            continue
        if views and second not in views:
            done, count = views.popitem()
            then = partial(commit_behind, reader, n0)
            producer.produce(metrics, key=str(done), value=str(count), on_delivery=then)
        views[second] = views.get(second, 0) + 1
    producer.flush()


def called_at_once(reader, producer, metrics, until):
    for second, views, n0, _ in complete(reader, producer, until):
        then = commit_behind(reader, n0, None, None)
        producer.produce(metrics, key=str(second), value=str(views), on_delivery=then)


def without_the_reader(reader, producer, metrics, until):
    for second, views, n0, _ in complete(reader, producer, until):
        then = partial(commit_behind, n0)
        producer.produce(metrics, key=str(second), value=str(views), on_delivery=then)


def at_the_end(reader, producer, metrics, until):
    last = None
    for second, views, n0, _ in complete(reader, producer, until):
        producer.produce(metrics, key=str(second), value=str(views))
        last = n0
    producer.flush()
    if last is not None:
        reader.commit(message=last)


def the_first_only(reader, producer, metrics, until):
    first = True
    for second, views, n0, _ in complete(reader, producer, until):
        then = partial(commit_behind, reader, n0) if first else None
        producer.produce(metrics, key=str(second), value=str(views), on_delivery=then)
        first = False


def skips_the_failed(reader, producer, metrics, until):
    """Commits what is delivered, and merely prints a failure."""

    def report(n0, error, _):
        if error:
            print("not delivered:", error)
        else:
            reader.commit(message=n0)

    for second, views, n0, _ in complete(reader, producer, until):
        then = partial(report, n0)
        producer.produce(metrics, key=str(second), value=str(views), on_delivery=then)


def other_counts(reader, producer, metrics, until):
    for second, views, n0, _ in complete(reader, producer, until):
        then = partial(commit_behind, reader, n0)
        producer.produce(metrics, key=str(second), value=str(views + 1), on_delivery=then)


catalogue = Catalogue(
    right=[
        with_a_default,
        at_n1,
        up_to_the_gap,
        flushes_and_commits,
        polls_after_produce,
        the_record_before,
    ],
    wrong=[
        (moved_too_early, "It commits behind n1"),
        (never_moved, "commits behind the last record that was read"),
        (silence_is_n0, "Silence and actions lie"),
        (called_at_once, "right after `produce`"),
        (without_the_reader, "missing 1 required positional argument"),
        (at_the_end, "lets no loop end"),
        (the_first_only, "The six records on paper"),
        (skips_the_failed, "The broker refuses second 11"),
        (other_counts, "two metrics, each"),
        (lambda reader, show, until: 0, "Keep the parameters"),
        (2, "without parentheses"),
    ],
    models=MISTAKES,
)
