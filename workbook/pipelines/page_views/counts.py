"""Counts page views, in all and per second: by hand, and the same on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import Rejected
from workbook.events.clicks import Click, ClickType

# --- by hand ----------------------------------------------------------------------------------

Counts = dict[str, int]
"""Page name to number of views. What we know after every click so far: the state."""


class Polls(Protocol):
    """A consumer that can be polled."""

    def poll(self, timeout: float, /) -> Any: ...


def count_step(counts: Counts, click: Click) -> Counts:
    """Fold one click into the counts: return the counts after it.

    The dictionary is changed in place and returned, so that a million steps make no copies.
    """
    if click.click_type is ClickType.PAGE:
        counts[click.name] = counts.get(click.name, 0) + 1
    return counts


def count_page_views(
    consumer: Polls,
    until: Callable[[Counts], bool],
    reject: Callable[[Any, Rejected], None],
    counts: Counts | None = None,
) -> Counts:
    """Poll and count until ``until(counts)`` holds; it is asked after every poll, also an idle one.

    ``reject(message, why)`` gets each record that is no click; the loop counts on. Errors of the
    consumer (``BrokerUnreachable``, ``TopicMissing``) pass through.
    """
    counts = {} if counts is None else counts
    while not until(counts):
        message = consumer.poll(0.1)
        if message is None:
            continue
        try:
            count_step(counts, Click.from_json(message.value(), message.timestamp()[1]))
        except Rejected as why:
            reject(message, why)
    return counts


def polled_clicks(
    consumer: Polls, until: Callable[[], bool], reject: Callable[[Any, Rejected], None]
) -> Iterator[Click]:
    """Yield a topic's clicks, one by one, until ``until()`` holds; ask it before every poll.

    ``reject(message, why)`` gets each record that is no click. Errors of the consumer
    (``BrokerUnreachable``, ``TopicMissing``) pass through.
    """
    while not until():
        message = consumer.poll(0.1)
        if message is None:
            continue
        try:
            yield Click.from_json(message.value(), message.timestamp()[1])
        except Rejected as why:
            reject(message, why)


def completed_seconds(clicks: Iterable[Click]) -> Iterator[tuple[int, int]]:
    """Yield each second and its page views, once a page view of another second has come.

    In OTTO's mob programming session this was the map from second to count whose completed second
    is emitted and removed. Nothing is emitted at the first click: no second was complete.
    """
    counts: dict[int, int] = {}
    current: int | None = None
    for click in clicks:
        if click.click_type is not ClickType.PAGE:
            continue
        if current is not None and click.epoch_second != current:
            yield current, counts.pop(current)
        current = click.epoch_second
        counts[current] = counts.get(current, 0) + 1


# --- on Spark ---------------------------------------------------------------------------------


def page_views(parsed: DataFrame) -> DataFrame:
    """Count views per page name so far: ``name`` (string), ``views`` (bigint).

    A running aggregate over everything that arrived: it needs no watermark, because it is never
    finished, and an event dated in the far future has been rejected before it gets here.
    """
    seen = parsed.where(F.col("reason").isNull() & (F.col("click_type") == ClickType.PAGE.value))
    return seen.groupBy("name").agg(F.count("*").alias("views"))


def views_per_second(
    parsed: DataFrame,
    lateness: str = "5 seconds",
    *,
    by_partition: bool = False,
    with_events: bool = False,
) -> DataFrame:
    """Count views per second of event time: ``second`` (bigint, since 1970), ``views`` (bigint).

    ``by_partition`` adds the ``partition`` of the clicks (int) and counts each for itself,
    ``with_events`` the ``event_ids`` (array of bigint) of what was counted.

    The watermark follows the newest accepted event time of all partitions at a distance of
    ``lateness``. A second behind it is final and leaves the state. A click that comes even later is
    dropped: also one that is in order on a partition slower than others, and a good one after a
    click whose time was up to five minutes ahead. Only the query's progress counts it
    (``numRowsDroppedByWatermark``, in rows of partial counts). ``completed_views`` waits for the
    slowest partition, and names what came too late.
    """
    seen = parsed.where(F.col("reason").isNull() & (F.col("click_type") == ClickType.PAGE.value))
    places = ["partition"] if by_partition else []
    events = ["event_id"] if with_events else []
    time = F.timestamp_millis("timestamp").alias("event_time")
    windows = (
        seen.select(time, *places, *events)
        .withWatermark("event_time", lateness)
        .groupBy(F.window("event_time", "1 second"), *places)
    )
    found = [F.collect_list("event_id").alias("event_ids")] if with_events else []
    counts = windows.agg(F.count("*").alias("views"), *found)
    second = F.unix_seconds("window.start").alias("second")
    return counts.select(second, *places, "views", *(["event_ids"] if with_events else []))
