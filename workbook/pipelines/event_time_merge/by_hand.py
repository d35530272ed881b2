"""The merge by hand: a clock per stream, a dictionary of open visits, and what was emitted.

The idea is OTTO's, who built it on Spark before Spark had event time: "Stateful stream processing
with Spark", their session of two topics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from workbook.streams.events.merged import Merged, combine, merged
from workbook.streams.events.visits import Heartbeat, VisitMessage


@dataclass(frozen=True, slots=True)
class Limits:
    """When a visit is complete, in ms of event time.

    ``timeout`` after its newest message, or ``max_age`` after its oldest one, so that a visitor who
    never pauses is emitted too. For ``horizon`` after the time of its emission its ssid is kept.
    """

    timeout: int = 120_000
    max_age: int = 3_600_000
    horizon: int = 3_600_000

    def due(self, visit: Merged) -> int:
        """Return the event time which the clock must have passed for the visit to be complete."""
        return min(visit.newest + self.timeout, visit.oldest + self.max_age)


@dataclass
class BusinessClock:
    """The event time up to which every stream has come: the slowest one decides.

    One for each partition, since partition p of a topic is joined with partition p of the other.
    """

    topics: Collection[str]
    newest: dict[str, int] = field(default_factory=dict)

    def see(self, topic: str, timestamp: int) -> None:
        """Note an event time of a topic; an older one changes nothing."""
        self.newest[topic] = max(timestamp, self.newest.get(topic, timestamp))

    @property
    def time(self) -> int | None:
        """Return the smallest of the topics' newest times; None while one has given nothing."""
        return min(self.newest.values()) if len(self.newest) == len(self.topics) else None


class MergeByHand:
    """Merges the messages of one partition of both topics: take a batch, then emit."""

    def __init__(self, topics: Collection[str], limits: Limits) -> None:
        self.clock, self.limits = BusinessClock(topics), limits
        self.open: dict[str, Merged] = {}
        self.remembered: dict[str, tuple[int, int]] = {}
        """Of an emitted ssid: until which event time, and the number of its next fragment."""

    def take(self, topic: str, message: VisitMessage | Heartbeat) -> None:
        """Move the clock, and merge a message with those of its ssid; a heartbeat isn't merged."""
        self.clock.see(topic, message.timestamp)
        if isinstance(message, Heartbeat):
            return
        alone = merged(message)
        known = self.open.get(message.ssid)
        if known is None:
            _, fragment = self.remembered.get(message.ssid, (0, 0))
            known = replace(alone, fragment=fragment)
        self.open[message.ssid] = combine(known, alone)

    def emit(self) -> list[Merged]:
        """Take out what is complete by now, sorted by event time."""
        now = self.clock.time
        if now is None:
            return []
        remembered = self.remembered.items()
        self.remembered = {ssid: known for ssid, known in remembered if known[0] >= now}
        done = [visit for visit in self.open.values() if self.limits.due(visit) < now]
        for visit in done:
            del self.open[visit.ssid]
            self.remembered[visit.ssid] = now + self.limits.horizon, visit.fragment + 1
        return sorted(done, key=lambda visit: (visit.newest, visit.ssid))

    def process(self, batch: Iterable[tuple[str, VisitMessage | Heartbeat]]) -> list[Merged]:
        """Take messages, each with its topic, and emit what they complete."""
        for topic, message in batch:
            self.take(topic, message)
        return self.emit()
