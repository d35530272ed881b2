"""Answers to "Publish a count", right and wrong, as learners may write them."""

from __future__ import annotations

import json

from proof import Catalogue

from workbook.lessons.metrics_topic.publish_a_count_mistakes import MISTAKES


def encoded(producer, topic, second, views, report):
    key, value = f"{second}".encode(), b"%d" % views
    producer.produce(topic=topic, value=value, key=key, callback=report)
    producer.poll(timeout=0)


def by_position(p, where, second, views, then):
    p.poll(0)
    p.produce(where, str(views), str(second), -1, then)
    return p.poll(0.0)


def reports_in_turn(producer, topic, second, views, report):
    producer.produce(
        topic, key=str(second), value=str(views), on_delivery=lambda e, m: report(e, m)
    )
    producer.poll(0)


def returns_a_pair(producer, topic, second, views, report):
    return str(second), str(views)


def sends(producer, topic, second, views, report):
    producer.send(topic, key=str(second), value=str(views))


def reports_a_line(producer, topic, second, views, report):
    producer.produce(
        topic, key=str(second), value=str(views), on_delivery=lambda e, m: print("delivered")
    )
    producer.poll(0)


def waits_a_second(producer, topic, second, views, report):
    producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
    producer.poll(1)


def fixed_topic(producer, topic, second, views, report):
    producer.produce("metrics", key=str(second), value=str(views), on_delivery=report)
    producer.poll(0)


def json_key(producer, topic, second, views, report):
    producer.produce(
        topic, key=json.dumps({"second": second}), value=str(views), on_delivery=report
    )
    producer.poll(0)


def as_bytes(producer, topic, second, views, report):
    producer.produce(topic, key=bytes(second), value=bytes(views), on_delivery=report)
    producer.poll(0)


def with_a_timestamp(producer, topic, second, views, report):
    producer.produce(
        topic, key=str(second), value=str(views), on_delivery=report, timestamp=second * 1000
    )
    producer.poll(0)


def until_a_report(producer, topic, second, views, report):
    producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
    while producer.poll(0) == 0:
        pass


def where_it_is_full(producer, topic, second, views, report):
    try:
        producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
    except BufferError:
        producer.poll(1)
    if len(producer):
        producer.poll(0)


def again_where_it_is_full(producer, topic, second, views, report):
    while True:
        try:
            producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
            break
        except BufferError:
            producer.poll(0.1)
    producer.poll(0)


def raises_its_own(producer, topic, second, views, report):
    try:
        encoded(producer, topic, second, views, report)
    except BufferError as full:
        raise RuntimeError(f"no room for second {second}") from full


def reports_it_where_it_is_full(producer, topic, second, views, report):
    try:
        encoded(producer, topic, second, views, report)
    except BufferError as full:
        report(full, None)


def passes_where_it_is_full(producer, topic, second, views, report):
    try:
        encoded(producer, topic, second, views, report)
    except Exception:
        print("full")


def twice_where_it_is_full(producer, topic, second, views, report):
    try:
        encoded(producer, topic, second, views, report)
    except BufferError:
        producer.poll(1)
        encoded(producer, topic, second, views, report)
        encoded(producer, topic, second, views, report)


def flushes_without_waiting(producer, topic, second, views, report):
    producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
    producer.flush(0)


def flushes_for_a_second(producer, topic, second, views, report):
    producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
    producer.flush(timeout=1)


def without_an_error(producer, topic, second, views, report):
    def done(error, message):
        if error is None:
            report(error, message)

    producer.produce(topic, key=str(second), value=str(views), on_delivery=done)
    producer.poll(0)


def with_an_error(producer, topic, second, views, report):
    def done(error, message):
        if error:
            report(error, message)

    producer.produce(topic, key=str(second), value=str(views), callback=done)
    producer.poll(0)


def only_new_seconds(producer, topic, second, views, report):
    if second > 1_000:
        encoded(producer, topic, second, views, report)


catalogue = Catalogue(
    right=[
        encoded,
        by_position,
        reports_in_turn,
        again_where_it_is_full,
        raises_its_own,
        reports_it_where_it_is_full,
        flushes_without_waiting,
    ],
    wrong=[
        (returns_a_pair, "Nothing is produced"),
        (sends, "no attribute 'send'"),
        (where_it_is_full, "full here"),
        (without_an_error, "of successes only"),
        (with_an_error, "of failures only"),
        (flushes_for_a_second, "a round trip"),
        (reports_a_line, "to another function"),
        (waits_a_second, "waits as long as that"),
        (fixed_topic, "Another topic"),
        (with_a_timestamp, "Compare the calls"),
        (until_a_report, "does not come to an end"),
        (as_bytes, "n zero bytes"),
        (lambda second, views: (str(second), str(views)), "Keep the parameters"),
        (("10", "2"), "without parentheses"),
    ],
    shortcuts=[
        (passes_where_it_is_full, "full here"),
        (twice_where_it_is_full, "full here"),
        (only_new_seconds, "Compare the calls"),
        (json_key, "Compare the calls"),
    ],
    models=MISTAKES,
)
