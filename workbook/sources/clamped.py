"""A Kafka source for Spark that stops reading the topic that leads: ``kafka-clamped``.

    register(spark)
    spark.readStream.format("kafka-clamped").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "tracking,orders").option("maxLead", "10 seconds").load()

docs/clamped-source.md says what each option means, what is promised and what it costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from workbook.sources.arrow_batches import SCHEMA, Ranges, batches
from workbook.sources.bounds import Offsets
from workbook.sources.clamp import Rule, goes_on
from workbook.sources.kafka_log import KafkaLog
from workbook.sources.kafka_records import Range
from workbook.sources.options import flag, milliseconds, sorted_out, whole

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
    """The options: two topics, settings for librdkafka, times in ms."""

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
        low, config = sorted_out(options, _OPTIONS)
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
            max_lead=milliseconds("maxLead", low["maxlead"]),
            max_ahead=milliseconds("maxAhead", low.get("maxahead", "5 minutes")),
            idle_timeout=None if idle is None else milliseconds("idleTimeout", idle),
            starting=low.get("startingoffsets", "latest"),
            per_trigger=whole("maxOffsetsPerTrigger", low.get("maxoffsetspertrigger")),
            fail_on_loss=flag("failOnDataLoss", low.get("failondataloss", "true")),
        )


# --- on the driver: what each micro-batch reads ------------------------------------------------


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
                    found.append(Ranges([Range(topic, int(partition), begin, until)]))
        return found

    # --- on the executors -----------------------------------------------------------------------

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Ranges)
        s = self._settings
        yield from batches(partition.ranges, s.config, fail_on_loss=s.fail_on_loss)

    def stop(self) -> None:
        if self._log is not None:
            self._log.close()
