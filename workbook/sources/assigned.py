"""A Kafka source for Spark that reads topics, also internal ones: ``kafka-assigned``.

    register(spark)
    spark.readStream.format("kafka-assigned").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "__consumer_offsets").option("startingOffsets", "earliest").load()

It assigns itself the topics' partitions, joins no group and commits nothing: a reader of
``__consumer_offsets`` leaves no trace in that topic. docs/assigned-source.md has the rest.
"""

import json
from collections.abc import Mapping, MutableMapping, Sequence
from typing import TypeVar

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from workbook.kafka.offsets import Place
from workbook.kafka.readers import Ranges
from workbook.sources.bounds import Offsets, begins_of, ends_of, readable_from, require_same
from workbook.sources.kafka_reader import KafkaReader, KafkaSource, Part, most
from workbook.sources.options import Settings

K = TypeVar("K")

TASKS = 4
"""Tasks that read at once, at most, unless the option ``tasks`` says otherwise."""

PER_TASK = 10_000
"""Offsets of a task, before another one begins: a smaller one costs more to run."""


class AssignedKafka(KafkaSource):
    """Topics as one stream, read by plain assignment."""

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
    own = ("tasks", "includeHeaders", "initialOffsets")

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options, None, "topics, as in '__consumer_offsets'")
        self.tasks = self.whole("tasks") or TASKS
        self.headers = self.given("includeHeaders", "false").lower() == "true"
        self.initial = self.given("initialOffsets", "")


class AssignedReader(KafkaReader):
    """Plans the micro-batches."""

    def __init__(self, settings: AssignedSettings) -> None:
        super().__init__(settings)
        self._topics, self._tasks = settings.topics, settings.tasks
        self._initial = settings.initial

    def initialOffset(self) -> Offsets:  # noqa: N802
        """Return that no partition is known yet; ``latestOffset`` finds where they begin.

        Spark doesn't store this offset, and asks again if the first micro-batch has failed. Spark's
        own source does store it: a query that it began is continued from ``initialOffsets``.
        """
        kept: Offsets = json.loads(self._initial or "{}")
        return kept or {topic: {} for topic in self._topics}

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        """Return up to where a micro-batch reads; the first one is empty, and keeps the begins.

        So is a partition's that is new, or has lost records: the next micro-batch reads it.
        """
        bounds, strict = self.ask(), self.settings.fail_on_loss
        require_same(start, self._topics, bounds)
        if not any(start.values()):
            return begins_of(self.settings.starting, self._topics, bounds)
        until = self.until or ends_of(bounds)
        begins, moved, ends = dict[Place, int](), dict[Place, int](), dict[Place, int]()
        for key, (low, high) in bounds.items():
            topic, number = key[0], str(key[1])
            at = readable_from(key, start[topic].get(number, low), (low, high), strict)
            if start[topic].get(number) == at:
                begins[key], ends[key] = at, max(at, min(high, until[topic].get(number, 0)))
            else:
                moved[key] = at
        found: Offsets = {topic: {} for topic in self._topics}
        for (topic, partition), offset in {**shared(begins, ends, most(limit)), **moved}.items():
            found[topic][str(partition)] = offset
        return found

    def reportLatestOffset(self) -> Offsets | None:  # noqa: N802
        return self.until or self.ends

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[InputPartition]:
        """Return the tasks; Spark's own source plans a new partition's first records at once."""
        tasks: list[InputPartition] = []
        for topic, of in end.items():
            begins = start[topic] or of  # the first micro-batch is empty
            if new := {*of} - {*begins}:
                lows = self.ask()
                begins = {**begins, **{number: lows[topic, int(number)][0] for number in new}}
            ranges = {
                int(number): (begins[number], until)
                for number, until in of.items()
                if until > begins[number]
            }
            tasks += [Part(topic, part) for part in in_tasks(ranges, self._tasks)]
        return tasks


def shared(begins: Mapping[K, int], ends: Mapping[K, int], most: int | None) -> dict[K, int]:
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


def in_tasks(ranges: Ranges, tasks: int) -> list[dict[int, tuple[int, int]]]:
    """Divide ranges among ``tasks`` at most, and among one where they are small.

    The largest come first, each to the task that has least. No range is divided, so each task
    gives the records of a partition in their order.
    """
    sizes = {number: end - begin for number, (begin, end) in ranges.items()}
    number_of = min(tasks, len(ranges), -(-sum(sizes.values()) // PER_TASK))
    parts: list[dict[int, tuple[int, int]]] = [{} for _ in range(number_of)]
    for number in sorted(sizes, key=lambda number: -sizes[number]):
        least = min(parts, key=lambda part: sum(sizes[each] for each in part))
        least[number] = ranges[number]
    return parts
