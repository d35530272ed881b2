"""What both sources have in common: the columns, and how the executors read ranges of offsets."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from confluent_kafka import TIMESTAMP_CREATE_TIME, Consumer, Message
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from workbook.kafka.readers import read_ranges
from workbook.sources.bounds import Bounds, Offsets, Places, client, ends_of
from workbook.sources.options import Settings


@dataclass(frozen=True)
class Range:
    """Records of a partition, from an offset up to, but not including, another."""

    topic: str
    partition: int
    begin: int
    end: int


@dataclass
class Ranges(InputPartition):
    """What one task reads: ranges of one topic."""

    ranges: list[Range]


class KafkaSource(DataSource):
    """A source with the columns of Spark's own Kafka source."""

    settings: Any

    def schema(self) -> str:
        headers = ", headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
        return (
            "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, "
            f"timestamp TIMESTAMP, timestampType INT{headers if self.settings.headers else ''}"
        )


class KafkaReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in a Python process on the driver; ``read`` runs on the executors."""

    until: Offsets | None = None
    """Where all ended when a query began that ends once it has read what is there."""

    ends: Offsets | None = None
    """Where all ended when last asked."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._bounds: Bounds | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings}  # executors need nothing else

    def ask(self) -> Places:
        """Ask where the partitions begin and end now."""
        if self._bounds is None:
            s = self.settings
            self._bounds = Bounds(s.config, s.topics, s.fail_on_loss)
        bounds = self._bounds.ask()
        self.ends = ends_of(bounds)
        return bounds

    @property
    def client(self) -> Consumer:
        """Return the consumer that asks, once it has."""
        assert self._bounds is not None
        return self._bounds.reader

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self.until = ends_of(self.ask())

    def stop(self) -> None:
        if self._bounds is not None:
            self._bounds.reader.close()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = self.settings.per_trigger
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the records of ranges as Arrow batches; those of a partition in their order."""
        assert isinstance(partition, Ranges)
        config, topic = self.settings.config, partition.ranges[0].topic
        reader = _reader(json.dumps(config, sort_keys=True), self.settings.fail_on_loss)
        ranges = {each.partition: (each.begin, each.end) for each in partition.ranges}
        for messages in read_ranges(reader, config, topic, ranges):
            yield _batch(messages, topic, self.settings.headers)


def most(limit: ReadLimit) -> int | None:
    """Return how many records a micro-batch may read, None for all."""
    return limit.max_rows if isinstance(limit, ReadMaxRows) else None


@lru_cache(maxsize=1)
def _reader(config: str, fail_on_loss: bool) -> Consumer:
    """Return this process's one consumer: a Python worker has many tasks."""
    return client(json.loads(config), fail_on_loss)


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
_HEADERS = pa.field("headers", pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()})))
_LATEST = (2**63 - 1) // 1000
"""The latest time (ms) that Spark's timestamps, in microseconds, can hold: January 294,247."""


def _microseconds(times: Sequence[int]) -> pa.Array:
    try:
        return pa.array(times, pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:  # one of them is too large
        within = [max(-_LATEST, min(at, _LATEST)) * 1000 for at in times]
        return pa.array(within, pa.timestamp("us", "UTC"))


def _batch(messages: Sequence[Message], topic: str, headers: bool = False) -> pa.RecordBatch:
    times = [message.timestamp() for message in messages]
    kinds = [0 if kind == TIMESTAMP_CREATE_TIME else 1 for kind, _ in times]
    columns: list[Any] = [
        [message.key() for message in messages],
        [message.value() for message in messages],
        pa.repeat(pa.scalar(topic), len(messages)),
        [message.partition() for message in messages],
        [message.offset() for message in messages],
        _microseconds([at for _, at in times]),
        kinds,
    ]
    schema = _ARROW.append(_HEADERS) if headers else _ARROW
    columns += [[message.headers() for message in messages]] if headers else []
    return pa.RecordBatch.from_pydict(dict(zip(schema.names, columns, strict=True)), schema)
