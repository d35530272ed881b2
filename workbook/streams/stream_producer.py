"""Sends events to Kafka: one by one, or a stream on a virtual clock, paced or as fast as can be."""

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha1
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workbook.errors import NoSuchStream
from workbook.kafka.application import Loop
from workbook.kafka.producer import DeliveringProducer, Landed, bounded
from workbook.kafka.require import ANSWER_S, require_topic
from workbook.streams.events.ad_actions import ARRIVAL
from workbook.streams.events.clicks import Click

if TYPE_CHECKING:
    from workbook.streams.generators.streams import PacedStream

GIVE_UP_S = 15
"""Seconds for which a record of a stream is retried after the broker went away."""

BLOCK = 20_000
TICK_S, AHEAD_S = 0.1, 1.0
"""A paced stream looks at the clock this often, and draws so far ahead."""

ENDLESS = 2**40

RANDOM_END = re.compile(r"\.[0-9a-f]{4}$")
"""The suffix that ``topics.new_topic`` gives to the topics of a run."""

BULK = {
    "compression.type": "lz4",  # measured: it doubles the rate
    "linger.ms": 20,
    "batch.size": 1_000_000,
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 262_144,
    "delivery.report.only.error": True,
}


@dataclass(frozen=True, slots=True)
class Sent:
    """The amount delivered: events, messages (with duplicates), real seconds."""

    events: int
    messages: int
    seconds: float

    @property
    def rate(self) -> float:
        """Return the number of messages per real second."""
        return self.messages / self.seconds if self.seconds else 0.0


class StreamProducer(DeliveringProducer):
    """Sends blocks of a stream's messages, as fast as can be.

    They are delivered once it is closed. Raises BrokerUnreachable as soon as one is given up.
    """

    def __init__(self, config: Mapping[str, Any], topic: str) -> None:
        _, limit = bounded(config, topic, GIVE_UP_S)
        super().__init__(config, topic, {**BULK, **limit}, patience=GIVE_UP_S)

    def send_block(self, block: pa.Table) -> int:
        """Send explicit partitions, with the arrival (ms) as timestamp; returns how many."""
        columns = (block[name].to_pylist() for name in ("value", "key", "partition", "arrival"))
        self.produce_all(zip(*columns, strict=True))
        self.poll()
        self.check()
        return len(block)


