"""Replicate a short-lived topic of ad actions into a long-lived one: the first half of system 5."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from workbook.errors import WorkbookError
from workbook.systems.base import GeneratedStream, Job, Shown, Started, System
from workbook.systems.options import Option, topic, whole
from workbook.systems.preflight import require_empty
from workbook.topics import FOREVER, Topic

if TYPE_CHECKING:
    from workbook.kafka.broker import Broker

LARGE = str(8 << 20)
"""The max.message.bytes with which a long-lived topic is created."""

EVERY_S = 0.5
COMMIT_EVERY = "5 seconds"
"""In real-time mode: what a kill sends again arrived within this time."""


AD_ACTIONS = GeneratedStream(
    name="ad_actions",
    does="actions on ads in Avro, in two versions of a schema, some repeated, late or bad",
    example="generate ad_actions --seconds 600 --ads 1000",
    maker="ad_actions:AdActionStream",
    options=(
        Option("--ads", whole, "number of ads, drawn by Zipf's law", default=20_000),
        Option("--users", whole, "number of users", default=500_000),
        Option("--late-share", float, "of events: 1 hour to 3 days late", default=0.01),
        Option("--too-old-share", float, "of events: 31 to 60 days late", default=0.001),
    ),
    registers=True,
)


class Replicate(System):
    """Any topic in; the same records out, keyed by their SHA-1, with their arrival in a header."""

    name = "replicate"
    does = "copy a topic into a long-lived one, keyed by content"
    reads = "ad_actions"
    streams = (AD_ACTIONS,)
    rejects = False
    most = 50_000  # ad_statistics knows the last 100,000 hashes of a partition in any case
    examples = ("run replicate --in ad_actions --checkpoint state/replicate",)

    own = (
        Option("--out", topic, "the long-lived topic", "TOPIC.long-lived, of --in"),
        Option(
            "--real-time", None, "copy each record at once; a core a partition", "micro-batches"
        ),
    )

    def check(self, options: Namespace) -> None:
        if options.max_per_batch > self.most:
            raise WorkbookError(
                f"Expected --max-per-batch {self.most} at most, but got {options.max_per_batch}: "
                "after a kill a micro-batch is sent again, and ad_statistics must still know it. "
                "Leave it out."
            )

    def check_topics(self, broker: Broker, options: Namespace) -> None:
        """Refuse what would send again more than the aggregator knows, or lacks cores."""
        import os

        from workbook.errors import CannotGoOn
        from workbook.kafka.offsets import partition_offsets
        from workbook.kafka.require import ABSENT, largest_record, topic_ids
        from workbook.spark import cluster
        from workbook.spark.checkpoints import last_read

        out, config = _out(options), broker.client_config()
        why = "--in would be copied again, and ad_statistics has forgotten the older records"
        require_empty(config, out, options.checkpoint, why)
        wanted = largest_record(config, options.source)
        there = topic_ids(config, [], [out])[out] != ABSENT
        limit = largest_record(config, out) if there else wanted
        if limit < wanted:
            raise CannotGoOn(
                f"Expected {out} to take records of {wanted:,} bytes, as {options.source} does, "
                f"but its max.message.bytes is {limit:,}. Raise it, or name another --out."
            )
        if not options.real_time:
            return
        found = partition_offsets(config, options.source)
        known = options.checkpoint and last_read(Path(options.checkpoint) / "0", options.source)
        read = known[0] if known else {}
        waiting = sum(o.end - read.get(o.partition, o.begin) for o in found)
        if waiting > self.most:
            raise WorkbookError(
                f"Expected at most {self.most} records to wait with --real-time, but {waiting} do: "
                "a kill might send more of them again than ad_statistics knows. Run it without "
                "--real-time until it has caught up."
            )
        cores = os.cpu_count() or 1
        if cluster.is_local() and len(found) > cores:
            raise WorkbookError(
                f"Expected at least as many cores as {options.source} has partitions with "
                f"--real-time, but it has {len(found)} and this machine {cores}. Leave "
                "--real-time out."
            )

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        return [Topic(_out(options), partitions, {**FOREVER, "max.message.bytes": LARGE})]

    def start(self, job: Job) -> Started:
        from workbook.pipelines.replicate import replicated
        from workbook.sources.kafka import sink_options
        from workbook.spark.runner import start_copy

        options = job.options
        most = {"max_per_batch": None} if options.real_time else {}
        rows, again = job.reading(
            lambda read: replicated(read(options.source, headers=True, **most))
        )
        out = sink_options(job.broker, _out(options))
        mode = {"real_time": COMMIT_EVERY} if options.real_time else {"at": job.at, "again": again}
        every = f"{options.every or EVERY_S} seconds"
        running = start_copy(rows, out, job.checkpoint, every=every, **mode)
        said = f"Copied into {_out(options)}; counted by: run ad_statistics --in {_out(options)}"
        return Started(running, [], lambda: Shown((), ()), lambda: [said])


def _out(options: Namespace) -> str:
    return options.out or f"{options.source}.long-lived"
