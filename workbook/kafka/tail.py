"""A partition as it is right now: its end, its last records, and how far a group has committed."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from confluent_kafka import Consumer, KafkaException, TopicPartition

from workbook.errors import WorkbookError
from workbook.kafka.offsets import ask_committed, group_reader
from workbook.kafka.readers import FAST_PLAIN
from workbook.kafka.require import ANSWER_S

KEPT, AT_ONCE = 5000, 1000
"""Labels that are kept, and records read in one look; of a longer backlog the last."""


@dataclass(frozen=True)
class Seen:
    """A partition at some moment: records ``first`` up to ``end``, and labels of some of them.

    ``committed`` is None before the group's first commit; ``silent`` says that the broker gave no
    answer, and that this is what was known last.
    """

    first: int = 0
    end: int = 0
    committed: int | None = None
    labels: Mapping[int, str] = field(default_factory=dict)
    silent: bool = False


class Tail:
    """Looks at a topic's partition 0 and at a group again and again, without joining the group.

    ``label`` makes a word of a record's value. Nothing is raised while the broker is away.
    """

    def __init__(
        self,
        config: Mapping[str, str],
        topic: str,
        group: str,
        label: Callable[[bytes | None], str],
    ) -> None:
        settings = {
            "queued.min.messages": AT_ONCE,  # it jumps over what it doesn't need
            "group.id": "workbook-tail",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_uncommitted",  # also where offsets wait for a transaction
        }
        self._config, self._label, self._group = config, label, group_reader(config, group)
        self._reader = Consumer({**FAST_PLAIN, **config, **settings})
        self._place = TopicPartition(topic, 0, -1)
        self._labels: dict[int, str] = {}
        self._seen, self._closed, self._lock = Seen(), False, threading.Lock()

    def look(self) -> Seen:
        """Return what is there now; after ``close`` what was seen last."""
        with self._lock:
            if not self._closed:
                try:
                    self._seen = self._ask()
                except (KafkaException, WorkbookError):
                    self._seen = replace(self._seen, silent=True)
            return self._seen

    def close(self) -> None:
        """Let go of the broker."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._reader.close()
                self._group.close()

    def _ask(self) -> Seen:
        first, end = self._reader.get_watermark_offsets(self._place, timeout=ANSWER_S)
        place = self._place.topic, 0
        committed = ask_committed(self._group, self._config, [place]).get(place)
        self._read(first, end)
        return Seen(first, end, committed, dict(self._labels))

    def _read(self, first: int, end: int) -> None:
        """Read the records since the last look."""
        begin = max(first, self._place.offset, end - AT_ONCE)
        if begin > self._place.offset:
            self._place.offset = begin
            self._reader.assign([self._place])
        if begin < end:
            for message in self._reader.consume(end - begin, timeout=0.2):
                if message.error() is None:
                    offset = message.offset() or 0
                    self._labels[offset] = self._label(message.value())
                    self._place.offset = max(self._place.offset, offset + 1)
        for offset in sorted(self._labels)[:-KEPT]:
            del self._labels[offset]
