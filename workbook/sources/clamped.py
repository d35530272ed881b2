"""A Kafka source for Spark that stops reading the topic that leads: ``kafka-clamped``.

    register(spark)
    spark.readStream.format("kafka-clamped").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "tracking,orders").option("maxLead", "10 seconds").load()

docs/clamped-source.md says what each option means, what is promised and what it costs.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from workbook.sources.bounds import Offsets
from workbook.sources.clamp import Rule, goes_on
from workbook.sources.kafka_log import ClampSettings, KafkaLog
from workbook.sources.kafka_reader import KafkaReader, KafkaSource, Range, Ranges, most


class ClampedKafka(KafkaSource):
    """Two topics as one stream, of which none leads the other by more than ``maxLead``."""

    rule: Rule = staticmethod(goes_on)
    """Decides whether a partition is read on: a class of your own may have another one."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.settings = ClampSettings(options)

    @classmethod
    def name(cls) -> str:
        return "kafka-clamped"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return _Reader(self.settings, type(self).rule)


def register(spark: SparkSession) -> None:
    """Make the source known to a session as ``kafka-clamped``."""
    spark.dataSource.register(ClampedKafka)


class _Reader(KafkaReader):
    """Plans each micro-batch by a ``KafkaLog``."""

    def __init__(self, settings: ClampSettings, rule: Rule) -> None:
        super().__init__(settings)
        self._settings, self._rule = settings, rule
        self._log: KafkaLog | None = None
        self._until: Offsets | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_log": None}

    @property
    def log(self) -> KafkaLog:
        if self._log is None:
            self._log = KafkaLog(self._settings, self._rule)
        return self._log

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return self.log.first()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._until = self.log.ends()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        return self.log.next(start, most(limit), self._until)

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

    def stop(self) -> None:
        if self._log is not None:
            self._log.close()
