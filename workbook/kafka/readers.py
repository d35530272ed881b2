"""Reads Kafka without Spark: a consumer, and a topic as it is right now."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from workbook.kafka.offsets import begin_and_end
from workbook.kafka.probe import UNKNOWN, missing, require_topic, unreachable

PATIENCE_S = 60.0
"""How long a running loop or query retries a silent broker before it gives up."""

FAST_PLAIN = {
    # The default idles half a second after an empty fetch.
    "fetch.queue.backoff.ms": "1",
    "queued.min.messages": "1000000",
    "queued.max.messages.kbytes": "262144",
    "fetch.message.max.bytes": str(8 << 20),
    # What a broker takes in compressed form may be larger than this limit's default, unpacked; a
    # reader that refuses such a record meets it again after each restart.
    "receive.message.max.bytes": str(2**31 - 1),
    # The default waits up to ten seconds between two tries to reach a broker that was away.
    "reconnect.backoff.max.ms": "1000",
    # Our own exceptions say it better than the client's log lines on stderr.
    "log_level": "0",
}

_DOWN = {KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._RESOLVE}


Listener = Callable[[Consumer, list[TopicPartition]], None]


def _nothing(reader: Consumer, partitions: list[TopicPartition]) -> None:
    """Ignore a change of the assignment."""


class PatientConsumer(Consumer):
    """A consumer whose ``poll`` retries a silent broker, but not for ever.

    ``poll(timeout)`` gives a message or None, as ever. It raises ``BrokerUnreachable`` when no
    broker has answered for ``patience`` seconds, ``TopicMissing`` when the topic is gone. Who asks
    by ``when_gone`` hears of each partition that is taken away, also if it comes back later.
    """

    def __init__(
        self,
        config: dict[str, str],
        patience: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__({**config, "error_cb": self._trouble})
        self._config, self._patience, self._clock = config, patience, clock
        self._down_since: float | None = None
        self._gone: Callable[[list[TopicPartition]], None] = lambda partitions: None

    def when_gone(self, forget: Callable[[list[TopicPartition]], None]) -> None:
        """Call ``forget`` with the partitions that this reader has to give away, or has lost."""
        self._gone = forget

    def subscribe(
        self,
        topics: list[str],
        on_assign: Listener | None = None,
        on_revoke: Listener | None = None,
        on_lost: Listener | None = None,
    ) -> None:
        """Subscribe as ever; callbacks given to ``when_gone`` run after these listeners."""

        def then_gone(listener: Listener) -> Listener:
            def called(reader: Consumer, partitions: list[TopicPartition]) -> None:
                listener(reader, partitions)
                self._gone(partitions)

            return called

        revoked = on_revoke or _nothing
        super().subscribe(
            topics, on_assign or _nothing, then_gone(revoked), then_gone(on_lost or revoked)
        )

    def poll(self, timeout: float = -1) -> Message | None:
        """Return the next message, or None after ``timeout`` seconds without one."""
        message = super().poll(timeout)
        if message is None:
            self._check()
            return None
        error = message.error()
        if error is None:
            self._down_since = None
            return message
        if error.code() in UNKNOWN:
            raise missing(self._config, str(message.topic()))
        if error.code() not in _DOWN | {KafkaError._PARTITION_EOF}:
            raise KafkaException(error)
        return None

    def _trouble(self, error: KafkaError) -> None:
        if error.code() in _DOWN and self._down_since is None:
            self._down_since = self._clock()

    def _check(self) -> None:
        """Ask the broker if the client has complained; being idle is no trouble in itself."""
        since = self._down_since
        if since is None:
            return
        try:
            self.list_topics(timeout=0.5)
            self._down_since = None
        except KafkaException:
            if self._clock() - since > self._patience:
                raise unreachable(self._config, self._patience) from None


def consumer(
    config: dict[str, str], topic: str, group: str | None = None, patience: float = PATIENCE_S
) -> PatientConsumer:
    """Return a consumer of the topic from its first record on; close it when you are done.

    With a ``group`` it goes on where the group committed last, without one it starts anew each
    time. Raises ``TopicMissing`` and ``BrokerUnreachable`` within ten seconds.
    """
    require_topic(config, topic)
    settings = {
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "true" if group else "false",
        "group.id": group or f"workbook-{secrets.token_hex(4)}",
    }
    reader = PatientConsumer({**FAST_PLAIN, **settings, **config}, patience)
    reader.subscribe([topic])
    return reader


def read_messages(
    config: dict[str, str], topic: str, deadline: float = PATIENCE_S, batch: int = 10_000
) -> list[Message]:
    """Read all records the topic holds at the time of the call, each partition in order.

    Raises ``TopicMissing``, and ``BrokerUnreachable`` when ``deadline`` seconds were not enough.
    """
    partitions = require_topic(config, topic)
    settings = {"group.id": "workbook-read-all", "enable.auto.commit": "false"}
    reader = Consumer({**FAST_PLAIN, **settings, "enable.partition.eof": "true", **config})
    try:
        messages = _read_to_end(reader, topic, partitions, time.monotonic() + deadline, batch)
    except (TimeoutError, KafkaException) as failure:
        raise unreachable(config, deadline) from failure
    finally:
        reader.close()
    return sorted(messages, key=lambda m: (m.partition() or 0, m.offset() or 0))


def _read_to_end(
    reader: Consumer, topic: str, partitions: int, until: float, batch: int
) -> list[Message]:
    ends: dict[int, int] = {}
    for number in range(partitions):
        first, end = begin_and_end(reader, TopicPartition(topic, number), until)
        if end > first:
            ends[number] = end
    reader.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in ends])
    found: list[Message] = []
    while ends:
        if time.monotonic() > until:
            raise TimeoutError
        for message in reader.consume(batch, timeout=0.2):
            _take(message, ends, found)
    return found


def _take(message: Message, ends: dict[int, int], found: list[Message]) -> None:
    """Keep the message if it belongs to what was there; forget partitions that are finished."""
    number, error = message.partition(), message.error()
    end = ends.get(number) if number is not None else None
    if error is not None and error.code() not in _DOWN | {KafkaError._PARTITION_EOF}:
        raise KafkaException(error)
    if number is None or end is None:
        return
    offset = message.offset() or 0
    if error is None and offset < end:
        found.append(message)
    # The end of a partition counts too: its last offsets may hold no record (transactions).
    at_end = error is not None and error.code() == KafkaError._PARTITION_EOF
    if at_end or (error is None and offset >= end - 1):
        del ends[number]


def read_all(config: dict[str, str], topic: str) -> pd.DataFrame:
    """Read a topic as a table: partition, offset, timestamp (ms), key, value (bytes).

    An empty topic gives an empty table. Raises as ``read_messages`` does.
    """
    rows = [
        (m.partition(), m.offset(), m.timestamp()[1], m.key(), m.value())
        for m in read_messages(config, topic)
    ]
    return pd.DataFrame(rows, columns=["partition", "offset", "timestamp", "key", "value"])


def latest_rows(messages: Iterable[Message]) -> dict[str, Any]:
    """Return of each key (text) the JSON of its last record; a tombstone takes its key out."""
    known: dict[str, Any] = {}
    for message in messages:
        key, value = (message.key() or b"").decode(), message.value()
        known.pop(key, None)
        if value is not None:
            known[key] = json.loads(value)
    return known


def read_dead_letters(config: dict[str, str], topic: str) -> pd.DataFrame:
    """Read dead letters as a table.

    Columns: reason, topic, partition, offset, arrival (ms), key, value (bytes), length (bytes of
    the whole value, where it had to be cut for its size).

    Partition and offset are those of the record that was rejected. Raises as ``read_messages``.
    """
    columns = ["reason", "topic", "partition", "offset", "arrival", "key", "value", "length"]
    rows = [_letter(message) for message in read_messages(config, topic)]
    return pd.DataFrame(rows, columns=columns)


def _letter(message: Message) -> dict[str, Any]:
    headers = {name: _text(value) for name, value in dict(message.headers() or []).items()}
    numbers = {name: int(headers[name]) for name in ("partition", "offset", "arrival")}
    value = message.value()
    length = int(headers.get("value-length", len(value or b"")))
    return {**headers, **numbers, "key": message.key(), "value": value, "length": length}


def _text(value: str | bytes | None) -> str:
    return value.decode() if isinstance(value, bytes) else value or ""
