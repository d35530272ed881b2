"""``workbook metrics``: a reader of the metrics topic, in a process of its own."""

import sys
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import attrgetter

from workbook.cli.console import Ending, end_like_ctrl_c, waiting_for
from workbook.errors import Rejected
from workbook.kafka.readers import PatientConsumer, consumer
from workbook.stack.addresses import kafka
from workbook.streams.events.metrics import Metric

SHOWN = 60
"""Bytes shown of a record that isn't a metric."""

LINES = 10
"""Lines printed of records that aren't metrics; more of them are only counted."""

QUIET_S, LONGEST_S = 0.2, 2.0
"""A burst ends when no metric has arrived for so long, or when it has lasted so long."""


def follow(options: Namespace) -> None:
    """Print each second and its page views as they arrive, until asked to end."""
    end_like_ctrl_c()
    with waiting_for("Looking for Kafka"):
        broker = kafka("metrics")
    reader = consumer(broker.client_config(), options.topic)
    ending, unreadable = Ending(options.seconds), 0
    known: defaultdict[int, dict[int | None, int]] = defaultdict(dict)
    try:
        while not ending.has_come():
            metrics, others = _burst(reader, ending)
            for line in changed(metrics, known):
                print(line, flush=True)
            for text in others[: max(0, LINES - unreadable)]:
                print(f"{options.topic}, {text}", file=sys.stderr, flush=True)
            unreadable += len(others)
    finally:
        reader.close()
        if unreadable > LINES:
            print(f"{unreadable:,} records were no metrics.", file=sys.stderr, flush=True)


def _burst(reader: PatientConsumer, ending: Ending) -> tuple[list[Metric], list[str]]:
    """Return the metrics that arrive together, and a text for each record that isn't one."""
    metrics, others, deadline = [], [], time.monotonic() + LONGEST_S
    while (message := reader.poll(QUIET_S)) is not None:
        try:
            metrics.append(Metric.from_record(message.key(), message.value()))
        except Rejected as why:
            key, value = ((part or b"")[:SHOWN] for part in (message.key(), message.value()))
            place = f"partition {message.partition()}, offset {message.offset()}"
            others.append(f"{place}: {why.reason}; got key {key!r}, value {value!r}")
        if time.monotonic() > deadline or ending.has_come():
            break
    return metrics, others


def changed(
    metrics: Iterable[Metric], known: defaultdict[int, dict[int | None, int]]
) -> Iterator[str]:
    """Yield ``1700000000 22:13:20 42`` for each metric that changes its second's page views.

    That's the second, its time of day (UTC) and its page views: the last value of each key, added
    up. ``known`` has these values by second and partition, and is updated. The lines are in the
    order of their seconds, which a micro-batch writes in any order.
    """
    for metric in sorted(metrics, key=attrgetter("second")):
        views = known[metric.second]
        if views.get(metric.partition) != metric.views:  # else it's in the topic twice
            views[metric.partition] = metric.views
            time_of_day = time.strftime("%H:%M:%S", time.gmtime(metric.second % 86_400))
            yield f"{metric.second} {time_of_day} {sum(views.values())}"
