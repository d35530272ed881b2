"""Asks where the partitions of topics begin and end, and how far consumer groups have come."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import OffsetSpec

from workbook.kafka.require import (
    ANSWER_S,
    UNKNOWN,
    admin,
    patiently,
    require_topic,
    unreachable,
)
from workbook.topics import CONSUMER_OFFSETS, LEGAL

T = TypeVar("T")
Place = tuple[str, int]
"""A topic and a partition's number."""

Offsets = dict[Place, int]

COMMITTED = {"isolation.level": "read_committed"}
"""Records of open and of aborted transactions aren't read."""

EVERY_S, AT_ONCE_S, RENEWED_S = 1.0, 3.0, 10.0
"""Of ``EndOffsets``: seconds between questions, for an answer, and for a client that was denied."""

DENIED = {*UNKNOWN, KafkaError._UNKNOWN_PARTITION, KafkaError.TOPIC_AUTHORIZATION_FAILED}

_STARTING = {
    KafkaError._UNKNOWN_PARTITION,  # of a topic that was made a moment ago
    KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}  # fmt: skip
"""What a new topic's partition, or a broker that has just started, says at first."""

_SILENT = {KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN}


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

    Records of an open transaction are behind the end, unless ``config`` says ``isolation.level``
    read_uncommitted.
    """
    places = [(topic, number) for number in range(require_topic(config, topic))]
    begins, ends = _at(config, places, OFFSET_BEGINNING, OFFSET_END)
    known = _committed(config, group, places) if group else {}
    found = []
    for place, begin in begins.items():
        lag = ends[place] - known.get(place, begin)
        found.append(PartitionOffsets(place[1], begin, ends[place], known.get(place), lag))
    return found


def first_since(config: Mapping[str, Any], topic: str, since: int) -> dict[int, int]:
    """Return each partition's first offset with a record of ``since`` (ms) or later; else its end.

    Raises as ``partition_offsets``.
    """
    places = [(topic, number) for number in range(require_topic(config, topic))]
    ends, found = _at(config, places, OFFSET_END, max(since, 0))  # a record between is found
    return {place[1]: end if found[place] < 0 else found[place] for place, end in ends.items()}


def offsets_at(reader: Consumer, places: Sequence[Place], when: int) -> Offsets:
    """Return the partitions' offsets at a time (ms), OFFSET_BEGINNING or OFFSET_END.

    With isolation.level=read_committed a partition ends where its first open transaction begins.
    An offset is negative where no record is as young.
    """
    asked = [TopicPartition(*place, when) for place in places]
    found = reader.offsets_for_times(asked, timeout=ANSWER_S)
    for place in found:
        if place.error is not None:
            raise KafkaException(place.error)
    return {(place.topic, place.partition): int(place.offset) for place in found}


def _at(config: Mapping[str, Any], places: Sequence[Place], *times: int) -> list[Offsets]:
    with closing(Consumer({**config, "group.id": "workbook", "log_level": 0})) as reader:
        return [_asked(config, partial(offsets_at, reader, places, when)) for when in times]


def committed_offset(config: Mapping[str, Any], topic: str, group: str) -> int | None:
    """Return what a group has committed for partition 0, or None.

    It doesn't wait for the end of a transaction, whose offsets don't count before that.
    """
    return _committed(config, group, [(topic, 0)]).get((topic, 0))


def committed_by(config: Mapping[str, Any], groups: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return what these groups have committed: group, topic, partition, offset (the next to read).

    A group that doesn't exist has none. Raises ``KafkaException`` where the broker refuses.
    """
    client, rows = admin(config), []
    for group in groups:  # the client takes one group a request
        _committed(config, group, [(CONSUMER_OFFSETS, 0)])  # its coordinator is up
        asked = [ConsumerGroupTopicPartitions(group)]
        [answer] = client.list_consumer_group_offsets(asked, request_timeout=ANSWER_S).values()
        rows += [
            (group, place.topic, place.partition, place.offset)
            for place in answer.result().topic_partitions
            if place.offset != OFFSET_INVALID
        ]
    return rows


def ask_committed(reader: Consumer, config: Mapping[str, Any], places: Sequence[Place]) -> Offsets:
    """Ask by a consumer of the group what it has committed; a place without a commit is left out.

    A coordinator that is still starting is asked again. The admin client can't be asked then: in
    confluent-kafka 2.16 its ``list_consumer_group_offsets`` ends the process.
    """

    def ask() -> Offsets:
        found = reader.committed([TopicPartition(*each) for each in places], timeout=ANSWER_S)
        return {(p.topic, p.partition): int(p.offset) for p in found if p.offset != OFFSET_INVALID}

    return _asked(config, ask)


def group_reader(config: Mapping[str, Any], group: str) -> Consumer:
    """Return a consumer that asks for a group and joins nothing; transactions aren't waited for."""
    own = {"group.id": group, "isolation.level": "read_uncommitted", "log_level": 0}
    return Consumer({**config, **own})


def _committed(config: Mapping[str, Any], group: str, places: Sequence[Place]) -> Offsets:
    with closing(group_reader(config, group)) as reader:
        return ask_committed(reader, config, places)


def _asked(config: Mapping[str, Any], ask: Callable[[], T]) -> T:
    """Ask again while the broker is starting; raise ``BrokerUnreachable`` where it's silent."""

    def passing(failure: KafkaException) -> float:
        error = failure.args[0]
        return ANSWER_S if error.code() in _STARTING or error.retriable() else 0

    try:
        return patiently(ask, passing, 0.05)
    except KafkaException as failure:
        if failure.args[0].code() in _SILENT:
            raise unreachable(config, ANSWER_S) from failure
        raise


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
        self._config = config
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
            # From a record that isn't a commit: the client would raise, or wait in vain.
            if not LEGAL.fullmatch(topic) or not 0 <= number < 2**31:
                continue
            request = requests.setdefault(topic if self._by_topic else "", {})
            request[TopicPartition(topic, number)] = OffsetSpec.latest()
        for request in requests.values():
            self._answers |= self._admin.list_offsets(request, request_timeout=AT_ONCE_S)
        return True

    def _renew(self) -> None:
        self._admin, self._made, self._is_new = admin(self._config), self._clock(), True
