"""What both sources have in common: the columns, and how the executors read ranges of offsets."""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_CREATE_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
)
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from workbook.errors import TopicMissing
from workbook.kafka.offsets import offsets_at
from workbook.kafka.readers import Ranges, is_away, range_reader, read_ranges, refused
from workbook.kafka.require import ANSWER_S, PATIENCE_S, patiently
from workbook.sources.bounds import Offsets, Places, ends_of
from workbook.sources.options import Settings

RESTART_S = 10.0
"""Seconds for which a broker that has just started may know no topic."""


@dataclass
class Part(InputPartition):
    """What one task reads: ranges of one topic."""

    topic: str
    ranges: Ranges


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
        self._client: Consumer | None = None
        self._answered, self._said = False, deque[KafkaError](maxlen=100)

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings}  # executors need nothing else

    @property
    def client(self) -> Consumer:
        """Return the driver's one consumer: it asks, and may read."""
        if self._client is None:
            s = self.settings
            self._client = _client(s.config, s.fail_on_loss, error_cb=self._said.append)
        return self._client

    def ask(self) -> Places:
        """Ask where the partitions begin and end now; wait for a broker that answered before.

        Raises KafkaException for a broker that doesn't answer, and as ``refused`` for a topic that
        can't be read.
        """
        bounds = patiently(self._ask, self._patience)
        self.ends = ends_of(bounds)
        return bounds

    def _patience(self, failure: Exception) -> float:
        if not self._answered:
            return 0.0
        if isinstance(failure, TopicMissing):
            return RESTART_S
        error = failure.args[0]
        unknown = error.code() == KafkaError._UNKNOWN_PARTITION
        return RESTART_S if unknown else PATIENCE_S if is_away(error) else 0.0

    def _ask(self) -> Places:
        topics = self.settings.topics
        keys = [(topic, number) for topic in topics for number in self._partitions(topic)]
        self._answered = True
        lows, highs = (offsets_at(self.client, keys, at) for at in (OFFSET_BEGINNING, OFFSET_END))
        return {key: (lows[key], highs[key]) for key in keys}

    def _partitions(self, topic: str) -> list[int]:
        try:
            described = self.client.list_topics(topic, timeout=ANSWER_S).topics[topic]
        except KafkaException as failure:
            if self._answered:
                raise
            self.client.poll(0)  # what the brokers said comes by a callback; nothing is read yet
            why = [e for e in self._said if e.code() != KafkaError._ALL_BROKERS_DOWN]
            said = f"{failure.args[0].str()}. {why[-1].str() if why else ''}".strip()
            raise KafkaException(KafkaError(failure.args[0].code(), said)) from failure
        if described.error is not None:
            raise refused(self.settings.config, topic, described.error)
        return sorted(described.partitions)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self.until = ends_of(self.ask())

    def stop(self) -> None:
        if self._client is not None:
            self._client.close()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = self.settings.per_trigger
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the records of ranges as Arrow batches; those of a partition in their order."""
        assert isinstance(partition, Part)
        reader = _kept(json.dumps(self.settings.config, sort_keys=True), self.settings.fail_on_loss)
        config, topic = self.settings.config, partition.topic
        for messages in read_ranges(reader, config, topic, partition.ranges):
            yield _batch(messages, topic, self.settings.headers)


def most(limit: ReadLimit) -> int | None:
    """Return how many records a micro-batch may read, None for all."""
    return limit.max_rows if isinstance(limit, ReadMaxRows) else None


@lru_cache(maxsize=1)
def _kept(config: str, strict: bool) -> Consumer:
    """Return this process's one consumer: a Python worker has many tasks."""
    return _client(json.loads(config), strict)


def _client(config: Mapping[str, Any], strict: bool, **more: Any) -> Consumer:
    """Return a consumer that by default reads what isn't committed, too, as Spark's own source."""
    return range_reader({"isolation.level": "read_uncommitted", **config}, strict=strict, **more)


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
