"""Reads records on the executors, as Arrow batches with the columns of Spark's own source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
from confluent_kafka import TIMESTAMP_CREATE_TIME, Consumer, Message
from pyspark.sql.datasource import InputPartition

from workbook.sources.kafka_records import Range, reading, records_of

SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, "
    "timestampType INT"
)
"""The columns of Spark's own Kafka source."""


@dataclass
class Ranges(InputPartition):
    """What one task reads: ranges of one topic."""

    ranges: list[Range]


def batches(
    ranges: Sequence[Range], config: Mapping[str, str], *, fail_on_loss: bool
) -> Iterator[pa.RecordBatch]:
    """Read the records of ranges of one topic; raise as ``records_of`` does."""
    consumer = _consumer(json.dumps(config, sort_keys=True))
    for messages in records_of(consumer, ranges, fail_on_loss=fail_on_loss):
        yield _batch(messages, ranges[0].topic)


@lru_cache(maxsize=1)
def _consumer(config: str) -> Consumer:
    """Return this process's one consumer: a Python worker has many tasks."""
    return Consumer(reading(json.loads(config)))


_ARROW = pa.schema(
    {
        "key": pa.binary(),
        "value": pa.binary(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestampType": pa.int32(),
    }
)


def _batch(messages: Sequence[Message], topic: str) -> pa.RecordBatch:
    number = len(messages)
    times = [message.timestamp() for message in messages]
    kinds = [0 if kind == TIMESTAMP_CREATE_TIME else 1 for kind, _ in times]
    milliseconds = pa.array([at for _, at in times], pa.timestamp("ms", "UTC"))
    columns = [
        pa.array([message.key() for message in messages], pa.binary()),
        pa.array([message.value() for message in messages], pa.binary()),
        pa.repeat(pa.scalar(topic), number),
        pa.array([message.partition() for message in messages], pa.int32()),
        pa.array([message.offset() for message in messages], pa.int64()),
        milliseconds.cast(pa.timestamp("us", "UTC"), safe=False),  # one in year 300,000 wraps
        pa.array(kinds, pa.int32()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)
