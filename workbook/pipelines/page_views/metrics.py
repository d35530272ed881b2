"""Publishes the page views of completed seconds: four loops, each with its promise, and Spark.

The loops differ in one thing: when they say to Kafka how far they have come. ``at`` is called at
the named points in which a crash may come; the crash lab puts one there.

All four loops need producers that append a partition's clicks in the order of event time: a second
ends where a later one begins. A page view of an earlier second goes to the dead letters, and so
does a page view so far ahead that it would make all others late. The metrics' key is the second
alone, so the clicks are on one partition: programs/commit_on_delivery.py counts several.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from confluent_kafka import KafkaException, Message, Producer, TopicPartition
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import Rejected, SeveralPartitions
from workbook.kafka.require import PATIENCE_S
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.metrics import EVENTS, Metric
from workbook.streams.metrics import MetricsProducer

LATE = "a later second had begun on its partition"
"""Why a page view is rejected that comes after one of a later second."""

CUT = "its partition no longer begins, or wasn't read, where this second does"
"""Why a page view of the first second is rejected, if that second may be read only in part."""

AHEAD_MS = 5_000
AHEAD = "event time more than five seconds after arrival"
"""Why a page view is rejected which would end its second too early for all others."""

At = Callable[[str], None]
Until = Callable[[], bool]
Reject = Callable[[Any, Rejected], None]


@dataclass(frozen=True, slots=True)
class Completed:
    """A completed second of one partition of the clicks, with its page views.

    ``next_offset`` is the first record of the second after it: a restart there counts every
    second from its beginning. ``event_ids`` are what was counted, for the ledger.
    """

    second: int
    topic: str
    partition: int
    next_offset: int
    event_ids: tuple[int, ...]

    def metric(self) -> Metric:
        """Return the metric; raise ``SeveralPartitions`` unless it's of partition 0."""
        if self.partition:
            raise SeveralPartitions(
                f"Expected clicks on partition 0 alone, but some came on partition "
                f"{self.partition} of {self.topic!r}: under the second alone as key, the metrics "
                "of two partitions would replace each other. Count them as "
                "programs/commit_on_delivery.py does, by second and partition."
            )
        return Metric(self.second, len(self.event_ids))

    def restart(self) -> TopicPartition:
        """Return where to go on once this second has been delivered, as Kafka commits it."""
        return TopicPartition(self.topic, self.partition, self.next_offset)


@dataclass
class Seconds:
    """The open second of each partition: all the state that the loops have."""

    open: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    cut: dict[int, int | None] = field(default_factory=dict)
    """By partition, the second that may be cut: -1 for none, None for that of the first click."""
    _next: dict[int, int] = field(default_factory=dict)

    def step(self, click: Click, topic: str, partition: int, offset: int) -> Completed | None:
        """Count a click; the completed second, if this click is the first one of a new second.

        Raises ``Rejected`` for a page view of an earlier second: where that was emitted already,
        a count of one must not replace it. One of a second that may be cut is rejected, too.
        """
        cut = self.cut.get(partition, -1)
        if cut is None:
            cut = self.cut[partition] = click.epoch_second
        if offset < self._next.get(partition, 0):
            # Its group was recreated, as after an outage: we are back at the last commit, which is
            # where a second begins. We read again what we had counted after it.
            self.open.pop(partition, None)
        self._next[partition] = offset + 1
        if click.click_type is not ClickType.PAGE:
            return None
        if click.epoch_second <= cut:
            raise Rejected(CUT)
        second, ids = self.open.setdefault(partition, (click.epoch_second, []))
        if click.epoch_second < second:
            raise Rejected(LATE)
        if click.epoch_second == second:
            ids.append(click.event_id)
            return None
        self.open[partition] = (click.epoch_second, [click.event_id])
        return Completed(second, topic, partition, offset, tuple(ids))


def is_cut(reader: Any, first: Message) -> bool:
    """Return whether records before the first one that is read may be missing.

    A second begins at the group's commit, but retention may have deleted records after it.
    """
    place = TopicPartition(str(first.topic()), first.partition() or 0)
    [known] = reader.committed([place], timeout=PATIENCE_S)
    if known.offset < 0:
        return (first.offset() or 0) > 0
    return bool(known.offset < reader.get_watermark_offsets(place, timeout=PATIENCE_S)[0])


