"""A Kafka source for Spark that stops reading the topic that leads: ``kafka-clamped``.

    register(spark)
    spark.readStream.format("kafka-clamped").option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "tracking,orders").option("maxLead", "10 seconds").load()

docs/clamped-source.md says what each option means, what is promised and what it costs.
"""

import time
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from workbook.kafka.offsets import Place
from workbook.kafka.readers import AT_ONCE, is_here, silent
from workbook.kafka.require import PATIENCE_S
from workbook.sources.bounds import Offsets, Places, begins_of, readable_from, require_same
from workbook.sources.clamp import Ahead, Rule, Unread, goes_on, plan
from workbook.sources.kafka_reader import KafkaReader, KafkaSource, Part, most
from workbook.sources.options import Settings, milliseconds

_AHEAD = 1_000_000
"""Records of a partition that are looked at in advance, at most, where a trigger has no limit."""

_KEPT = 20_000
"""Records that may wait, at least: to stop fetching and begin again costs up to a second."""


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
        return ClampedReader(self.settings, type(self).rule)


def register(spark: SparkSession) -> None:
    """Make the source known to a session as ``kafka-clamped``."""
    spark.dataSource.register(ClampedKafka)


class ClampSettings(Settings):
    """The options of the clamped source, times in ms."""

    own = ("maxLead", "maxAhead", "idleTimeout")

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options, 2, "two topics, as in 'tracking,orders'")
        self.max_lead = milliseconds("maxLead", self.given("maxLead", ""))
        self.max_ahead = milliseconds("maxAhead", self.given("maxAhead", "5 minutes"))
        idle = self.given("idleTimeout", "")
        self.idle_timeout = milliseconds("idleTimeout", idle) if idle else None


