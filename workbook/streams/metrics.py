"""Metrics into their topic from a loop by hand, with news of what was delivered; and out of it."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from confluent_kafka import KafkaError, Message, Producer

from workbook.errors import BrokerUnreachable, Rejected
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_messages
from workbook.streams.events.metrics import EVENTS, Metric


def record(metric: Metric, event_ids: Sequence[int] = ()) -> dict[str, Any]:
    """Return key, value and, for event ids, their header, as ``produce`` takes them."""
    headers = {EVENTS: ",".join(map(str, event_ids)).encode()} if event_ids else {}
    return {"key": metric.key(), "value": metric.value(), "headers": headers}


@dataclass(slots=True)
class _Sent:
    then: Callable[[], None]
    delivered: bool = False


class MetricsProducer:
    """Sends metrics, and says when all metrics up to one have been delivered.

    Call ``serve`` often: deliveries are heard of only there. The client retries for a minute. A
    metric that the broker has not taken by then, or refuses for good, is an error
    (``BrokerUnreachable``) of the next call.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        *,
        with_events: bool = False,
        connect: Callable[[dict[str, Any]], Any] = Producer,
    ) -> None:
        self.topic, self.delivered, self._with_events = topic, 0, with_events
        self._why, self._bootstrap = "", config.get("bootstrap.servers")
        self._producer = DeliveringProducer(config, topic, {"linger.ms": 0}, connect=connect)
        self._waiting: deque[_Sent] = deque()

    def send(
        self, metric: Metric, event_ids: Sequence[int] = (), then: Callable[[], None] = lambda: None
    ) -> None:
        """Produce a metric; ``then`` is called once it and all before it have been delivered."""
        sent = _Sent(then)
        self._waiting.append(sent)
        ids = event_ids if self._with_events else ()
        self._producer.produce(**record(metric, ids), report=partial(self._report, sent))
        self.serve()

    def serve(self) -> None:
        """Let the callbacks of deliveries run; raises when a metric cannot be delivered."""
        self._producer.poll()
        while self._waiting and self._waiting[0].delivered:
            # The unbroken run from the beginning: a later success must not commit past a failure.
            self._waiting.popleft().then()
        self._check()

    def close(self) -> None:
        """Wait until everything has been delivered; raises when it cannot be."""
        while self._waiting:
            self._producer.flush(0.1)
            self.serve()  # each metric is delivered or given up in time: this ends

    def _report(self, sent: _Sent, error: KafkaError | None, _: Message | None) -> None:
        if error is None:
            sent.delivered = True
            self.delivered += 1
        else:
            self._why = self._why or str(error)

    def _check(self) -> None:
        if self._why:
            raise BrokerUnreachable(
                f"Expected {self._bootstrap} to take {len(self._waiting)} metrics into "
                f"{self.topic!r}, but it did not ({self._why}). Nothing behind them was committed: "
                "check that broker and topic exist (python -m workbook doctor), and start again."
            )


def read_metrics(config: dict[str, Any], topic: str) -> pd.DataFrame:
    """Read all metrics of a topic, in their order, as a table.

    Columns: second, partition (of the clicks; may be null), views, offset, timestamp (ms),
    event_ids (array of bigint; empty where the header is missing).

    Records that are no metrics are left out. Transactions that were not committed are not seen,
    unless ``config`` says ``isolation.level`` read_uncommitted. Raises as ``read_messages``.
    """
    columns = ["second", "partition", "views", "offset", "timestamp", "event_ids"]
    rows = []
    for message in read_messages(config, topic):
        try:
            m = Metric.from_record(message.key(), message.value())
        except Rejected:
            continue
        where = (message.offset(), message.timestamp()[1])
        rows.append((m.second, m.partition, m.views, *where, _event_ids(message)))
    return pd.DataFrame(rows, columns=columns)


def _event_ids(message: Message) -> np.ndarray:
    text = dict(message.headers() or []).get(EVENTS) or b""
    try:
        return np.array(text.split(b",") if text else [], dtype=np.int64)  # type: ignore
    except (ValueError, OverflowError):  # anybody may write to a topic
        return np.array([], dtype=np.int64)
