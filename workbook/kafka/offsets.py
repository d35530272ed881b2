"""Where the partitions of a topic begin and end, and how far a consumer group has come."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from workbook.kafka.probe import ANSWER_S, LOOKING, require_topic, unreachable


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
    config: dict[str, str], topic: str, group: str | None = None
) -> list[PartitionOffsets]:
    """Return the offsets of every partition; raise ``TopicMissing`` or ``BrokerUnreachable``."""
    partitions = range(require_topic(config, topic))
    reader = Consumer({**config, "group.id": group or "workbook-offsets", "log_level": 0})
    try:
        wanted = [TopicPartition(topic, partition) for partition in partitions]
        committed = _committed(reader, wanted) if group else wanted
        return [_offsets(reader, topic_partition, group) for topic_partition in committed]
    finally:
        reader.close()


def first_since(config: Mapping[str, Any], topic: str, since: int) -> dict[int, int]:
    """Return each partition's first offset with a record of ``since`` (ms) or later; else its end.

    Raises as ``partition_offsets``.
    """
    places = [TopicPartition(topic, number) for number in range(require_topic(config, topic))]
    ends = _listed(config, places, OffsetSpec.latest())
    found = _listed(config, places, OffsetSpec.for_timestamp(since))
    return {number: end if found[number] < 0 else found[number] for number, end in ends.items()}


def _listed(
    config: Mapping[str, Any], places: list[TopicPartition], what: OffsetSpec
) -> dict[int, int]:
    admin = AdminClient(dict(config) | LOOKING)
    answers = admin.list_offsets(dict.fromkeys(places, what), request_timeout=ANSWER_S)
    try:
        return {place.partition: answer.result().offset for place, answer in answers.items()}
    except KafkaException as failure:
        raise unreachable(config, ANSWER_S) from failure


def committed_offset(
    config: Mapping[str, str], topic: str, group: str, partition: int = 0
) -> int | None:
    """Return what a group has committed for a partition, or None.

    It doesn't wait for the end of a transaction, whose offsets don't count before that.
    """
    settings = {"group.id": group, "isolation.level": "read_uncommitted", "log_level": 0}
    reader = Consumer({**config, **settings})
    try:
        [found] = _committed(reader, [TopicPartition(topic, partition)])
        return None if found.offset == OFFSET_INVALID else int(found.offset)
    finally:
        reader.close()


def begin_and_end(reader: Consumer, partition: TopicPartition, until: float) -> tuple[int, int]:
    """Return where a partition begins and ends; ask again while a new one has no leader yet.

    ``until`` is when (``time.monotonic``) the broker's last answer counts, whatever it is.
    """
    while True:
        try:
            return reader.get_watermark_offsets(partition, timeout=ANSWER_S)
        except KafkaException as failure:
            error = failure.args[0]
            passing = error.code() in _NO_LEADER_YET or error.retriable()
            if not passing or time.monotonic() > until:
                raise
            time.sleep(0.05)


_NO_LEADER_YET = {KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE}
"""What a new topic's partition says at first; the client doesn't mark it as retriable."""


@dataclass(frozen=True)
class Unread:
    """How many records wait on a partition of the topic, from an offset on.

    It travels to Spark's workers by pickle. Uncommitted records count, since Spark's source reads
    them. Where the broker gives no answer: more than any.
    """

    config: dict[str, str]
    topic: str

    def __call__(self, partition: int, offset: int) -> int:
        """Ask the broker now."""
        topic_partition = TopicPartition(self.topic, partition)
        try:
            _, end = _kept(tuple(self.config.items())).get_watermark_offsets(
                topic_partition, ANSWER_S
            )
        except KafkaException:
            return 2**62
        return max(end - offset, 0)


@lru_cache(maxsize=1)
def _kept(config: tuple[tuple[str, str], ...]) -> Consumer:
    """Return a consumer for the life of a worker: it's asked in every micro-batch."""
    settings = {"isolation.level": "read_uncommitted", "group.id": "workbook-offsets"}
    return Consumer({**settings, **dict(config), "log_level": 0})


def _committed(reader: Consumer, wanted: list[TopicPartition]) -> list[TopicPartition]:
    """Return where the group has committed; ask a coordinator that is just starting again."""
    deadline = time.monotonic() + ANSWER_S
    while True:
        try:
            return reader.committed(wanted, timeout=ANSWER_S)
        except KafkaException as failure:
            if failure.args[0].code() not in _STARTING or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


_STARTING = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}


def _offsets(
    reader: Consumer, topic_partition: TopicPartition, group: str | None
) -> PartitionOffsets:
    begin, end = begin_and_end(reader, topic_partition, time.monotonic() + ANSWER_S)
    known = group is not None and topic_partition.offset != OFFSET_INVALID
    committed = topic_partition.offset if known else None
    return PartitionOffsets(
        topic_partition.partition,
        begin,
        end,
        committed,
        end - (begin if committed is None else committed),
    )
