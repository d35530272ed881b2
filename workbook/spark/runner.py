"""Starts every query of the package: rows into sinks, one micro-batch after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar

import pyarrow as pa
from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from workbook.errors import BrokerUnreachable, QueryEnded
from workbook.spark import checkpoints, cluster
from workbook.spark.progress import Progress
from workbook.spark.state_store import in_rocksdb

# What Kafka's Java client says when nobody answers, and what our dead letters say.
_SILENCE = (
    "BrokerUnreachable",
    "TimeoutException",
    "DisconnectException",
    "NetworkException",
    "Timeout expired",
)

# What a call raises once Spark's Java process has ended.
_GONE = (Py4JNetworkError, ConnectionError)


@dataclass(frozen=True)
class Batch:
    """A micro-batch: the id of its ``query``, which a checkpoint keeps, and its ``number``."""

    query: str
    number: int


class Sink(ABC):
    """Writes micro-batches from the driver. The same one may come twice, with the same rows."""

    kind: ClassVar[str] = "sink"
    """The crash lab's point right before it writes is ``before-KIND``."""

    @abstractmethod
    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Write the rows of a micro-batch; on return they are safe."""

    def line(self) -> str:
        """Say in a few words what it holds, for a status line; nothing while that's nothing."""
        return ""


class ExecutorSink(ABC):
    """Writes micro-batches from Spark's executors, each the rows of its own tasks."""

    kind: ClassVar[str] = "sink"

    @abstractmethod
    def through(self, rows: DataFrame) -> DataFrame:
        """Return the rows that the next sink gets; these are written while they're computed."""

    def line(self) -> str:
        """Say as ``Sink.line`` does."""
        return ""


class OnPoint:
    """Called with each point that a micro-batch passes; it may end the query by raising.

    This one does nothing. The crash lab's kills the process.
    """

    def __call__(self, point: str) -> None:
        """Pass a point of the driver."""

    def within(self, point: str, rows: DataFrame) -> DataFrame:
        """Pass rows through a point that lies inside the tasks of a micro-batch."""
        return rows


def start_query(
    rows: DataFrame,
    sinks: Sequence[Sink | ExecutorSink],
    checkpoint: Path,
    *,
    every: str = "0 seconds",
    at: OnPoint | None = None,
) -> Running:
    """Start a query that brings each micro-batch of ``rows`` into each of the sinks, in order.

    A micro-batch is computed exactly once: executor sinks, which must come first, write while that
    happens; then the driver collects what they return, once for all other sinks. Without one of
    those nothing is collected. ``every`` is the least time between two micro-batches: what Kafka
    Streams calls the commit interval. State is kept in RocksDB. ``at`` is called with
    ``before-compute``, ``mid-batch`` (in tasks), ``before-KIND`` of each sink and
    ``before-checkpoint``.

    A micro-batch that ended in a crash comes again, so what sinks write is written at least once;
    a sink that notes the batch in the transaction of its rows writes it exactly once.

    Raises ``CannotGoOn`` where another process runs a query on the checkpoint, ``CannotShare``
    where a cluster's executors can't reach it.
    """
    passes = at or OnPoint()
    first = [sink for sink in sinks if isinstance(sink, ExecutorSink)]
    then = [sink for sink in sinks if isinstance(sink, Sink)]

    def write(frame: DataFrame, number: int) -> None:
        passes("before-compute")
        for sink in first:
            passes(f"before-{sink.kind}")
            frame = sink.through(frame)
        frame = passes.within("mid-batch", frame)
        # All of it in either case: a stateful query wants each of its partitions read.
        if then:
            context = frame.sparkSession.sparkContext
            batch = Batch(context.getLocalProperty("sql.streaming.queryId") or "", number)
            table = frame.toArrow()
            for writer in then:
                passes(f"before-{writer.kind}")
                writer.write(table, batch)
        else:
            frame.write.format("noop").mode("overwrite").save()
        passes("before-checkpoint")

    cluster.require_reachable(checkpoint)
    former = Running.by_folder.pop(checkpoint.parent, None)
    if former is not None:
        former.stop()
    checkpoints.hold(checkpoint)
    stream = rows.writeStream.outputMode("update").trigger(processingTime=every).foreachBatch(write)
    progress = Progress(*(sink.line for sink in sinks))
    rows.sparkSession.streams.addListener(progress)
    with in_rocksdb(rows.sparkSession):
        query = stream.option("checkpointLocation", str(checkpoint / "0")).start()
    return Running(query, rows.sparkSession, checkpoint, progress)


class Running:
    """A query that runs, and its ``progress``; it ends with the block that it manages.

    Starting again in the same checkpoint folder or in one beside it, as ``session.checkpoint``
    makes them, ends it: so a cell may be run twice.
    """

    by_folder: ClassVar[dict[Path, Running]] = {}

    def __init__(
        self, query: StreamingQuery, spark: SparkSession, checkpoint: Path, progress: Progress
    ) -> None:
        self.query, self.progress = query, progress
        self._spark, self._checkpoint = spark, checkpoint
        progress.query = str(query.id)
        Running.by_folder[checkpoint.parent] = self

    @property
    def is_active(self) -> bool:
        """Return True while it runs."""
        try:
            return bool(self.query.isActive)
        except _GONE:  # and the query with it
            return False

    def check(self) -> None:
        """Raise what made it fail, if it did: ``BrokerUnreachable`` for a silent broker."""
        failure = self.query.exception()
        if failure:
            self.stop()
            raise _named(failure) from failure

    def process_all(self) -> None:
        """Wait until everything that is in the topic now has been processed; raise as ``check``.

        Raises ``QueryEnded`` where nothing is being processed any more.
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
            self.stop()
            raise _named(failure) from failure
        self.check()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, ``seconds`` at most; True if it came. Raises as ``check``."""
        with suppress(StreamingQueryException, *_GONE):
            self.query.awaitTermination(seconds)  # type: ignore[arg-type]
        self.check()
        return not self.is_active

    def stop(self) -> None:
        """End it; harmless when it has ended."""
        with suppress(*_GONE):  # as by "Close down", and then the notebook run again
            self.query.stop()
            self.progress.ended.wait(2)  # what it hears comes a moment later
            self._spark.streams.removeListener(self.progress)
        checkpoints.release(self._checkpoint)

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
        "Expected the Kafka broker of a running query to answer, but it has been silent for too "
        "long. Check that it runs (python -m workbook doctor); then start the query again: with "
        f"the same checkpoint it continues where it stopped.\n{text[:300]}"
    )
