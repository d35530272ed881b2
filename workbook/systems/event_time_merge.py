"""Tracking and order messages merged by visit, timed out by the event time of both: system 2."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.errors import Rejected, TopicMissing, WorkbookError
from workbook.sources.options import milliseconds
from workbook.spark import checkpoints
from workbook.streams.events.visits import Heartbeat, read_message
from workbook.systems.base import GeneratedStream, Job, Read, Started, System
from workbook.systems.options import Option, span, span_above_zero, topic, whole
from workbook.topics import Topic

if TYPE_CHECKING:
    from confluent_kafka import Message
    from pyspark.sql import DataFrame

    from workbook.kafka.broker import Broker
    from workbook.spark.runner import ExecutorSink, Sink

TIMEOUT, MAX_AGE, HORIZON = "2 minutes", "1 hour", "1 hour"


_SHARED = (
    Option("--pages", whole, "tracking messages of a visit, on average", default=5),
    Option("--visit-s", float, "length of a visit in seconds, at most", default=60.0),
    Option("--heartbeat-s", float, "seconds between two heartbeats; 0 for none", default=1.0),
    Option("--late-share", float, "share of the messages that arrive late", default=0.0),
    Option("--late-by-ms", whole, "how late a late message is at most", default=30_000),
)

STREAMS = (
    GeneratedStream(
        name="tracking",
        does="the pages that visitors look at, and heartbeats, to a topic",
        example="generate tracking --rate 500 --partitions 4",
        maker="visits:VisitStream",
        options=_SHARED,
    ),
    GeneratedStream(
        name="orders",
        does="the orders of the same visits, and heartbeats, to a topic",
        example="generate orders --rate 50 --tracking-rate 500 --partitions 4",
        maker="visits:orders",
        options=(
            Option("--tracking-rate", float, "the --rate of their tracking", "the same --rate"),
            *_SHARED,
        ),
    ),
)


class EventTimeMerge(System):
    """Tracking and order messages in; a message per visit out, once both have passed it."""

    name = "event_time_merge"
    does = "merge tracking and order messages by visit"
    reads = "tracking"
    rereads = True
    examples = (
        "run event_time_merge --in tracking --orders orders --out visits "
        "--checkpoint state/event_time_merge",
    )
    streams = STREAMS

    own = (
        Option("--orders", topic, "the orders, partitioned as --in", default="orders"),
        Option("--out", topic, "the topic for merged visits", default="visits"),
        Option("--timeout", span, "how long after its newest part a visit ends", default=TIMEOUT),
        Option("--max-age", span, "and how long after its oldest one", default=MAX_AGE),
        Option("--horizon", span, "how long its ssid is remembered then", default=HORIZON),
        Option("--max-lead", span_above_zero, "how far one topic may lead", "no limit"),
        Option("--idle-timeout", span_above_zero, "silence that frees the other topic", "never"),
    )

    def begins(self, options: Namespace) -> str:
        return (
            f"It starts where the records of {options.out} say, with the first one where there are "
            "none"
        )

    def sources(self, options: Namespace) -> list[str]:
        return [options.source, options.orders]

    def check(self, options: Namespace) -> None:
        """Refuse options that don't fit together."""
        if options.source == options.orders:
            raise WorkbookError(
                f"Expected two topics to merge, but --in and --orders are both {options.source!r}."
            )
        if options.idle_timeout and not options.max_lead:
            raise WorkbookError(
                "Expected --max-lead with --idle-timeout, since only a topic that was read to its "
                "end can be idle: the clamped source knows that. Add --max-lead '10 seconds'."
            )

    def check_topics(self, broker: Broker, options: Namespace) -> None:
        """Refuse topics that aren't partitioned alike, or have got more partitions meanwhile."""
        from workbook.kafka.partitioning import require_alike, require_partitions

        config = broker.client_config()
        number = require_alike(config, self.sources(options), _is_of_a_visit)
        for source in self.sources(options) if options.checkpoint else ():
            known = checkpoints.last_read(Path(options.checkpoint) / "0", source)
            if known and known[0]:
                require_partitions(config, [source], len(known[0]))
        try:
            require_partitions(config, [options.out], number)
        except TopicMissing:
            return

    def remembers(self, options: Namespace) -> Mapping[str, Any]:
        """Return the times that decide when a visit is complete, and the kind of source."""
        times = ("timeout", "max_age", "horizon")
        return {"clamped": bool(options.max_lead), **{name: vars(options)[name] for name in times}}

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        return [Topic(options.out, partitions)]

    def start(self, job: Job) -> Started:
        from workbook.kafka.require import require_topic
        from workbook.pipelines.event_time_merge import Limits, merged_visits
        from workbook.sinks.merged import MergedTopic
        from workbook.spark.progress import timed
        from workbook.systems.accounts import Clocks

        options, config, letters = job.options, job.config, job.letters()
        topics = self.sources(options)
        number = require_topic(config, options.source)
        starting = _where_to_start(config, options, job.checkpoint)
        idle = options.idle_timeout and milliseconds("--idle-timeout", options.idle_timeout)
        times = (options.timeout, options.max_age, options.horizon)
        limits = Limits(*(milliseconds("a limit", time, 0) for time in times))

        def visits(read: Read) -> DataFrame:
            raw = timed(_read(job, topics, starting, read))
            return merged_visits(raw, letters, topics, number, limits, idle)

        clocks = Clocks(topics, number)
        topic = MergedTopic(config, options.out, topics, letters)
        sinks: list[Sink | ExecutorSink] = [topic, clocks]
        return Started(
            job.query(visits, sinks),
            sinks,
            lambda: clocks.shown(options.timeout),
            lambda: clocks.summary(options.out, options.dead_letters),
        )


def _where_to_start(config: dict[str, str], options: Namespace, checkpoint: Path) -> str:
    """Return where to begin without a checkpoint: as the last merged visits say."""
    from workbook.kafka.start_offsets import look_up

    if checkpoints.begun(checkpoint):
        return "earliest"  # not asked: the checkpoint says where
    found = look_up(config, options.out, [options.source, options.orders])
    for note in found.notes:
        print(f"Something may be lost. {note}", flush=True)
    return found.to_json()


def _is_of_a_visit(record: Message) -> bool:
    """Return whether a record is a good one with its ssid as key: others go to any partition."""
    try:
        message = read_message(record.key(), record.value(), record.timestamp()[1])
    except Rejected:
        return False
    return not isinstance(message, Heartbeat)


def _read(job: Job, topics: list[str], starting: str, read: Read) -> DataFrame:
    """Read both topics: with --max-lead by the source that stops the one that leads."""
    from workbook.sources.kafka import clamped_stream

    options, place = job.options, (job.spark, job.broker, topics)
    if not options.max_lead:
        return read(topics, starting)
    how = {"starting": starting, "max_per_batch": options.max_per_batch}
    return clamped_stream(*place, options.max_lead, options.idle_timeout, **how)
