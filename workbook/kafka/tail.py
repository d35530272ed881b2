"""A partition as it is right now: its end, its last records, and how far a group has committed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition

from workbook.kafka.readers import FAST_PLAIN

KEPT, AT_ONCE = 5000, 1000
"""So many labels are kept, and so many records read in one look; of a longer backlog the last."""

COLD = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)
"""What a broker answers about groups right after its start."""

FIRST_S, ANSWER_S = 8.0, 2.0
"""Seconds that the broker may take for its first answer, and for a later one."""


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
    """Looks at a partition and at a group again and again, without joining the group.

    ``label`` makes a word of a record's value. Nothing is raised while the broker is away.
    """

    def __init__(
        self,
        config: Mapping[str, str],
        topic: str,
        group: str,
        label: Callable[[bytes | None], str],
        partition: int = 0,
    ) -> None:
        settings = {
            "queued.min.messages": AT_ONCE,  # it jumps over what it doesn't need
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_uncommitted",  # also where offsets wait for a transaction
        }
        self._reader = Consumer({**FAST_PLAIN, **config, **settings})
        self._place, self._label = TopicPartition(topic, partition), label
        self._labels: dict[int, str] = {}
        self._next = -1
        self._seen, self._patience = Seen(), FIRST_S
        self._closed, self._lock = False, threading.Lock()

    def look(self) -> Seen:
        """Return what is there now; after ``close`` what was seen last."""
        with self._lock:
            if not self._closed:
                try:
                    self._seen = self._ask()
                except KafkaException:
                    seen = self._seen
                    self._seen = Seen(seen.first, seen.end, seen.committed, seen.labels, True)
            return self._seen

    def close(self) -> None:
        """Let go of the broker."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._reader.close()

    def _ask(self) -> Seen:
        patience, self._patience = self._patience, ANSWER_S
        first, end = self._reader.get_watermark_offsets(self._place, timeout=patience)
        found = self._committed(patience)
        self._read(first, end)
        committed = None if found.offset == OFFSET_INVALID else int(found.offset)
        return Seen(first, end, committed, dict(self._labels))

    def _committed(self, patience: float) -> TopicPartition:
        """Ask for the group's offset; a broker's first group has to wait for its coordinator."""
        until = time.monotonic() + patience
        while True:
            try:
                return self._reader.committed([self._place], timeout=patience)[0]
            except KafkaException as failure:
                if failure.args[0].code() not in COLD or time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def _read(self, first: int, end: int) -> None:
        """Read what has come since the last look."""
        begin = max(first, self._next, end - AT_ONCE)
        if begin > self._next:
            self._next = begin
            place = TopicPartition(self._place.topic, self._place.partition, begin)
            self._reader.assign([place])
        if self._next < end:
            for message in self._reader.consume(end - self._next, timeout=0.2):
                if message.error() is None:
                    self._labels[message.offset() or 0] = self._label(message.value())
                    self._next = max(self._next, (message.offset() or 0) + 1)
        for offset in sorted(self._labels)[:-KEPT]:
            del self._labels[offset]
