"""What an exploration will read: which records of a topic, and what its settings say."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbook.errors import WorkbookError
from workbook.kafka.offsets import COMMITTED, first_since, partition_offsets
from workbook.kafka.require import settings_of, topic_ids

DEFAULT_LAST_MS = 3_600_000
"""Without ``--last`` the records of this time are read, or, if none has come, the newest ones."""


@dataclass(frozen=True)
class Plan:
    """The offsets to read by partition, from the first to before the second.

    ``held`` is how many offsets the topic has in all; ``settings`` are the topic's, none where the
    broker doesn't show them.
    """

    topic: str
    partitions: int
    ranges: Mapping[int, tuple[int, int]]
    held: int
    settings: Mapping[str, str]

    @property
    def offsets(self) -> int:
        """Return how many offsets are read: as many records, but for gaps."""
        return sum(end - begin for begin, end in self.ranges.values())

    @property
    def compacted(self) -> bool:
        """Return True for a topic that keeps each key's latest record."""
        return "compact" in self.settings.get("cleanup.policy", "")


def plan(config: Mapping[str, Any], topic: str, last_ms: int | None, most: int) -> Plan:
    """Choose what to read: what arrived within ``last_ms``, and at most ``most`` records of it.

    Of more, the newest of each partition are read, the same share of each. Only questions are
    asked: nothing is created, joined or committed. Raises ``TopicMissing``, ``RightMissing``
    without the rights to DESCRIBE and to READ, ``BrokerUnreachable``, and ``WorkbookError`` for a
    topic without a record in that time.
    """
    topic_ids(config, [topic])
    config = {**config, **COMMITTED}
    places = {at.partition: at for at in partition_offsets(config, topic)}
    held = sum(at.end - at.begin for at in places.values())
    wanted_ms = DEFAULT_LAST_MS if last_ms is None else last_ms
    since = first_since(config, topic, int(time.time() * 1000) - wanted_ms)
    ranges = {n: (max(since[n], at.begin), at.end) for n, at in places.items()}
    if last_ms is None and not any(end > begin for begin, end in ranges.values()):
        ranges = {n: (at.begin, at.end) for n, at in places.items()}
    total = sum(max(end - begin, 0) for begin, end in ranges.values())
    if not total:
        raise WorkbookError(
            f"Expected records in {topic!r}, but none can be read"
            + (" of that time: ask for a longer --last." if held else ": the topic is empty.")
        )
    share = min(most / total, 1.0)
    kept = {
        number: (end - max(round((end - begin) * share), 1), end)
        for number, (begin, end) in ranges.items()
        if end > begin
    }
    return Plan(topic, len(places), kept, held, settings_of(config, topic))
