"""Records, a reader, a screen and a producer on paper: what a mob's program is checked with."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError

from workbook.lessons.metrics_topic.publish_a_count import report_of, wire

Entry = tuple[str, int] | tuple[str, int, str] | bytes | str | None
"""What one poll brings: a click's type, time in ms and name; raw bytes; an error; or nothing."""

ERROR = "an error"
CLICKS = "clicks"
MOST_IDLE = 50


class NeverEnds(Exception):
    """The program polls on and on although it was asked to end."""


class WaitsForEver(Exception):
    """The program asked for a record without a time, and none comes."""


@dataclass(frozen=True, eq=False)
class Message:
    """A message as confluent-kafka's ``poll`` and its delivery reports give it."""

    _topic: str
    _offset: int
    _value: bytes | None
    _key: bytes | None = None
    _error: KafkaError | None = None

    def topic(self) -> str:
        return self._topic

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes | None:
        return self._key

    def value(self) -> bytes | None:
        return self._value

    def error(self) -> KafkaError | None:
        return self._error

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_700_000_000_000 + self._offset

    def headers(self) -> None:
        return None

    def __repr__(self) -> str:
        return "<Message object>"


class Reader:
    """A consumer of one partition. ``until`` turns true once it has handed out everything."""

    def __init__(
        self,
        records: Sequence[Entry],
        committed: Callable[[str, int], None] = lambda *_: None,
        first: int = 0,
    ) -> None:
        self._records, self._committed = records, committed
        self.polls, self.offset = 0, first - 1
        self.last: Message | None = None

    def poll(self, timeout: float = -1) -> Message | None:
        """Hand out what comes next."""
        self.polls += 1
        if self.polls > len(self._records):
            if self.polls > len(self._records) + MOST_IDLE:
                raise NeverEnds("`until()` is true, and it still polls")
            return None
        entry = self._records[self.polls - 1]
        if entry is None and timeout < 0:
            raise WaitsForEver("`poll()` without a time comes back only with a record")
        self.last = self.last if entry is None else self._message(entry)
        return None if entry is None else self.last

    def until(self) -> bool:
        """Return True once the program is asked to end."""
        return self.polls >= len(self._records)

    def commit(
        self, message: Any = None, offsets: Any = None, asynchronous: bool = True
    ) -> list[Any] | None:
        """Commit as the client does: behind a message, at offsets, or behind what was read."""
        if message is not None and offsets is not None:
            raise ValueError("offsets and message are mutually exclusive")
        if message is not None:
            self._committed(message.topic(), message.offset() + 1)
        elif offsets is not None:
            for place in offsets:
                self._committed(place.topic, place.offset)
        else:
            self._committed(CLICKS, self.offset + 1)
        return None if asynchronous else []

    def _message(self, entry: Any) -> Message:
        if entry == ERROR:
            error = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
            return Message(CLICKS, -1001, b"Broker: Unknown topic or partition", None, error)
        self.offset += 1
        value = entry if isinstance(entry, bytes) else _as_json(self.offset, *entry)
        return Message(CLICKS, self.offset, value, b"tab-1")


def _as_json(offset: int, click_type: str, at: int, name: str = "") -> bytes:
    name = name or ("/home" if click_type == "Page" else "buy")
    click = {"event_id": offset, "click_type": click_type, "name": name, "timestamp": at}
    return json.dumps(click).encode()


@dataclass
class Sent:
    """A record on its way: its report comes once the reader has polled so often."""

    message: Message
    report: Callable[[Any, Any], Any] | None
    ready: int


class Producer:
    """A producer whose reports run in ``poll`` and ``flush``, some polls of the reader later.

    ``arrived`` hears of each record at its report, and whether the broker took it; ``sent``
    of each record that is produced.
    """

    def __init__(
        self,
        reader: Reader,
        late: int = 1,
        refused: Sequence[bytes] = (),
        arrived: Callable[[Message, bool], None] = lambda *_: None,
        sent: Callable[[Message], None] = lambda _: None,
    ) -> None:
        self._reader, self._late, self._refused = reader, late, refused
        self._arrived, self._sent = arrived, sent
        self._queue: list[Sent] = []
        self._next = 0

    def produce(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int = -1,
        callback: Any = None,
        on_delivery: Any = None,
        timestamp: int = 0,
        headers: Any = None,
    ) -> None:
        """Put a record into the queue: the parameters and their order are confluent-kafka's."""
        report = report_of(callback, on_delivery)
        message = Message(topic, self._next, wire(value), wire(key))
        self._next += 1
        self._queue.append(Sent(message, report, self._reader.polls + self._late))
        self._sent(message)

    def poll(self, timeout: float = -1) -> int:
        """Run the reports that are due; a poll that waits makes the next one due."""
        if timeout < 0 and not self._queue:
            raise WaitsForEver("`producer.poll()` without a time comes back only with a report")
        if timeout and self._queue:
            self._queue[0].ready = 0
        served = 0
        while self._queue and self._queue[0].ready <= self._reader.polls:
            self._report(self._queue.pop(0))
            served += 1
        return served

    def flush(self, timeout: float = -1) -> int:
        """Run all reports; without a time to wait, those that are due."""
        if timeout == 0:
            self.poll(0)
        else:
            while self._queue:
                self._report(self._queue.pop(0))
        return len(self)

    def __len__(self) -> int:
        return len(self._queue)

    def _report(self, sent: Sent) -> None:
        fails = sent.message.key() in self._refused
        self._arrived(sent.message, not fails)
        if sent.report is not None:
            error = KafkaError(KafkaError._MSG_TIMED_OUT) if fails else None
            sent.report(error, sent.message)
