"""Start every query of the package: write its micro-batches to sinks, one after the other."""

from __future__ import annotations

import gc
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, TextIO

import pyarrow as pa
from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from workbook.errors import BrokerUnreachable, QueryEnded
from workbook.spark import checkpoints, cluster
from workbook.spark.failures import cause, failure_of, ours
from workbook.spark.progress import Progress, Tells
from workbook.spark.settings import in_rocksdb

# What Kafka's Java client says when nobody answers, and what our dead letters say.
_SILENCE = (
    *("BrokerUnreachable", "TimeoutException", "DisconnectException", "NetworkException"),
    "Timeout expired",
)

Again = Callable[[str], "DataFrame | None"]
"""What to continue a failed query with, by the text of its failure; None if it must end."""

_NO_WORKER, ATTEMPTS = "Python worker failed to connect back", 3
"""Spark gives a Python worker ten seconds to start, whatever else the machine has to do."""

COLLECT_EVERY_S = 30.0
"""How long Java keeps the plans of micro-batches that are over.

A Py4J object whose methods were called is in a cycle. Python would seldom look for those in a
process that lives on few new objects.
"""

# What a call raises once Spark's Java process has ended.
_GONE = (Py4JNetworkError, ConnectionError)


@dataclass(frozen=True)
class Batch:
    """A micro-batch: its ``number``, and the id of its ``query``, which the checkpoint stores."""

    query: str
    number: int


class _AnySink(Tells, ABC):
    """Writes micro-batches; it may get one twice, with the same rows."""

    kind: ClassVar[str] = "sink"
    """Names the crash lab's point right before the sink writes: ``before-KIND``."""

    def resume(self, query: str, committed: int, planned: int) -> None:
        """Refuse to continue a query whose last micro-batches have these numbers, -1 for none."""


