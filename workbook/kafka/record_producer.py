"""Sends single records to Kafka, each delivered before the call returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, Message

from workbook.errors import BrokerUnreachable, RecordRefused
from workbook.kafka.probe import ANSWER_S, require_topic
from workbook.kafka.producer import TOO_LARGE, DeliveringProducer


@dataclass(frozen=True, slots=True)
class Landed:
    """The partition and offset of a delivered record; arrival is its timestamp (ms)."""

    partition: int
    offset: int
    arrival: int


class RecordProducer(DeliveringProducer):
    """Sends single records, each delivered before ``send_bytes`` returns.

    ``clock`` gives real seconds since 1970. Raises TopicMissing, and BrokerUnreachable within ten
    seconds.
    """

    def __init__(
        self, config: Mapping[str, Any], topic: str, clock: Callable[[], float] = time.time
    ) -> None:
        require_topic(config, topic)
        super().__init__(config, topic, {"linger.ms": 0}, patience=ANSWER_S)
        self._config, self._clock = config, clock

    def send_bytes(
        self, value: bytes | None, key: bytes | None = None, partition: int = -1
    ) -> Landed:
        """Send any value at all: a poisoned one too, or none. -1: the key chooses the partition.

        Raises BrokerUnreachable when the broker does not take it within ten seconds, RecordRefused
        when it never will, since the record is too large.
        """
        outcome: list[tuple[KafkaError | None, Message | None]] = []
        self.produce(
            value,
            key,
            partition,
            timestamp=int(self._clock() * 1000),
            report=lambda error, message: outcome.append((error, message)),
        )
        self.flush()
        error, message = outcome[0] if outcome else (None, None)
        if error is not None or message is None:
            raise self._not_delivered(error)
        landed, offset = message.partition(), message.offset()
        assert landed is not None  # a delivered message has both
        assert offset is not None
        return Landed(landed, offset, message.timestamp()[1])

    def _not_delivered(self, error: KafkaError | None) -> BrokerUnreachable | RecordRefused:
        why = error.str() if error else "no answer in time"
        if error and error.code() in TOO_LARGE:
            return RecordRefused(
                f"Expected {self._config.get('bootstrap.servers')} to take the record into "
                f"{self.topic!r}, but it's larger than the topic's max.message.bytes, even "
                "compressed. Send a smaller one, or raise that limit."
            )
        return BrokerUnreachable(
            f"the record was not delivered to {self.topic!r} ({why}). Check that the broker at "
            f"{self._config.get('bootstrap.servers')} runs, then send it again."
        )
