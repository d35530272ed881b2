"""Topics: names, partitions and settings."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

FOREVER = {
    # Events are dated in the past on purpose: neither retention nor the broker may drop them.
    "retention.ms": "-1",
    "message.timestamp.before.max.ms": str(2**63 - 1),
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is created: once, with all its partitions, never resized."""

    name: str
    partitions: int = 1
    config: dict[str, str] = field(default_factory=lambda: dict(FOREVER))

    @property
    def dead_letters(self) -> Topic:
        """Where records go that a reader of this topic rejects."""
        return Topic(f"{self.name}.dead-letters", 1)


def new_topic(stream: str, notebook: str, partitions: int = 1) -> Topic:
    """A topic of this notebook and this run: ``clicks.01-page-view-counter.k3f9``."""
    return Topic(f"{stream}.{notebook.replace('_', '-')}.{secrets.token_hex(2)}", partitions)
