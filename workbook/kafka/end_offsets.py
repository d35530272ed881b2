"""Asks the broker where partitions end, once a second, without waiting for the answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from workbook.kafka.probe import UNKNOWN, require_topic

EVERY_S, ANSWER_S, RENEWED_S = 1.0, 3.0, 10.0
"""Seconds between two questions, for an answer, and until a client that was denied is replaced."""

DENIED = {*UNKNOWN, KafkaError._UNKNOWN_PARTITION, KafkaError.TOPIC_AUTHORIZATION_FAILED}

Place = tuple[str, int]
"""A topic and a partition's number."""

Offsets = dict[Place, int]


class EndOffsets:
    """The end offsets of all partitions of ``topics``, and of those handed to ``ask``.

    It needs the right to DESCRIBE each topic. ``ends`` and ``denied`` (partitions that don't exist
    or that this user may not describe) are those of the last answer to the question of ``asked``
    (in seconds of ``clock``); ``silent`` says that this question failed. Raises as
    ``require_topic`` does, at the beginning only.
    """

    def __init__(
        self, config: Mapping[str, Any], *topics: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._own = [(t, number) for t in topics for number in range(require_topic(config, t))]
        self._config = {**config, "log_level": 0}
        self._answers: dict[TopicPartition, Future[Any]] = {}
        self._clock, self._by_topic = clock, False
        self.ends, self.denied, self.asked = Offsets(), set[Place](), -math.inf
        self.silent, self._is_new = False, True
        self._renew()

    def look(self) -> Offsets:
        """Return an answer that has arrived, {} without one; ask again once a second."""
        ends = self.ends if self.take() else {}
        self.ask()
        return ends

    def take(self) -> bool:
        """Take the last question's answer; return False where there is none (yet)."""
        if not self._answers or not all(answer.done() for answer in self._answers.values()):
            return False
        self.ends, self.denied, leaderless, failed = {}, set(), set[Place](), False
        for partition, answer in self._answers.items():
            place, end, code = (partition.topic, partition.partition), -1, KafkaError.NO_ERROR
            try:
                end = int(answer.result().offset)
            except KafkaException as failure:
                code = failure.args[0].code()
            if end >= 0:
                self.ends[place] = end
            elif code in DENIED:
                self.denied.add(place)
            elif code == KafkaError._NOENT:
                leaderless.add(place)
            else:
                failed = True  # no end and no error: the broker ended meanwhile
        if self._is_new or self.ends:
            self.denied |= leaderless
        else:
            failed |= bool(leaderless)  # an old client says so when the broker is away
        self._answers, self._is_new = {}, False
        self.silent, self._by_topic = failed and not self.ends and not self.denied, failed
        # A client keeps what it has learned of a topic: that it's missing, or a leader's epoch,
        # which a broker that has restarted refuses for ever.
        is_old = self._clock() - self._made > RENEWED_S
        if failed or (self.denied and (is_old or not self.ends)):
            self._renew()
        return True

    def ask(self, partitions: Iterable[Place] = ()) -> bool:
        """Ask the next question; return False if it isn't due, or the last one is unanswered.

        One request asks for all, or one per topic once a request has failed: a partition without
        a leader lets all others of its request fail.
        """
        # A clock that was set back must not put the next question off.
        if self._answers or self.asked <= self._clock() < self.asked + EVERY_S:
            return False
        self.asked = self._clock()
        requests: dict[str, dict[TopicPartition, OffsetSpec]] = {}
        for topic, number in {*self._own, *partitions}:
            if not topic or number < 0:  # read from a record that is none: the client would raise
                continue
            request = requests.setdefault(topic if self._by_topic else "", {})
            request[TopicPartition(topic, number)] = OffsetSpec.latest()
        for request in requests.values():
            self._answers |= self._admin.list_offsets(request, request_timeout=ANSWER_S)
        return True

    def _renew(self) -> None:
        self._admin, self._made, self._is_new = AdminClient(self._config), self._clock(), True
