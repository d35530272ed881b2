"""Asks the broker for topics' end offsets again and again, without waiting for the answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from workbook.kafka.probe import require_topic

EVERY_S, ANSWER_S = 1.0, 3.0
"""Seconds between two questions, and those that the broker may take for an answer."""

Offsets = dict[tuple[str, int], int]
"""Topic and partition to an offset."""


class EndOffsets:
    """The end offsets of topics, at most ``EVERY_S`` old while its broker answers.

    Raises as ``require_topic`` does, at the beginning only. ``clock`` gives seconds.
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
        self._config = {**config, "log_level": 0}
        self._admin = AdminClient(self._config)
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
            self._answers = self._admin.list_offsets(wanted, request_timeout=ANSWER_S)
        return ends

    def _take(self) -> Offsets:
        try:
            ends = {
                (partition.topic, partition.partition): int(answer.result().offset)
                for partition, answer in self._answers.items()
            }
        except KafkaException:
            self.silent = True
            # A client keeps a leader's epoch, which a broker that has restarted refuses for ever.
            self._admin = AdminClient(self._config)
            return {}
        self.silent = False
        return ends
