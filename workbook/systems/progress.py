"""Follows the progress of a Spark query, for one line of a terminal."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from workbook.kafka.end_offsets import Offsets
from workbook.kafka.groups import Dashboard
from workbook.pipelines.page_views.completed import SUMS
from workbook.sinks.store import Store
from workbook.sinks.table_topic import TableTopic

RECENT_S = 5.0
"""Rates are those of the micro-batches that began within this number of seconds."""


class Progress(StreamingQueryListener):
    """Follows the micro-batches of a query.

    Since the start: micro-batches that ended (``batches``) and ``messages`` read; as of the last
    micro-batch ``rate`` (messages/s). ``lag`` is what the topic held when last asked for
    its ``ends`` and the query had not read, None before the first micro-batch; while the broker
    is ``silent`` it is an old one.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.batches = self.messages = 0
        self.rate = 0.0
        self.ends: Offsets = {}
        self.read: Offsets | None = None
        self.silent = False
        self.ended = Event()
        self._clock, self._began = clock, clock()
        self._recent: deque[tuple[float, int]] = deque()

    def __str__(self) -> str:
        if not self.batches:
            waited = self._clock() - self._began
            waiting = f"waiting for the first micro-batch, for {waited:.0f} s"
            return ", ".join(filter(None, [waiting, self._left()]))
        return ", ".join(filter(None, [self._pace(), self._results()]))

    def _results(self) -> str:
        """Describe what the query has written, after rate and lag."""
        return ""

    def _left(self) -> str:
        """Describe what an earlier run has left: with nothing new there's no micro-batch."""
        return ""

    def _pace(self) -> str:
        known = "" if self.lag is None else f"{self.lag:,}"
        lag = known + ("?" if self.silent or not known else "")
        return f"{self.rate:,.0f} messages/s, lag {lag}"

    @property
    def lag(self) -> int | None:
        """Return the number of messages that no micro-batch has read, None if unknown."""
        read = self.read
        if read is None:
            return None
        return sum(max(end - read.get(partition, 0), 0) for partition, end in self.ends.items())

    def settle(self) -> None:
        """Wait, at the end, for what is yet to be known: a few seconds at most."""

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
        self.rate = self._rate(_seconds(batch.timestamp), batch.numInputRows)
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
        self.take(event.progress)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Reset the rate after some seconds without a micro-batch."""
        self._recent.clear()
        self.rate = 0.0

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Note that no micro-batch will come any more."""
        self.ended.set()


class SecondsProgress(Progress):
    """Follows a query that completes seconds, and keeps its ``sums``."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self.sums = dict.fromkeys((*SUMS, "clock"), 0)

    def _results(self) -> str:
        if not self.sums["read"]:
            return ""
        complete = f"complete up to {readable(self.sums['clock'])}"
        waits = f", waiting for partition {self.sums['slowest']}" if self.sums["open"] else ""
        return f"{self.balance()}, {complete}{waits}"

    def balance(self) -> str:
        """Account for every record read since the checkpoint began."""
        parts = [f"{self.sums[name]:,} {_WORDS.get(name, name)}" for name in SUMS[1:]]
        return f"{self.sums['read']:,} read = {' + '.join(parts)}"

    def parts(self) -> list[tuple[str, str]]:
        """Return the sums, each with its name, the largest first below all that was read."""
        named = sorted(((self.sums[n], _WORDS.get(n, n)) for n in SUMS[1:]), reverse=True)
        return [("read", f"{self.sums['read']:,}"), *((name, f"{n:,}") for n, name in named)]

    def know_sums(self, sums: dict[str, int]) -> None:
        """Note the sums that a micro-batch gave."""
        self.sums = sums


_WORDS = {"others": "no page views", "open": "in open seconds"}


class TableProgress(Progress):
    """Follows a query that keeps a table in a store, in a topic or in both."""

    def __init__(self, store: Store | None, out: TableTopic | None) -> None:
        super().__init__()
        self._store, self._out = store, out

    def _results(self) -> str:
        stored = f"{len(self._store):,} rows in the store" if self._store is not None else ""
        written = f"out {self._out.written:,}" if self._out else ""
        return ", ".join(filter(None, [stored, written]))

    def _left(self) -> str:
        return self._results() if self._store is not None and len(self._store) else ""


LEFT_OUT = "left out"
"""The metric of the query over groups: how many records of each kind it couldn't read."""


class GroupsProgress(Progress):
    """Follows a query that keeps the table of groups, and brings their dashboard up to date."""

    def __init__(self, dashboard: Dashboard) -> None:
        super().__init__()
        self._dashboard, self.left_out = dashboard, Counter[str]()

    def take(self, batch: Any) -> None:
        """Note what a micro-batch did, and how many records it left out."""
        counts = batch.observedMetrics.get(LEFT_OUT)
        self.left_out.update(counts.asDict() if counts is not None else {})
        super().take(batch)

    def settle(self) -> None:
        """Wait until the lag of each group is known, or the broker has had its time."""
        self._dashboard.settle()

    def _left(self) -> str:
        return self._results()

    def _results(self) -> str:
        self._dashboard.look()
        left = [f"{count:,} {kind} records" for kind, count in self.left_out.items() if count]
        return ", ".join([str(self._dashboard), *left])


class ViewsProgress(Progress):
    """Follows a query that keeps the views of each page in a store."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    def _results(self) -> str:
        views = [row["views"] for row in self._store.all()]
        return f"{sum(views):,} page views on {len(views):,} pages"

    def _left(self) -> str:
        return self._results() if len(self._store) else ""


def _offsets(batch: Any, name: str) -> Offsets:
    """Merge the offsets of a batch's sources, each given as ``{"clicks":{"0":17}}``.

    The clamped source has them under ``offsets``, beside its tops.
    """
    sources = [_by_topic(json.loads(getattr(source, name) or "{}")) for source in batch.sources]
    return {
        (topic, int(partition)): offset
        for topics in sources
        for topic, partitions in topics.items()
        for partition, offset in partitions.items()
    }


def _by_topic(found: Any) -> dict[str, dict[str, int]]:
    within = (found or {}).get("offsets", {})
    return within if any(isinstance(of, dict) for of in within.values()) else found or {}


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def readable(time_ms: int) -> str:
    """Format a time as ``2026-01-01 00:00:05 UTC``."""
    if not time_ms:
        return "no second yet"
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
