"""A Kafka source for Spark that reads one topic, an internal one too: ``kafka-assigned``.

    register(spark)
    spark.readStream.format("kafka-assigned").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "__consumer_offsets").option("startingOffsets", "earliest").load()

It assigns itself the topic's partitions, joins no group and commits nothing: whoever reads
``__consumer_offsets`` by it doesn't stand in there. docs/assigned-source.md has the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from workbook.sources.bounds import (
    Offsets,
    begins_of,
    ends_of,
    readable_from,
    require_same,
)
from workbook.sources.kafka_reader import KafkaReader, KafkaSource, Range, Ranges, most
from workbook.sources.options import Settings

TASKS = 4
"""Tasks that read at once, at most, unless the option ``tasks`` says otherwise."""

PER_TASK = 10_000
"""Offsets of a task, before another one begins: a smaller one costs more to run."""


class AssignedKafka(KafkaSource):
    """One topic as a stream, read by plain assignment."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.settings = AssignedSettings(options)

    @classmethod
    def name(cls) -> str:
        return "kafka-assigned"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return AssignedReader(self.settings)


def register(spark: SparkSession) -> None:
    """Make the source known to a session as ``kafka-assigned``."""
    spark.dataSource.register(AssignedKafka)


class AssignedSettings(Settings):
    own = ("tasks",)

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options, 1, "one topic, as in '__consumer_offsets'")
        self.tasks = self.whole("tasks") or TASKS


class AssignedReader(KafkaReader):
    """Plans the micro-batches."""

    def __init__(self, settings: AssignedSettings) -> None:
        super().__init__(settings)
        self._topic, self._tasks = settings.topics[0], settings.tasks

    def initialOffset(self) -> Offsets:  # noqa: N802
        """Return that no partition is known yet; ``latestOffset`` finds where they begin.

        Spark doesn't keep this one, and asks for it again if the first micro-batch has failed.
        """
        return {self._topic: {}}

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        """Return up to where a micro-batch reads; the first one is empty, and keeps the begins.

        So is a partition's that is new, or has lost records: the next micro-batch reads it.
        """
        topic, bounds, strict = self._topic, self.ask(), self.settings.fail_on_loss
        require_same(start, [topic], bounds)
        if not start[topic]:
            return begins_of(self.settings.starting, [topic], bounds)
        until = self.until or ends_of(bounds)
        begins, moved, ends = dict[str, int](), dict[str, int](), dict[str, int]()
        for key, (low, high) in bounds.items():
            number = str(key[1])
            at = readable_from(key, start[topic].get(number, low), (low, high), strict)
            if start[topic].get(number) == at:
                begins[number], ends[number] = at, max(at, min(high, until[topic].get(number, 0)))
            else:
                moved[number] = at
        return {topic: {**shared(begins, ends, most(limit)), **moved}}

    def reportLatestOffset(self) -> Offsets | None:  # noqa: N802
        return self.until or self.ends

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[InputPartition]:
        begins, topic = start[self._topic], self._topic
        ranges = [
            Range(topic, int(number), begins[number], until)
            for number, until in end[topic].items()
            if until > begins.get(number, until)
        ]
        return [Ranges(part) for part in in_tasks(ranges, self._tasks)]


def shared(begins: Mapping[str, int], ends: Mapping[str, int], most: int | None) -> dict[str, int]:
    """Return up to where to read partitions so that it's ``most`` offsets in all.

    Each has the same share; one that needs less leaves the rest to the others. With fewer offsets
    than partitions each still has one, so that none waits for good.
    """
    behind = {number: end - begins[number] for number, end in ends.items() if end > begins[number]}
    if most is None or sum(behind.values()) <= most:
        return dict(ends)
    left, found = max(most, len(behind)), dict(begins)
    for done, number in enumerate(sorted(behind, key=lambda number: behind[number])):
        share = min(behind[number], left // (len(behind) - done))
        found[number] += share
        left -= share
    return found


def in_tasks(ranges: Sequence[Range], tasks: int) -> list[list[Range]]:
    """Divide ranges among ``tasks`` at most, and among one where they are small.

    The largest come first, each to the task that has least. No range is divided, so each task
    gives the records of a partition in their order.
    """
    offsets = sum(each.end - each.begin for each in ranges)
    parts: list[list[Range]] = [[] for _ in range(min(tasks, len(ranges), -(-offsets // PER_TASK)))]
    load = [0] * len(parts)
    for each in sorted(ranges, key=lambda each: each.begin - each.end):
        least = load.index(min(load))
        parts[least].append(each)
        load[least] += each.end - each.begin
    return parts
