"""Groups queries that start, stop and fail together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Protocol, runtime_checkable

import pyarrow as pa
from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from workbook.errors import BrokerUnreachable, QueryEnded
from workbook.spark import checkpoints, cluster
from workbook.spark.checkpoints import Facts
from workbook.spark.source import Kafka
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


class QueryGroup:
    """Runs queries as one: if one ends, all end, and its error surfaces here.

    Each query keeps its offsets and state in a folder of its own below ``checkpoint``. Starting
    again in the same folder or in one beside it, as ``session.checkpoint`` makes them, ends what
    runs there: so a cell may be run twice. What the queries are made for, ``made_for``, is recorded
    in the checkpoint; another time it must be the same, or ``CannotGoOn`` is raised.
    """

    by_folder: ClassVar[dict[Path, QueryGroup]] = {}

    def __init__(
        self, writers: list[DataStreamWriter], checkpoint: Path, made_for: Facts | None = None
    ) -> None:
        made_for = made_for or {}
        cluster.require_reachable(checkpoint)
        checkpoints.require(checkpoint, made_for)  # before anything that runs there is ended
        former = QueryGroup.by_folder.pop(checkpoint.parent, None)
        if former is not None:
            former.stop()
        checkpoints.record(checkpoint, made_for)
        QueryGroup.by_folder[checkpoint.parent] = self
        self.queries: list[StreamingQuery] = []
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        try:
            for number, writer in enumerate(writers):
                folder = str(checkpoint / str(number))
                self.queries.append(writer.option("checkpointLocation", folder).start())
        except BaseException:
            self.stop()
            raise
        self._watcher.start()

    @property
    def is_active(self) -> bool:
        """Return True while all queries run."""
        try:
            return all(query.isActive for query in self.queries)
        except _GONE:  # and they with it
            return False

    def check(self) -> None:
        """Raise what made a query fail, if one did: ``BrokerUnreachable`` for a silent broker."""
        failures = [failure for query in self.queries if (failure := query.exception())]
        if failures:
            self.stop()
            raise _named(failures[0]) from failures[0]

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
            for query in self.queries:
                query.processAllAvailable()
        except StreamingQueryException as failure:
            self.stop()
            raise _named(failure) from failure
        self.check()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, ``seconds`` at most; True if it came. Raises as ``check``."""
        self._over.wait(seconds)
        self.check()
        return not self.is_active

    def stop(self) -> None:
        """End all queries; harmless when they have ended."""
        self._over.set()
        for query in self.queries:
            with suppress(*_GONE):  # as by "Close down", and then the notebook run again
                query.stop()
        if self._watcher.is_alive() and self._watcher is not threading.current_thread():
            self._watcher.join()  # it may be about to stop them too, and Spark may end after us

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            if not self.is_active:
                self.stop()

    def __enter__(self) -> QueryGroup:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        self.stop()
        if kind is None:
            self.check()


