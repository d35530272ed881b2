"""Page views per second, or of each page: system 1."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbook.errors import WorkbookError
from workbook.systems.base import GeneratedStream, Job, Read, Shown, Started, System
from workbook.systems.options import Option, span, topic, whole
from workbook.systems.preflight import require_empty
from workbook.topics import Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbook.kafka.broker import Broker

LATENESS = "5 seconds"
PAGES = "views of each page instead"
EVERY_S = 2
"""Seconds between two micro-batches with --out."""


CLICKS = GeneratedStream(
    name="clicks",
    does="the clicks of a shop's visitors to a topic",
    example="generate clicks --rate 500 --seconds 600 --speed 1",
    maker="clicks:ClickStream",
    options=(
        Option("--late-share", float, "share of the good clicks that arrive late", default=0.0),
        Option("--late-by-ms", whole, "how late a late click is at most", default=30_000),
    ),
)


class PageViews(System):
    """Clicks in; page views of each complete second out, or a table of pages."""

    name = "page_views"
    does = "count page views, per second or per page"
    reads = "clicks"
    examples = (
        "run page_views --in clicks",
        "run page_views --in clicks --out metrics --checkpoint state/metrics",
    )
    streams = (CLICKS,)

    own = (
        Option("--out", topic, "a topic for the page views of each second", f"none; {PAGES}"),
        Option("--lateness", span, "with --out: how long a second waits", LATENESS),
        Option("--with-events", None, "with --out: name the clicks in a header", "counts alone"),
    )

    def check(self, options: Namespace) -> None:
        asked = {"--lateness": options.lateness, "--with-events": options.with_events}
        given = " and ".join(name for name, value in asked.items() if value)
        if given and not options.out:
            raise WorkbookError(
                f"Expected --out with {given}, but got none: without --out page_views counts the "
                "views of each page since the beginning, where no click is too late. Name a topic "
                f"by --out, or leave {given} out."
            )

    def check_topics(self, broker: Broker, options: Namespace) -> None:
        """Refuse to overwrite a former run's seconds with counts of a topic that was cut."""
        from workbook.kafka.offsets import partition_offsets

        config = broker.client_config()
        if options.out and any(at.begin for at in partition_offsets(config, options.source)):
            why = f"the first records of {options.source} are gone, so counts would get smaller"
            require_empty(config, options.out, options.checkpoint, why)

    def remembers(self, options: Namespace) -> Mapping[str, Any]:
        """Return what is counted, with the options that decide it."""
        if not options.out:
            return {"counts": "the views of each page"}
        return {
            "counts": "the views of each second",
            "lateness": options.lateness or LATENESS,
            "by partition": False,  # so checkpoints of earlier releases still fit
            "with events": options.with_events,
        }

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        return [Topic(options.out)] if options.out else []

    def start(self, job: Job) -> Started:
        return (_start_seconds if job.options.out else _start_pages)(job)


def _start_seconds(job: Job) -> Started:
    """Write completed seconds to the topic."""
    from workbook.pipelines.page_views.completed import completed_views
    from workbook.pipelines.page_views.metrics import metric_records
    from workbook.sinks.topics import LateLetters, SparkTopic
    from workbook.spark.progress import timed
    from workbook.streams.events.metrics import COMPLETE
    from workbook.systems.accounts import Sums

    options, config, letters, sums = job.options, job.config, job.letters(), Sums()

    def views(read: Read) -> DataFrame:
        return completed_views(
            timed(read(options.source)),
            letters,
            options.lateness or LATENESS,
            with_events=options.with_events,
        )

    columns = ["second", "views", *(["event_ids"] if options.with_events else [])]

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


def _start_pages(job: Job) -> Started:
    """Keep the views of each page beside the checkpoint, so that a restart has them."""
    from pyspark.sql.functions import lit

    from workbook.pipelines.page_views import page_views
    from workbook.sinks.store import Store
    from workbook.sources.records import CLICKS
    from workbook.spark.progress import timed

    store = Store(job.checkpoint / "page_views.db", "name")
    columns = ("click_type", "name", "timestamp", "partition", "reason")
    letters = job.letters()

    def counts(read: Read) -> DataFrame:
        parsed = CLICKS.parse(timed(read(job.options.source)), letters, columns)
        return page_views(parsed).withColumn("deleted", lit(False))

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
