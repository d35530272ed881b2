"""Page views per second, or of each page: system 1."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbook.errors import WorkbookError
from workbook.systems.base import GeneratedStream, Job, Shown, Started, StreamOption, System, share
from workbook.systems.options import span, topic, whole
from workbook.topics import Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbook.streams.stream_producer import Stream

LATENESS = "5 seconds"
EVERY_S = 2
"""Seconds between two micro-batches with --out."""


def _click_stream(**options: Any) -> Stream:
    from workbook.streams.generators.clicks import ClickStream

    return ClickStream(**options)


CLICKS = GeneratedStream(
    name="clicks",
    does="the clicks of a shop's visitors to a topic",
    example="generate clicks --rate 500 --seconds 600 --speed 1",
    make=_click_stream,
    options=(
        share("late", "share of the good clicks that arrive late; default: 0"),
        StreamOption("late_by_ms", whole, "MS", "how late a late click is at most; default: 30000"),
        StreamOption(
            "gap_every_s",
            float,
            "SECONDS",
            "time from one gap without clicks to the next, with --gap-s; default: 0, no gaps",
        ),
        StreamOption(
            "gap_s", float, "SECONDS", "length of each gap, less than --gap-every-s; default: 0"
        ),
    ),
)


class PageViews(System):
    """Clicks in; page views of each complete second out, or a table of pages."""

    name = "page_views"
    does = "count page views, per second or per page"
    reads = "clicks"
    examples = (
        "run page_views --in clicks",
        "run page_views --in clicks --out metrics --checkpoint state/page_views",
    )
    streams = (CLICKS,)

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--out",
            type=topic,
            metavar="TOPIC",
            help="the topic for the page views of each second, created if missing. Default: none; "
            "the views of each page on this terminal instead",
        )
        seconds = parser.add_argument_group("with --out only")
        seconds.add_argument(
            "--lateness",
            type=span,
            metavar="TIME",
            help="a second is complete once every partition is this far beyond its end, such as "
            f"'2 minutes'; default: '{LATENESS}'",
        )
        seconds.add_argument(
            "--by-partition",
            action="store_true",
            help="count each partition of the clicks by itself; default: all together",
        )
        seconds.add_argument(
            "--with-events",
            action="store_true",
            help="put the ids of the clicks that were counted into a header, so that a ledger can "
            "judge them; default: counts alone",
        )

    def check(self, options: Namespace) -> None:
        asked = {
            "--lateness": options.lateness,
            "--by-partition": options.by_partition,
            "--with-events": options.with_events,
        }
        given = " and ".join(name for name, value in asked.items() if value)
        if given and not options.out:
            raise WorkbookError(
                f"Expected --out with {given}, but got none: without --out page_views counts the "
                "views of each page since the beginning, where no click is too late. Name a topic "
                f"by --out, or leave {given} out."
            )

    def remembers(self, options: Namespace) -> Mapping[str, Any]:
        """Return what is counted, with the options that decide it."""
        if not options.out:
            return {"counts": "the views of each page"}
        return {
            "counts": "the views of each second",
            "lateness": options.lateness or LATENESS,
            "by partition": options.by_partition,
            "with events": options.with_events,
        }

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        return [Topic(options.out)] if options.out else []

    def start(self, job: Job) -> Started:
        from workbook.sources.kafka import kafka_stream

        most = job.options.max_per_batch
        raw = kafka_stream(job.spark, job.broker, job.options.source, max_per_batch=most)
        return (_start_seconds if job.options.out else _start_pages)(job, raw)


def _start_seconds(job: Job, raw: DataFrame) -> Started:
    """Write completed seconds to the topic."""
    from workbook.pipelines.page_views.completed import completed_views
    from workbook.pipelines.page_views.metrics import metric_records
    from workbook.sinks.page_views import LateLetters, SparkTopic
    from workbook.streams.events.metrics import COMPLETE
    from workbook.systems.view_sums import Sums

    options, config, letters, sums = job.options, job.config, job.letters(), Sums()
    views = completed_views(
        raw,
        letters,
        options.lateness or LATENESS,
        by_partition=options.by_partition,
        with_events=options.with_events,
    )
    columns = ["second", "views", *(["partition"] if options.by_partition else [])]
    columns += ["event_ids"] if options.with_events else []

    def records(rows: DataFrame) -> DataFrame:
        return job.at.within("mid-write", metric_records(rows.select(columns)))

    sinks = [
        LateLetters(config, options.source, letters),
        SparkTopic(job.spark, job.broker, options.out, records, COMPLETE),
        sums,
    ]
    return Started(
        # Each micro-batch takes half a second of a core, also one that reads nothing.
        job.query(views, sinks, every_s=EVERY_S),
        sinks,
        lambda: Shown(("since the checkpoint began", "messages"), sums.parts()),
        sums.summary,
    )


def _start_pages(job: Job, raw: DataFrame) -> Started:
    """Keep the views of each page beside the checkpoint, so that a restart has them."""
    from pyspark.sql.functions import lit

    from workbook.pipelines.page_views.counts import page_views
    from workbook.sinks.store import Store
    from workbook.sources import clicks

    store = Store(job.checkpoint / "page_views.db", "name")
    columns = ("click_type", "name", "timestamp", "partition", "reason")
    parsed = clicks.parse(raw, job.letters(), columns)
    counts = page_views(parsed).withColumn("deleted", lit(False))

    def pages() -> list[dict[str, Any]]:
        return sorted(store.all(), key=lambda row: (-row["views"], row["name"]))

    def shown() -> Shown:
        rows = [(row["name"], f"{row['views']:,}") for row in pages()]
        return Shown(("page", "views"), rows)

    def summary() -> list[str]:
        lines = [f"  {row['name']:<24} {row['views']:>9,}" for row in pages()]
        return ["Views of each page since the checkpoint began:", *(lines or ["  none yet"])]

    def says() -> str:
        views = [row["views"] for row in store.all()]
        return f"{sum(views):,} page views on {len(views):,} pages" if views else ""

    store.says = says
    return Started(job.query(counts, [store]), [store], shown, summary, store.path)
