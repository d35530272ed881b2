"""Metrics into their topic: from a loop by hand, with news of what has been delivered."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from workbook.errors import BrokerUnreachable
from workbook.kafka.producer import DeliveringProducer
from workbook.streams.events.metrics import EVENTS, Metric


def record(metric: Metric, event_ids: Sequence[int] = ()) -> dict[str, Any]:
    """Return key, value and, for event ids, their header, as ``produce`` takes them."""
    headers = {EVENTS: ",".join(map(str, event_ids)).encode()} if event_ids else {}
    return {"key": metric.key(), "value": metric.value(), "headers": headers}


@dataclass(slots=True)
class _Sent:
    record: dict[str, Any]
    then: Callable[[], None]
    since: float
    delivered: bool = False


class MetricsProducer:
    """Sends metrics, tries again what was not delivered, and says when all up to one is safe.

    Call ``serve`` often: deliveries are heard of only there. A metric that the broker has not
    taken within ``patience`` seconds is an error (``BrokerUnreachable``) of the next call.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        *,
        with_events: bool = False,
        patience: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        connect: Callable[[dict[str, Any]], Any] = Producer,
    ) -> None:
        self.topic, self.delivered = topic, 0
        self._with_events, self._patience, self._clock = with_events, patience, clock
        self._why, self._bootstrap = "", config.get("bootstrap.servers")
        self._producer = DeliveringProducer(
            config,
            topic,
            {"linger.ms": 0},
            patience=patience,
            connect=connect,
            on_full=self._check,
        )
        self._waiting: deque[_Sent] = deque()
        self._again: deque[_Sent] = deque()

    def send(
        self, metric: Metric, event_ids: Sequence[int] = (), then: Callable[[], None] = lambda: None
    ) -> None:
        """Produce a metric; ``then`` is called once it and all before it have been delivered."""
        ids = event_ids if self._with_events else ()
        sent = _Sent(record(metric, ids), then, self._clock())
        self._waiting.append(sent)
        self._produce(sent)
        self.serve()

    def serve(self) -> None:
        """Let the callbacks of deliveries run; raises when a metric cannot be delivered."""
        self._producer.poll()
        for _ in range(len(self._again)):
            self._produce(self._again.popleft())
        while self._waiting and self._waiting[0].delivered:
            # The unbroken run from the beginning: a later success must not commit past a failure.
            self._waiting.popleft().then()
        self._check()

    def close(self) -> None:
        """Wait until everything has been delivered; raises when it cannot be."""
        while self._waiting:
            self._producer.flush(0.1)
            self.serve()  # patience ends it

    def _produce(self, sent: _Sent) -> None:
        self._producer.produce(**sent.record, report=partial(self._report, sent))

    def _report(self, sent: _Sent, error: KafkaError | None, _: Message | None) -> None:
        if error is None:
            sent.delivered = True
            self.delivered += 1
        else:
            self._why = str(error)
            self._again.append(sent)  # not from within a callback: the queue may be full

    def _check(self) -> None:
        first = next((sent for sent in self._waiting if not sent.delivered), None)
        if first is not None and self._clock() - first.since > self._patience:
            raise BrokerUnreachable(
                f"Expected {self._bootstrap} to take {len(self._waiting)} metrics into "
                f"{self.topic!r}, but it did not within {self._patience:.0f} s "
                f"({self._why or 'no answer'}). Nothing behind them was committed: check that "
                "broker and topic exist (python -m workbook doctor), and start again."
            )