class Sink(_AnySink):
    """Writes from the driver."""

    @abstractmethod
    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Write the rows of a micro-batch; return only when they are stored durably."""


class ExecutorSink(_AnySink):
    """Writes from Spark's executors: each executor writes its own tasks' rows."""

    @abstractmethod
    def through(self, rows: DataFrame, batch: Batch) -> DataFrame:
        """Return the rows for the next sink; ``rows`` are written once these are computed."""


class OnPoint:
    """A callback for each point that a micro-batch passes; it may end the query by raising.

    This class does nothing. The crash lab's subclass kills the process.
    """

    def __call__(self, point: str) -> None:
        """Handle a point that the driver passes."""

    def within(self, point: str, rows: DataFrame) -> DataFrame:
        """Return the rows with a point inside the tasks that compute them."""
        return rows


def start_query(
    rows: DataFrame,
    sinks: Sequence[Sink | ExecutorSink],
    checkpoint: Path,
    *,
    every: str = "0 seconds",
    at: OnPoint | None = None,
    again: Again | None = None,
    rejected: Callable[[], Mapping[str, int]] = dict,
    ends: bool = False,
) -> Running:
    """Start a query that writes each micro-batch of ``rows`` to each of the sinks, in order.

    Spark computes a micro-batch once for all sinks. Executor sinks, which must come first, write
    during that computation. Then the driver collects the rows that the executor sinks return, once
    for all other sinks; if there are no other sinks, it collects nothing. ``every`` is the shortest
    time between two micro-batches, which Kafka Streams calls the commit interval. State is kept in
    RocksDB. ``at`` is called with ``before-compute``, ``mid-batch`` (in tasks), ``before-KIND`` for
    each sink, and ``before-checkpoint``. When the query fails, ``again`` gets the failure's text;
    the query then continues with the rows that ``again`` returns, or ends if these are None. A
    query for which Spark could not start a Python worker in time goes on by itself.
    ``rejected`` returns the dead letters since the start, by reason, for the query's progress.
    With ``ends`` the query reads what its topics hold now, and ends.

    After a crash Spark runs the unfinished micro-batch again, so a sink writes each row at least
    once. A sink that records the batch in the same transaction as its rows writes it exactly once.

    Raises ``CannotGoOn`` if another process runs a query on the checkpoint, if a cluster's
    executors can't reach it, or if a sink lacks micro-batches that the checkpoint calls done.
    """
    trigger: dict[str, Any] = {"availableNow": True} if ends else {"processingTime": every}
    write = _writing(sinks, at or OnPoint())

    def begin(frame: DataFrame, checkpoint: Path) -> StreamingQuery:
        for each in sinks:
            each.resume(*checkpoints.place(checkpoint))
        stream = frame.writeStream.outputMode("update").foreachBatch(write)
        with in_rocksdb(frame.sparkSession):
            return stream.trigger(**trigger).start(checkpointLocation=str(checkpoint / "0"))

    return _running(rows, begin, checkpoint, Progress(*sinks, rejected=rejected), again)


def _writing(
    sinks: Sequence[Sink | ExecutorSink], passes: OnPoint
) -> Callable[[DataFrame, int], None]:
    """Return the function that writes a micro-batch to the sinks, and passes the points."""
    first = [sink for sink in sinks if isinstance(sink, ExecutorSink)]
    then = [sink for sink in sinks if isinstance(sink, Sink)]
    collected = time.monotonic()

    def write(frame: DataFrame, number: int) -> None:
        nonlocal collected
        passes("before-compute")
        context = frame.sparkSession.sparkContext
        batch = Batch(context.getLocalProperty("sql.streaming.queryId") or "", number)
        for sink in first:
            passes(f"before-{sink.kind}")
            frame = sink.through(frame, batch)
        frame = passes.within("mid-batch", frame)
        # Compute every row in either case: a stateful query needs all its partitions to be read.
        if then:
            table = frame.toArrow()
            for writer in then:
                passes(f"before-{writer.kind}")
                writer.write(table, batch)
        else:
            frame.write.format("noop").mode("overwrite").save()
        passes("before-checkpoint")
        if time.monotonic() > collected + COLLECT_EVERY_S:
            gc.collect()
            collected = time.monotonic()

    return write


def start_copy(
    rows: DataFrame,
    options: Mapping[str, str],
    checkpoint: Path,
    *,
    by: str = "",
    every: str = "0 seconds",
    real_time: str | None = None,
    at: OnPoint | None = None,
    again: Again | None = None,
) -> Running:
    """Start a query without state that appends ``rows`` (key, value, headers) to a topic.

    ``options`` are those of Spark's Kafka sink. Every record is appended at least once. With ``by``
    the rows are written as Parquet instead, in a folder for each value of that column: ``options``
    are those of Spark's file sink, and each row is there once for readers on Spark. With
    ``real_time`` Spark reads and writes continuously, and commits once in this time. That needs as
    many cores as the topic has partitions, and no Python in the plan. ``at`` is called with
    ``before-compute``, once, and with ``mid-write``, in the tasks; ``again`` and ``CannotGoOn`` are
    as for ``start_query``.
    """
    passes = at or OnPoint()
    passes("before-compute")
    trigger = {"realTime": real_time} if real_time else {"processingTime": every}

    def begin(frame: DataFrame, checkpoint: Path) -> StreamingQuery:
        written = passes.within("mid-write", frame)
        stream = written.writeStream.options(**options)
        if by:
            stream = stream.format("parquet").outputMode("append").partitionBy(by)
        else:
            stream = stream.format("kafka").outputMode("update")
        return stream.trigger(**trigger).start(checkpointLocation=str(checkpoint / "0"))

    return _running(rows, begin, checkpoint, Progress(), again)


def _running(
    rows: DataFrame,
    begin: Callable[[DataFrame, Path], StreamingQuery],
    checkpoint: Path,
    progress: Progress,
    again: Again | None,
) -> Running:
    """Start a query that nobody else runs; ``begin`` starts it on rows and a checkpoint folder."""
    cluster.require_reachable(checkpoint)
    checkpoint = checkpoint.resolve()
    former = Running.by_folder.pop(checkpoint.parent, None)
    if former is not None:
        former.stop()
    lock = checkpoints.hold(checkpoint)
    rows.sparkSession.streams.addListener(progress)
    try:
        query = begin(rows, checkpoint)
    except BaseException:
        rows.sparkSession.streams.removeListener(progress)
        progress.close()
        checkpoints.release(lock)
        raise
    running = Running(query, rows.sparkSession, lock, progress)
    reads, failed_at = rows, list[int]()

    def mend(text: str) -> StreamingQuery | None:
        nonlocal reads
        committed = checkpoints.place(checkpoint)[1]
        if _NO_WORKER in text and failed_at.count(committed) < ATTEMPTS:
            failed_at.append(committed)
            return begin(reads, checkpoint)
        if again is None or (frame := again(text)) is None:
            return None
        reads = frame
        return begin(reads, checkpoint)

    running.again = mend
    Running.by_folder[checkpoint.parent] = running
    return running


class Running:
    """A running query and its ``progress``; a ``with`` block stops the query when it ends.

    Starting a query in the same checkpoint folder, or in a folder beside it, stops this query.
    ``session.checkpoint`` makes its folders side by side, so a notebook cell may be run twice.
    """

    by_folder: ClassVar[dict[Path, Running]] = {}

    def __init__(
        self, query: StreamingQuery, spark: SparkSession, lock: TextIO, progress: Progress
    ) -> None:
        self.query, self.progress = query, progress
        self._spark, self._lock = spark, lock
        self.again: Callable[[str], StreamingQuery | None] = lambda text: None
        self._stopped = False
        progress.follow(str(query.id))

    @property
    def is_active(self) -> bool:
        """Return True while the query runs."""
        try:
            return bool(self.query.isActive)
        except _GONE:  # and the query with it
            return False

    def check(self) -> None:
        """Raise the query's error if it failed: ``BrokerUnreachable`` for a silent broker.

        If ``again`` knows how to continue after a failure, the query is started again instead.
        """
        failure = failure_of(self.query)
        if failure:
            self._mend(failure)

    def _mend(self, failure: BaseException) -> None:
        """Start the query again if that helps, else stop and raise the failure."""
        try:
            query = None if self._stopped else self.again(str(failure))
        except BaseException:
            self.stop()
            raise
        if query is None:
            self.stop()
            raise _named(failure) from failure
        self.query = query
        self.progress.ended.clear()

    def process_all(self) -> None:
        """Wait until every record now in the topic has been processed; raise as ``check`` does.

        Raises ``QueryEnded`` if the query has been stopped.
        """
        self.check()
        if not self.is_active:
            raise QueryEnded(
                "Expected a running query, but it has been stopped: what was sent meanwhile is "
                "not processed. Start it again, by the cell that started it."
            )
        try:
            self.query.processAllAvailable()
        except StreamingQueryException as failure:
            self._mend(failure)
            return self.process_all()
        return self.check()

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds``; return True if the query has ended. Raises as ``check`` does."""
        with suppress(StreamingQueryException, *_GONE):
            self.query.awaitTermination(seconds)  # type: ignore[arg-type]
        self.check()
        return not self.is_active

    def stop(self) -> None:
        """Stop the query; harmless if it has ended."""
        self._stopped = True
        with suppress(*_GONE):  # as by "Close down", and then the notebook run again
            self.query.stop()
            self.progress.ended.wait(2)  # what it hears comes a moment later
            self._spark.streams.removeListener(self.progress)
        self.progress.close()
        checkpoints.release(self._lock)

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        self.stop()
        if kind is None:
            self.check()


def _named(failure: BaseException) -> BaseException:
    text = str(failure)
    if not any(word in text for word in _SILENCE):
        return failure
    return BrokerUnreachable(
        ours(text)
        or "Expected the Kafka broker of a running query to answer, but it hasn't done so for too "
        "long: it's away, too few of its replicas are in sync, or a quota slows this user down. "
        "Check it (python -m workbook doctor), and start the query again: with the same checkpoint "
        f"it continues where it stopped.\n{cause(text, _SILENCE)}"
    )
