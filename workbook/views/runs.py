"""The record of a query's run: which micro-batch took which click, and by which watermark.

Spark drops a click if its window had ended by the watermark of the micro-batch *before* its own
(since SPARK-40925, so that operators can follow each other). The micro-batch's own watermark closes
windows, once the clicks have been added.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

WINDOW_MS = 1000
"""The windows of the query are seconds."""

EARLIER, WAITING = -1, -2
"""In place of a micro-batch: one whose report is gone, and none yet."""

LAST_MS = 253_402_300_799_999
"""The end of the year 9999."""

COLUMNS = ["partition", "offset", "arrival", "time", "batch"]


@dataclass(frozen=True)
class Read:
    """What a micro-batch reports: the next offset of each partition, and its watermark in ms."""

    ends: Mapping[int, int]
    watermark: int | None


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

    clicks: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=COLUMNS, dtype="int64")
    )
    batches: Sequence[MicroBatch] = ()
    unreadable: int = 0
    failed: str = ""


def joined(
    clicks: pd.DataFrame,
    read: Mapping[int, Read],
    *,
    unreadable: int = 0,
    failed: str = "",
) -> Run:
    """Join the clicks of a topic with what the micro-batches of a query have read of it.

    ``clicks``: partition, offset, arrival (ms), time (ms); the query began at the topic's start.
    The oldest micro-batch on record only says where the next one begins, unless it's the first.
    """
    batches, taken = [], np.full(len(clicks), WAITING)
    partition, offset = (clicks[name].to_numpy(np.int64) for name in ("partition", "offset"))
    for number in sorted(read):
        ends = pd.Series(read[number].ends, dtype="float64").reindex(partition).to_numpy()
        known = number == 0 or number - 1 in read
        taken[(taken == WAITING) & (offset < ends)] = number if known else EARLIER
        if known:
            before = read[number - 1].watermark if number else None
            batches.append(MicroBatch(number, before, read[number].watermark))
    return Run(clicks.assign(batch=taken), batches, unreadable, failed)


def reported(reports: Iterable[Mapping[str, Any]], topic: str) -> dict[int, Read]:
    """Return what a query's progress reports say of a topic, by the number of the micro-batch.

    An idle query's report has the next one's number, and is left out.
    """
    done = [report for report in reports if "addBatch" in report["durationMs"]]
    return {report["batchId"]: Read(_ends(report, topic), _watermark(report)) for report in done}


def dropped(run: Run) -> NDArray[np.bool_]:
    """Return which clicks the watermark has dropped: their window had ended when they came.

    Before the first watermark Spark's is 1970.
    """
    known = {batch.number: batch.drops or 0 for batch in run.batches}
    batch = run.clicks["batch"].to_numpy(np.int64)
    drops = pd.Series(known, dtype="float64").reindex(batch).to_numpy()
    ends = run.clicks["time"].to_numpy(np.int64) // WINDOW_MS * WINDOW_MS + WINDOW_MS
    return np.asarray(ends <= drops)  # False beside a NaN: not read, or nobody knows any more


def newest(run: Run, clicks: int | None = None) -> list[MicroBatch]:
    """Return the run's micro-batches, or the newest of them that have this number of clicks."""
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
    try:
        ms = round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:  # past the year 9999, which Spark writes with a sign
        ms = LAST_MS
    return ms if ms > 0 else None
