"""The one producer of the package: idempotent, with back-pressure, each delivery reported.

``Delivery`` is how Spark's driver and tasks use it.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from workbook.errors import BrokerUnreachable, RecordRefused
from workbook.kafka.require import (
    MEGABYTE,
    PATIENCE_S,
    UNKNOWN,
    largest_record,
    not_taken,
    patiently,
    unreachable,
)

_A_LOOK_S = 1.0

SETTINGS = {
    # Without idempotence a retry may overtake or duplicate records.
    "enable.idempotence": True,
    "partitioner": "murmur2_random",  # the Java client's: the same key, the same partition
    # A broker's limit is for compressed records. It shall decide, and not the client's own limit,
    # whose default is below it and for the bare ones.
    "message.max.bytes": 128 << 20,
    "compression.type": "zstd",
    # The default waits up to ten seconds between two tries to reach a broker.
    "reconnect.backoff.max.ms": 1000,
    "log_level": 0,  # what goes wrong is raised, not printed between a learner's cells
}

SILENT = {KafkaError._MSG_TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN}
TOO_LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}
"""How a broker refuses a record for its size, or a batch of them for that of all together."""

Report = Callable[[KafkaError | None, Message | None], None]
"""Called once the broker has a record, without an error; or with the one that lost it."""


@dataclass(frozen=True, slots=True)
class Landed:
    """The partition and offset of a delivered record; arrival is its timestamp (ms)."""

    partition: int
    offset: int
    arrival: int


class DeliveringProducer:
    """Produces to a topic, and waits where its queue is full.

    A record that the broker has not taken within ``patience`` seconds is lost, and reported so.
    ``config`` is a client configuration of librdkafka; it wins over ``settings``, and these over
    ``SETTINGS``.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        topic: str,
        settings: Mapping[str, Any] = MappingProxyType({}),
        *,
        patience: float = PATIENCE_S,
        connect: Callable[[dict[str, Any]], Any] = Producer,
    ) -> None:
        self.topic, self.failed = topic, 0
        self._patience, self._servers = patience, config.get("bootstrap.servers")
        self._config, self._throttled = config, False
        self._error: KafkaError | None = None
        more = {"message.timeout.ms": int(patience * 1000), "throttle_cb": self._throttle}
        self._producer = connect({**SETTINGS, **more, **settings, **config})
        # What an idempotent producer is given before it knows a broker waits for half a second.
        with suppress(KafkaException):
            self._producer.list_topics(topic, timeout=_A_LOOK_S)

    def produce(
        self,
        value: bytes | None,
        key: bytes | None = None,
        partition: int = -1,
        *,
        timestamp: int = 0,
        headers: Mapping[str, str | bytes] | None = None,
        report: Report | None = None,
    ) -> None:
        """Hand a record to the producer; -1: the key chooses the partition.

        ``report`` is called by a later ``poll`` or ``flush``. Without it, failures are counted.
        """
        self.produce_all([(value, key, partition, timestamp)], headers, report)

    def produce_all(
        self,
        records: Iterable[tuple[bytes | None, bytes | None, int, int]],
        headers: Mapping[str, str | bytes] | None = None,
        report: Report | None = None,
    ) -> None:
        """Hand over many records: value, key, partition, timestamp (ms; 0 for now)."""
        produce, report = self._producer.produce, report or self._count
        more: dict[str, Any] = {"on_delivery": report}
        if headers is not None:
            more["headers"] = headers
        for value, key, partition, timestamp in records:
            while True:
                try:
                    produce(self.topic, value, key, partition, timestamp=timestamp, **more)
                    break
                except BufferError:
                    self.poll(0.1)  # let the broker catch up
                except KafkaException as refused:
                    report(refused.args[0], None)
                    break

    def send_now(
        self, value: bytes | None, key: bytes | None = None, partition: int = -1
    ) -> Landed:
        """Send one record, any bytes or none; return once it's delivered, with its place.

        Raises BrokerUnreachable when the broker doesn't take it within ``patience`` seconds,
        RecordRefused when it never will, since the record is too large.
        """
        outcome: list[tuple[KafkaError | None, Message | None]] = []
        self.produce(value, key, partition, report=lambda *reported: outcome.append(reported))
        self.flush()
        error, message = outcome[0] if outcome else (None, None)
        if error is None and message is not None:
            arrival = message.timestamp()[1]
            return Landed(message.partition() or 0, message.offset() or 0, arrival)
        final = error is not None and error.code() in TOO_LARGE
        kind = RecordRefused if final else BrokerUnreachable
        raise kind(f"{self.told('the record', error)} Then send it again.")

    def poll(self, seconds: float = 0) -> None:
        """Let the reports of deliveries run."""
        self._producer.poll(seconds)

    def flush(self, seconds: float | None = None) -> int:
        """Wait until each record has been delivered or given up; returns how many still wait."""
        return self._producer.flush(self._patience + 1 if seconds is None else seconds) or 0

    def settle(self) -> tuple[int, KafkaError | None]:
        """Wait as ``flush`` does; return how many records were lost since the last call, and why.

        An error that isn't silence is the better answer to why.
        """
        lost, why = self.flush() + self.failed, self._error
        self.failed, self._error = 0, None
        return lost, why

    def check(self, left: int = 0) -> None:
        """Raise BrokerUnreachable when records were refused, or ``left`` still wait."""
        if self.failed or left:
            raise BrokerUnreachable(
                f"at least {self.failed + left:,} records were not delivered. "
                f"{self.told('all', self._error)} "
                "Nothing after the first failure can be trusted: use a new topic."
            )

    def close(self) -> None:
        """Deliver everything; raises as ``check`` does."""
        while (left := self.flush(0.5)) and not self.failed:
            pass  # each record is delivered or given up in time: this ends
        self.check(left)

    def told(self, what: str, error: KafkaError | None) -> str:
        """Return what the broker was expected to take, why it did not, and what to do."""
        said = f"{error.str()}: " if error else ""
        return (
            f"Expected {self._servers} to take {what} into {self.topic!r}, but within "
            f"{self._patience:.0f} s it did not ({said}{self._why(error)})."
        )

    def _why(self, error: KafkaError | None) -> str:
        code = error.code() if error else KafkaError._MSG_TIMED_OUT
        if code in TOO_LARGE:
            return "a record or a batch of records exceeds the topic's max.message.bytes; raise it"
        if code not in SILENT:
            return "check that the topic exists, isn't compacted, and that you may write there"
        if self._throttled:
            return "a quota slows this user down; write less at once, or ask for a higher quota"
        return not_taken(self._config, self.topic)

    def _throttle(self, event: Any) -> None:
        self._throttled = event.throttle_time > 0  # 0: the broker has let go

    def _count(self, error: KafkaError | None, message: Message | None) -> None:
        if error is not None:
            self.failed += 1
            if self._error is None or self._error.code() in SILENT:
                self._error = error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


