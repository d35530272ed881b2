"""Follows the progress of a Spark query: for a terminal, a notebook's panel, and Prometheus."""

import json
import math
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Event, RLock
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from workbook.kafka.offsets import Offsets
from workbook.spark.alerts import RULES, WINDOW_S, Sample, alerts

RECENT_S = 5.0
"""Rates are those of the micro-batches that began within this number of seconds."""

SHOWN_S = 3600
"""A longer delay is that of a replay: a status line leaves it out."""

TIMES = "record timestamps"


def timed(raw: DataFrame) -> DataFrame:
    """Let the query observe its records' ``timestamp``, from which ``Progress`` has the delay."""
    times = F.percentile_approx(F.unix_millis("timestamp"), [0.5, 0.01], F.lit(1000))
    return raw.observe(TIMES, times.alias("ms"))


class Tells:
    """What a sink tells about its results, by default nothing."""

    def counts(self) -> Mapping[str, int]:
        """Return numbers by name, of the whole result: ``{"accepted": 90, "duplicate": 3}``."""
        return {}

    def completed(self) -> int | None:
        """Return the event time (ms) up to which results are complete, 0 at first; else None."""
        return None

    def line(self) -> str:
        """Return a few words on what the sink holds, for a status line; "" if it holds nothing."""
        return ", ".join(f"{count:,} {name}" for name, count in self.counts().items() if count)

    def close(self) -> None:
        """Close what the sink keeps open, once its query has stopped; a question reopens it."""


@dataclass(frozen=True)
class Figure:
    """A number; ``of`` says of which reason, phase or rule. A ``total`` only grows during a run."""

    name: str
    value: float
    unit: str
    of: str = ""
    total: bool = False


