"""What all producers share: settings, and what was delivered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from workbook.errors import BrokerUnreachable
from workbook.kafka.probe import require_topic

ANY_SIZE = {
    # A broker's limit is for compressed records. It shall decide, and not the client's own limit,
    # whose default is below it and for the bare ones.
    "message.max.bytes": 128 << 20,
    "compression.type": "zstd",
}

TOO_LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}
"""How a broker refuses a record for its size, or a batch of them for that of all together."""


@dataclass(slots=True)
class Deliveries:
    """Hears of every record the broker did not take; librdkafka reports only those."""

    failed: int = 0
    first: str = ""

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failed += 1
            self.first = self.first or f"{message.topic()}[{message.partition()}]: {error.str()}"

    def check(self, left: int = 0) -> None:
        """Raise BrokerUnreachable when records were refused, or ``left`` still wait."""
        if self.failed or left:
            raise BrokerUnreachable(
                f"at least {self.failed + left:,} records were not delivered "
                f"({self.first or 'no answer in time'}). Is the broker still running, and is "
                "its disk full? Nothing after the first failure can be trusted: use a new topic."
            )


def connect(config: Mapping[str, Any], topic: str, **settings: Any) -> Producer:
    """A producer whose broker answers and whose topic exists.

    ``config`` is a client configuration of librdkafka; it wins over ``settings``. Raises
    BrokerUnreachable within ten seconds, or TopicMissing.
    """
    require_topic(config, topic)
    return Producer({**settings, **config})
