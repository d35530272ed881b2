"""A Kafka source for Spark that reads one topic, an internal one too: ``kafka-assigned``.

    register(spark)
    spark.readStream.format("kafka-assigned").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "__consumer_offsets").option("startingOffsets", "earliest").load()

It assigns itself the topic's partitions, joins no group and commits nothing: whoever reads
``__consumer_offsets`` by it doesn't stand in there. docs/assigned-source.md has the rest.
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
from workbook.sources.bounds import (
    Bounds,
    Offsets,
    Places,
    begins_of,
    ends_of,
    readable_from,
    require_same,
)
from workbook.sources.kafka_records import Range
from workbook.sources.options import flag, sorted_out, whole
from workbook.sources.shares import in_tasks, shared

_OPTIONS = ("subscribe", "startingoffsets", "maxoffsetspertrigger", "failondataloss", "tasks")

TASKS = 4
"""So many tasks read at once, at most, unless the option ``tasks`` says otherwise."""


class AssignedKafka(DataSource):
    """One topic as a stream, read by plain assignment."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.settings = Settings.of(dict(options))

    @classmethod
    def name(cls) -> str:
        return "kafka-assigned"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return _Reader(self.settings)


def register(spark: SparkSession) -> None:
    """Make the source known to a session as ``kafka-assigned``."""
    spark.dataSource.register(AssignedKafka)


@dataclass(frozen=True)
class Settings:
    """The options: one topic, settings for librdkafka."""

    topic: str
    config: dict[str, str]
    starting: str
    per_trigger: int | None
    fail_on_loss: bool
    tasks: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Settings:
        """Read the options; raise ValueError for one that is missing, unknown or senseless."""
        low, config = sorted_out(options, _OPTIONS)
        topic = low.get("subscribe", "").strip()
        if not topic or "," in topic:
            raise ValueError(
                "Expected the option subscribe with one topic, as in '__consumer_offsets', but "
                f"got {topic!r}."
            )
        return cls(
            topic=topic,
            config={"group.id": "kafka-assigned", **config},
            starting=low.get("startingoffsets", "latest"),
            per_trigger=whole("maxOffsetsPerTrigger", low.get("maxoffsetspertrigger")),
            fail_on_loss=flag("failOnDataLoss", low.get("failondataloss", "true")),
            tasks=whole("tasks", low.get("tasks")) or TASKS,
        )


class _Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in a Python process on the driver; ``read`` runs on the executors."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bounds: Bounds | None = None
        self._until: Offsets | None = None
        self._ends: Offsets | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bounds": None}

    def _ask(self) -> Places:
        if self._bounds is None:
            self._bounds = Bounds(self._settings.config, [self._settings.topic])
        return self._bounds.ask()

    def initialOffset(self) -> Offsets:  # noqa: N802
        """Return that no partition is known yet; ``latestOffset`` finds where they begin.

        Spark doesn't keep this one, and asks for it again if the first micro-batch has failed.
        """
        return {self._settings.topic: {}}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = self._settings.per_trigger
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._until = ends_of(self._ask())

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        """Return up to where a micro-batch reads; the first one is empty, and keeps the begins."""
        topic, bounds = self._settings.topic, self._ask()
        require_same(start, [topic], bounds)
        self._ends = ends_of(bounds)
        if not start[topic]:
            return begins_of(self._settings.starting, [topic], bounds)
        until = self._ends if self._until is None else self._until
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        begins, moved = self._begins(start[topic], bounds)
        known = {n: min(self._ends[topic][n], until[topic].get(n, 0)) for n in begins}
        ends = {n: max(at, known[n]) for n, at in begins.items()}
        return {topic: {**shared(begins, ends, most), **moved}}

    def _begins(
        self, start: Mapping[str, int], bounds: Places
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Return where partitions are read from, and where those begin that read nothing yet.

        These are new ones, and those that have lost records: the next micro-batch reads them.
        """
        begins, moved = dict[str, int](), dict[str, int]()
        for (topic, number), (low, high) in bounds.items():
            offset = start.get(str(number), low)
            at = readable_from(topic, number, offset, (low, high), self._settings.fail_on_loss)
            (begins if start.get(str(number)) == at else moved)[str(number)] = at
        return begins, moved

    def reportLatestOffset(self) -> Offsets | None:  # noqa: N802
        return self._until or self._ends

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[InputPartition]:
        begins, topic = start[self._settings.topic], self._settings.topic
        ranges = [
            Range(topic, int(number), begins[number], until)
            for number, until in end[topic].items()
            if until > begins.get(number, until)
        ]
        return [Ranges(part) for part in in_tasks(ranges, self._settings.tasks)]

    # --- on the executors -----------------------------------------------------------------------

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Ranges)
        s = self._settings
        yield from batches(partition.ranges, s.config, fail_on_loss=s.fail_on_loss)

    def stop(self) -> None:
        if self._bounds is not None:
            self._bounds.close()
