"""Compacts a topic now: closes its segments, and waits until the broker has cleaned them.

A topic's partition is a row of files, its segments. Compaction rewrites the closed ones; the
active one, to which records are being appended, stays as it is. So the last record of a partition
is never compacted away, nor is anything that came shortly before it, and a reader that wants one
record per key must still take the latest of those it finds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType

from workbook.errors import WorkbookError
from workbook.kafka.probe import ANSWER_S, require_topic
from workbook.kafka.readers import read_all
from workbook.kafka.record_producer import RecordProducer

MARKER = b"~roll"
"""The key of the records that close a segment: a tombstone for what no table has."""

LONGEST_WAIT_S = 60.0
TICK_S = 0.1
AGAIN_S = 1.0

DAY_MS = 86_400_000
"""Kafka's default of ``delete.retention.ms``."""


def roll(
    config: Mapping[str, Any], topic: str, key: bytes = MARKER, value: bytes | None = None
) -> dict[int, int]:
    """Close the active segment of each partition by one more record, its first successor.

    A segment is closed by the first record whose timestamp is more than the topic's
    ``segment.ms`` after that of its own first record: this waits until so much time has passed
    since the newest one. Returns of each partition the offset of the record that was written: what
    lies below can be compacted from now on, that record cannot. Raises TopicMissing,
    BrokerUnreachable; WorkbookError for a topic whose segments stay open for more than a minute.
    """
    partitions = range(require_topic(config, topic))
    admin = AdminClient({**config, "log_level": 0})
    pause = _segment_ms(admin, topic)
    open_until = (_newest(admin, topic, partitions) + pause) / 1000
    time.sleep(max(0.0, open_until + 0.002 - time.time()))
    with RecordProducer(config, topic) as producer:
        return {p: producer.send_bytes(value, key, p).offset for p in partitions}


def wait_until_compacted(
    config: Mapping[str, Any],
    topic: str,
    rolled: Mapping[int, int],
    *,
    tombstones: bool = False,
    deadline: float = LONGEST_WAIT_S,
    clock: Callable[[], float] = time.monotonic,
) -> pd.DataFrame:
    """Wait until a reader from the beginning finds each key once below the offsets ``rolled``.

    ``rolled`` is what ``roll`` returned. A tombstone outlives its first cleaning, and goes in a
    later one when ``delete.retention.ms`` have passed; there is a later one only after another
    roll. With ``tombstones`` this rolls every second and waits until they are gone. Returns the
    records of the topic, as ``read_all`` does, without those of the MARKER. Raises TimeoutError
    after ``deadline`` seconds: a broker with default settings looks for work every 15 s only.
    """
    began = rolled_at = clock()
    while True:
        records = read_all(dict(config), topic)
        closed = records[records["offset"] < records["partition"].map(dict(rolled))]
        closed = closed[closed["key"] != MARKER]
        left = int(closed.duplicated(["partition", "key"]).sum())
        left += int(closed["value"].isna().sum()) if tombstones else 0
        if not left:
            return records[records["key"] != MARKER].reset_index(drop=True)
        if clock() - began > deadline:
            raise TimeoutError(
                f"Expected {topic!r} to be compacted within {deadline:.0f} s, but {left} records "
                "that should go are still there. Does it have the settings of "
                "`new_compacted_topic(..., soon=True)`, and is log.cleaner.enable true?"
            )
        if tombstones and clock() - rolled_at > AGAIN_S:
            roll(config, topic)
            rolled_at = clock()
        time.sleep(TICK_S)


def require_compacted(config: Mapping[str, Any], topic: str) -> None:
    """Raise ``WorkbookError`` unless the topic keeps each key's latest record for good.

    Where the broker doesn't let us ask, it's taken for granted. Raises ``TopicMissing`` as ever.
    """
    require_topic(config, topic)
    settings = _settings(config, topic)
    policy = settings["cleanup.policy"] if settings else "compact"
    if policy != "compact":
        raise WorkbookError(
            f"Expected {topic!r} to be compacted, since it holds a table, but its cleanup.policy "
            f"is {policy!r}: rows that don't change would be gone after a while. Choose another "
            "topic, or one that doesn't exist yet: it will be created as it must be."
        )


def tombstones_kept(config: Mapping[str, Any], topic: str) -> int | None:
    """Return for how many ms a tombstone is kept at least; None for a topic that isn't compacted.

    Where the broker doesn't let us ask, it's taken for a compacted one with Kafka's default.
    """
    settings = _settings(config, topic)
    if settings is None:
        return DAY_MS
    is_compacted = "compact" in settings["cleanup.policy"].split(",")
    return int(settings["delete.retention.ms"]) if is_compacted else None


def _settings(config: Mapping[str, Any], topic: str) -> dict[str, str] | None:
    """Return a topic's settings; None where the broker doesn't let us ask."""
    admin, resource = AdminClient(dict(config)), ConfigResource(ResourceType.TOPIC, topic)
    [found] = admin.describe_configs([resource], request_timeout=ANSWER_S).values()
    try:
        return {name: each.value for name, each in found.result().items()}
    except KafkaException as failure:
        if failure.args[0].code() != KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise
        return None


def _segment_ms(admin: AdminClient, topic: str) -> int:
    """Return after how many ms a segment is closed; a compacted one at the latest by its lag."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    [found] = admin.describe_configs([resource], request_timeout=ANSWER_S).values()
    settings = found.result()
    longest = min(int(settings[name].value) for name in ("segment.ms", "max.compaction.lag.ms"))
    if longest > LONGEST_WAIT_S * 1000:
        raise WorkbookError(
            f"Expected a topic whose segments are closed soon, but those of {topic!r} stay open "
            f"for {longest:,} ms. Create it by `new_compacted_topic(..., soon=True)`."
        )
    return longest


def _newest(admin: AdminClient, topic: str, partitions: range) -> int:
    """Return the highest timestamp (ms) of the topic's records; below 0 where there is none."""
    wanted = {TopicPartition(topic, p): OffsetSpec.max_timestamp() for p in partitions}
    found = admin.list_offsets(wanted, request_timeout=ANSWER_S)
    return max(int(offset.result().timestamp) for offset in found.values())