class ClampedReader(KafkaReader):
    """Looks at the records of two topics in advance, and decides what a micro-batch reads.

    It reads each record's time itself, in order, since no look-up says the newest time before an
    offset where times are out of order or one of them is far ahead.
    """

    def __init__(self, settings: ClampSettings, rule: Rule) -> None:
        super().__init__(settings)
        self._settings, self._topics, self._rule = settings, settings.topics, rule
        self._ahead: dict[Place, Ahead] = {}
        self._paused: set[Place] = set()

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Return where a query begins that has no checkpoint: ``startingOffsets``."""
        bounds = self.ask()
        numbers = [sum(topic == of for of, _ in bounds) for topic in self._topics]
        if numbers[0] != numbers[1]:
            raise ValueError(
                f"Expected {self._topics[0]} and {self._topics[1]} to have the same number of "
                f"partitions, since partition p is held against partition p, but they have "
                f"{numbers[0]} and {numbers[1]}."
            )
        offsets = begins_of(self._settings.starting, self._topics, bounds)
        empty: dict[str, dict[str, int]] = {topic: {} for topic in self._topics}
        return {"offsets": offsets, "tops": empty, "begins": empty}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Return up to where a micro-batch reads.

        Where it begins stands in its end, too: Spark doesn't keep the first one's start.
        """
        bounds, records, until = self._wait_for_bounds(), most(limit), self.until
        begins = self._follow(start, bounds)
        share = _AHEAD if records is None else max(1, records // max(1, len(bounds)))
        ends = {key: high for key, (_, high) in bounds.items()}
        if until is not None:
            known = {key: until[key[0]].get(str(key[1]), 0) for key in ends}
            ends = {key: min(end, known[key]) for key, end in ends.items()}
        self._look(share, ends)
        for number in sorted({number for _, number in self._ahead}):
            self._read(number, share, ends)
        offsets: Offsets = {topic: {} for topic in self._topics}
        tops: Offsets = {topic: {} for topic in self._topics}
        for (topic, number), ahead in sorted(self._ahead.items()):
            offsets[topic][str(number)] = ahead.next
            if ahead.top is not None:
                tops[topic][str(number)] = ahead.top
        if offsets == start["offsets"]:
            return start
        return {"offsets": offsets, "tops": tops, "begins": begins}

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        return {"offsets": self.until or self.ends}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        found = []
        for topic, partitions in end["offsets"].items():
            begins = {**start["offsets"][topic], **end["begins"][topic]}
            for partition, until in partitions.items():
                if until > (begin := begins.get(partition, 0)):
                    found.append(Part(topic, {int(partition): (begin, until)}))
        return found

    def _wait_for_bounds(self) -> Places:
        """Ask where the partitions begin and end; while the broker is away, nobody is idle."""
        began = time.monotonic()
        bounds = self.ask()
        waited = time.monotonic() - began
        for ahead in self._ahead.values():
            ahead.new_at += waited
        return bounds

    def _follow(self, start: dict[str, Any], bounds: Places) -> Offsets:
        """Stand where ``start`` says; partitions that are new begin at their first record.

        Returns where reading begins: elsewhere in partitions whose records are lost.
        """
        moved, begins = False, {topic: dict[str, int]() for topic in self._topics}
        require_same(start["offsets"], self._topics, bounds)
        for key, (low, high) in bounds.items():
            topic, number = key[0], str(key[1])
            stood = start["offsets"][topic].get(number, low)
            offset = readable_from(key, stood, (low, high), self._settings.fail_on_loss)
            top = start["tops"][topic].get(number) if offset == stood else None
            begins[topic][number] = offset
            known = self._ahead.get(key)
            if known is None or known.next != offset or known.top != top:
                self._ahead[key] = Ahead(offset, top, time.monotonic())
                moved = True
        if moved:
            self._pause(set())  # a pause would last beyond it
            self.client.assign([TopicPartition(*k, a.position) for k, a in self._ahead.items()])
        return begins

    def _look(self, share: int, ends: Mapping[Place, int]) -> None:
        """Look at records until each partition has its share ahead, or no more."""
        deadline = time.monotonic() + PATIENCE_S
        kept = max(share, _KEPT)
        full = {key for key, ahead in self._ahead.items() if len(ahead) >= kept}
        while missing := self._missing(share, ends):
            full |= {key for key, ahead in self._ahead.items() if len(ahead) >= 2 * kept}
            self._pause(full)
            messages = self.client.consume(min(AT_ONCE, sum(missing.values())), timeout=0.1)
            for message in messages:
                if is_here(self._settings.config, message):
                    self._ahead[str(message.topic()), int(message.partition() or 0)].see(message)
            if self._missing(share, ends) != missing:  # records of other partitions don't help
                deadline = time.monotonic() + PATIENCE_S
            elif time.monotonic() > deadline:
                places = (f"partition {number} of {topic}" for topic, number in missing)
                raise silent(self._settings.config, ", ".join(places))
        latest, now = int(time.time() * 1000) + self._settings.max_ahead, time.monotonic()
        for ahead in self._ahead.values():
            ahead.settle(latest, now)

    def _missing(self, share: int, ends: Mapping[Place, int]) -> dict[Place, int]:
        """Return how many records of each partition are still to be looked at, at most."""
        left = {
            key: min(ends[key] - ahead.position, share - len(ahead))
            for key, ahead in self._ahead.items()
        }
        return {key: number for key, number in left.items() if number > 0}

    def _pause(self, full: set[Place]) -> None:
        """Pause fetching of full partitions, and resume that of the others."""
        if pause := full - self._paused:
            self.client.pause([TopicPartition(*key) for key in pause])
        if resume := self._paused - full:
            self.client.resume([TopicPartition(*key) for key in resume])
        self._paused = set(full)

    def _read(self, number: int, share: int, ends: Mapping[Place, int]) -> None:
        """Take of partition ``number`` of both topics what the rule allows."""
        keys = [(topic, number) for topic in self._topics]
        both = [self._unread(self._ahead.get(key), share, ends.get(key, 0)) for key in keys]
        for key, taken in zip(keys, plan(both, self._rule, self._settings.max_lead), strict=True):
            if key in self._ahead:
                self._ahead[key].take(taken, ends.get(key, 0), time.monotonic())

    def _unread(self, ahead: Ahead | None, share: int, end: int) -> Unread:
        if ahead is None:  # its topic has fewer partitions, for now
            return Unread(None, np.empty(0, np.int64))
        among = min(share, int(np.searchsorted(ahead.offsets, end)))
        timeout = self._settings.idle_timeout
        idle = (
            timeout is not None
            and not len(ahead)
            and ahead.position >= end
            and (time.monotonic() - ahead.new_at) * 1000 > timeout
        )
        return Unread(ahead.top, ahead.tops[:among], holds=not idle)
