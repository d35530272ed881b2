"""A Kafka source for Spark that stops reading the topic that leads: ``kafka-clamped``.

    register(spark)
    spark.readStream.format("kafka-clamped").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "tracking,orders").option("maxLead", "10 seconds").load()

docs/clamped-source.md says what each option means, what is promised and what it costs.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from confluent_kafka import TIMESTAMP_CREATE_TIME, Consumer
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from workbook.sources.clamp import Rule, goes_on
from workbook.sources.kafka_log import KafkaLog, Offsets
from workbook.sources.kafka_names import translated
from workbook.sources.kafka_records import reading, records_of

SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, "
    "timestampType INT"
)
"""The columns of Spark's own Kafka source."""

_UNITS = {"ms": 1, "millisecond": 1, "s": 1000, "second": 1000, "minute": 60_000, "hour": 3_600_000}
"""In ms."""

_PLURALS = "milliseconds|seconds|minutes|hours"

_OPTIONS = (
    *("subscribe", "maxlead", "maxahead", "idletimeout", "startingoffsets"),
    *("maxoffsetspertrigger", "failondataloss"),
)


class ClampedKafka(DataSource):
    """Two topics as one stream, of which none leads the other by more than ``maxLead``."""

    rule: Rule = staticmethod(goes_on)
    """Decides whether a partition is read on: a class of your own may have another one."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.settings = Settings.of(dict(options))

    @classmethod
    def name(cls) -> str:
        return "kafka-clamped"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return _Reader(self.settings, type(self).rule)


def register(spark: SparkSession) -> None:
    """Make the source known to a session as ``kafka-clamped``."""
    spark.dataSource.register(ClampedKafka)


@dataclass(frozen=True)
class Settings:
    """What the options say: two topics, for librdkafka, times in ms."""

    topics: tuple[str, str]
    config: dict[str, str]
    max_lead: int
    max_ahead: int
    idle_timeout: int | None
    starting: str
    per_trigger: int | None
    fail_on_loss: bool

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Settings:
        """Read the options; raise ValueError for one that is missing, unknown or senseless."""
        low = {name.lower(): value for name, value in options.items()}
        kafka = {n.removeprefix("kafka."): v for n, v in low.items() if n.startswith("kafka.")}
        unknown = sorted(n for n in low if not n.startswith("kafka.") and n not in _OPTIONS)
        if unknown:
            raise ValueError(f"Expected one of the options {list(_OPTIONS)}, but got {unknown[0]}.")
        if "bootstrap.servers" not in kafka:
            raise ValueError("Expected the option kafka.bootstrap.servers, but it isn't there.")
        config, without = translated(kafka)
        for name in without:
            warnings.warn(
                f"kafka.{name} says nothing to this source and is left out.", stacklevel=2
            )
        topics = tuple(t.strip() for t in low.get("subscribe", "").split(",") if t.strip())
        if len(set(topics)) != 2:
            raise ValueError(
                "Expected the option subscribe with two topics, as in 'tracking,orders', but got "
                f"{low.get('subscribe', '')!r}."
            )
        if "maxlead" not in low:
            raise ValueError("Expected the option maxLead, as in '10 seconds', but it isn't there.")
        idle = low.get("idletimeout")
        return cls(
            topics=(topics[0], topics[1]),
            config=config,
            max_lead=_milliseconds("maxLead", low["maxlead"]),
            max_ahead=_milliseconds("maxAhead", low.get("maxahead", "5 minutes")),
            idle_timeout=None if idle is None else _milliseconds("idleTimeout", idle),
            starting=low.get("startingoffsets", "latest"),
            per_trigger=_whole("maxOffsetsPerTrigger", low.get("maxoffsetspertrigger")),
            fail_on_loss=_flag("failOnDataLoss", low.get("failondataloss", "true")),
        )


def _milliseconds(option: str, text: str) -> int:
    found = re.fullmatch(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)}|{_PLURALS})\s*", text.lower())
    value = (
        round(float(found[1]) * _UNITS.get(found[2], _UNITS.get(found[2][:-1], 0))) if found else 0
    )
    if value < 1:
        raise ValueError(f"Expected {option} as a time like '10 seconds', but got {text!r}.")
    return value


def _whole(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdigit() or int(text) < 1:
        raise ValueError(f"Expected {option} as a whole number from 1, but got {text!r}.")
    return int(text)


def _flag(option: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"Expected {option} as true or false, but got {text!r}.")
    return text.lower() == "true"


# --- on the driver: what each micro-batch reads ------------------------------------------------


@dataclass
class _Range(InputPartition):
    """Records of a partition, from an offset up to, but not including, another."""

    topic: str
    partition: int
    begin: int
    end: int


class _Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in a Python process on the driver; ``read`` runs on the executors."""

    def __init__(self, settings: Settings, rule: Rule) -> None:
        self._settings, self._rule = settings, rule
        self._log: KafkaLog | None = None
        self._until: Offsets | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_log": None}

    @property
    def log(self) -> KafkaLog:
        if self._log is None:
            s = self._settings
            self._log = KafkaLog(
                s.config, s.topics, self._rule, s.max_lead, s.max_ahead, s.idle_timeout,
                s.fail_on_loss,
            )  # fmt: skip
        return self._log

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return self.log.first(self._settings.starting)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = self._settings.per_trigger
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._until = self.log.ends()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return self.log.next(start, most, self._until)

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        return {"offsets": self._until or self.log.ends()}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        found = []
        for topic, partitions in end["offsets"].items():
            begins = {**start["offsets"][topic], **end["begins"][topic]}
            for partition, until in partitions.items():
                begin = begins.get(partition, 0)
                if until > begin:
                    found.append(_Range(topic, int(partition), begin, until))
        return found

    # --- on the executors -----------------------------------------------------------------------

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Range)
        what = (partition.topic, partition.partition, partition.begin, partition.end)
        strict = self._settings.fail_on_loss
        consumer = _consumer(json.dumps(self._settings.config, sort_keys=True))
        for messages in records_of(consumer, *what, fail_on_loss=strict):
            yield _batch(messages, partition.topic, partition.partition)

    def stop(self) -> None:
        if self._log is not None:
            self._log.close()


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
