"""Runs an answer to "Views per second on Spark" on a stream: does its state end, and when?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbook.classroom.frame_causes import broken
from workbook.classroom.frames import described, difference
from workbook.classroom.judging import NotYet
from workbook.classroom.micro_batches import Row, run_batches
from workbook.classroom.streams import cause_of_endless_state

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGES = (
    # Page views in ms since the first second, and where the watermark is behind them. What comes is
    # judged by the watermark of the micro-batch before.
    (200, 700, 6_900),  # 1,900
    (6_910,),
    (1_950, 6_920),  # second 1 ends at 2,000: still open
    (9_100,),  # 4,100
    (9_110,),
    (3_950, 4_200, 9_900),  # second 3 has ended at 4,000, second 4 ends at 5,000
)
EMITTED = (
    ((0, 2), (6, 1)),
    ((6, 2),),
    ((1, 1), (6, 3)),
    ((9, 1),),
    ((9, 2),),
    ((4, 1), (9, 3)),
)

_KEPT = (
    "On a stream a page view that comes too late is still counted: the watermark lies more than "
    "five seconds behind. The longer the delay, the more seconds stay in the state."
)
_DROPPED = (
    "On a stream it drops a page view that is less than five seconds late: is the delay of the "
    "watermark too short?"
)
_NO_WINDOW = (
    "On a stream its state ends too early: it groups by a time that was cut to its second, and the "
    "watermark passes that when the second begins, not when it ends. Group by `F.window`."
)
_OTHER = "On a stream it emits other rows. Compare: what is counted there, and when?"


def on_a_real_stream(
    answer: Callable[..., Any], spark: SparkSession, schema: str, first: int
) -> NotYet | None:
    """Return what is wrong with an answer that's right on a table, or None."""
    tried = described(answer, spark.createDataFrame([], schema))
    if cause := cause_of_endless_state(tried):
        return NotYet(cause)
    batches = [[_page(first * 1000 + ms) for ms in times] for times in PAGES]
    ran = run_batches(spark, answer, schema, batches, ("second", "views"))
    if not isinstance(ran.value, list):
        return broken(answer, ran)
    found = [(n, at - first, views) for n, done in enumerate(ran.value, 1) for at, views in done]
    asked = [(n, at, views) for n, done in enumerate(EMITTED, 1) for at, views in done]
    if found == asked:
        return None
    plan = tried.value._jdf.queryExecution().analyzed().toString()
    table = difference(("micro-batch", "second", "views"), found, asked)
    return NotYet(_cause({at for _, at, _ in found}, "timestampconversion" in plan), table=table)


def _cause(seconds: set[int], windows: bool) -> str:
    """Name the cause by the seconds that were emitted: 1 has to be, and 3 came too late."""
    if 3 in seconds:
        return _KEPT
    if 1 not in seconds:
        return _DROPPED if windows else _NO_WINDOW
    return _OTHER


def _page(ms: int) -> Row:
    return 1, "Page", "/home", ms, "Firefox", "t1", "2023-11-14T22:13:20Z"