class BatchSink(Protocol):
    """Takes the rows of each micro-batch."""

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Take the rows of a micro-batch, for ``foreachBatch``."""


def start_counting(
    counts: DataFrame, table: BatchSink, checkpoint: Path, made_for: Facts | None = None
) -> QueryGroup:
    """Bring the changed rows of ``counts`` into the table, micro-batch by micro-batch.

    With the same checkpoint the query goes on where it stopped, with a new one it starts anew.
    ``made_for`` is what the checkpoint must remember beside what ``checkpoints.facts_of`` finds.
    """
    writer = counts.writeStream.outputMode("update").foreachBatch(table.write)
    return QueryGroup([writer], checkpoint, facts_of_query("counts", counts, made_for))


def start_metrics(
    records: DataFrame,
    broker: Kafka,
    topic: str,
    checkpoint: Path,
    at: Callable[[str], None] = lambda point: None,
    patience: float = 60.0,
    made_for: Facts | None = None,
) -> QueryGroup:
    """Append each batch of ``records`` (key, value, optionally headers) to a Kafka topic.

    At least once: a batch that was written but not committed to the checkpoint is written again.
    ``at`` is called at the points before and after the writing, for the crash lab. ``made_for`` is
    as in ``start_counting``.
    """
    append = appender(broker, topic, patience)

    def write(batch: DataFrame, batch_id: int) -> None:
        at("before-send")
        append(batch)
        at("before-checkpoint")

    writer = records.writeStream.outputMode("append").foreachBatch(write)
    return QueryGroup([writer], checkpoint, facts_of_query("records", records, made_for))


def appender(broker: Kafka, topic: str, patience: float = 60.0) -> Callable[[DataFrame], None]:
    """Return a function that appends rows (key, value, optionally headers) to a Kafka topic."""
    options = {
        "kafka.request.timeout.ms": str(int(patience * 500)),
        "kafka.max.block.ms": str(int(patience * 1000)),
        "kafka.delivery.timeout.ms": str(int(patience * 1000)),
        **broker.spark_options(),
        "topic": topic,
        "includeHeaders": "true",
    }

    def append(batch: DataFrame) -> None:
        batch.write.format("kafka").options(**options).save()

    return append


class TableSink(Protocol):
    """Takes a table's changes on the driver; the same micro-batch may come twice."""

    def apply(self, changes: pa.Table, query: str, batch_id: int) -> None:
        """Take the changed rows of a micro-batch; ``deleted`` marks those that go."""


@runtime_checkable
class ExecutorSink(TableSink, Protocol):
    """Takes a table's changes on the executors too; the same task may come twice."""

    def through(self, batch: DataFrame) -> DataFrame:
        """Return the same rows, which are written once they are computed."""


def start_table(
    changes: DataFrame,
    sinks: Sequence[TableSink],
    checkpoint: Path | str,
    every: str = "0 seconds",
    at: Callable[[str], None] = lambda point: None,
) -> QueryGroup:
    """Bring a table's changes into each of the sinks, one after the other, batch by batch.

    The driver collects a micro-batch where a sink needs it, and then writes to all of them, since
    the executors would only copy what it has anyway. Where no sink does, the executors write.
    ``every`` is the least time between two micro-batches: what Kafka Streams calls the commit
    interval. State is kept in RocksDB. ``at`` is called at named points, for the crash lab. Raises
    ``CannotGoOn`` where the checkpoint was made for another table.
    """
    by_executors = [sink for sink in sinks if isinstance(sink, ExecutorSink)]
    on_driver = len(by_executors) < len(sinks)

    def write(batch: DataFrame, batch_id: int) -> None:
        at("before-compute")
        # The whole batch in either case: a stateful query wants all its partitions read.
        if on_driver:
            query = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId") or ""
            rows = batch.toArrow()
            for sink in sinks:
                at(_before(sink))
                sink.apply(rows, query, batch_id)
        else:
            for passed in by_executors:
                at(_before(passed))
                batch = passed.through(batch)
            batch.write.format("noop").mode("overwrite").save()
        at("before-checkpoint")

    writer = changes.writeStream.outputMode("update").trigger(processingTime=every)
    with in_rocksdb(changes.sparkSession):
        made_for = facts_of_query("table", changes)
        return QueryGroup([writer.foreachBatch(write)], Path(checkpoint), made_for)


def _before(sink: TableSink) -> str:
    return f"before-{getattr(sink, 'kind', 'sink')}"


def facts_of_query(kind: str, rows: DataFrame, more: Facts | None = None) -> Facts:
    """Return the facts of a query of this kind over these rows."""
    return {"query": kind, **checkpoints.facts_of(rows), **(more or {})}


def _named(failure: BaseException) -> BaseException:
    text = str(failure)
    if not any(word in text for word in _SILENCE):
        return failure
    return BrokerUnreachable(
        "Expected the Kafka broker of a running query to answer, but it has been silent for too "
        "long. Check that it runs (python -m workbook doctor); then start the query again: with "
        f"the same checkpoint it goes on where it stopped.\n{text[:300]}"
    )
