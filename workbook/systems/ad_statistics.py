"""Count the actions on ads, and the viewers of each ad, into PostgreSQL: system 5."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from workbook.errors import CannotGoOn, NoSuchSchema, WorkbookError
from workbook.spark import checkpoints
from workbook.streams.events.ad_actions import OSLO, Fate
from workbook.systems.base import GeneratedStream, Job, Read, Shown, Started, System
from workbook.systems.options import Option, day, schema_name, topic, whole
from workbook.topics import DEAD_LETTERS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from workbook.kafka.broker import Broker
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
            "none: every record would be rejected. Check --subject, and that the producer "
            "has registered its schema under it (`workbook generate ad_actions` does)."
        )
    return known


VIEWERS = GeneratedStream(
    name="viewers",
    does="demographics of users to a compacted topic, with changes and tombstones",
    example="generate viewers --users 50000",
    maker="viewers:ViewerStream",
    options=(
        Option("--users", whole, "number of users; the later events change some", default=50_000),
    ),
    compacted=True,
)


class AdStatistics(System):
    """Actions from a long-lived topic in; counts in PostgreSQL out, each action counted once."""

    name = "ad_statistics"
    does = "count ad actions by ad, day, type and source into PostgreSQL, each once"
    reads = "ad_actions.long-lived"
    streams = (VIEWERS,)
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
        Option(
            "--viewers", topic, "a compacted topic of the users' demographics", "none; no groups"
        ),
        Option("--from", day, "the first event day of a replay", "none; count new records"),
        Option("--to", day, "the last event day of a replay", "none; count new records"),
    )

    same: Column | None = None
    """The column that is equal for the same action; None: all bytes (see ``parse``)."""

    def begins(self, options: Namespace) -> str:
        if _days(options):
            return "It starts 75 minutes before the first day, or continues an unfinished replay"
        return "It starts where the fence in the database says, or with the first record"

    def check(self, options: Namespace) -> None:
        """Refuse days that can't be replayed."""
        first, last = vars(options)["from"], vars(options)["to"]
        if not first and not last:
            return
        if not first or not last or first > last:
            raise WorkbookError(
                f"Expected --from and --to to be the first and the last day of a replay, but got "
                f"--from {first} and --to {last}. Name both; for one day, name it twice."
            )
        today = datetime.now(OSLO).date()
        if last > today:
            raise WorkbookError(
                f"Expected days up to today ({today} in Oslo), but got --to {last}: nothing can "
                "be replayed before it has arrived. Name today or an earlier day."
            )
        if options.out:
            raise WorkbookError(
                f"Expected a replay without --out, but got --out {options.out}: a replay repairs "
                "only the database. Leave out --out; the topic gets a key's new total with the "
                "key's next action."
            )

    def check_topics(self, broker: Broker, options: Namespace) -> None:
        """Refuse viewers that no topic keeps, and days whose first records are deleted."""
        from workbook.kafka.offsets import first_since, partition_offsets
        from workbook.kafka.require import require_compacted, topic_ids
        from workbook.sources.ad_actions import needed_since

        config = broker.client_config()
        if options.viewers:
            topic_ids(config, [options.viewers])
            require_compacted(config, options.viewers)
        if not (days := _days(options)):
            return
        first = first_since(config, options.source, needed_since(days[0]))
        for at in partition_offsets(config, options.source):
            if 0 < at.begin == first[at.partition]:
                raise CannotGoOn(
                    f"Expected {options.source} to have all records from 75 minutes before "
                    f"{days[0]} on, but partition {at.partition} begins later, at offset "
                    f"{at.begin}: older records are deleted, and their actions would be missing "
                    "from the new counts. Name a later --from, or leave the old counts as they are."
                )

    def check_servers(self, options: Namespace) -> None:
        """Refuse a registry without the schemas, and a user without the rights on the tables."""
        from workbook.sinks.counts_table import TABLES
        from workbook.sinks.postgres import require_rights
        from workbook.stack.addresses import database

        schemas_of(options.subject)
        require_rights(database("run"), options.schema, TABLES)

    def remembers(self, options: Namespace) -> Mapping[str, Any]:
        """Return the schema of the tables, and the days of a replay."""
        days = _days(options)
        replays = {"replays": f"{days[0]} to {days[1]}"} if days else {}
        return {"schema": options.schema, **replays}

    def start(self, job: Job) -> Started:
        from workbook.kafka.offsets import first_since, partition_offsets
        from workbook.kafka.require import require_topic
        from workbook.kafka.start_offsets import EARLIEST
        from workbook.pipelines.ad_statistics import ad_statistics
        from workbook.sinks.counts_table import CountsTopic
        from workbook.sinks.replay import ReplayTable, require_none
        from workbook.sinks.topics import TableTopic
        from workbook.sources.ad_actions import before, needed_since
        from workbook.sources.viewers import viewer_groups
        from workbook.spark.progress import timed

        options, config = job.options, job.config
        source = options.source
        known = schemas_of(options.subject)
        partitions = require_topic(config, source)
        query = checkpoints.place(job.checkpoint)[0]
        counts = _table(self.name, job)
        replay = counts.replay if isinstance(counts, ReplayTable) else None
        fence = counts.claim(query)
        if source.endswith(DEAD_LETTERS):
            require_none(counts)
        begins = first_since(config, source, needed_since(replay.days[0])) if replay else {}
        # The beginning also where records up to the fence were deleted: they are counted.
        starting = {p: fence.starting.get(p, begins.get(p, EARLIEST)) for p in range(partitions)}
        for at in partition_offsets(config, source):
            if starting[at.partition] < at.begin <= fence.counted.get(at.partition, 0):
                starting[at.partition] = EARLIEST
        letters = None if replay else job.letters()  # the live query has sent them already

        def rows(read: Read) -> DataFrame:
            raw = read(source, json.dumps({source: starting}), headers=True)
            raw = timed(before(raw, replay.offsets) if replay else raw)
            table = options.viewers
            return ad_statistics(
                raw, known(), letters, ids=known, counted=fence.counted, same=self.same,
                viewers=viewer_groups(job.spark, job.broker, table) if table else None,
            )  # fmt: skip

        sinks: list[Sink] = [counts]
        if options.out:
            sinks.append(CountsTopic(counts, TableTopic(config, options.out, "key")))
        running = job.query(rows, sinks, ends=replay is not None)
        return Started(running, sinks, lambda: _shown(counts), lambda: _summary(counts))


