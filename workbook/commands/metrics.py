"""``workbook metrics``: a reader of the metrics topic, in a process of its own."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterable
from operator import itemgetter

from confluent_kafka import Message

from workbook.commands.console import Ending, end_like_ctrl_c, waiting_for
from workbook.errors import Rejected
from workbook.events.metrics import Metric
from workbook.kafka.readers import PatientConsumer, consumer
from workbook.stack.broker import kafka

SHOWN = 60
"""Bytes shown of a record that isn't a metric."""

LINES = 10
"""Lines printed of records that aren't metrics."""

QUIET_S, LONGEST_S = 0.2, 2.0
"""Metrics are printed once none has come for so long, or when the first has waited for so long."""

MIXED = (
    "The topic mixes totals (as of key {second}) with parts per partition ({second}/0): where a "
    "second has both, its total alone is shown. Write each kind to a topic of its own."
)


def follow(options: Namespace) -> None:
    """Print each second and its page views as they come, until asked to end."""
    end_like_ctrl_c()
    with waiting_for("Looking for Kafka"):
        broker = kafka("metrics")
    reader = consumer(broker.client_config(), options.topic)
    ending, known = Ending(options.seconds), Known()
    _hint(f"Each second in {options.topic} is printed once its metric comes; Ctrl-C ends this.")
    printed, unreadable = 0, Unreadable()
    try:
        while not ending.has_come():
            for line in in_order(known, _gathered(reader, ending, unreadable)):
                print(line, flush=True)
                printed += 1
    finally:
        reader.close()
        unreadable.summarize()
    _hint(f"Ended: {printed:,} lines from {options.topic}.")


def _hint(text: str) -> None:
    """Print a line for people: not where the output goes to another program."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


def _gathered(reader: PatientConsumer, ending: Ending, unreadable: Unreadable) -> list[Metric]:
    """Return the metrics of one burst: a micro-batch writes its seconds in any order."""
    found, deadline = [], time.monotonic() + LONGEST_S
    message = reader.poll(QUIET_S)
    while message is not None:
        try:
            found.append(Metric.from_record(message.key(), message.value()))
        except Rejected as why:
            unreadable.report(message, why.reason)
        over = time.monotonic() > deadline or ending.has_come()
        message = None if over else reader.poll(QUIET_S)
    return found


def in_order(known: Known, metrics: Iterable[Metric]) -> list[str]:
    """Return the metrics' lines by second; those of one second in the order they were written."""
    lines = [(metric.second, known.take(metric)) for metric in metrics]
    return [line for _, line in sorted(lines, key=itemgetter(0)) if line is not None]


class Known:
    """The last value of each key of the metrics topic, added up over partitions.

    Where a second has a total as well, the total alone counts, and stderr says so once.
    """

    def __init__(self) -> None:
        self._seconds: dict[int, dict[int | None, int]] = {}
        self._warned = False

    def take(self, metric: Metric) -> str | None:
        """Return a metric's line, or None if it changes nothing: at least once, it came again."""
        views = self._seconds.setdefault(metric.second, {})
        known, before, former = bool(views), _views(views), views.get(metric.partition)
        views[metric.partition] = metric.views
        mixed = None in views and len(views) > 1
        if mixed and not self._warned:
            print(MIXED.format(second=metric.second), file=sys.stderr, flush=True)
            self._warned = True
        if former == metric.views or (mixed and _views(views) == before):
            return None
        line = as_line(metric.second, _views(views))
        if mixed or former is not None:
            return f"{line} corrected, was {before}"
        return f"{line} with partition {metric.partition}" if known else line


def _views(views: dict[int | None, int]) -> int:
    """Return the total where there is one, else the sum over the partitions."""
    total = views.get(None)
    return sum(views.values()) if total is None else total


def as_line(second: int, views: int) -> str:
    """Format a count as ``1700000000 22:13:20 42``: second, time of day (UTC), page views."""
    return f"{second} {time.strftime('%H:%M:%S', time.gmtime(second % 86_400))} {views}"


class Unreadable:
    """Prints the first records that aren't metrics to stderr, with their offsets; counts all."""

    def __init__(self) -> None:
        self.count = 0

    def report(self, message: Message, reason: str) -> None:
        """Print the record, or nothing where there have been many."""
        self.count += 1
        if self.count > LINES:
            return
        position = f"{message.topic()}, partition {message.partition()}, offset {message.offset()}"
        record = f"key {_short(message.key())}, value {_short(message.value())}"
        more = "; more of them are only counted" if self.count == LINES else ""
        print(f"{position}: {reason}; got {record}{more}", file=sys.stderr, flush=True)

    def summarize(self) -> None:
        """Print how many there were, where not all were printed."""
        if self.count > LINES:
            print(f"{self.count:,} records were no metrics.", file=sys.stderr, flush=True)


def _short(data: bytes | None) -> str:
    return repr(data if data is None or len(data) <= SHOWN else data[:SHOWN] + b"...")
