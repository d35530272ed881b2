"""Decodes clicks on Spark: reads the JSON, and marks what isn't a click with the reason.

What a click is, ``Click.from_json`` says.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workbook.sources.records import Format, arrivals, planned
from workbook.streams.events.clicks import CLICK_SCHEMA, MAX_AHEAD_MS, Click, PlainClick


def _doubtful(batch: pa.RecordBatch, clicks: list[Any]) -> pa.Array:
    times = pa.array([c.timestamp for c in clicks], pa.int64())
    latest = pc.add(pc.min_element_wise(arrivals(batch), planned(batch)), MAX_AHEAD_MS)
    return pc.or_(pc.less(times, 0), pc.greater(times, latest))


CLICKS = Format(
    schema=CLICK_SCHEMA,
    plain=PlainClick,
    unread=PlainClick(0, "Page", "", -1, ""),
    doubtful=_doubtful,
    marked=("reason",),
    judge=lambda key, value, arrival, now: Click.from_json(value, arrival, now),
)

parse = CLICKS.parse