def _days(options: Namespace) -> tuple[date, date] | None:
    first, last = vars(options)["from"], vars(options)["to"]
    return (first, last) if first and last else None


def _table(name: str, job: Job) -> CountsTable:
    """Return the table that a run writes: of the live query, of dead letters, or of a replay."""
    from workbook.kafka.require import topic_ids
    from workbook.sinks.counts_table import CountsTable
    from workbook.sinks.replay import LETTERS, ReplayTable, begin
    from workbook.stack.addresses import database

    options, url = job.options, database("run")
    read = (options.source, topic_ids(job.config, [options.source])[options.source])
    how: dict[str, Any] = {"schema": options.schema, "at": job.at}
    pipeline = LETTERS if options.source.endswith(DEAD_LETTERS) else name
    counts = CountsTable(url, pipeline, read, job.checkpoint, **how)
    if days := _days(options):
        query, committed, planned = checkpoints.place(job.checkpoint)
        replay = begin(counts, (name, read[1]), days, query, groups=bool(options.viewers))
        counts.close()
        if replay.shown and committed == planned:
            raise CannotGoOn(
                f"Expected the checkpoint of an unfinished replay, but {replay} is finished and "
                "shown. To replay these days again, use a new folder for --checkpoint."
            )
        return ReplayTable(url, replay, read, job.checkpoint, **how)
    return counts


def _shown(counts: CountsTable) -> Shown:
    rows = [(fate.value, f"{counts.fates.get(fate.value, 0):,}") for fate in Fate]
    return Shown(("fate", "records"), rows)


def _summary(counts: CountsTable) -> list[str]:
    from workbook.sinks.replay import ReplayTable

    rows = counts.ask("SELECT type, sum(count)::bigint AS n FROM counts GROUP BY type ORDER BY 2")
    lines = [f"  {row['type']:<12} {row['n']:>12,}" for row in reversed(rows)]
    total = sum(counts.fates.values())
    said = [f"{total:,} records: {counts.line() or 'none'}."]
    if isinstance(counts, ReplayTable):
        said.append(
            f"The counts of {counts.replay} are shown."
            if counts.finished()
            else f"{str(counts.replay).capitalize()} isn't finished, and nothing of it is shown: "
            "start it again with the same days."
        )
    return [*said, f"In {counts}, by type:", *lines]
