"""Reads topics on Spark as a stream."""

import re
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamReader

from workbook.kafka.broker import Broker
from workbook.kafka.require import PATIENCE_S, require_topic, topic_ids
from workbook.sources import assigned, clamped

PATIENCE_MS = f"{PATIENCE_S * 1000:.0f}"
BEYOND = re.compile(
    r"Record at topic (\S+) partition (\d+) offset (\d+) has timestamp value (-?\d+) that overflows"
)
"""The error of Spark's Kafka source if a record timestamp in microseconds exceeds 64 bits."""

WAITING = {
    "kafka.default.api.timeout.ms": PATIENCE_MS,
    "kafka.request.timeout.ms": PATIENCE_MS,
    "kafkaConsumer.pollTimeoutMs": PATIENCE_MS,
    "fetchOffset.numRetries": "1",
}
LARGEST = str(256 << 20)
"""The largest record, in bytes before compression, that Spark's sink writes."""

FAST = {
    # At the end of a topic a fetch ahead would keep the next one waiting for half a second.
    "kafka.fetch.max.wait.ms": "20",
    # Larger fetches than the defaults; a cold run of Spark took 20 % less time with them.
    "kafka.max.poll.records": "5000",
    "kafka.max.partition.fetch.bytes": str(2 << 20),
    "kafka.fetch.max.bytes": str(64 << 20),
    "kafka.receive.buffer.bytes": str(4 << 20),
}


def kafka_stream(
    spark: SparkSession,
    broker: Broker,
    topic: str | Sequence[str],
    starting: str = "earliest",
    max_per_batch: int | None = 2_000_000,
    *,
    headers: bool = False,
    began: str | None = None,
) -> DataFrame:
    """Read a topic as a stream with the columns of Spark's Kafka source (key, value, topic, …).

    Several topics are read as one. ``headers`` adds the column of that name. ``max_per_batch``
    records at most per micro-batch, so that memory stays bounded (None for real-time mode, which
    has none). A query fails once the broker has been silent for about ``PATIENCE_S``. Raises
    ``TopicMissing`` and ``BrokerUnreachable`` now, not when the query runs.

    With ``began`` the package's own source continues a query that Spark's source began at these
    offsets (JSON, "" for none). It is slower, but reads a timestamp that is too large for Spark.
    """
    topics = [topic] if isinstance(topic, str) else list(topic)
    for name in topics:
        require_topic(broker.client_config(), name)
    if began is not None:
        assigned.register(spark)
        source = _reading(spark, broker, ",".join(topics), starting, max_per_batch)
        more = {"includeHeaders": str(headers), "initialOffsets": began}
        tasks = spark.sparkContext.defaultParallelism
        return source.format("kafka-assigned").options(tasks=tasks, **more).load()
    options = {
        **FAST, **WAITING, **broker.spark_options(), "subscribe": ",".join(topics),
        "startingOffsets": starting, "includeHeaders": str(headers).lower(),
    }  # fmt: skip
    if max_per_batch is not None:
        options["maxOffsetsPerTrigger"] = str(max_per_batch)
    return spark.readStream.format("kafka").options(**options).load()


def clamped_stream(
    spark: SparkSession,
    broker: Broker,
    topics: Sequence[str],
    max_lead: str,
    idle_timeout: str | None = None,
    starting: str = "earliest",
    max_per_batch: int = 2_000_000,
) -> DataFrame:
    """Read two topics as one stream, of which none leads the other by more than ``max_lead``.

    The columns are those of ``kafka_stream``; docs/clamped-source.md has the rest. Raises as that.
    """
    for name in topics:
        require_topic(broker.client_config(), name)
    idle = {} if idle_timeout is None else {"idleTimeout": idle_timeout}
    clamped.register(spark)
    source = _reading(spark, broker, ",".join(topics), starting, max_per_batch)
    return source.format("kafka-clamped").options(maxLead=max_lead, **idle).load()


def assigned_stream(
    spark: SparkSession,
    broker: Broker,
    topic: str,
    max_per_batch: int = 2_000_000,
) -> DataFrame:
    """Read a compacted topic as a stream, an internal one too, without joining a group.

    The columns are those of ``kafka_stream``; docs/assigned-source.md has the rest. What a
    transaction hasn't committed isn't read. An offset that is gone ends nothing: of what is
    deleted a compacted topic keeps, per key, the later record. Raises as ``kafka_stream``, and
    ``RightMissing`` without the rights to DESCRIBE and to READ the topic.
    """
    topic_ids(broker.client_config(), [topic])
    assigned.register(spark)
    source = _reading(spark, broker, topic, "earliest", max_per_batch).format("kafka-assigned")
    options = {"kafka.isolation.level": "read_committed", "failOnDataLoss": "false"}
    return source.options(tasks=spark.sparkContext.defaultParallelism, **options).load()


def _reading(
    spark: SparkSession, broker: Broker, topics: str, starting: str, max_per_batch: int | None
) -> DataStreamReader:
    config = {f"kafka.{name}": value for name, value in broker.client_config().items()}
    own = {"subscribe": topics, "startingOffsets": starting}
    if max_per_batch is not None:
        own["maxOffsetsPerTrigger"] = str(max_per_batch)
    return spark.readStream.options(**config, **own)


def sink_options(broker: Broker, topic: str) -> dict[str, str]:
    """Return the options by which Spark's Kafka sink appends to a topic, headers included."""
    return {
        # The broker's limit, which is for compressed records, must decide, not the client's.
        **{"kafka.max.request.size": LARGEST, "kafka.buffer.memory": LARGEST},
        "kafka.compression.type": "zstd",
        "kafka.request.timeout.ms": f"{PATIENCE_S * 500:.0f}",
        "kafka.max.block.ms": PATIENCE_MS,
        "kafka.delivery.timeout.ms": PATIENCE_MS,
        **broker.spark_options(),
        "topic": topic,
        "includeHeaders": "true",
    }