def generate(
    config: Mapping[str, Any],
    topic: str,
    stream: "PacedStream",
    count: int,
    *,
    speed: float | None = None,
    progress: Callable[[Sent], None] = lambda sent: None,
    until: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> Sent:
    """Send the first ``count`` events of a stream, as fast as can be or paced by ``speed``.

    ``speed`` is virtual seconds per real second. ``clock`` gives real seconds since 1970.
    ``progress`` hears after each block; ``until`` may end the stream early. All is delivered on
    return. Raises BrokerUnreachable, TopicMissing; NoSuchStream when the virtual clock would pass
    the real one (choose the start by ``stream.ending_by``) or a partition is missing.
    """
    known, producer = require_topic(config, topic), StreamProducer(config, topic)
    ahead = BLOCK if speed is None else math.ceil(min(BLOCK, stream.rate * speed * AHEAD_S))
    began, sent, drawn = clock(), Sent(0, 0, 0.0), Drawn(stream, 0, 0)
    while sent.events < count and not until():
        if sent.events == drawn.last:
            drawn = Drawn(stream, drawn.last, min(count, drawn.last + ahead))
        past = (clock() - began) * 1000
        last, rows = drawn.until(math.inf if speed is None else stream.start_ms + past * speed)
        if last == sent.events:  # the next event's time has not come
            sleep(TICK_S)
            continue
        _check(rows, known, topic, clock() * 1000)
        sent = Sent(last, sent.messages + producer.send_block(rows), clock() - began)
        progress(sent)
    producer.close()
    return Sent(sent.events, sent.messages, clock() - began)


class Drawn:
    """Events that are drawn, to be sent as their times come: a few alone cost as much to draw."""

    def __init__(self, stream: "PacedStream", first: int, last: int) -> None:
        self.first, self.last, self._sent, self._before = first, last, 0, 0
        self._rows, self._due = stream.block(first, last), stream.arrivals(np.arange(first, last))
        by = "sent" if "sent" in self._rows.column_names else "arrival"
        self._times = self._rows[by].to_numpy()

    def until(self, now: float) -> tuple[int, pa.Table]:
        """Return how many events are due at this time (ms), and the rows that weren't before."""
        due = int(np.searchsorted(self._due, now, "right"))
        begin = self._sent
        if due == len(self._due):
            self._sent = len(self._rows)
        elif due > self._before:
            self._sent = int(np.searchsorted(self._times, now, "right"))
        self._before = due
        return self.first + due, self._rows.slice(begin, self._sent - begin)


def _check(block: pa.Table, known: int, topic: str, now_ms: float) -> None:
    highest = max(block["partition"].to_numpy(), default=0)
    if highest >= known:
        raise NoSuchStream(
            f"topic {topic!r} has {known} partitions, the stream wants {highest + 1} or more: "
            "create the topic with as many as the stream has."
        )
    newest = max(block["arrival"].to_numpy(), default=0)
    if newest > now_ms + 1:
        raise NoSuchStream(
            f"the stream's clock is {newest - now_ms:,.0f} ms ahead of the real one, and a broker "
            "may refuse such records: start the stream by `stream.ending_by(now, count, speed)`."
        )


class BackgroundStream:
    """A stream whose events arrive in real time, from a thread of its own, until ``stop``.

    Re-running a cell replaces the stream that it started before, on a topic whose name only differs
    in its random end, so traffic never doubles. ``sent`` says how many events and messages are in
    the topic; a stream of now starts by ``stream.ending_by(now, count, speed=1)``. Raises as
    ``generate``, from ``stop``.
    """

    def __init__(self, config: Mapping[str, Any], topic: str, stream: "PacedStream") -> None:
        self.sent = Sent(0, 0, 0.0)
        self._work = (config, topic, stream)
        name = f"the stream of {RANDOM_END.sub('', topic)}"
        self._loop = Loop(BackgroundStream._send, self, name)

    def stop(self) -> Sent:
        """Stop the stream; on return all its events have been delivered."""
        self._loop.stop()
        return self.sent

    def close(self) -> None:
        """Do nothing: a stream that has ended has closed its producer."""

    def _send(self, until: Callable[[], bool]) -> None:
        self.sent = generate(*self._work, ENDLESS, speed=1, progress=self._hear, until=until)

    def _hear(self, sent: Sent) -> None:
        self.sent = sent


# --- single records -----------------------------------------------------------------------------


class ClickProducer(DeliveringProducer):
    """Sends the shop's single clicks, each delivered before ``send`` returns.

    Raises TopicMissing, and BrokerUnreachable within ten seconds.
    """

    def __init__(self, config: Mapping[str, Any], topic: str) -> None:
        require_topic(config, topic)
        super().__init__(config, topic, {"linger.ms": 0}, patience=ANSWER_S)

    def send(self, click: Click) -> Landed:
        """Send one click, keyed by its tab id; return where it landed. Raises as ``send_now``."""
        key = click.tab_id.encode() if click.tab_id is not None else None
        return self.send_now(click.to_json(), key)


def send_replicated(
    config: Mapping[str, Any], topic: str, records: Iterable[tuple[bytes | None, int]]
) -> None:
    """Send values with their arrivals (ms) as ``pipelines.replicate`` does, without Spark.

    All are delivered on return. Raises BrokerUnreachable.
    """
    with DeliveringProducer(config, topic, {"linger.ms": 20, "compression.type": "lz4"}) as sender:
        for value, arrival in records:
            key = None if value is None else sha1(value).digest()
            sender.produce(value, key, headers={ARRIVAL: str(arrival)})
            sender.poll()
