"""``workbook run``: a pipeline on Spark, without a notebook."""

from __future__ import annotations

import threading
import time
from argparse import Namespace
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from workbook import session
from workbook.commands.console import Ending, Line, end_like_ctrl_c
from workbook.commands.ends import Ends
from workbook.commands.failures import query_failed
from workbook.commands.progress import Progress
from workbook.errors import WorkbookError
from workbook.pipelines import page_views
from workbook.pipelines.clicks import parse
from workbook.pipelines.page_view_metrics import metric_records
from workbook.sinks.dead_letters import DeadLetters
from workbook.sinks.running import Running, start_counting, start_metrics
from workbook.sinks.tables import LocalTable
from workbook.sources.checks import require_topic
from workbook.sources.spark import kafka_stream
from workbook.stack.broker import Broker, kafka
from workbook.topics import Topic

TICK_S = 0.2
FINISH_S = 10.0
"""So long a micro-batch under way may take to end after the query was asked to."""


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
        raise query_failed(str(error)) from error


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
    progress, line, place, writes = Progress(), Line(), _checkpoint(options), Writes()
    ends = Ends(broker.client_config(), options.source)
    parsed.sparkSession.streams.addListener(progress)
    running = start_metrics(metric_records(counts), broker, options.out, place, writes.pass_by)
    try:
        while not running.wait(TICK_S) and not ending.has_come():
            progress.know(ends.look())
            progress.silent = ends.silent
            line.show(str(progress))
        _finish(running, writes, progress)
    finally:
        running.stop()
    progress.ended.wait(2)  # what it hears comes a moment later
    line.show(f"{progress}", last=True)
    unsure = "at least " if progress.batches < writes.begun else ""
    print(f"Ended: {progress.messages:,} messages read from {options.source}, ", end="")
    print(f"{unsure}{progress.written:,} metrics written to {options.out}.")


class Writes:
    """Counts the micro-batches that began to write, and lets none begin once it is closed."""

    def __init__(self) -> None:
        self.begun, self._closed, self._lock = 0, False, threading.Lock()

    def pass_by(self, point: str) -> None:
        """Called by the sink; raises, which ends the query, where a batch may not begin."""
        if point != "before-send":
            return
        with self._lock:
            if self._closed:
                raise InterruptedError("the query was asked to end")
            self.begun += 1

    def close(self) -> None:
        """From now on none begins."""
        with self._lock:
            self._closed = True


def _finish(running: Running, writes: Writes, progress: Progress) -> None:
    """Let the micro-batch under way end, so that what it writes is counted too."""
    writes.close()
    deadline = time.monotonic() + FINISH_S
    while running.is_active and progress.batches < writes.begun and time.monotonic() < deadline:
        time.sleep(0.05)


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
