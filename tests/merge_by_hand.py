"""The merge message by message, in plain Python: the oracle of the merge in columns."""

from collections.abc import Collection, Iterable

from msgspec.structs import astuple

from workbook.pipelines.event_time_merge.columns import Limits
from workbook.streams.events.visits import Heartbeat, Merged, TrackingMessage, VisitMessage


def lacks_a_visit(visit: Merged) -> bool:
    """Whether it's an order without tracking messages, and no later part of a visit."""
    return not visit.tracking and not visit.fragment


class MergeByHand:
    """Merges the messages of one partition of both topics: take a batch, then emit."""

    def __init__(self, topics: Collection[str], limits: Limits) -> None:
        self.topics, self.limits = topics, limits
        self.newest: dict[str, int] = {}
        self.open: dict[str, set[VisitMessage]] = {}
        self.remembered: dict[str, tuple[int, int]] = {}
        """Of an emitted ssid: until which event time, and the number of its next fragment."""
        self.fragments: dict[str, int] = {}

    @property
    def clock(self) -> int | None:
        """The smallest of the topics' newest times; None while one has given nothing."""
        return min(self.newest.values()) if len(self.newest) == len(self.topics) else None

    def take(self, topic: str, message: VisitMessage | Heartbeat) -> None:
        """Move the clock, and keep a message with those of its ssid; a heartbeat isn't merged."""
        self.newest[topic] = max(message.timestamp, self.newest.get(topic, message.timestamp))
        if not isinstance(message, Heartbeat):
            if message.ssid not in self.open:
                self.fragments[message.ssid] = self.remembered.get(message.ssid, (0, 0))[1]
            self.open.setdefault(message.ssid, set()).add(message)

    def due(self, visit: Merged) -> int:
        """The event time which the clock must have passed for the visit to be complete."""
        oldest = min(message.timestamp for message in visit.messages)
        return min(visit.newest + self.limits.timeout, oldest + self.limits.max_age)

    def whole(self, ssid: str) -> Merged:
        """Return what is open of an ssid, by event time."""
        some = sorted(self.open[ssid], key=lambda message: (message.timestamp, *astuple(message)))
        tracking = tuple(each for each in some if isinstance(each, TrackingMessage))
        orders = tuple(each for each in some if not isinstance(each, TrackingMessage))
        return Merged(ssid, tracking, orders, self.fragments[ssid])

    def process(self, batch: Iterable[tuple[str, VisitMessage | Heartbeat]]) -> list[Merged]:
        """Take messages, each with its topic; return what is complete by now, by event time."""
        for topic, message in batch:
            self.take(topic, message)
        now = self.clock
        if now is None:
            return []
        remembered = self.remembered.items()
        self.remembered = {ssid: known for ssid, known in remembered if known[0] >= now}
        done = [visit for visit in map(self.whole, self.open) if self.due(visit) < now]
        for visit in done:
            del self.open[visit.ssid]
            self.remembered[visit.ssid] = now + self.limits.horizon, visit.fragment + 1
        return sorted(done, key=lambda visit: (visit.newest, visit.ssid))
