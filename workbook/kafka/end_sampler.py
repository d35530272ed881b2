"""Samples the end offsets of partitions that change, without waiting for the broker."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from workbook.kafka.lag import NOBODY, EndSamples
from workbook.kafka.offsets import ANSWER_S, EVERY_S, Offsets
from workbook.kafka.require import UNKNOWN

DENIED = {
    *UNKNOWN,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_EXCEPTION,
}
"""A partition isn't there, or we have no right to describe it: the broker did answer."""

GRACE_S = 3.0
"""A broker that starts or ends denies its topics too: so many seconds are needed to believe it."""

RENEWED_S = 10.0
"""While a partition is denied, a client is used for so many seconds."""

_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class EndSampler:
    """Asks for the ends of the partitions that somebody has committed, ``every`` so many seconds.

    All in one request, which needs DESCRIBE on their topics only; at once where a partition is
    new. One that's deleted or not ours has no end, and the others do. While the broker is away,
    ``silent`` is set and ``samples`` stay as they are. ``clock`` gives seconds.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        samples: EndSamples,
        every: float = EVERY_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.samples, self.silent = samples, False
        self._config = {**config, "log_level": 0}
        self._every, self._clock, self._asked = every, clock, 0.0
        self._answers: dict[TopicPartition, Future[Any]] = {}
        self._wanted: Mapping[tuple[str, int], int] = NOBODY
        self._answered: set[tuple[str, int]] = set()
        self._apart: set[str] = set()
        self._denied: dict[tuple[str, int], float] = {}
        self._renew()

    def take(self) -> bool:
        """Take the last question's answer, if it's there; True if it's the first about something.

        A partition that was asked for in vain, in a request of its own, counts as answered for.
        """
        if not self._answers or not all(answer.done() for answer in self._answers.values()):
            return False
        before = self.unanswered
        self._take()
        self._answers = {}
        return self.unanswered < before

    def ask(self, committed: Mapping[tuple[str, int], int]) -> None:
        """Ask the next question if it's due, or one of the partitions is new.

        ``committed`` has each one's highest committed offset.
        """
        if self._answers:
            return
        now = self._clock()
        # A clock that was set back must not put the next question off.
        due = not self._asked <= now < self._asked + self._every
        if due or not committed.keys() <= self._wanted.keys():
            self._asked = now
            if self._stale:
                self._renew()
            self._ask(committed)

    @property
    def unanswered(self) -> int:
        """Return how many of the partitions asked for have never been answered for."""
        return len(self._wanted) - len(self._answered)

    def wait(self, seconds: float) -> bool:
        """Wait for the answer; False where none comes in so many seconds, or nothing was asked."""
        return bool(self._answers) and not wait_for(self._answers.values(), seconds).not_done

    def _ask(self, committed: Mapping[tuple[str, int], int]) -> None:
        """Ask in one request, but for topics that have spoiled one: each has a request of its own.

        A partition without a leader does so: the client looks for it until all have timed out.
        """
        partitions = set(filter(_can_be, committed))
        self._wanted = committed
        self._answered = (self._answered & partitions) | (committed.keys() - partitions)
        self.samples.keep(partitions)
        requests: dict[str, dict[TopicPartition, OffsetSpec]] = defaultdict(dict)
        for topic, number in partitions:
            alone = topic if topic in self._apart else ""
            requests[alone][TopicPartition(topic, number)] = OffsetSpec.latest()
        for wanted in requests.values():
            self._answers |= self._admin.list_offsets(wanted, request_timeout=ANSWER_S)

    def _take(self) -> None:
        ends, denied, failed = self._sorted()
        self._denied = {each: self._denied.get(each, self._asked) for each in denied}
        self.silent = not ends and not denied
        self.samples.add(int(self._asked * 1000), ends, self._wanted)
        believed = (p for p, since in self._denied.items() if self._asked - since >= GRACE_S)
        self.samples.lose(believed)
        answered = ends.keys() | denied
        self._answered |= answered | {each for each in failed if each[0] in self._apart}
        self._apart = {topic for topic, _ in failed} - {topic for topic, _ in answered}
        aged = self._asked - self._made > RENEWED_S
        self._fresh, self._stale = False, bool(failed) or (bool(denied) and (aged or not ends))

    def _sorted(self) -> tuple[Offsets, set[tuple[str, int]], set[tuple[str, int]]]:
        """Return the ends, the partitions that the broker denies, and those without an answer."""
        ends: Offsets = {}
        denied: set[tuple[str, int]] = set()
        failed: set[tuple[str, int]] = set()
        for place, answer in self._answers.items():
            partition = place.topic, place.partition
            try:
                end = int(answer.result().offset)
            except KafkaException as failure:
                (denied if self._denies(failure.args[0]) else failed).add(partition)
            else:
                if end < 0:  # OFFSET_INVALID without an error: the broker died meanwhile
                    failed.add(partition)
                else:
                    ends[partition] = end
        return ends, denied, failed

    def _denies(self, error: KafkaError) -> bool:
        """Return whether the broker denies a partition.

        That no topic has a leader is true of a client that has just met its broker only: another
        one answers so when the broker is away.
        """
        code = error.code()
        return code in DENIED or (code == KafkaError._NOENT and self._fresh)

    def _renew(self) -> None:
        """Make a client that knows nothing.

        One keeps what it learned of a topic: that it was missing, or a leader's former epoch, by
        which a broker that has restarted refuses every further question.
        """
        self._admin = AdminClient(self._config)  # held: else no answer ever comes
        self._made, self._fresh, self._stale = self._clock(), True, False


def _can_be(partition: tuple[str, int]) -> bool:
    """Return whether a topic may have this name: of any other, no request is answered."""
    topic, number = partition
    return number >= 0 and topic not in (".", "..") and _NAME.fullmatch(topic) is not None
