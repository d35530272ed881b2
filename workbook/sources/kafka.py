"""Reads a topic on Spark: as a stream, or as a table of its records now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from workbook.kafka.require import require_readable, require_topic
from workbook.sources import assigned, clamped

PATIENCE_S = 60.0
"""How long a running query retries a silent broker before it gives up."""

FAST = {
    # At the end of a topic a fetch ahead would keep the next one waiting for half a second.
    "kafka.fetch.max.wait.ms": "20",
    # Larger fetches than the defaults; a cold run of Spark took 20 % less time with them.
    "kafka.max.poll.records": "5000",
    "kafka.max.partition.fetch.bytes": str(2 << 20),
    "kafka.fetch.max.bytes": str(64 << 20),
    "kafka.receive.buffer.bytes": str(4 << 20),
}


class Kafka(Protocol):
    """A broker as readers and sinks use it."""

    def client_config(self) -> dict[str, str]:
        """Return the settings for confluent-kafka."""

    def spark_options(self) -> dict[str, str]:
        """Return the options for Spark's Kafka source and sink."""


def kafka_stream(
    spark: SparkSession,
    broker: Kafka,
    topic: str | Sequence[str],
    starting: str = "earliest",
    max_per_batch: int | None = 2_000_000,
    patience: float = PATIENCE_S,
    partitions: Sequence[int] | None = None,
    *,
    headers: bool = False,
) -> DataFrame:
    """Read a topic as a stream with the columns of Spark's Kafka source (key, value, topic, …).

    Several topics are read as one. With ``partitions`` only those of them, as one instance of
    several reads. ``headers`` adds the column of that name. ``max_per_batch`` records
    at most per micro-batch, so that memory stays bounded (None for real-time mode, which has none).
    A query fails once the broker has been silent for about ``patience`` seconds. Raises
    ``TopicMissing`` and ``BrokerUnreachable`` now, not when the query runs.
    """
    topics = [topic] if isinstance(topic, str) else list(topic)
    for name in topics:
        require_topic(broker.client_config(), name)
    asked = {"subscribe": ",".join(topics)}
    if partitions is not None:
        asked = {"assign": json.dumps({name: list(partitions) for name in topics})}
    options = {
        **FAST, **waiting(patience), **broker.spark_options(), **asked,
        "startingOffsets": starting, "includeHeaders": str(headers).lower(),
    }  # fmt: skip
    if max_per_batch is not None:
        options["maxOffsetsPerTrigger"] = str(max_per_batch)
    return spark.readStream.format("kafka").options(**options).load()


def clamped_stream(
    spark: SparkSession,
    broker: Kafka,
    topics: Sequence[str],
    max_lead: str,
    idle_timeout: str | None = None,
    starting: str = "earliest",
    max_per_batch: int = 2_000_000,
) -> DataFrame:
    """Read two topics as one stream, of which none leads the other by more than ``max_lead``.

    The columns are those of ``kafka_stream``; docs/clamped-source.md has the rest. Raises as that.
    """
    config = broker.client_config()
    for name in topics:
        require_topic(config, name)
    idle = {} if idle_timeout is None else {"idleTimeout": idle_timeout}
    options = {
        **{f"kafka.{name}": value for name, value in config.items()}, **idle, "maxLead": max_lead,
        "subscribe": ",".join(topics), "startingOffsets": starting,
        "maxOffsetsPerTrigger": str(max_per_batch),
    }  # fmt: skip
    clamped.register(spark)
    return spark.readStream.format(clamped.ClampedKafka.name()).options(**options).load()


def assigned_stream(
    spark: SparkSession,
    broker: Kafka,
    topic: str,
    starting: str = "earliest",
    max_per_batch: int = 2_000_000,
) -> DataFrame:
    """Read a compacted topic as a stream, an internal one too, without joining a group.

    The columns are those of ``kafka_stream``; docs/assigned-source.md has the rest. What a
    transaction hasn't committed isn't read. An offset that is gone ends nothing: of what is
    deleted a compacted topic keeps, per key, what came later. Raises as ``kafka_stream``, and
    ``RightMissing`` without the rights to DESCRIBE and to READ the topic.
    """
    config = broker.client_config()
    require_readable(config, topic)
    options = {
        **{f"kafka.{name}": value for name, value in config.items()}, "subscribe": topic,
        "kafka.isolation.level": "read_committed", "failOnDataLoss": "false",
        "startingOffsets": starting, "maxOffsetsPerTrigger": str(max_per_batch),
        "tasks": str(spark.sparkContext.defaultParallelism),
    }  # fmt: skip
    assigned.register(spark)
    return spark.readStream.format(assigned.AssignedKafka.name()).options(**options).load()


def kafka_table(spark: SparkSession, broker: Kafka, topic: str) -> DataFrame:
    """Read a topic as a table with the same columns; raise as ``kafka_stream`` does."""
    require_topic(broker.client_config(), topic)
    options = {**FAST, **waiting(PATIENCE_S), **broker.spark_options(), "subscribe": topic}
    return spark.read.format("kafka").options(**options).load()


def waiting(patience: float) -> dict[str, str]:
    """Return options by which Spark's Kafka source gives up after about ``patience`` seconds."""
    whole = str(int(patience * 1000))
    return {
        "kafka.default.api.timeout.ms": whole,
        "kafka.request.timeout.ms": whole,
        "kafkaConsumer.pollTimeoutMs": whole,
        "fetchOffset.numRetries": "1",
    }


def sink_options(broker: Kafka, topic: str) -> dict[str, str]:
    """Return the options by which Spark's Kafka sink appends to a topic, headers included."""
    whole = str(int(PATIENCE_S * 1000))
    return {
        "kafka.request.timeout.ms": str(int(PATIENCE_S * 500)),
        "kafka.max.block.ms": whole,
        "kafka.delivery.timeout.ms": whole,
        **broker.spark_options(),
        "topic": topic,
        "includeHeaders": "true",
    }
