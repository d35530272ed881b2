"""Count the actions on ads, and the viewers of each ad, into PostgreSQL: system 5."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbook.errors import NoSuchSchema
from workbook.systems.base import Job, Shown, Started, System
from workbook.systems.options import Option, schema_name, topic
from workbook.topics import Topic, compacted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbook.sinks.counts_table import CountsTable
    from workbook.spark.runner import Sink


SUBJECT = Option(
    "--subject", str, "the registry's subject of the schemas", default="ad_actions-value"
)


def schemas_of(subject: str) -> Callable[[], dict[int, str]]:
    """Return a function that asks the registry for the subject's schemas by id.

    Raises ``NoSuchSchema`` if there is none now, ``RegistryUnreachable`` now or when called.
    """
    from workbook.kafka.registry import versions
    from workbook.stack.addresses import registry

    known = partial(versions, registry("run"), subject)
    if not known():
        raise NoSuchSchema(
            f"Expected the registry to have a schema under the subject {subject!r}, but it has "
            "none: every record would be rejected. Check --subject, and that whoever writes the "
            "records has registered their schema (`workbook generate ad_actions` does)."
        )
    return known


class AdStatistics(System):
    """Actions from a long-lived topic in; counts in PostgreSQL out, each action counted once."""

    name = "ad_statistics"
    does = "count ad actions by ad, day, type and source into PostgreSQL, each once"
    reads = "ad_actions.long-lived"
    examples = (
        "run ad_statistics --in ad_actions.long-lived --checkpoint state/ad_statistics",
        "run replicate --checkpoint state/replicate   # in another terminal: fills the topic",
    )

    own = (
        Option("--out", topic, "a compacted topic for the totals", "none; the database alone"),
        SUBJECT,
        Option(
            "--schema", schema_name, "the database's schema for tables", default="ad_statistics"
        ),
    )

    def begins(self, options: Namespace) -> str:
        return "It starts where the fence in the database says, or with the first record"

    def remembers(self, options: Namespace) -> Mapping[str, Any]:
        """Return where it counts."""
        return {"schema": options.schema}

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        return [compacted(options.out, partitions)] if options.out else []

    def start(self, job: Job) -> Started:
        from workbook.kafka.require import require_topic, topic_ids
        from workbook.pipelines.ad_statistics import KEPT, ad_statistics
        from workbook.sinks.counts_table import CountsTable, CountsTopic
        from workbook.sinks.table_topic import TableTopic
        from workbook.sources.kafka import kafka_stream
        from workbook.spark import checkpoints
        from workbook.spark.progress import timed
        from workbook.stack.addresses import database
        from workbook.streams.events.ad_actions import HORIZON_MS

        options, config, letters = job.options, job.config, job.letters()
        source = options.source
        known = schemas_of(options.subject)
        counts = CountsTable(
            database("run"),
            self.name,
            (source, topic_ids(config, [source])[source]),
            job.checkpoint,
            horizon=HORIZON_MS,
            kept=KEPT,
            schema=options.schema,
            at=job.at,
        )
        fence = counts.claim(checkpoints.place(job.checkpoint)[0])
        partitions = require_topic(config, source)
        starting = {p: fence.starting.get(p, -2) for p in range(partitions)}  # -2: the beginning

        def rows() -> DataFrame:
            raw = kafka_stream(
                job.spark,
                job.broker,
                source,
                starting=json.dumps({source: starting}),
                max_per_batch=options.max_per_batch,
                headers=True,
            )
            return ad_statistics(timed(raw), known(), letters, ids=known, counted=fence.counted)

        def again(failure: str) -> DataFrame | None:
            return rows() if "NewSchema" in failure else None

        sinks: list[Sink] = [counts]
        if options.out:
            sinks.append(CountsTopic(counts, TableTopic(config, options.out, "key")))
        running = job.query(rows(), sinks, again=again)
        return Started(running, sinks, lambda: _shown(counts), lambda: _summary(counts))


def _shown(counts: CountsTable) -> Shown:
    from workbook.streams.events.ad_actions import Fate

    rows = [(fate.value, f"{counts.fates.get(fate.value, 0):,}") for fate in Fate]
    return Shown(("fate", "records"), rows)


def _summary(counts: CountsTable) -> list[str]:
    rows = counts.ask("SELECT type, sum(count)::bigint AS n FROM counts GROUP BY type ORDER BY 2")
    lines = [f"  {row['type']:<12} {row['n']:>12,}" for row in reversed(rows)]
    total = sum(counts.fates.values())
    return [f"{total:,} records: {counts.line() or 'none'}.", f"In {counts}, by type:", *lines]
