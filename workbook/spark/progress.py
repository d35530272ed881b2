"""Follows the progress of a Spark query, for one line of a terminal."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Callable
from datetime import datetime
from threading import Event
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from workbook.kafka.offsets import Offsets

RECENT_S = 5.0
"""Rates are those of the micro-batches that began within this number of seconds."""


class Progress(StreamingQueryListener):
    """Follows the micro-batches of a query; ``lines`` say what its sinks hold.

    Since the start: micro-batches that ended (``batches``), ``messages`` read, and counts that the
    query ``observed``, by name; as of the last micro-batch ``rate`` (messages/s). ``lag`` is what
    the topic held when last asked for its ``ends`` and the query had not read, None before the
    first micro-batch; while the broker is ``silent`` it is an old one.
    """

    def __init__(self, *lines: Callable[[], str], clock: Callable[[], float] = time.time) -> None:
        self.batches = self.messages = 0
        self.rate = 0.0
        self.observed = Counter[str]()
        self.ends: Offsets = {}
        self.read: Offsets | None = None
        self.silent = False
        self.ended = Event()
        self.query: str | None = None
        """The id of the query that it follows; until that's known, any."""

        self._lines, self._clock, self._began = lines, clock, clock()
        self._recent: deque[tuple[float, int]] = deque()

    def __str__(self) -> str:
        pace = f"waiting for the first micro-batch, for {self._clock() - self._began:.0f} s"
        if self.batches:
            lag = "" if self.lag is None else f"{self.lag:,}"
            unsure = "?" if self.silent or not lag else ""
            pace = f"{self.rate:,.0f} messages/s, lag {lag}{unsure}"
        # With nothing new there's no micro-batch, but what an earlier run has left.
        parts = [pace, *(line() for line in self._lines)]
        parts += [f"{count:,} {name} records" for name, count in self.observed.items() if count]
        return ", ".join(filter(None, parts))

    @property
    def lag(self) -> int | None:
        """Return the number of messages that no micro-batch has read, None if unknown."""
        read = self.read
        if read is None:
            return None
        return sum(max(end - read.get(partition, 0), 0) for partition, end in self.ends.items())

    def know(self, ends: Offsets) -> None:
        """Note where partitions end."""
        self.ends = {**self.ends, **ends}  # a new one: another thread may be reading the old

    def take(self, batch: Any) -> None:
        """Note what a micro-batch did; ``batch`` is a StreamingQueryProgress."""
        self.messages += batch.numInputRows
        # The topic may have grown since the broker was last asked for its ends.
        latest = _offsets(batch, "latestOffset").items()
        self.know({partition: max(end, self.ends.get(partition, 0)) for partition, end in latest})
        self.read = _offsets(batch, "endOffset")
        began = datetime.fromisoformat(batch.timestamp).timestamp()
        self.rate = self._rate(began, batch.numInputRows)
        for metrics in batch.observedMetrics.values():
            self.observed.update(metrics.asDict())
        self.batches += 1

    def _rate(self, began: float, messages: int) -> float:
        now = self._clock()
        self._recent.append((began, messages))
        while len(self._recent) > 1 and self._recent[0][0] < now - RECENT_S:
            self._recent.popleft()
        return sum(count for _, count in self._recent) / max(now - self._recent[0][0], 0.001)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Ignore the start."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Take the progress of a micro-batch that has ended."""
        if self._is_mine(event.progress.id):
            self.take(event.progress)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Reset the rate after some seconds without a micro-batch."""
        if self._is_mine(event.id):
            self._recent.clear()
            self.rate = 0.0

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Note that no micro-batch will come any more."""
        if self._is_mine(event.id):
            self.ended.set()

    def _is_mine(self, query: object) -> bool:
        return self.query in (None, str(query))


def _offsets(batch: Any, name: str) -> Offsets:
    """Merge the offsets of a batch's sources, each given as ``{"clicks":{"0":17}}``.

    The clamped source has them under ``offsets``, beside its tops.
    """
    found: Offsets = {}
    for source in batch.sources:
        topics = json.loads(getattr(source, name) or "{}") or {}
        within = topics.get("offsets", {})
        clamped = any(isinstance(of, dict) for of in within.values())
        for topic, partitions in (within if clamped else topics).items():
            found |= {(topic, int(partition)): offset for partition, offset in partitions.items()}
    return found