class Progress(StreamingQueryListener):
    """Follows the micro-batches of a query, whose ``sinks`` tell what they hold.

    Since the start: micro-batches that ended (``batches``), ``messages`` read, and counts that the
    query ``observed``, by name; rows behind the watermark, which Spark ``dropped``; as of the last
    micro-batch ``rate`` (messages/s). ``lag`` is what the topic held when last asked for its
    ``ends`` and the query had not read, None before the first micro-batch; while the broker is
    ``silent`` it is an old one. ``rejected`` returns the dead letters by reason. ``follow`` tells
    it which query is its own.

    ``delay`` is known if the query's source is ``timed``. It has two numbers of seconds, which half
    and 99 per cent of the last micro-batch's records didn't exceed: from the record's timestamp, as
    its producer set it, to the end of the micro-batch that read it. By then all sinks have stored
    its rows. The time that a window or a visit waits for the clock isn't in it.
    """

    def __init__(
        self,
        *sinks: Tells,
        rejected: Callable[[], Mapping[str, int]] = dict,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.batches = self.messages = 0
        self.rate = 0.0
        self.observed = Counter[str]()
        self.dropped = 0
        self.ends: Offsets = {}
        self.read: Offsets | None = None
        self.silent = False
        self.ended = Event()
        self._query, self._early = "", list[tuple[object, Callable[[], None]]]()
        self._idle, self._failed = False, ""

        self._sinks, self._rejected = sinks, rejected
        self._clock, self._began = clock, clock()
        self._recent: deque[tuple[float, int]] = deque()
        self.delay: tuple[float, float] | None = None
        self._watermark: int | None = None
        self._of_batch: list[Figure] = []
        self._letters: Mapping[str, int] = {}
        self._lock = RLock()
        self.samples = deque([Sample(self._began)])
        """Those of the last two minutes, the oldest first; the last one may change."""

    def close(self) -> None:
        """Close what the sinks keep open."""
        for sink in self._sinks:
            sink.close()

    def __str__(self) -> str:
        pace = f"waiting for the first micro-batch, for {self._clock() - self._began:.0f} s"
        if not self.messages and not self.lag and (self._idle or self.batches):
            pace = "waiting for records"
        elif self.batches:
            lag = "" if self.lag is None else f"{self.lag:,}"
            unsure = "?" if self.silent or not lag else ""
            late = self.delay[1] if self.delay else math.inf
            delay = f"p99 delay {late:,.1f} s, " if late < SHOWN_S else ""
            pace = f"{self.rate:,.0f} messages/s, {delay}lag {lag}{unsure}"
        # With nothing new there's no micro-batch, but what an earlier run has left.
        parts = [pace, *(sink.line() for sink in self._sinks)]
        parts += [f"{count:,} {name} records" for name, count in self.observed.items() if count]
        parts += [f"{self.dropped:,} late rows dropped by Spark"] if self.dropped else []
        return ", ".join(filter(None, parts))

    @property
    def lag(self) -> int | None:
        """Return the number of messages that no micro-batch has read, None if unknown."""
        read = self.read
        if read is None:
            return None
        return sum(max(end - read.get(partition, 0), 0) for partition, end in self.ends.items())

    @property
    def clock(self) -> int | None:
        """Return the slowest clock of the sinks (ms); if they have none, Spark's watermark."""
        clocks = [clock for sink in self._sinks if (clock := sink.completed()) is not None]
        return min(clocks, default=self._watermark)

    def know(self, ends: Offsets) -> None:
        """Note where partitions end."""
        self.ends = {**self.ends, **ends}  # a new one: another thread may be reading the old

    def sample(self) -> None:
        """Note what rules look at; of samples within a second only the last one is kept."""
        with self._lock:
            now = self._clock()
            if len(self.samples) > 1 and now - self.samples[-2].time < 1:
                self.samples.pop()
            self.samples.append(Sample(now, self.messages, self._letters, self.lag, self.clock))
            while not now - 2 * WINDOW_S <= self.samples[0].time <= now:
                self.samples.popleft()

    def alerts(self) -> dict[str, str]:
        """Return what is wrong and what to do next, by the name of the rule that says so."""
        return alerts(tuple(self.samples))

    def figures(self) -> list[Figure]:
        """Return every figure that is known now; docs/monitoring.md explains them."""
        found = [Figure("read", self.messages, "records", total=True), *self._of_batch]
        found += [] if self.lag is None else [Figure("lag", self.lag, "records")]
        for name, seconds in zip(("p50", "p99"), self.delay or (), strict=False):
            found.append(Figure("delay", seconds, "seconds", name))
        for reason, count in self._letters.items():
            found.append(Figure("rejected", count, "records", reason, total=True))
        counts = {**self.observed, "dropped": self.dropped} if self.dropped else {**self.observed}
        for sink in self._sinks:
            counts |= sink.counts()
        found += [Figure("count", count, "", name) for name, count in counts.items()]
        if self.clock:
            found.append(Figure("clock", self.clock / 1000, "seconds"))
        wrong = self.alerts()
        return [*found, *(Figure("alert", float(rule in wrong), "", rule) for rule in RULES)]

    def take(self, batch: Any) -> None:
        """Note what a micro-batch did; ``batch`` is a StreamingQueryProgress."""
        self.messages += batch.numInputRows
        # The topic may have grown since the broker was last asked for its ends.
        latest = _offsets(batch, "latestOffset").items()
        self.know({partition: max(end, self.ends.get(partition, 0)) for partition, end in latest})
        self.read = _offsets(batch, "endOffset")
        began = datetime.fromisoformat(batch.timestamp).timestamp()
        self.rate = self._rate(began, batch.numInputRows)
        for name, metrics in batch.observedMetrics.items():
            if name != TIMES:
                self.observed.update(metrics.asDict())
            elif metrics["ms"]:  # None in a micro-batch that read nothing
                ended = began + batch.durationMs.get("triggerExecution", 0) / 1000
                half, most = (max(ended - time / 1000, 0) for time in metrics["ms"])
                self.delay = half, most
        mark = (batch.eventTime or {}).get("watermark")
        self.dropped += sum(state.numRowsDroppedByWatermark for state in batch.stateOperators)
        self._watermark = (mark and round(datetime.fromisoformat(mark).timestamp() * 1000)) or None
        self._of_batch = list(_figures(batch))
        self._letters = dict(self._rejected())  # as of a micro-batch's end, as the messages are
        self.batches += 1
        self.sample()

    def _rate(self, began: float, messages: int) -> float:
        now = self._clock()
        self._recent.append((began, messages))
        # If the clock was set back, later times are left in here, and in the samples.
        while len(self._recent) > 1 and not now - RECENT_S <= self._recent[0][0] <= now:
            self._recent.popleft()
        return sum(count for _, count in self._recent) / max(now - self._recent[0][0], 0.001)

    def follow(self, query: str) -> None:
        """Follow the query with this id; its events that arrived before this call count, too."""
        with self._lock:
            self._query = query
            for heard in self._early:
                self._hear(*heard)
            self._early.clear()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Ignore the start."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Take the progress of a micro-batch that has ended."""
        self._hear(event.progress.id, lambda: self.take(event.progress))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Reset the rate after some seconds without a micro-batch."""
        self._hear(event.id, self._rest)

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Note that no micro-batch will come any more."""
        self._hear(event.id, self.ended.set)

    def _rest(self) -> None:
        self._recent.clear()
        self.rate, self._idle = 0.0, True
        self.sample()

    def _hear(self, query: object, then: Callable[[], None]) -> None:
        """Handle an event of its query; print an error, which Spark would swallow."""
        with self._lock:
            if not self._query:
                self._early.append((query, then))
            elif str(query) == self._query:
                try:
                    then()
                except Exception as error:
                    if self._failed != repr(error):  # once, not with each micro-batch
                        self._failed = repr(error)
                        traceback.print_exc()


def _figures(batch: Any) -> Iterator[Figure]:
    """Return what Spark says of a micro-batch: rates, state, and how long its phases took."""
    rates = {"input": batch.inputRowsPerSecond, "processed": batch.processedRowsPerSecond}
    yield from (Figure(of, rate, "records/s") for of, rate in rates.items() if math.isfinite(rate))
    if batch.stateOperators:
        yield Figure("state", sum(of.numRowsTotal for of in batch.stateOperators), "rows")
        yield Figure("state", sum(of.memoryUsedBytes for of in batch.stateOperators), "bytes")
    yield from (Figure("phase", ms / 1000, "seconds", of) for of, ms in batch.durationMs.items())


def _offsets(batch: Any, name: str) -> Offsets:
    """Merge the offsets of a batch's sources, each given as ``{"clicks":{"0":17}}``.

    The clamped source has them under ``offsets``, beside its tops.
    """
    found: Offsets = {}
    for source in batch.sources:
        told = getattr(source, name)
        # PySpark says "None" if there are no offsets: in a micro-batch that a former run planned.
        topics = {} if told in ("", "None") else json.loads(told) or {}
        within = topics.get("offsets", {})
        clamped = any(isinstance(of, dict) for of in within.values())
        for topic, partitions in (within if clamped else topics).items():
            found |= {(topic, int(partition)): offset for partition, offset in partitions.items()}
    return found