def completed(
    reader: Any,
    until: Until,
    reject: Reject,
    at: At,
    *,
    polled: Callable[[Message | None], None] = lambda message: None,
) -> Iterator[Completed]:
    """Poll until ``until()`` holds, and yield each second once a later one begins.

    ``polled`` is called after every poll, with None after an idle one. ``reject`` gets what is no
    click, late clicks, those too far ahead, and those of a second that may be cut. Errors of
    the reader pass through.
    """
    seconds = Seconds()
    while not until():
        message = reader.poll(0.05)
        if message is not None:
            at("after-poll")
        polled(message)
        if message is None:
            continue
        if message.partition() not in seconds.cut:
            seconds.cut[message.partition()] = None if is_cut(reader, message) else -1
        try:
            arrival = message.timestamp()[1]
            click = Click.from_json(message.value(), arrival, int(time.time() * 1000))
            if click.click_type is ClickType.PAGE and click.timestamp > arrival + AHEAD_MS:
                raise Rejected(AHEAD)
            done = seconds.step(click, message.topic(), message.partition(), message.offset())
        except Rejected as why:
            reject(message, why)
            continue
        if done is not None:
            yield done


# --- the loops --------------------------------------------------------------------------------


def nothing(point: str) -> None:
    """Do nothing: no crash at any point."""


def auto_commit(
    reader: Any, metrics: MetricsProducer, until: Until, reject: Reject, at: At = nothing
) -> None:
    """Let Kafka's client commit now and then what it handed out. Loses, and duplicates."""
    _publish(completed(reader, until, reject, at), metrics, at)


def commit_after_poll(
    reader: Any, metrics: MetricsProducer, until: Until, reject: Reject, at: At = nothing
) -> None:
    """Commit each record before counting it: at most once. Loses what is in memory."""

    def commit(message: Message | None) -> None:
        if message is not None:
            at("before-commit")
            reader.commit(message, asynchronous=False)
            at("after-commit")

    _publish(completed(reader, until, reject, at, polled=commit), metrics, at)


def _publish(seconds: Iterator[Completed], metrics: MetricsProducer, at: At) -> None:
    for done in seconds:
        at("before-send")
        metrics.send(done.metric(), done.event_ids)
        at("after-send")


def commit_on_delivery(
    reader: Any,
    metrics: MetricsProducer,
    until: Until,
    reject: Reject,
    at: At = nothing,
) -> None:
    """Commit a second when its metric has been delivered: at least once, while it's the one reader.

    The offset is fixed when the metric is sent: the first record of the next second. A restart
    begins there, and counts whole seconds only. A commit that fails is made good by the next one.
    Before each commit the dead letters of ``reject`` are delivered (``close``).
    """
    settle = getattr(reject, "close", lambda: None)

    def commit(done: Completed) -> None:
        settle()
        at("before-commit")
        with suppress(KafkaException):  # else the seconds since the last commit are read again
            reader.commit(offsets=[done.restart()], asynchronous=False)
        at("after-commit")

    for done in completed(reader, until, reject, at, polled=lambda _: metrics.serve()):
        at("before-send")
        metrics.send(done.metric(), done.event_ids, then=partial(commit, done))
        at("after-send")
    metrics.close()


def in_transactions(
    reader: Any,
    producer: Producer,
    record: Callable[[Completed], dict[str, Any]],
    until: Until,
    reject: Reject,
    at: At = nothing,
) -> None:
    """Publish metric and offset together or not at all: exactly once.

    ``record`` says what to produce for a completed second. Readers need ``read_committed``. It
    holds while there is one reader, with a ``transactional.id`` of its own. Dead letters come at
    least once.
    """
    settle = getattr(reject, "close", lambda: None)
    producer.init_transactions()  # ends what a former life of this program has left open
    for done in completed(reader, until, reject, at):
        at("before-send")
        producer.begin_transaction()
        producer.produce(**record(done))
        at("after-send")
        settle()
        group = reader.consumer_group_metadata()
        producer.send_offsets_to_transaction([done.restart()], group)
        at("before-commit")
        producer.commit_transaction()
        at("after-commit")


# --- on Spark ---------------------------------------------------------------------------------


def metric_records(counts: DataFrame) -> DataFrame:
    """Convert counts per second to Kafka records: ``key``, ``value`` (strings), see ``Metric``.

    In: ``second``, ``views``, and optionally ``event_ids``, which become a header for the ledger.
    """
    text = {name: F.col(name).cast("string") for name in ("second", "views")}
    columns = [text["second"].alias("key"), text["views"].alias("value")]
    if "event_ids" in counts.columns:
        ids = F.array_join(F.transform("event_ids", lambda i: i.cast("string")), ",")
        header = F.struct(F.lit(EVENTS).alias("key"), ids.cast("binary").alias("value"))
        columns.append(F.array(header).alias("headers"))
    return counts.select(*columns)
