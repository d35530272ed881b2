"""Runs an answer to "The latest of each minute" on a stream: where does a late commit land?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbook.classroom.frame_causes import broken
from workbook.classroom.frames import described, difference
from workbook.classroom.judging import NotYet
from workbook.classroom.micro_batches import Row, run_batches
from workbook.classroom.streams import cause_of_endless_state

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMITS = (
    # Group, offset to read next, and second since the first minute. The watermark is a minute
    # behind the newest commit, and takes one micro-batch more to drop what is late.
    (("a", 1, 10), ("b", 1, 115)),  # 55
    (("b", 2, 116),),
    (("a", 2, 20), ("b", 3, 117)),  # minute 0 ends at 60, and is still open
    (("b", 4, 125),),  # 65
    (("b", 5, 126),),
    (("a", 3, 30), ("a", 4, 70), ("b", 6, 127)),  # minute 0 has ended, minute 1 hasn't
)
EMITTED = (
    (("a", 0, 1), ("b", 1, 1)),
    (("b", 1, 2),),
    (("a", 0, 2), ("b", 1, 3)),
    (("b", 2, 4),),
    (("b", 2, 5),),
    (("a", 1, 4), ("b", 2, 6)),
)
"""Per micro-batch: group, minute, offset to read next."""

_KEPT = (
    "On a stream a commit that comes too late still counts: the watermark lies more than a minute "
    "behind. The longer the delay, the more minutes stay in the state."
)
_DROPPED = (
    "On a stream it drops a commit that is less than a minute late: is the delay of the watermark "
    "too short?"
)
_NO_WINDOW = (
    "On a stream its state ends too early: it groups by a time that was cut to its minute, and the "
    "watermark passes that when the minute begins, not when it ends. Group by `F.window`."
)
_COLLECTS = (
    "The rows are right, but on a stream it collects every commit of a minute, and the state keeps "
    "them all until the minute ends. Which aggregate keeps a single one?"
)
_OTHER = "On a stream it emits other rows. Compare: what is the newest commit there, and when?"


def on_a_real_stream(
    answer: Callable[..., Any], spark: SparkSession, schema: str, first: int
) -> NotYet | None:
    """Return what is wrong with an answer that's right on a table, or None."""
    tried = described(answer, spark.createDataFrame([], schema))
    if cause := cause_of_endless_state(tried):
        return NotYet(cause)
    plan = tried.value._jdf.queryExecution().analyzed().toString()
    if re.search(r"\b(collect_list|collect_set|array_agg|listagg)\(", plan):
        return NotYet(_COLLECTS)
    ran = run_batches(spark, answer, schema, _batches(first), ("group", "start", "committed"))
    if not isinstance(ran.value, list):
        return broken(answer, ran)
    found = [
        (n, group, (start - first) // 60_000, committed)
        for n, done in enumerate(ran.value, 1)
        for group, start, committed in done
    ]
    asked = [(n, *row) for n, done in enumerate(EMITTED, 1) for row in done]
    if found == asked:
        return None
    table = difference(("micro-batch", "group", "minute", "committed"), found, asked)
    return NotYet(_cause(found, "timestampconversion" in plan), table=table)


def _batches(first: int) -> list[list[Row]]:
    offset, batches = 0, list[list[Row]]()
    for commits in COMMITS:
        batches.append([])
        for group, committed, second in commits:
            offset += 1
            at = first + second * 1000
            batches[-1].append((group, "orders", 0, committed, at, False, offset))
    return batches


def _cause(found: list[tuple[int, str, int, int]], windows: bool) -> str:
    """Name the cause by the commits that came late: 2 has to be there, and 3 came too late."""
    if not windows:
        return _NO_WINDOW
    if any(row[:3] == (6, "a", 0) for row in found):
        return _KEPT
    return _OTHER if any(row[:3] == (3, "a", 0) for row in found) else _DROPPED
