"""Reads the topology of a streaming query from the plan that Spark makes for its micro-batches."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from workbook.errors import NoTopology
from workbook.spark.graph import SINK, Node, Topology
from workbook.spark.plan_sizes import folder_of, measured
from workbook.spark.plan_walk import Walk
from workbook.spark.plan_words import Box, Plan
from workbook.spark.state_store import PROVIDER, ROCKSDB

STREAMING = "org.apache.spark.sql.execution.streaming"
NO_OFFSETS = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'
RETAINED = "spark.sql.streaming.minBatchesToRetain"

SINKS = {
    "ForeachBatchSink": "foreachBatch",
    "ForeachWriterTable": "foreach",
    "MemorySink": "memory",
    "ConsoleTable$": "console",
    "NoopTable$": "noop",
    "KafkaTable": "kafka",
    "FileStreamSink": "files",
}
"""What a sink's class is called in ``writeStream``."""


def topology(query: StreamingQuery | DataFrame) -> Topology:
    """Return sources, operators, state stores, shuffles and sink of a streaming query.

    The plan is made as Spark makes it for each micro-batch, but from the whole query: the plan of a
    single micro-batch lacks the sources that had nothing new in it. A query also has its sink, its
    checkpoint, and the sizes as of its last micro-batch, as far as there was one; a streaming
    DataFrame, as it stands before ``writeStream``, has none of them. What the function of a
    ``foreachBatch`` runs is no part of the plan. Raises ``NoTopology`` for anything else.
    """
    if isinstance(query, StreamingQuery):
        return _of_query(query)
    if not isinstance(query, DataFrame) or not query.isStreaming:
        came = "a batch DataFrame" if isinstance(query, DataFrame) else type(query).__name__
        raise NoTopology(
            f"Expected a streaming query or a streaming DataFrame, but got {came}. Pass what "
            "writeStream...start() returned (of a ``Running`` its ``query``), or a DataFrame "
            "that was made from readStream."
        )
    frame: Any = query
    session, walk = frame._jdf.sparkSession(), Walk()
    logical = frame._jdf.queryExecution().logical()
    walk.visit(_planned(session, logical, None))
    nodes, edges = walk.graph(_provider(session))
    return Topology(tuple(nodes), tuple(edges), retained=_retained(session))


def _of_query(query: StreamingQuery) -> Topology:
    running: Any = query._jsq.streamingQuery()
    # Its own copy of the session has the settings with which it was started.
    session, last, walk = running.sparkSessionForStream(), running.lastExecution(), Walk()
    end = walk.visit(_planned(session, running.analyzedPlan(), last))
    walk.add(Box(_sink(running)), [] if end is None else [end])
    nodes, edges = walk.graph(_provider(session))
    folder = folder_of(query)
    sized = measured(nodes, query, folder)
    return Topology(tuple(sized), tuple(edges), folder, _retained(session))


def _planned(session: Any, logical: Any, last: Any) -> Plan:
    """Plan a query as ``DataFrame.explain`` does, with the settings of its last micro-batch."""
    java: Any = SparkContext._jvm
    streaming = getattr(java, STREAMING)
    execution = streaming.runtime.IncrementalExecution
    if last is not None:
        offsets = last.offsetSeqMetadata()
    else:
        offsets = streaming.checkpointing.OffsetSeqMetadata.apply(NO_OFFSETS)
    run, nothing = java.java.util.UUID.randomUUID, java.scala.Option.empty()
    mode = java.org.apache.spark.sql.streaming.OutputMode.Update()
    marks = streaming.runtime.WatermarkPropagator.noop()
    more = [getattr(execution, f"$lessinit$greater$default${n}")() for n in range(12, 16)]
    return execution(
        session, logical, mode, "<unknown>", run(), run(), 0, nothing, offsets, marks, False, *more
    ).executedPlan()


def _sink(running: Any) -> Node:
    kind = str(running.sink().getClass().getSimpleName())
    name = SINKS.get(kind, kind)
    if name == "kafka":
        topic = running.logicalPlan().writeOptions().get("topic")
        return Node(0, SINK, topic.get() if topic.isDefined() else "topics by row", name)
    return Node(0, SINK, name)


def _provider(session: Any) -> str:
    return "RocksDB" if session.conf().get(PROVIDER) == ROCKSDB else "in memory"


def _retained(session: Any) -> int:
    return int(session.conf().get(RETAINED))
