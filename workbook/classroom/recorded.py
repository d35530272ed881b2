"""Reads what the pictures of event times are drawn from: a topic's clicks, a query's progress."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import pandas as pd

from workbook.classroom.errors import headline
from workbook.errors import WorkbookError
from workbook.kafka.readers import consumer, read_messages
from workbook.kafka.require import require_topic
from workbook.spark.checkpoints import offset_log
from workbook.spark.failures import failure_of
from workbook.views.clocks import clocks
from workbook.views.event_time import event_time
from workbook.views.picture import Picture, number
from workbook.views.rewind import Rewind
from workbook.views.runs import Read, Run, joined, newest, reported

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

AT_ONCE = 10_000
"""Records that a live view reads in a frame at most, so that a backlog doesn't stop it."""

STEPS, RECENT_MS = 24, 30_000
"""Steps of the slider over a polled topic; what the axis of live clocks shows."""


class _Timed(msgspec.Struct):
    """What a picture needs of a click; its time is in the years 1 to 9999."""

    timestamp: Annotated[int, msgspec.Meta(ge=-62_135_596_800_000, le=253_402_300_799_999)]
    click_type: str = ""


def recorded(config: dict[str, str], query: StreamingQuery, topic: str | None = None) -> Run:
    """Return a query's run over a topic from its first record on: its page views.

    Those that the query filters out itself aren't known here: they're drawn as counted. Without a
    ``topic`` it's the one that the query's progress names. Raises as ``read_messages`` does, and
    WorkbookError where the progress names none.
    """
    topic = topic or _topic_of(query)
    read = _read_by(query, topic)  # before the topic: later records wait to be read
    failure = None if query.isActive else failure_of(query)
    rows, unreadable = [], 0
    for message in read_messages(config, topic):
        click = _decoded(message.value())
        if click is None:
            unreadable += 1
        elif click.click_type == "Page":
            rows.append((message.partition(), message.offset(), message.timestamp()[1],
                         click.timestamp))  # fmt: skip
    table = pd.DataFrame(rows, columns=["partition", "offset", "arrival", "time"], dtype="int64")
    failed = "" if failure is None else headline(failure)
    return joined(table, read, unreadable=unreadable, failed=failed)


def _topic_of(query: StreamingQuery) -> str:
    for report in reversed(query.recentProgress):
        for source in report["sources"]:
            if source["endOffset"]:
                return str(next(iter(json.loads(source["endOffset"]))))
    raise WorkbookError(
        "Expected a query whose progress names its topic, but it has reported none yet. Name the "
        "topic: recorded(config, query, topic)."
    )


def _read_by(query: StreamingQuery, topic: str) -> dict[int, Read]:
    """Return what a query's micro-batches have read, by its checkpoint and its reports."""
    logged = offset_log(query, topic)
    kept = {number: Read(ends, mark or None) for number, (ends, mark) in logged.items()}
    return kept | reported(query.recentProgress, topic)


def rewind(run: Run, last: int | None = None, **how: Any) -> Rewind:
    """Show a run with a slider over its micro-batches; ``how`` is ``event_time``'s to say."""
    steps = [(f"after micro-batch {batch.number:,}", batch.number) for batch in newest(run, last)]
    draw = partial(event_time, run, last=last, **how)
    return Rewind(lambda batch: draw(until=batch), steps or [("no micro-batch yet", 0)])


def rewind_clocks(records: Iterable[Sequence[Any]], partitions: int, at: float = 1.0) -> Rewind:
    """Show the clocks of a topic's partitions, with a slider over what a reader has polled.

    ``records`` are pairs of a partition and a click, ``at`` is the share of them to begin with.
    """
    rows = [(partition, click.timestamp) for partition, click in records]
    table = pd.DataFrame(rows, columns=["partition", "timestamp"])
    counts = sorted({len(rows) * step // STEPS for step in range(STEPS + 1)})
    steps = [(f"after {number(count, 'record')}", count) for count in counts]
    draw = partial(clocks, table, partitions)
    return Rewind(lambda count: draw(until=count), steps, round(at * (len(steps) - 1)))


class LiveClocks:
    """Draws the clocks of a topic's partitions, by what has come since the call before."""

    def __init__(self, config: dict[str, str], topic: str) -> None:
        self._partitions = require_topic(config, topic)
        self._reader = consumer(config, topic)
        self._newest: dict[tuple[int, int], int] = {}
        """Partition and second to its newest event time: it grows by seconds, not by clicks."""
        self._drawn = self._draw()

    def __call__(self) -> Picture:
        came = self._reader.consume(AT_ONCE, timeout=0.05)
        for message in came:
            click = None if message.error() else _decoded(message.value())
            partition = message.partition()
            if click is not None and partition is not None:
                key = partition, click.timestamp // 1000
                self._newest[key] = max(self._newest.get(key, click.timestamp), click.timestamp)
        if came:
            self._drawn = self._draw()
        return self._drawn

    def _draw(self) -> Picture:
        rows = [(partition, time) for (partition, _), time in self._newest.items()]
        table = pd.DataFrame(rows, columns=["partition", "timestamp"])
        return clocks(table, self._partitions, recent_ms=RECENT_MS)


def _decoded(value: bytes | None) -> _Timed | None:
    """Read a record's event time; None where it has none."""
    try:
        return msgspec.json.decode(value or b"", type=_Timed)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
