"""``workbook run``: a pipeline on Spark, without a notebook."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from workbook import session
from workbook.commands.console import Ending, Line, end_like_ctrl_c
from workbook.commands.progress import Progress
from workbook.errors import SparkFailed, WorkbookError
from workbook.pipelines import page_views
from workbook.pipelines.clicks import parse
from workbook.pipelines.page_view_metrics import metric_records
from workbook.sinks.dead_letters import DeadLetters
from workbook.sinks.running import start_counting, start_metrics
from workbook.sinks.tables import LocalTable
from workbook.sources.checks import require_topic
from workbook.sources.spark import kafka_stream
from workbook.stack.broker import Broker, kafka
from workbook.topics import Topic

TICK_S = 0.2


def run(options: Namespace) -> None:
    """Run the pipeline until Ctrl-C, SIGTERM or the end of ``--seconds``."""
    end_like_ctrl_c()
    try:
        broker = kafka("run")
        letters = _prepare(broker, options)
        spark = session.spark_session("page_views")
        ending = Ending(options.seconds)  # after Spark, which has handlers of its own
        rejects = DeadLetters(broker.client_config(), letters.name)
        try:
            fields = ("click_type", "name", "timestamp", "partition", "reason")
            parsed = parse(kafka_stream(spark, broker, options.source), rejects, fields)
            if options.out:
                _metrics(parsed, broker, options, ending)
            else:
                _table(parsed, _checkpoint(options), ending)
        finally:
            spark.stop()
    except KeyboardInterrupt:
        print("\nEnded.")
    except PySparkException as error:
        raise _failed(error) from error


def _prepare(broker: Broker, options: Namespace) -> Topic:
    """The topics as the options name them; returns that of the dead letters."""
    source = Topic(options.source)
    letters = Topic(options.dead_letters or source.dead_letters.name)
    made = [letters, *([Topic(options.out)] if options.out else [])]
    names = [source.name, *(topic.name for topic in made)]
    if len(set(names)) < len(names):
        raise WorkbookError(
            f"Expected a topic each for clicks, metrics and dead letters, but got {names}: what is "
            "written would be read again. Choose other names for --in, --out, --dead-letters."
        )
    require_topic(broker.client_config(), source.name)  # before a slip of the pen makes a topic
    broker.create(*made)
    return letters


def _checkpoint(options: Namespace) -> Path:
    """Where offsets and state are kept; says so."""
    if options.checkpoint is None:
        print("It starts with the first record, in a fresh checkpoint (--checkpoint keeps one).")
        return session.checkpoint("page_views")
    place = Path(options.checkpoint).absolute()
    known = place.is_dir() and any(place.iterdir())
    print(f"It goes on where {place} ends." if known else f"Its new checkpoint is {place}.")
    return place


def _metrics(parsed: DataFrame, broker: Broker, options: Namespace, ending: Ending) -> None:
    """Completed seconds into the topic, and a line that says how it gets on."""
    counts = page_views.views_per_second(
        parsed, options.lateness, by_partition=options.by_partition
    )
    progress, line, place = Progress(), Line(), _checkpoint(options)
    parsed.sparkSession.streams.addListener(progress)
    running = start_metrics(metric_records(counts), broker, options.out, place)
    try:
        while not running.wait(TICK_S) and not ending.has_come():
            line.show(str(progress))
    finally:
        running.stop()
    progress.ended.wait(2)  # what it hears comes a moment later
    line.show(f"{progress}", last=True)
    print(f"Ended: {progress.messages:,} messages read from {options.source}, ", end="")
    print(f"{progress.written:,} metrics written to {options.out}.")


def _table(parsed: DataFrame, place: Path, ending: Ending) -> None:
    """Views per page on this terminal."""
    views, line = LocalTable("name"), Line()
    running = start_counting(page_views.page_views(parsed), views, place)
    try:
        while not running.wait(TICK_S) and not ending.has_come():
            total = sum(row["views"] for row in views.rows())
            line.show(f"{total:,} page views on {len(views)} pages")
    finally:
        running.stop()
    print("\n" + (views.to_pandas().to_string(index=False) if len(views) else "no page views yet"))


def _failed(error: PySparkException) -> SparkFailed:
    """What Spark said, without its stack traces."""
    told = "\n  ".join(str(error).splitlines()[:5])
    return SparkFailed(
        f"The query ended by an error of Spark:\n  {told}\nWhere it names a checkpoint or a state "
        "that does not fit, use a new folder for --checkpoint; else look at the options."
    )
