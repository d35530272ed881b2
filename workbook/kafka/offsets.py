"""Asks where the partitions of topics begin and end, and how far consumer groups have come."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd
from confluent_kafka import (
    OFFSET_INVALID,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import OffsetSpec

from workbook.errors import WorkbookError
from workbook.kafka.require import ANSWER_S, admin, require_topic, unreachable

T = TypeVar("T")
Offsets = dict[tuple[str, int], int]
"""Topic and partition to an offset."""

EVERY_S, AT_ONCE_S = 1.0, 3.0
"""Of ``EndOffsets``: seconds between two questions, and those that an answer may take."""

_STARTING = {
    KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}  # fmt: skip
"""What a new topic's partition, or a broker that has just started, says at first."""


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """One partition: records ``begin`` up to, but not including, ``end`` are in it.

    ``committed`` is the offset at which the group would go on, None before its first commit;
    ``lag`` is how many records it still has to read.
    """

    partition: int
    begin: int
    end: int
    committed: int | None
    lag: int


def partition_offsets(
    config: Mapping[str, Any], topic: str, group: str | None = None
) -> list[PartitionOffsets]:
    """Return the offsets of every partition; raise ``TopicMissing`` or ``BrokerUnreachable``.

    Records of an open transaction lie behind the end, unless ``config`` says ``isolation.level``
    read_uncommitted.
    """
    places = [TopicPartition(topic, number) for number in range(require_topic(config, topic))]
    begins = _listed(config, places, OffsetSpec.earliest())
    ends = _listed(config, places, OffsetSpec.latest())
    known = _committed(config, group, places) if group else {}
    found = []
    for number, begin in begins.items():
        committed = known.get((topic, number))
        lag = ends[number] - (begin if committed is None else committed)
        found.append(PartitionOffsets(number, begin, ends[number], committed, lag))
    return found


def first_since(config: Mapping[str, Any], topic: str, since: int) -> dict[int, int]:
    """Return each partition's first offset with a record of ``since`` (ms) or later; else its end.

    Raises as ``partition_offsets``.
    """
    places = [TopicPartition(topic, number) for number in range(require_topic(config, topic))]
    ends = _listed(config, places, OffsetSpec.latest())
    found = _listed(config, places, OffsetSpec.for_timestamp(since))
    return {number: end if found[number] < 0 else found[number] for number, end in ends.items()}


def committed_offset(
    config: Mapping[str, Any], topic: str, group: str, partition: int = 0
) -> int | None:
    """Return what a group has committed for a partition, or None.

    It doesn't wait for the end of a transaction, whose offsets don't count before that.
    """
    place = TopicPartition(topic, partition)
    return _committed(config, group, [place]).get((topic, partition))


def committed_by(config: Mapping[str, Any], groups: Iterable[str]) -> pd.DataFrame:
    """Return what these groups have committed: group, topic, partition, offset (the next to read).

    A group that doesn't exist has no row. Raises ``KafkaException`` where the broker refuses.
    """
    rows = [
        (group, topic, partition, offset)
        for group in groups  # the client takes one group a request
        for (topic, partition), offset in _committed(config, group, None).items()
    ]
    return pd.DataFrame(rows, columns=["group", "topic", "partition", "offset"])


def _listed(
    config: Mapping[str, Any], places: list[TopicPartition], what: OffsetSpec
) -> dict[int, int]:
    committed = config.get("isolation.level") != "read_uncommitted"
    level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED

    def ask() -> dict[int, int]:
        client = admin(config)  # held: else no answer ever comes
        asked = client.list_offsets(
            dict.fromkeys(places, what), isolation_level=level, request_timeout=ANSWER_S
        )
        return {place.partition: int(answer.result().offset) for place, answer in asked.items()}

    return _patiently(config, ask)


def _committed(
    config: Mapping[str, Any], group: str, places: list[TopicPartition] | None
) -> Offsets:
    def ask() -> Offsets:
        asked = [ConsumerGroupTopicPartitions(group, places)]
        client = admin(config)
        [answer] = client.list_consumer_group_offsets(asked, request_timeout=ANSWER_S).values()
        found = answer.result().topic_partitions
        return {(p.topic, p.partition): int(p.offset) for p in found if p.offset != OFFSET_INVALID}

    return _patiently(config, ask)


def _patiently(config: Mapping[str, Any], ask: Callable[[], T]) -> T:
    """Ask again while the broker is starting; raise ``BrokerUnreachable`` where it's silent."""
    deadline = time.monotonic() + ANSWER_S
    while True:
        try:
            return ask()
        except KafkaException as failure:
            error = failure.args[0]
            passing = error.code() in _STARTING or error.retriable()
            if not passing or time.monotonic() > deadline:
                if error.code() in (KafkaError._TIMED_OUT, KafkaError._TRANSPORT):
                    raise unreachable(config, ANSWER_S) from failure
                raise
            time.sleep(0.05)


class EndOffsets:
    """The end offsets of topics, at most ``EVERY_S`` old while its broker answers.

    It asks without waiting for the answer. Raises as ``require_topic`` does, at the beginning only.
    ``clock`` gives seconds.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        *topics: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._partitions = [
            TopicPartition(topic, number)
            for topic in topics
            for number in range(require_topic(config, topic))
        ]
        self._config, self._admin = config, admin(config)
        self._answers: dict[TopicPartition, Future[Any]] = {}
        self._clock, self._due, self.silent = clock, -math.inf, False

    def look(self) -> Offsets:
        """Return the last question's answer, once: empty if there is none (yet). Ask the next one.

        ``silent`` says whether the last question was in vain.
        """
        ends: Offsets = {}
        if self._answers and all(answer.done() for answer in self._answers.values()):
            ends, self._answers = self._take(), {}
        if not self._answers and self._clock() >= self._due:
            self._due = self._clock() + EVERY_S
            wanted = {partition: OffsetSpec.latest() for partition in self._partitions}
            self._answers = self._admin.list_offsets(wanted, request_timeout=AT_ONCE_S)
        return ends

    def _take(self) -> Offsets:
        try:
            ends = {
                (partition.topic, partition.partition): int(answer.result().offset)
                for partition, answer in self._answers.items()
            }
        except KafkaException:
            self.silent, self._admin = True, admin(self._config)
            return {}
        self.silent = False
        return ends


@dataclass(frozen=True, slots=True)
class Unread:
    """How many records wait on a partition of the topic; more than any if that is unknown."""

    config: dict[str, str]
    topic: str

    def __call__(self, partition: int, offset: int) -> int:
        """Ask the broker now."""
        level, place = (
            {"isolation.level": "read_uncommitted"},
            TopicPartition(self.topic, partition),
        )
        try:
            ends = _listed({**self.config, **level}, [place], OffsetSpec.latest())
        except (KafkaException, WorkbookError):
            return 2**62
        return max(ends[partition] - offset, 0)
