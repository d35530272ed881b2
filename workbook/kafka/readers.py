"""Reads Kafka without Spark: a consumer that follows a topic, and records of ranges of offsets."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from workbook.errors import BrokerUnreachable, RecordsLost
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.require import (
    PATIENCE_S,
    UNKNOWN,
    missing,
    not_allowed,
    require_topic,
    topic_ids,
    unreachable,
)

if TYPE_CHECKING:
    import pandas as pd

_PLAIN = {
    # The default idles half a second after an empty fetch.
    "fetch.queue.backoff.ms": "1",
    # What a broker takes in compressed form may be larger than this limit's default, unpacked; a
    # reader that refuses such a record meets it again after each restart.
    "receive.message.max.bytes": str(2**31 - 1),
    # The default waits up to ten seconds between two tries to reach a broker that was away.
    "reconnect.backoff.max.ms": "1000",
    # Our own exceptions say it better than the client's log lines on stderr.
    "log_level": "0",
}
FAST_PLAIN = {
    **_PLAIN,
    "queued.min.messages": "1000000",
    "queued.max.messages.kbytes": "262144",
    "fetch.message.max.bytes": str(8 << 20),
}
_OF_RANGES = {
    **_PLAIN,
    "group.id": "workbook",  # the client wants a name; nobody joins, and it needs no right
    # At the end of a partition a fetch ahead would keep the next one waiting: half a second.
    "fetch.wait.max.ms": "5",
}
_NEEDED = {
    **{"enable.auto.commit": False, "enable.auto.offset.store": False},
    **{"enable.partition.eof": True, "log_level": 0},
}
_DOWN = {KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._RESOLVE}
_AWAY = {
    *_DOWN,
    *(KafkaError._TIMED_OUT, KafkaError._DESTROY_BROKER, KafkaError.REQUEST_TIMED_OUT),
    *(KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION),
    *(KafkaError.BROKER_NOT_AVAILABLE, KafkaError.UNKNOWN_LEADER_EPOCH),
    KafkaError.FENCED_LEADER_EPOCH,
}
_GONE = {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}
_NO_GROUP = KafkaError.GROUP_AUTHORIZATION_FAILED
"""Harmless where partitions are assigned: the client looks for its group's coordinator anyway."""

AT_ONCE = 10_000
"""Records that a consumer hands over in one call, which waits until it has as many as asked for."""

Ranges = Mapping[int, tuple[int, int]]
"""Partition to its first offset and the one behind its last."""


class PatientConsumer(Consumer):
    """A consumer whose ``poll`` retries a silent broker, but not for ever.

    ``poll(timeout)`` gives a message or None, as ever. It raises ``BrokerUnreachable`` when no
    broker has answered for ``patience`` seconds, ``TopicMissing`` when the topic is gone.
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
        self._joins = False

    def subscribe(self, topics: list[str], *listeners: Any, **more: Any) -> None:
        """Subscribe as ever; from now on a right to the group that is lacking is an error."""
        self._joins = True
        super().subscribe(topics, *listeners, **more)

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
        if self._joins and error.code() == _NO_GROUP:
            raise KafkaException(error)
        is_here(self._config, message)
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


def consumer(config: dict[str, str], topic: str) -> PatientConsumer:
    """Return a consumer of the topic from its first record on; close it when you are done.

    It joins no group, and needs no right to any. Raises ``TopicMissing``, ``RightMissing`` and
    ``BrokerUnreachable`` within ten seconds.
    """
    topic_ids(config, [topic])
    own = {"auto.offset.reset": "earliest", "enable.auto.commit": "false", "group.id": "workbook"}
    reader = PatientConsumer({**FAST_PLAIN, **own, **config})
    numbers = range(require_topic(config, topic))
    # Where 0 is deleted, auto.offset.reset decides; OFFSET_BEGINNING would take half a second.
    reader.assign([TopicPartition(topic, number, 0) for number in numbers])
    return reader


def is_away(error: KafkaError) -> bool:
    """Return whether it's the error of a broker that may be over in a moment."""
    return error.code() in _AWAY or bool(error.retriable())


def is_here(config: Mapping[str, Any], message: Message) -> bool:
    """Return whether it's a record, or the end of a partition; raise for an error that stays.

    Raises as ``refused``. The reader has no group that the error of one could matter to.
    """
    error = message.error()
    if error is None or error.code() == KafkaError._PARTITION_EOF:
        return True
    if error.code() not in UNKNOWN and (is_away(error) or error.code() == _NO_GROUP):
        return False
    raise refused(config, str(message.topic()), error)


def refused(config: Mapping[str, Any], topic: str, error: KafkaError) -> Exception:
    """Return the exception for an error that stays."""
    if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        return not_allowed(config, "READ", topic, "refuses that")
    if error.code() in UNKNOWN:
        return missing(config, topic)
    if error.code() in _GONE:
        return RecordsLost(
            f"Expected the records of {topic} where this query continues, but the broker has no "
            f"such records any more ({error.str()}). If the topic was recreated, begin with "
            "another checkpoint."
        )
    return KafkaException(error)


def silent(config: Mapping[str, Any], places: str) -> BrokerUnreachable:
    """Return the error for records that don't come, though they are in the topic."""
    return BrokerUnreachable(
        f"Expected {config.get('bootstrap.servers')} to send the records of {places}, but none "
        f"came for {PATIENCE_S:.0f} s. Check the broker, and start again: nothing is lost."
    )


