"""Tracking and order messages merged by visit, timed out by the event time of both: system 2."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.errors import WorkbookError
from workbook.sources.options import milliseconds
from workbook.systems.base import GeneratedStream, Job, Started, StreamOption, System, share
from workbook.systems.options import offsets_in_json, span, span_above_zero, topic, whole
from workbook.topics import Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbook.kafka.broker import Broker
    from workbook.pipelines.event_time_merge.columns import Limits
    from workbook.spark.runner import ExecutorSink, Sink
    from workbook.streams.stream_producer import Stream

TIMEOUT, MAX_AGE, HORIZON = "2 minutes", "1 hour", "1 hour"


def _tracking(**options: Any) -> Stream:
    from workbook.streams.generators.visits import Kind, VisitStream

    return VisitStream(kind=Kind.TRACKING, **options)


def _orders(**options: Any) -> Stream:
    from workbook.streams.generators.visits import Kind, VisitStream

    return VisitStream(kind=Kind.ORDERS, **options)


_SHARED = (
    StreamOption("pages", whole, "N", "tracking messages of a visit, on average; default: 5"),
    StreamOption("visit_s", float, "SECONDS", "length of a visit, at most; default: 60"),
    StreamOption(
        "heartbeat_s", float, "SECONDS", "time between two heartbeats; default: 1, 0 for none"
    ),
    share("late", "share of the messages that come late; default: 0"),
    StreamOption("late_by_ms", whole, "MS", "how late a late message is at most; default: 30000"),
    StreamOption(
        "gap_every_s",
        float,
        "SECONDS",
        "time from one gap with heartbeats only to the next, with --gap-s; default: 0, no gaps",
    ),
    StreamOption("gap_s", float, "SECONDS", "length of each gap; default: 0"),
)

STREAMS = (
    GeneratedStream(
        name="tracking",
        does="the pages that visitors look at, and heartbeats, to a topic",
        example="generate tracking --rate 500 --partitions 4",
        make=_tracking,
        options=_SHARED,
    ),
    GeneratedStream(
        name="orders",
        does="the orders of the same visits, and heartbeats, to a topic",
        example="generate orders --rate 50 --tracking-rate 500 --partitions 4",
        make=_orders,
        options=(
            StreamOption(
                "tracking_rate",
                float,
                "R",
                "the --rate of the tracking messages of these visits; default: the same --rate",
            ),
            share("orphan", "share of the orders that belong to no visit; default: 0"),
            *_SHARED,
        ),
    ),
)


class EventTimeMerge(System):
    """Tracking and order messages in; a message per visit out, once both have passed it."""

    name = "event_time_merge"
    does = "merge tracking and order messages by visit"
    reads = "tracking"
    examples = (
        "run event_time_merge --in tracking --orders orders --out visits "
        "--checkpoint state/event_time_merge",
    )
    streams = STREAMS

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--orders",
            type=topic,
            default="orders",
            metavar="TOPIC",
            help="the topic of the order messages, partitioned as that of --in; default: orders",
        )
        parser.add_argument(
            "--out",
            type=topic,
            default="visits",
            metavar="TOPIC",
            help="the topic for merged visits, created if missing, with as many partitions; "
            "default: visits",
        )
        times = (
            ("--timeout", TIMEOUT, "a visit is complete this long after its newest message"),
            ("--max-age", MAX_AGE, "and this long after its oldest one, if it never pauses"),
            ("--horizon", HORIZON, "for this long after that its ssid is remembered"),
        )
        for name, default, says in times:
            parser.add_argument(
                name,
                type=span,
                default=default,
                metavar="TIME",
                help=f"{says}, by the clock of both topics; default: '{default}'",
            )

        waits = (
            ("--max-lead", "read neither topic further ahead of the other; default: no limit"),
            ("--idle-timeout", "with --max-lead: a topic that is silent this long holds back the "
             "other no longer; default: it always does"),
        )  # fmt: skip
        for name, says in waits:
            parser.add_argument(name, type=span_above_zero, metavar="TIME", help=says)

        parser.add_argument(
            "--from-offsets",
            type=offsets_in_json,
            metavar="JSON",
            help="begin here, without a checkpoint, and not where the last merged visits of --out "
            'say: \'{"tracking":{"0":23,"1":-2},"orders":{"0":7,"1":-2}}\' (-2: the first record)',
        )

    def begins(self, options: Namespace) -> str:
        said = f"where the records of {options.out} say, with the first one where there are none"
        return f"It starts {'at --from-offsets' if options.from_offsets else said}"

    def sources(self, options: Namespace) -> list[str]:
        return [options.source, options.orders]

    def check(self, options: Namespace) -> None:
        """Refuse options that don't fit together, and offsets that wouldn't count."""
        from workbook.spark import checkpoints

        if options.source == options.orders:
            raise WorkbookError(
                f"Expected two topics to merge, but --in and --orders are both {options.source!r}."
            )
        if options.idle_timeout and not options.max_lead:
            raise WorkbookError(
                "Expected --max-lead with --idle-timeout, since only a topic that was read to its "
                "end can be idle: the clamped source knows that. Add --max-lead '10 seconds'."
            )
        given = options.from_offsets
        if given and options.checkpoint and checkpoints.begun(Path(options.checkpoint)):
            raise WorkbookError(
                f"Expected a checkpoint that hasn't begun with --from-offsets, but "
                f"{options.checkpoint} has offsets of its own. Name another --checkpoint."
            )
        if given is not None and set(given) != set(self.sources(options)):
            raise WorkbookError(
                f"Expected --from-offsets for {' and '.join(self.sources(options))}, but got "
                f"{' and '.join(given) or 'none'}."
            )

    def check_topics(self, broker: Broker, options: Namespace) -> None:
        """Refuse topics that aren't partitioned alike, the results' among them."""
        from workbook.errors import TopicMissing
        from workbook.kafka.partitioning import require_alike, require_partitions
        from workbook.systems.merge_run import is_of_a_visit, require_offsets

        config = broker.client_config()
        number = require_alike(config, self.sources(options), is_of_a_visit)
        if options.from_offsets is not None:
            require_offsets(config, options.from_offsets, number)
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
        from workbook.pipelines.event_time_merge.fast import merged_visits
        from workbook.sinks.merged import MergedTopic
        from workbook.systems.merge_run import Clocks, where_to_start

        options, config, letters = job.options, job.config, job.letters()
        topics = self.sources(options)
        number = require_topic(config, options.source)
        raw = _read(job, topics, where_to_start(config, options, job.checkpoint))
        idle = options.idle_timeout and milliseconds("--idle-timeout", options.idle_timeout)
        visits = merged_visits(raw, letters, topics, number, limits(options), idle)
        clocks = Clocks(topics)
        topic = MergedTopic(config, options.out, topics, letters)
        sinks: list[Sink | ExecutorSink] = [topic, clocks]
        return Started(
            job.query(visits, sinks),
            sinks,
            lambda: clocks.shown(options.timeout),
            lambda: clocks.summary(options.out, options.dead_letters),
        )


def _read(job: Job, topics: list[str], starting: str) -> DataFrame:
    """Read both topics: with --max-lead by the source that stops the one that leads."""
    from workbook.sources.kafka import clamped_stream, kafka_stream

    options, place = job.options, (job.spark, job.broker, topics)
    how = {"starting": starting, "max_per_batch": options.max_per_batch}
    if not options.max_lead:
        return kafka_stream(*place, **how)
    return clamped_stream(*place, options.max_lead, options.idle_timeout, **how)


def limits(options: Namespace) -> Limits:
    """Return the limits that the options give."""
    from workbook.pipelines.event_time_merge.columns import Limits

    times = (options.timeout, options.max_age, options.horizon)
    return Limits(*(milliseconds("a limit", time, 0) for time in times))
