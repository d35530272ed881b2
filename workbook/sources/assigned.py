"""A Kafka source for Spark that reads one topic, an internal one too: ``kafka-assigned``.

    register(spark)
    spark.readStream.format("kafka-assigned").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "__consumer_offsets").option("startingOffsets", "earliest").load()

It assigns itself the partitions, so it joins no group, commits nothing, and needs the rights to
READ and DESCRIBE the topic only. Spark's own source reads no internal topic, unless by its
deprecated way of fetching offsets, which joins a group.
"""

from __future__ import annotations

import json
import warnings
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

from workbook.sources.arrow_batches import SCHEMA, Range, records_in
from workbook.sources.bounds import Bounds
from workbook.sources.kafka_names import translated
from workbook.sources.kafka_records import RecordsLost
from workbook.sources.options import flag, whole

EARLIEST, LATEST = -2, -1
"""As in ``startingOffsets``."""

TASKS = 2
"""So many tasks read, unless the option ``tasks`` says otherwise: one with Python costs 50 ms."""

_OPTIONS = ("subscribe", "startingoffsets", "maxoffsetspertrigger", "failondataloss", "tasks")

Offsets = dict[str, int]
"""Partition (as text, since it travels as JSON) -> offset."""


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
    """What the options say, for librdkafka."""

    topic: str
    config: dict[str, str]
    starting: str
    per_trigger: int | None
    fail_on_loss: bool
    tasks: int

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
        topic = low.get("subscribe", "").strip()
        if not topic or "," in topic:
            raise ValueError(f"Expected the option subscribe with one topic, but got {topic!r}.")
        config, without = translated(kafka)
        for name in without:
            warnings.warn(
                f"kafka.{name} says nothing to this source and is left out.", stacklevel=2
            )
        return cls(
            topic=topic,
            config=config,
            starting=low.get("startingoffsets", "latest"),
            per_trigger=whole("maxOffsetsPerTrigger", low.get("maxoffsetspertrigger")),
            fail_on_loss=flag("failOnDataLoss", low.get("failondataloss", "true")),
            tasks=whole("tasks", low.get("tasks")) or TASKS,
        )


@dataclass
class _Ranges(InputPartition):
    """Ranges that one task reads, one after the other."""

    ranges: list[Range]


class _Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in a Python process on the driver; ``read`` runs on the executors."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bounds: Bounds | None = None
        self._until: Offsets | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bounds": None}

    def _ask(self) -> dict[str, tuple[int, int]]:
        if self._bounds is None:
            self._bounds = Bounds(self._settings.config, [self._settings.topic])
        return {str(number): ends for (_, number), ends in self._bounds.ask().items()}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        bounds = self._ask()
        return {self._settings.topic: first_offsets(self._settings.starting, bounds)}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = self._settings.per_trigger
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._until = {number: end for number, (_, end) in self._ask().items()}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        bounds, begins = self._ask(), start[self._settings.topic]
        self._require(begins, bounds)
        ends = {
            number: end if self._until is None else min(end, self._until.get(number, 0))
            for number, (_, end) in bounds.items()
        }
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return {self._settings.topic: shared(self._from(begins, ends), ends, most)}

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        ends = self._until or {number: end for number, (_, end) in self._ask().items()}
        return {self._settings.topic: ends}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        topic = self._settings.topic
        ends = end[topic]
        begins = self._from(start[topic], ends)
        ranges = [
            Range(topic, int(number), begins[number], until)
            for number, until in ends.items()
            if until > begins[number]
        ]
        return [_Ranges(part) for part in in_tasks(ranges, self._settings.tasks)]

    def _from(self, begins: Offsets, ends: Offsets) -> Offsets:
        """Return where each partition is read from; a new one from its first record."""
        return {number: begins.get(number, 0) for number in ends}

    def _require(self, begins: Offsets, bounds: Mapping[str, tuple[int, int]]) -> None:
        """Raise RecordsLost where the topic isn't the one that was read, or has lost records."""
        topic = self._settings.topic
        for number, offset in begins.items():
            if number not in bounds or offset > bounds[number][1]:
                raise RecordsLost(
                    f"Expected offset {offset} of partition {number} of {topic}, but it isn't "
                    "there: the topic was made anew. Begin with another checkpoint."
                )
            low = bounds[number][0]
            if self._settings.fail_on_loss and offset < low:
                raise RecordsLost(
                    f"Expected records of partition {number} of {topic} from offset {offset}, but "
                    f"they begin at {low}: older ones are deleted. With failOnDataLoss=false "
                    f"reading goes on at {low}."
                )

    # --- on the executors -----------------------------------------------------------------------

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Ranges)
        s = self._settings
        for each in partition.ranges:
            yield from records_in(each, s.config, fail_on_loss=s.fail_on_loss)

    def stop(self) -> None:
        if self._bounds is not None:
            self._bounds.close()


def first_offsets(starting: str, bounds: Mapping[str, tuple[int, int]]) -> Offsets:
    """Return where a query begins that has no checkpoint; raise ValueError for another text."""
    words = {"earliest": EARLIEST, "latest": LATEST}
    where = words.get(starting.strip().lower())
    named = dict.fromkeys(bounds, where) if where is not None else _named(starting, bounds)
    ends = {EARLIEST: 0, LATEST: 1}
    return {
        number: bounds[number][ends[offset]] if offset in ends else offset
        for number, offset in named.items()
    }


def _named(text: str, bounds: Mapping[str, tuple[int, int]]) -> Offsets:
    try:
        (found,) = json.loads(text).values()
    except (ValueError, AttributeError):
        found = None
    fits = isinstance(found, dict) and {*found} == {*bounds}
    if not fits or any(type(o) is not int or o < EARLIEST for o in found.values()):
        raise ValueError(
            "Expected startingOffsets as earliest, latest, or an offset for each partition in JSON "
            f'like {{"clicks":{{"0":23,"1":-2}}}}, but got {text!r}.'
        )
    return dict(found)


def shared(begins: Offsets, ends: Offsets, most: int | None) -> Offsets:
    """Return up to where to read so that it's ``most`` offsets in all; who has less gives the rest.

    No partition starves: each gets the same share, and those that need less leave it to others.
    """
    wanted = {number: ends[number] - begins[number] for number in ends}
    if most is None or sum(wanted.values()) <= most:
        return {number: max(begins[number], end) for number, end in ends.items()}
    left, found = most, dict(begins)
    for at, number in enumerate(sorted(wanted, key=lambda each: wanted[each])):
        share = min(max(wanted[number], 0), -(-left // (len(wanted) - at)))
        found[number] += share
        left -= share
    return found


def in_tasks(ranges: Sequence[Range], tasks: int) -> list[list[Range]]:
    """Divide ranges among at most so many tasks: the largest ones first, each to the least busy."""
    parts: list[list[Range]] = [[] for _ in range(min(tasks, len(ranges)))]
    load = [0] * len(parts)
    for each in sorted(ranges, key=lambda r: r.begin - r.end):
        least = load.index(min(load))
        parts[least].append(each)
        load[least] += each.end - each.begin
    return parts
