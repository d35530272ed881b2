"""Single records into Kafka, each delivered before the call returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaError, Message, Producer

from workbook.errors import BrokerUnreachable, RecordRefused
from workbook.kafka.probe import ANSWER_S
from workbook.kafka.producer import ANY_SIZE, TOO_LARGE, Deliveries, connect

SINGLE = {
    "enable.idempotence": True,
    "linger.ms": 0,
    "partitioner": "murmur2_random",  # the Java client's: the same key, the same partition
    "message.timeout.ms": int(ANSWER_S * 1000),
    "log_level": 2,
    **ANY_SIZE,
}


@dataclass(frozen=True, slots=True)
class Landed:
    """Where a record lies now; arrival is its timestamp (ms)."""

    partition: int
    offset: int
    arrival: int


@dataclass
class RecordProducer:
    """Sends single records, each delivered before ``send_bytes`` returns.

    ``clock`` gives real seconds since 1970. Raises as ``connect`` does.
    """

    config: Mapping[str, Any]
    topic: str
    clock: Callable[[], float] = time.time
    _producer: Producer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._producer = connect(self.config, self.topic, **SINGLE)

    def send_bytes(
        self, value: bytes | None, key: bytes | None = None, partition: int = -1
    ) -> Landed:
        """Send any value at all: a poisoned one too, or none. -1: the key chooses the partition.

        Raises BrokerUnreachable when the broker does not take it within ten seconds, RecordRefused
        when it never will, since the record is too large.
        """
        outcome: list[tuple[KafkaError | None, Message]] = []
        self._producer.produce(
            self.topic,
            value,
            key,
            partition,
            on_delivery=lambda error, message: outcome.append((error, message)),
            timestamp=int(self.clock() * 1000),
        )
        self._producer.flush(ANSWER_S + 1)
        if not outcome or outcome[0][0] is not None:
            raise self._not_delivered(outcome[0][0] if outcome else None)
        message = outcome[0][1]
        landed, offset = message.partition(), message.offset()
        assert landed is not None  # a delivered message has both
        assert offset is not None
        return Landed(landed, offset, message.timestamp()[1])

    def close(self) -> None:
        """Deliver what an interrupted ``send`` left; raises BrokerUnreachable if it cannot."""
        Deliveries().check(self._producer.flush(ANSWER_S))

    def _not_delivered(self, error: KafkaError | None) -> BrokerUnreachable | RecordRefused:
        why = error.str() if error else "no answer in time"
        if error and error.code() in TOO_LARGE:
            return RecordRefused(
                f"Expected {self.config.get('bootstrap.servers')} to take the record into "
                f"{self.topic!r}, but it's larger than the topic's max.message.bytes, even "
                "compressed. Send a smaller one, or raise that limit."
            )
        return BrokerUnreachable(
            f"the record was not delivered to {self.topic!r} ({why}). Check that the broker at "
            f"{self.config.get('bootstrap.servers')} runs, then send it again."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
