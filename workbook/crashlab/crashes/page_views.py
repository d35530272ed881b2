"""Page views under kill -9: on Spark, by hand in four loops, and in one that a learner wrote."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbook.crashlab.crashes.base import (
    AFTER_COMMIT,
    ByHand,
    Filled,
    Outputs,
    Point,
    TopicCrashes,
    Traced,
    Variant,
    Verdict,
    on_spark,
)

if TYPE_CHECKING:
    from workbook.spark.runner import OnPoint
    from workbook.systems.base import Started

EVENTS, SECONDS = 2000, 40
"""The clicks that wait in the topic before anything starts, and the span of all but the last."""

_BY_HAND = {
    "after-poll": "a record has been handed out",
    "before-send": "a second is complete, its metric not sent",
    "after-send": "the metric has been handed to the producer",
    "before-commit": "about to commit an offset",
    "after-commit": "an offset has been committed",
}


def _points(**often: int) -> tuple[Point, ...]:
    """Return the points of a loop; one is passed ``often``, or once for each second."""
    passes = {name.replace("-", "_"): SECONDS for name in _BY_HAND} | {"after_poll": EVENTS} | often
    return tuple(
        Point(name, says, total * 15 // 100, total * 85 // 100)
        for (name, says), total in zip(_BY_HAND.items(), passes.values(), strict=True)
    )


def _auto_commit() -> tuple[Point, ...]:
    """Return its points: the client commits in the background, and nobody sees it begin."""
    seen = [p for p in _points() if "commit" not in p.name]
    return (*seen, Point("after-commit", _BY_HAND["after-commit"], 2, 9))  # about every 100 ms


def _own_points() -> tuple[Point, ...]:
    """Return the points of somebody's own loop: a send is late enough to follow a refused one."""
    return tuple(replace(p, first=12, last=30) if "send" in p.name else p for p in _points())


def _by_hand(run: ByHand, at: OnPoint) -> None:
    from workbook.crashlab.loops import run_loop, run_own

    (run_own if run.own else run_loop)(run, at)


class PageViewCrashes(TopicCrashes):
    """2,000 clicks in 40 s of event time, 1 % of them bad; none for somebody's own loop.

    Lost are page views that a reader misses if it keeps the last value of each key; duplicated are
    those that a reader counts twice if it adds up; miscounted are metrics with another number of
    page views than they name events, or with events of another second.
    """

    words = ("--lateness", "2 seconds", "--with-events", "--every", "0.1", "--max-per-batch", "200")
    variants = (
        Variant(
            "spark",
            "Spark, its checkpoint and its Kafka sink",
            on_spark(  # in the second half of 10 micro-batches: many seconds have been written
                *("before-compute", "before-topic", "mid-write", "before-checkpoint", AFTER_COMMIT),
                first=5,
                last=9,
            ),
            promises=("lost", "miscounted"),
        ),
        Variant(
            "auto-commit",
            "Kafka's client commits every 100 ms whatever it has handed out",
            _auto_commit(),
            by_hand=_by_hand,
        ),
        Variant(
            "after-poll",
            "each record is committed before it is counted",
            _points(before_commit=EVENTS, after_commit=EVENTS),
            by_hand=_by_hand,
        ),
        Variant(
            "on-delivery",
            "a second is committed once its metric has been delivered",
            _points(),
            promises=("lost", "miscounted"),
            by_hand=_by_hand,
        ),
        Variant(
            "transactions",
            "metric and offset are committed together",
            _points(),
            promises=("lost", "duplicated", "miscounted"),
            by_hand=_by_hand,
        ),
    )

    own = Variant(
        "your-own-loop", "a function of a notebook", _own_points(), promises=None, by_hand=_by_hand
    )

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Send the clicks; the page views that must be counted: event_id, timestamp (ms), second.

        The last of them is a page view that is a minute later and completes all seconds.
        """
        from workbook.streams.events.clicks import Click, ClickType
        from workbook.streams.generators.clicks import ClickStream
        from workbook.streams.stream_producer import StreamProducer, generate

        start = (int(time.time()) - SECONDS - 120) * 1000
        rate, bad, last = EVENTS / SECONDS, 0.0 if clean else 0.01, EVENTS - 1
        stream = ClickStream(seed=seed, rate=rate, start_ms=start, daily=0, bad_share=bad)
        generate(config, topic, stream, last)
        closing = Click(
            last, ClickType.PAGE, "/closing", start + (SECONDS + 60) * 1000, "crash lab"
        )
        with StreamProducer(config, topic) as producer:
            producer.produce(closing.to_json(), timestamp=closing.timestamp)
        sent = stream.expected(0, last)
        views = sent[sent["reason"].isna() & (sent["click_type"] == ClickType.PAGE)]
        expected = views[["event_id", "timestamp"]].assign(second=views["timestamp"] // 1000)
        return Filled(EVENTS, expected)

    def finish(self, started: Started, records: int) -> None:
        """Wait until all seconds are complete but that of the click that comes last."""
        from workbook.systems.accounts import Sums

        [sums] = [sink for sink in started.sinks if isinstance(sink, Sums)]
        while sums.now["read"] < records or sums.now["open"] > 1:
            started.running.wait(0.1)

    def judge(self, filled: Filled, outputs: Outputs) -> Verdict:
        """Judge each second by the event ids in its metrics."""
        from workbook.streams.ledgers.seconds import judge
        from workbook.streams.metrics import read_metrics

        return judge(filled.expected, read_metrics(outputs.config, outputs.options.out))

    def traced(self, filled: Filled, outputs: Outputs) -> Traced:
        """Follow each page view to the first metric that names it."""
        from workbook.kafka.readers import read_messages
        from workbook.streams.metrics import read_metrics

        config, options = outputs.config, outputs.options
        messages = read_messages(config, options.source)
        clicks = {m.offset() or 0: _event_id(m.value()) for m in messages if m.partition() == 0}
        expected = set(filled.expected["event_id"])
        counted = {n: event for n, event in clicks.items() if event in expected}
        metrics = read_metrics(config, options.out).sort_values("offset", ascending=False)
        first: dict[int, int] = {}
        for offset, ids in zip(metrics["offset"], metrics["event_ids"], strict=True):
            first |= dict.fromkeys(ids.tolist(), int(offset))
        published = {n: first[event] for n, event in counted.items() if event in first}
        return Traced("page view", max(clicks, default=-1) + 1, frozenset(counted), published)


def _event_id(value: bytes | None) -> int | None:
    """Return a click's event id; None for what is no click."""
    try:
        return int(json.loads(value or b"")["event_id"])
    except (ValueError, LookupError, TypeError, OverflowError):
        return None
