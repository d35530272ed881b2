"""Topics: names, partitions and settings."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

CONSUMER_OFFSETS = "__consumer_offsets"
"""Kafka's own topic, where consumer groups keep what they have committed, and who is in them."""

PREFIX = "workbook-"
"""All names that a chapter makes begin with it: topics, groups, transactional ids."""

LEGAL = re.compile(r"(?!\.\.?$)[A-Za-z0-9._-]{1,249}")
"""The names that Kafka allows."""

DEAD_LETTERS = ".dead-letters"
"""The end of the name of a topic of dead letters."""

FOREVER = {
    # Events are dated in the past on purpose: neither retention nor the broker may drop them.
    "retention.ms": "-1",
    "message.timestamp.before.max.ms": str(2**63 - 1),
}


COMPACTED = {**FOREVER, "cleanup.policy": "compact"}
"""Of each key the latest record stays; a record without a key is refused."""

SOON = {
    # Compaction rewrites closed segments only, so a partition's last records stay as they are, and
    # a reader must take the latest of each key. A segment that is written to is closed by the first
    # record that comes this much (by its timestamp) after the segment's first one.
    "segment.ms": "500",
    "min.cleanable.dirty.ratio": "0",  # clean whenever there is something new, however little
    "delete.retention.ms": "500",  # so long a reader has to see a tombstone, after a first cleaning
}
"""For lessons: compacted within a second on the lab's own broker.

Not for large streams: each half second of them would be a segment of its own.
"""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is created: once, with all its partitions, never resized."""

    name: str
    partitions: int = 1
    config: dict[str, str] = field(default_factory=lambda: dict(FOREVER))

    @property
    def dead_letters(self) -> Topic:
        """Return the topic for records that a reader of this one rejects."""
        return Topic(f"{self.name}{DEAD_LETTERS}", 1)


def new_topic(stream: str, notebook: str, partitions: int = 1) -> Topic:
    """Return a topic of this run: ``workbook-clicks.01-page-view-counter.3f9a``."""
    name = f"{stream}.{notebook.replace('_', '-')}.{secrets.token_hex(2)}"
    return Topic(PREFIX + name, partitions)


def compacted(name: str, partitions: int = 1, *, soon: bool = False) -> Topic:
    """Return a topic that keeps each key's latest record; with ``soon``, while you watch.

    Without ``soon`` the broker's defaults decide when, and a few megabytes may stay for days.
    """
    return Topic(name, partitions, {**COMPACTED, **(SOON if soon else {})})


def new_compacted_topic(
    stream: str, notebook: str, partitions: int = 1, *, soon: bool = False
) -> Topic:
    """Return a compacted topic of this notebook and this run."""
    return compacted(new_topic(stream, notebook).name, partitions, soon=soon)
