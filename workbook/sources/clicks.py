"""The shop's single clicks into Kafka, and visitors that keep coming."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from workbook.errors import BrokerUnreachable
from workbook.events import Click
from workbook.sources.checks import ANSWER_S
from workbook.sources.producer import Deliveries, Sent, Stream, connect, generate

SINGLE = {
    "enable.idempotence": True,
    "linger.ms": 0,
    "partitioner": "murmur2_random",  # the Java client's: the same key, the same partition
    "message.timeout.ms": int(ANSWER_S * 1000),
    "log_level": 2,
}

ENDLESS = 2**40
RANDOM_END = re.compile(r"\.[0-9a-f]{4}$")
"""What ``topics.new_topic`` appends to tell one run's topic from the next one's."""


@dataclass(frozen=True, slots=True)
class Landed:
    """Where a click lies now; arrival is its record timestamp (ms)."""

    partition: int
    offset: int
    arrival: int


@dataclass(slots=True)
class ClickProducer:
    """Sends the shop's single clicks, each delivered before ``send`` returns.

    ``clock`` gives real seconds since 1970. Raises as ``connect`` does.
    """

    config: Mapping[str, Any]
    topic: str
    clock: Callable[[], float] = time.time
    _producer: Producer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._producer = connect(self.config, self.topic, **SINGLE)

    def send(self, click: Click) -> Landed:
        """Send one click, keyed by its tab id; says where it landed.

        Raises BrokerUnreachable when the broker does not take it within ten seconds.
        """
        key = click.tab_id.encode() if click.tab_id is not None else None
        return self.send_bytes(click.to_json(), key)

    def send_bytes(self, value: bytes | None, key: bytes | None = None) -> Landed:
        """Send any value at all: a poisoned one too."""
        outcome: list[tuple[KafkaError | None, Message]] = []
        self._producer.produce(
            self.topic,
            value,
            key,
            on_delivery=lambda error, message: outcome.append((error, message)),
            timestamp=int(self.clock() * 1000),
        )
        self._producer.flush(ANSWER_S + 1)
        if not outcome or outcome[0][0] is not None:
            why = outcome[0][0].str() if outcome and outcome[0][0] else "no answer in time"
            raise BrokerUnreachable(
                f"the click was not delivered to {self.topic!r} ({why}). Check that the broker at "
                f"{self.config.get('bootstrap.servers')} runs, then click again."
            )
        message = outcome[0][1]
        partition, offset = message.partition(), message.offset()
        assert partition is not None  # a delivered message has both
        assert offset is not None
        return Landed(partition, offset, message.timestamp()[1])

    def close(self) -> None:
        """Deliver what an interrupted ``send`` left; raises BrokerUnreachable if it cannot."""
        Deliveries().check(self._producer.flush(ANSWER_S))

    def __enter__(self) -> ClickProducer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Visitors:
    """A stream whose events arrive in real time, from a thread of its own, until ``stop``.

    Where a cell is run again they would be twice as many: new visitors end those that still come
    to a topic of the same stream and notebook, which only differs in its random end.
    ``sent`` says how many events and messages are in the topic; a stream of now starts by
    ``stream.ending_by(now, count, speed=1)``. Raises as ``generate``, from ``stop``.
    """

    def __init__(self, config: Mapping[str, Any], topic: str, stream: Stream) -> None:
        self.sent = Sent(0, 0, 0.0)
        self._over = threading.Event()
        self._error: list[Exception] = []
        self._work = (config, topic, stream)
        self._thread = threading.Thread(target=self._send, daemon=True)
        place = RANDOM_END.sub("", topic)
        if place in _coming:
            _coming[place]._over.set()
        _coming[place] = self
        self._thread.start()

    def stop(self) -> Sent:
        """Let nobody in any more; all who came have been delivered on return."""
        self._over.set()
        self._thread.join()
        if self._error:
            raise self._error[0]
        return self.sent

    def _send(self) -> None:
        try:
            self.sent = generate(
                *self._work, ENDLESS, speed=1, progress=self._hear, until=self._over.is_set
            )
        except Exception as error:
            self._error.append(error)

    def _hear(self, sent: Sent) -> None:
        self.sent = sent


_coming: dict[str, Visitors] = {}
"""Topic without its random end to the latest visitors."""
