"""Asks where a topic's partitions begin and end, in few requests, whatever their number."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import TopicMetadata

from workbook.sources.kafka_records import (
    ANSWER_S,
    PATIENCE_S,
    RETRY_S,
    RecordsLost,
    is_away,
    reading,
    refused,
)

Places = dict[tuple[str, int], tuple[int, int]]
"""Topic and partition to where it begins and ends."""


class Bounds:
    """Where the partitions of topics begin and end, by a ``reader`` of its own.

    With isolation.level=read_committed a partition ends where the first open transaction begins.
    """

    def __init__(self, config: Mapping[str, str], topics: Sequence[str]) -> None:
        self._topics, self._said = tuple(topics), list[KafkaError]()
        self._answered = False
        self.reader = Consumer({**reading(config), "error_cb": self._said.append})

    def close(self) -> None:
        """Close the connection to the broker."""
        self.reader.close()

    def partitions(self) -> dict[str, list[int]]:
        """Return the partitions of each topic; raise as ``ask``."""
        found = {}
        for topic in self._topics:
            described = self._describe(topic)
            if described.error is not None:
                raise refused(topic, described.error)
            found[topic] = sorted(described.partitions)
        self._answered = True
        return found

    def _describe(self, topic: str) -> TopicMetadata:
        try:
            return self.reader.list_topics(topic, timeout=ANSWER_S).topics[topic]
        except KafkaException as failure:
            if self._answered:
                raise
            self.reader.poll(0)  # what the brokers said comes by a callback; nothing is read yet
            why = [e for e in self._said if e.code() != KafkaError._ALL_BROKERS_DOWN]
            said = f"{failure.args[0].str()}. {why[-1].str() if why else ''}".strip()
            raise KafkaException(KafkaError(failure.args[0].code(), said)) from failure

    def ask(self) -> dict[tuple[str, int], tuple[int, int]]:
        """Return where partitions begin and end; wait for a broker that answered before.

        Raises as ``refused`` for a topic that isn't there, or that may not be read.
        """
        began = time.monotonic()
        while True:
            try:
                return self._ask()
            except (KafkaException, RecordsLost) as failure:
                if time.monotonic() - began > self._patience(failure):
                    raise
                time.sleep(RETRY_S)

    def _patience(self, failure: Exception) -> float:
        """Return for how long (s) it may last; a broker that has just started knows no topic."""
        if not self._answered:
            return 0.0
        if isinstance(failure, RecordsLost):
            return ANSWER_S
        error = failure.args[0]
        unknown = error.code() == KafkaError._UNKNOWN_PARTITION
        return ANSWER_S if unknown else PATIENCE_S if is_away(error) else 0.0

    def _ask(self) -> dict[tuple[str, int], tuple[int, int]]:
        keys = [(topic, n) for topic, numbers in self.partitions().items() for n in numbers]
        lows, highs = (self._offsets_at(when, keys) for when in (OFFSET_BEGINNING, OFFSET_END))
        return {key: (lows[key], highs[key]) for key in keys}

    def _offsets_at(self, when: int, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Ask for the first or the next offset of all partitions at once."""
        asked = [TopicPartition(*key, when) for key in keys]
        found = self.reader.offsets_for_times(asked, timeout=ANSWER_S)
        for place in found:
            if place.error is not None:
                raise KafkaException(place.error)
        return {(place.topic, place.partition): place.offset for place in found}