# --- from Spark ---------------------------------------------------------------------------------

HEADERS = 1000
"""Bytes that are kept free for a record's headers, and for its frame."""


def bounded(
    config: Mapping[str, Any], topic: str, patience: float = PATIENCE_S
) -> tuple[int, dict[str, Any]]:
    """Return how large key and value of a record may be, and settings that keep batches below it.

    A broker's limit is for a batch; so no batch is larger than it before it's compressed. Raises
    ``BrokerUnreachable`` where no broker tells the limit within ``patience`` seconds.
    """

    def waited(failure: KafkaException) -> float:
        return 0 if failure.args[0].code() in UNKNOWN else patience

    most = MEGABYTE
    try:
        most = patiently(lambda: largest_record(config, topic), waited, 0.5)
    except KafkaException as failure:
        if failure.args[0].code() not in UNKNOWN:  # no such topic: the producer will say so
            raise unreachable(config, patience) from failure
    most = max(most - HEADERS, 0)
    return most, {"batch.size": max(min(most, 1_000_000), 1)}


class Record(NamedTuple):
    """A record; without a partition the key chooses one. ``at`` (ms) is for its dead letter."""

    value: bytes | None
    key: bytes
    partition: int = -1
    headers: Mapping[str, str | bytes] | None = None
    at: int = -1


@dataclass(frozen=True)
class Delivery:
    """How records get to a topic. It travels to executors by pickle.

    A process has one producer for it: a Python worker has many tasks. A record that the broker
    doesn't take within ``patience`` seconds is an error.
    """

    config: dict[str, Any]
    topic: str
    patience: float = PATIENCE_S

    def fits(self, record: Record) -> bool:
        """Return whether key and value aren't too large for a record of the topic."""
        most, _ = self._connected()
        return len(record.key) + len(record.value or b"") <= most

    def letter(self, record: Record) -> dict[str, Any]:
        """Return what ``DeadLetters.send`` takes of a record that isn't in the topic."""
        where = {"topic": self.topic, "partition": record.partition, "offset": -1}
        return {"key": record.key, "value": record.value, **where, "arrival": record.at}

    def send(self, records: Iterable[Record]) -> int:
        """Send records, in order; return how many, once the broker has all of them.

        Raises ``BrokerUnreachable`` where it doesn't take one.
        """
        _, producer = self._connected()
        sent, refused = 0, list[KafkaError]()  # of these alone: somebody else may send meanwhile

        def report(error: KafkaError | None, _: Message | None) -> None:
            if error is not None:
                refused.append(error)

        for value, key, partition, headers, _ in records:
            producer.produce(value, key, partition, headers=headers, report=report)
            sent += 1
        if producer.flush() or refused:
            error = min(refused, key=lambda error: error.code() in SILENT, default=None)
            why = producer.told("records", error)
            raise BrokerUnreachable(f"{why} Start again: with the same checkpoint nothing is lost.")
        return sent

    def _connected(self) -> tuple[int, DeliveringProducer]:
        return _connected(tuple(sorted(self.config.items())), self.topic, self.patience)


@lru_cache(maxsize=4)
def _connected(
    config: tuple[tuple[str, Any], ...], topic: str, patience: float
) -> tuple[int, DeliveringProducer]:
    """Return how many bytes key and value may have, and a producer for many small records."""
    most, limit = bounded(dict(config), topic, patience)
    bulk = {"linger.ms": 5, "compression.type": "lz4", **limit}
    return most, DeliveringProducer(dict(config), topic, bulk, patience=patience)
