"""The merge on Spark with one state per key: easy to read, at about 1,000 messages a second.

It sees its own ssid only, and Spark's one watermark for all partitions. So it can't time out by the
clocks of a partition, nor sort across ssids, nor notice what Spark dropped behind the watermark;
for that see ``fast``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from workbook.events.merged import Merged, combine, merged
from workbook.events.visits import OrderMessage, TrackingMessage, VisitMessage
from workbook.pipelines.event_time_merge.by_hand import Limits, facts
from workbook.pipelines.event_time_merge.fast import ORDERS, TRACKING
from workbook.spark.checkpoints import marked

RESULT = f"ssid STRING, timestamp BIGINT, fragment BIGINT, tracking {TRACKING}, orders {ORDERS}"


VISITS = ("tracking", "order")
"""The messages that belong to a visit: no heartbeats, and nothing that was rejected."""

NOTHING = ""
"""In place of a visit: none is open, but parts of it were emitted."""


class SessionMerge(StatefulProcessor):
    """Keeps the open visit of an ssid, and how many parts of it were emitted.

    Both are in one value, with the time of the one timer: each access to Spark's state is a round
    trip between two processes.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("visit", "json STRING, parts BIGINT, timer BIGINT")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        new = [merged(_message(row)) for row in rows if row["type"] in VISITS]
        if not new:
            return
        kept, parts, timer = self._state.get() or (NOTHING, 0, None)
        first = Merged.from_json(kept.encode()) if kept else replace(new[0], fragment=parts)
        visit = reduce(combine, new, first)
        due = self._limits.due(visit) + 1  # once the watermark has passed it
        self._state.update((visit.to_json().decode(), parts, due))
        if due != timer:
            if timer is not None:
                self._handle.deleteTimer(timer)
            self._handle.registerTimer(due)
        yield from ()

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        kept = self._state.get()
        if kept is None or not kept[0]:  # the horizon is over
            self._state.clear()
            return
        visit = Merged.from_json(kept[0].encode())
        until = timerValues.getCurrentWatermarkInMs() + self._limits.horizon
        self._state.update((NOTHING, visit.fragment + 1, until))
        self._handle.registerTimer(until)
        yield Row(
            ssid=visit.ssid,
            timestamp=visit.newest,
            fragment=visit.fragment,
            tracking=[(m.event_id, m.timestamp, m.page) for m in visit.tracking],
            orders=[(m.event_id, m.timestamp, m.order_id, m.cents) for m in visit.orders],
        )

    def close(self) -> None:
        pass


def merged_sessions(messages: DataFrame, limits: Limits) -> DataFrame:
    """Merge messages by ssid, timed out by Spark's watermark.

    In: the columns of ``decoding.visits`` with a watermark on ``time`` (timestamp), of both topics:
    read each by itself, or the watermark is that of the topic which leads (and set
    ``spark.sql.streaming.multipleWatermarkPolicy`` to ``min``, its default). Heartbeats stay in
    until here, or they move no watermark. Out, in any order: ``ssid``, ``timestamp``, ``fragment``,
    ``tracking`` and ``orders`` as ``fast.merged_visits``; what is no visit is among them.
    """
    keyed = messages.withColumn("ssid", F.coalesce("ssid", F.lit("")))
    rows = keyed.groupBy("ssid").transformWithState(
        SessionMerge(limits), RESULT, "Append", "EventTime"
    )
    return marked(rows, {"merged by": "one state per ssid", **facts(limits)})


def _message(row: Row) -> VisitMessage:
    if row["type"] == "tracking":
        return TrackingMessage(row["event_id"], row["ssid"], row["timestamp"], row["page"])
    return OrderMessage(
        row["event_id"], row["ssid"], row["timestamp"], row["order_id"], row["cents"]
    )
