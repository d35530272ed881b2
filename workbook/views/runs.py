"""The record of a query's run: which micro-batch took which click, and by which watermark.

Spark drops a click if its window had ended by the watermark of the micro-batch *before* its own.
The micro-batch's own watermark closes windows, once the clicks have been added.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

EARLIER, WAITING = -1, -2
"""In place of a micro-batch: one whose report is gone, and none yet."""

COLUMNS = ["partition", "offset", "arrival", "time"]


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch: what had ended by ``drops`` it drops, ``watermark`` closes windows.

    Both in ms, None where the query had no watermark yet.
    """

    number: int
    drops: int | None
    watermark: int | None


@dataclass(frozen=True)
class Run:
    """A query's run.

    ``clicks`` has the columns partition, offset, arrival (ms), time (the event time in ms) and
    batch: the number of the micro-batch that took it, ``EARLIER`` or ``WAITING``. ``unreadable``
    counts the records without an event time, ``failed`` says what has ended the query.
    """

    clicks: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=[*COLUMNS, "batch"]))
    batches: Sequence[MicroBatch] = ()
    unreadable: int = 0
    failed: str = ""


def joined(
    clicks: pd.DataFrame,
    reports: Iterable[Mapping[str, Any]],
    topic: str,
    *,
    unreadable: int = 0,
    failed: str = "",
) -> Run:
    """Join the clicks of a topic with the progress reports of a query that began at its start.

    ``clicks``: partition, offset, arrival (ms), time (ms). Spark keeps a hundred reports; the
    oldest one that isn't the query's first only says where the next one begins.
    """
    batches, taken = [], np.full(len(clicks), WAITING)
    partition, offset = (clicks[name].to_numpy(np.int64) for name in ("partition", "offset"))
    drops, before = None, None
    for number, report in sorted(_processed(reports).items()):
        ends = pd.Series(_ends(report, topic), dtype="float64").reindex(partition).to_numpy()
        known = number == 0 or before == number - 1
        taken[(taken == WAITING) & (offset < ends)] = number if known else EARLIER
        watermark = _watermark(report)
        if known:
            batches.append(MicroBatch(number, drops, watermark))
        drops, before = watermark, number
    return Run(clicks.assign(batch=taken), batches, unreadable, failed)


def dropped(run: Run, window_ms: int = 1000) -> NDArray[np.bool_]:
    """Return which clicks the watermark has dropped: their window had ended when they came.

    Before the first watermark Spark's is 1970.
    """
    known = {batch.number: batch.drops or 0 for batch in run.batches}
    batch = run.clicks["batch"].to_numpy(np.int64)
    drops = pd.Series(known, dtype="float64").reindex(batch).to_numpy()
    ends = run.clicks["time"].to_numpy(np.int64) // window_ms * window_ms + window_ms
    return np.asarray(ends <= drops)  # False beside a NaN: not read, or nobody knows any more


def newest(run: Run, clicks: int | None = None) -> list[MicroBatch]:
    """Return the run's micro-batches, or the newest of them that have so many clicks."""
    batches = sorted(run.batches, key=lambda batch: batch.number)
    if clicks is None:
        return batches
    counts = run.clicks["batch"].value_counts()
    taken = 0
    for place in range(len(batches) - 1, -1, -1):
        taken += int(counts.get(batches[place].number, 0))
        if taken >= clicks:
            return batches[place:]
    return batches


def _processed(reports: Iterable[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """Return the reports of micro-batches by number; an idle query's have the next one's."""
    return {report["batchId"]: report for report in reports if "addBatch" in report["durationMs"]}


def _ends(report: Mapping[str, Any], topic: str) -> dict[int, int]:
    """Return the next offset of each partition after a micro-batch."""
    found: dict[int, int] = {}
    for source in report["sources"]:
        ends = source["endOffset"]
        ends = json.loads(ends) if isinstance(ends, str) else ends
        if isinstance(ends, Mapping):
            found |= {int(partition): end for partition, end in ends.get(topic, {}).items()}
    return found


def _watermark(report: Mapping[str, Any]) -> int | None:
    """Return the watermark in ms; None where there is none, or none yet."""
    text = report.get("eventTime", {}).get("watermark")
    if not text:
        return None
    ms = round(datetime.fromisoformat(text).timestamp() * 1000)
    return ms if ms > 0 else None
