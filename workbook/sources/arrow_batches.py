"""Reads records on the executors, as Arrow batches with the columns of Spark's own source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from confluent_kafka import TIMESTAMP_CREATE_TIME, Consumer
from pyspark.sql.datasource import InputPartition

from workbook.sources.kafka_records import reading, records_of

SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, "
    "timestampType INT"
)
"""The columns of Spark's own Kafka source."""


@dataclass
class Range(InputPartition):
    """Records of a partition, from an offset up to, but not including, another."""

    topic: str
    partition: int
    begin: int
    end: int


def records_in(
    wanted: Range, config: Mapping[str, str], *, fail_on_loss: bool
) -> Iterator[pa.RecordBatch]:
    """Read the records of a range; raise RecordsLost if some can't be there any more."""
    what = (wanted.topic, wanted.partition, wanted.begin, wanted.end)
    consumer = _consumer(json.dumps(config, sort_keys=True))
    for messages in records_of(consumer, *what, fail_on_loss=fail_on_loss):
        yield _batch(messages, wanted.topic, wanted.partition)


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


def _batch(messages: list[Any], topic: str, partition: int) -> pa.RecordBatch:
    number = len(messages)
    times = [message.timestamp() for message in messages]
    kinds = [0 if kind == TIMESTAMP_CREATE_TIME else 1 for kind, _ in times]
    milliseconds = pa.array([at for _, at in times], pa.timestamp("ms", "UTC"))
    columns = [
        pa.array([message.key() for message in messages], pa.binary()),
        pa.array([message.value() for message in messages], pa.binary()),
        pa.repeat(pa.scalar(topic), number),
        pa.repeat(pa.scalar(partition, pa.int32()), number),
        pa.array([message.offset() for message in messages], pa.int64()),
        milliseconds.cast(pa.timestamp("us", "UTC"), safe=False),  # one in year 300,000 wraps
        pa.array(kinds, pa.int32()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)