def range_reader(config: Mapping[str, Any], *, strict: bool = False, **more: Any) -> Consumer:
    """Return a consumer for ``read_ranges``.

    Where records are deleted it continues at the first one that is left; a ``strict`` one gives an
    error instead.
    """
    reset = {"auto.offset.reset": "error" if strict else "earliest"}
    return Consumer({**_OF_RANGES, **config, **_NEEDED, **reset, **more})


def read_ranges(
    reader: Consumer,
    config: Mapping[str, Any],
    topic: str,
    ranges: Ranges,
    *,
    lacking: bool = False,
) -> Iterator[list[Message]]:
    """Yield the records of these ranges as they come, each partition's in order.

    ``reader`` is a ``range_reader``; what it was assigned before is replaced. Offsets without a
    record are passed over; with ``lacking`` those behind the partition's end, too: the topic may
    have been recreated. Raises as ``is_here``, and ``BrokerUnreachable`` if nothing has come for
    ``PATIENCE_S`` seconds.
    """
    at = {number: begin for number, (begin, end) in ranges.items() if end > begin}
    reader.assign([TopicPartition(topic, *each) for each in at.items()])
    deadline = time.monotonic() + PATIENCE_S
    try:
        while at:
            left = sum(ranges[number][1] - offset for number, offset in at.items())
            wanted = []
            for message in reader.consume(min(AT_ONCE, left), timeout=0.1):
                number, offset = cast(int, message.partition()), cast(int, message.offset())
                if message.error() is None:
                    begin, end = ranges[number]
                    if begin <= offset < end:
                        wanted.append(message)
                    offset += 1
                elif not is_here(config, message):
                    continue
                elif lacking and number in at:  # the partition's end, which may lie before these
                    offset = ranges[number][1]
                # The end counts by its offset, too: the last ones before it may hold no record.
                if number in at:
                    at[number] = max(at[number], offset)
            if wanted:
                yield wanted
                deadline = time.monotonic() + PATIENCE_S  # from now on: it may have taken long
            elif time.monotonic() > deadline:
                raise silent(config, f"partitions {', '.join(map(str, at))} of {topic}")
            if done := [number for number, offset in at.items() if offset >= ranges[number][1]]:
                # Fetch no more of them: what goes on beyond a range would let the others wait.
                reader.incremental_unassign([TopicPartition(topic, number) for number in done])
                at = {number: offset for number, offset in at.items() if number not in done}
    finally:
        reader.unassign()


def records(config: Mapping[str, Any], topic: str, ranges: Ranges) -> Iterator[Message]:
    """Yield the records of these ranges, each partition in order; skip what is no longer there.

    Raises as ``read_ranges``.
    """
    if any(end > begin for begin, end in ranges.values()):
        with closing(range_reader({**FAST_PLAIN, **config})) as reader:
            for messages in read_ranges(reader, config, topic, ranges, lacking=True):
                yield from messages


def reread(
    config: Mapping[str, Any], topic: str, offsets: Mapping[int, Sequence[int]]
) -> Iterator[Message]:
    """Yield the records at these ``offsets`` of partitions once more, uncommitted ones too.

    Those that the topic no longer has are skipped. Raises as ``records``.
    """
    wanted = {number: frozenset(its) for number, its in offsets.items()}
    ranges = {number: (min(its), max(its) + 1) for number, its in offsets.items()}
    level = {"isolation.level": "read_uncommitted"}  # as Spark's source reads them
    for message in records({**config, **level}, topic, ranges):
        if message.offset() in wanted[message.partition() or 0]:
            yield message


def read_messages(config: Mapping[str, Any], topic: str) -> list[Message]:
    """Read all records the topic holds at the time of the call, each partition in order.

    Raises ``TopicMissing`` and ``BrokerUnreachable``.
    """
    places = partition_offsets(config, topic)
    found = records(config, topic, {at.partition: (at.begin, at.end) for at in places})
    return sorted(found, key=lambda m: (m.partition() or 0, m.offset() or 0))


def read_all(config: Mapping[str, Any], topic: str) -> "pd.DataFrame":
    """Read a topic as a table: partition, offset, timestamp (ms), key, value (bytes).

    An empty topic gives an empty table. Raises as ``read_messages`` does.
    """
    import pandas as pd  # half a second, that every query's helpers would take

    read = read_messages(config, topic)
    rows = [(m.partition(), m.offset(), m.timestamp()[1], m.key(), m.value()) for m in read]
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


def read_dead_letters(config: Mapping[str, Any], topic: str) -> "pd.DataFrame":
    """Read dead letters as a table.

    Columns: reason, topic, partition, offset, arrival (ms), key, value (bytes), length (bytes of
    the whole value, where it had to be cut for its size).
    Partition and offset are those of the record that was rejected. Raises as ``read_messages``.
    """
    import pandas as pd

    columns = ["reason", "topic", "partition", "offset", "arrival", "key", "value", "length"]
    rows: list[dict[str, Any]] = []
    for message in read_messages(config, topic):
        said = dict(message.headers() or [])
        headers = {n: v.decode() if isinstance(v, bytes) else v or "" for n, v in said.items()}
        numbers = {name: int(headers[name]) for name in ("partition", "offset", "arrival")}
        value = message.value()
        length = int(headers.get("value-length", len(value or b"")))
        rows.append(headers | numbers | {"key": message.key(), "value": value, "length": length})
    return pd.DataFrame(rows, columns=columns)
