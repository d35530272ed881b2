"""``workbook run``: a pipeline on Spark, without a notebook."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.functions import lit

from workbook.commands.console import Ending, end_like_ctrl_c, typed
from workbook.commands.failures import query_failed
from workbook.commands.following import Writes, follow
from workbook.commands.progress import SecondsProgress, TableProgress, ViewsProgress
from workbook.commands.refusals import require_sense
from workbook.decoding import clicks, positions
from workbook.errors import CannotGoOn, TopicMissing, WorkbookError
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.end_offsets import Ends
from workbook.kafka.identity import topic_facts
from workbook.kafka.offsets import Unread, partition_offsets
from workbook.kafka.probe import require_topic
from workbook.pipelines import share_holders
from workbook.pipelines.page_views import completed
from workbook.pipelines.page_views.completed import completed_views
from workbook.pipelines.page_views.counts import page_views
from workbook.pipelines.page_views.metrics import metric_records
from workbook.sinks.completed import start_completed
from workbook.sinks.store import Store
from workbook.sinks.table_topic import TableTopic
from workbook.spark import checkpoints, session
from workbook.spark.queries import TableSink, appender, start_table
from workbook.spark.source import kafka_stream
from workbook.stack.broker import kafka
from workbook.topics import Topic, compacted

NEEDED = ("click_type", "name", "timestamp", "partition", "reason")
LATENESS = "5 seconds"


SOURCES = {"page_views": "clicks", "share_holders": "positions"}
"""The pipelines, and the topic that each one reads where none is named."""

PAGES = {"table of": "the views of each page"}
"""What the checkpoint of a table of pages is made for."""

SHOWN = 10
"""So many rows of a table are shown at the end."""


def run(options: Namespace) -> None:
    """Run the pipeline until Ctrl-C, SIGTERM or the end of ``--seconds``."""
    end_like_ctrl_c()
    options.source = options.source or SOURCES[options.pipeline]
    _require_fitting(options)
    require_sense(options)
    try:
        broker = kafka("run")
        _require_fitting_checkpoint(broker, options)
        letters = _prepare(broker, options)
        spark = session.spark_session(options.pipeline)
        ending = Ending(options.seconds)  # after Spark, which has handlers of its own
        rejects = DeadLetters(broker.client_config(), letters.name)
        raw = kafka_stream(spark, broker, options.source)
        try:
            if options.pipeline == "share_holders":
                parsed = positions.parse(raw, rejects, share_holders.NEEDED)
                _holders(parsed, broker, options, ending, rejects)
            elif options.out:
                _metrics(raw, broker, rejects, options, ending)
            else:
                _views(clicks.parse(raw, rejects, NEEDED), broker, options, ending)
        finally:
            spark.stop()
    except KeyboardInterrupt:
        print("\nEnded.")
    except (PySparkException, Py4JError) as error:
        raise query_failed(str(error)) from error


def _require_fitting(options: Namespace) -> None:
    """Refuse options of the other pipeline, rather than do something else than was asked."""
    others = {
        "page_views": {"--store": options.store, "--every": options.every},
        "share_holders": {"--lateness": options.lateness, "--by-partition": options.by_partition},
    }[options.pipeline]
    given = [name for name, value in others.items() if value]
    if given:
        raise WorkbookError(
            f"Expected options of {options.pipeline}, but {' and '.join(given)} is for "
            f"{next(name for name in SOURCES if name != options.pipeline)} only: leave it out."
        )


def _prepare(broker: Broker, options: Namespace) -> Topic:
    """The topics as the options name them; returns that of the dead letters."""
    source = Topic(options.source)
    letters = Topic(options.dead_letters or source.dead_letters.name)
    names = [source.name, letters.name, *([options.out] if options.out else [])]
    if len(set(names)) < len(names):
        raise WorkbookError(
            f"Expected a topic each for what is read, written and rejected, but got {names}: what "
            "is written would be read again. Choose other names for --in, --out, --dead-letters."
        )
    # Asked before a slip of the pen makes a topic.
    partitions = require_topic(broker.client_config(), source.name)
    if options.out and options.pipeline == "share_holders":
        _require_fitting_out(broker, options)
    broker.create(letters)
    if options.out and options.pipeline == "share_holders":
        broker.create(compacted(options.out, partitions))
    elif options.out:
        broker.create(Topic(options.out))
    return letters


def _require_fitting_checkpoint(broker: Broker, options: Namespace) -> None:
    """Refuse a checkpoint of another topic or of other options, before Spark starts."""
    if options.checkpoint is not None:
        source = topic_facts(broker.client_config(), options.source)
        checkpoints.require(Path(options.checkpoint).absolute(), source | _asked(options))


def _asked(options: Namespace) -> dict[str, Any]:
    """What the checkpoint must remember of the options; more is known once there is a query."""
    if options.pipeline == "share_holders":
        return {"query": "table"}
    if not options.out:
        return {"query": "table", **PAGES}
    asked = completed.facts(options.lateness or LATENESS, by_partition=options.by_partition)
    return {"query": "seconds", **asked}


def _checkpoint(options: Namespace) -> Path:
    """Where offsets and state are kept; says so."""
    if options.checkpoint is None:
        print("It starts with the first record, in a fresh checkpoint (--checkpoint keeps one).")
        return session.checkpoint(options.pipeline)
    place = Path(options.checkpoint).absolute()
    known = checkpoints.begun(place)
    print(f"It goes on where {place} ends." if known else f"Its new checkpoint is {place}.")
    return place


def _require_fitting_out(broker: Broker, options: Namespace) -> None:
    """Refuse a result topic that would not be the whole table, or more than that."""
    out, begun = options.out, options.checkpoint and checkpoints.begun(Path(options.checkpoint))
    try:
        held = sum(o.end - o.begin for o in partition_offsets(broker.client_config(), out))
    except TopicMissing:
        held = 0
    if held and not begun:
        raise CannotGoOn(
            f"Expected {out} to be empty, since the checkpoint is a new one, but it has {held:,} "
            "records of a former run: clients that hold nothing any more would stay in there. Use "
            "the --checkpoint of that run, or another topic for --out."
        )
    if begun and not held and _rows_in(_store(options, Path(options.checkpoint))):
        raise CannotGoOn(
            f"Expected {out} to have the results so far, but it is empty: it would get only what "
            "changes from now on. Use the --out that this checkpoint has had, or a new checkpoint."
        )


def _store(options: Namespace, place: Path) -> Path:
    """Where the table of share holders is kept."""
    return Path(options.store or place / "store.db").absolute()


def _rows_in(store: Path) -> int:
    return len(Store(store, "client", reading=True)) if store.is_file() else 0


def _metrics(
    raw: DataFrame, broker: Broker, letters: DeadLetters, options: Namespace, ending: Ending
) -> None:
    """Completed seconds into the topic, and a line that says how it gets on."""
    config = broker.client_config()
    views = completed_views(
        raw,
        letters,
        options.lateness or LATENESS,
        unread=Unread(config, options.source),
        by_partition=options.by_partition,
    )
    progress, writes = SecondsProgress(), Writes("before-send")
    raw.sparkSession.streams.addListener(progress)
    place = _checkpoint(options)
    columns = ["second", "views", *(["partition"] if options.by_partition else [])]
    append = appender(broker, options.out)
    running = start_completed(
        views,
        lambda seconds: append(metric_records(seconds.select(columns))),
        letters,
        config,
        options.source,
        place,
        at=writes.pass_by,
        tell=progress.know_sums,
    )
    follow(running, progress, writes, Ends(config, options.source), ending)
    print(f"Ended: {progress.messages:,} messages read from {options.source}.")
    print(f"Since the checkpoint began: {progress.balance()}.")


def _holders(
    parsed: DataFrame, broker: Broker, options: Namespace, ending: Ending, rejects: DeadLetters
) -> None:
    """Who holds US shares into a store and, if named, a topic; a line says how it gets on."""
    place = _checkpoint(options)
    store, config = Store(_store(options, place), "client"), broker.client_config()
    out = TableTopic(config, options.out, "client", rejects=rejects) if options.out else None
    _name_store(store)
    progress, writes = TableProgress(store, out), Writes("before-compute")
    parsed.sparkSession.streams.addListener(progress)
    sinks: list[TableSink] = [*([out] if out else []), store]
    holders = share_holders.us_share_holders(parsed)
    every = f"{options.every or 0} seconds"
    running = start_table(holders, sinks, place, every, writes.pass_by)
    follow(running, progress, writes, Ends(broker.client_config(), options.source), ending)
    print(f"Ended: {progress.messages:,} messages read from {options.source}. ", end="")
    print(f"{len(store):,} clients hold US shares" + (":" if len(store) else "."))
    for row in store.some(SHOWN):
        print(f"  {row['client']}: {', '.join(row['tickers'])}")
    if len(store) > SHOWN:
        print("  ...")


def _name_store(store: Store) -> None:
    print(f"Ask its store meanwhile: {typed()} store {shlex.quote(str(store.path))}")


def _views(parsed: DataFrame, broker: Broker, options: Namespace, ending: Ending) -> None:
    """Views per page on this terminal, kept beside the checkpoint so that a restart has them."""
    place = _checkpoint(options)
    store = Store(place / "page_views.db", "name")
    _name_store(store)
    progress, writes = ViewsProgress(store), Writes("before-compute")
    parsed.sparkSession.streams.addListener(progress)
    counts = page_views(parsed).withColumn("deleted", lit(False))
    counts = checkpoints.marked(counts, PAGES)
    running = start_table(counts, [store], place, at=writes.pass_by)
    follow(running, progress, writes, Ends(broker.client_config(), options.source), ending)
    print(f"Ended: {progress.messages:,} messages read from {options.source}.")
    print("Views of each page since the checkpoint began:")
    rows = sorted(store.all(), key=lambda row: (-row["views"], row["name"]))
    for row in rows:
        print(f"  {row['name']:<24} {row['views']:>9,}")
    if not rows:
        print("  none yet")
