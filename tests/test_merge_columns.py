"""The merge in columns against the merge by hand, on random histories cut into batches anywhere."""

import random
from collections.abc import Collection, Iterable
from typing import Any

import polars as pl
import pytest
from msgspec.structs import astuple

from workbook.pipelines.event_time_merge.columns import TABLES, Idle, Limits, merge, squeeze
from workbook.streams.events.visits import (
    CLOCK,
    MERGED,
    Heartbeat,
    Merged,
    OrderMessage,
    TrackingMessage,
    VisitMessage,
)
from workbook.tables.state import empty

TOPICS = ("tracking", "orders")
LIMITS = Limits(timeout=20, max_age=60, horizon=50)
KINDS = {
    **{"type": pl.String, "timestamp": pl.Int64, "event_id": pl.Int64, "ssid": pl.String},
    **{"page": pl.String, "order_id": pl.String, "cents": pl.Int64},
    **{"topic": pl.String, "partition": pl.Int32, "offset": pl.Int64, "reason": pl.String},
}
Message = VisitMessage | Heartbeat


def history(seed: int) -> list[tuple[str, Message]]:
    """Messages of few visits in both topics: late ones, twice the same, heartbeats."""
    draw = random.Random(seed)
    time, found = 0, list[tuple[str, Message]]()
    for number in range(draw.randint(1, 120)):
        time += draw.choice([0, 1, 1, 3, 30 if draw.random() < 0.1 else 2])
        at = max(time - (draw.randrange(60) if draw.random() < 0.2 else 0), 0)
        ssid = f"v{draw.randrange(8)}"
        message: Message = TrackingMessage(number, ssid, at, draw.choice(["/a", "/b"]))
        topic = "tracking"
        if draw.random() < 0.4:
            message, topic = (
                OrderMessage(number, ssid, at, f"o{number}", draw.randrange(9)),
                "orders",
            )
        if draw.random() < 0.2:
            message, topic = Heartbeat(time), draw.choice(TOPICS)
        found += [(topic, message)] * (2 if draw.random() < 0.1 else 1)
    return found


def frame(batch: list[tuple[int, tuple[str, Message]]]) -> pl.DataFrame:
    rows = []
    for offset, (topic, message) in batch:
        values = [getattr(message, name, None) for name in list(KINDS)[:7]]
        rows.append((*values, topic, 3, offset, None))
    return pl.DataFrame(rows, schema=KINDS, orient="row")


def as_merged(row: dict[str, Any]) -> Merged:
    ssid = row["ssid"]
    return Merged(
        ssid,
        tuple(TrackingMessage(ssid=ssid, **each) for each in row["tracking"]),
        tuple(OrderMessage(ssid=ssid, **each) for each in row["orders"]),
        row["fragment"],
    )


@pytest.mark.parametrize("seed", range(60))
def test_it_is_the_merge_by_hand(seed: int) -> None:
    draw, left = random.Random(seed), list(enumerate(history(seed)))
    by_hand, state = MergeByHand(TOPICS, LIMITS), empty(TABLES)
    counted, emitted, lone, messages = 0, 0, 0, 0
    firsts: dict[tuple[str, str], int] = {}  # of open visits, by ssid and topic
    while left:
        size = draw.choice([1, 2, 10, 50])
        batch, left = left[:size], left[size:]
        expected = by_hand.process(message for _, message in batch)
        mixed = batch[:]
        draw.shuffle(mixed)
        rows = merge(state, squeeze(frame(mixed)), limits=LIMITS, topics=TOPICS)
        visits = [as_merged(row) for row in rows.filter(kind=MERGED).iter_rows(named=True)]
        assert visits == expected
        assert rows.filter(kind=MERGED)["timestamp"].to_list() == [v.newest for v in expected]
        clock = rows.filter(kind=CLOCK).row(0, named=True)
        assert clock["timestamp"] == by_hand.clock
        assert clock["open"] == len(by_hand.open)
        emitted += sum(not lacks_a_visit(visit) for visit in expected)
        lone += sum(map(lacks_a_visit, expected))
        counted += sum(visit.fragment > 0 for visit in expected)
        messages += sum(not isinstance(message, Heartbeat) for _, (_, message) in batch)
        sums = (clock["emitted"], clock["no_visit"], clock["fragments"])
        assert sums == (emitted, lone, counted)
        assert clock["messages"] == messages
        assert clock["partition"] == 3
        for offset, (topic, message) in batch:
            if not isinstance(message, Heartbeat):
                firsts.setdefault((message.ssid, topic), offset)
        for number, topic in enumerate(TOPICS):
            needed = min((o for (_, t), o in firsts.items() if t == topic), default=None)
            [start] = rows[f"from_{number}"].unique().to_list()
            assert needed is None or (start is not None and start <= needed)
        firsts = {key: offset for key, offset in firsts.items() if key[0] in by_hand.open}


def test_with_nothing_open_a_start_is_where_the_batch_began() -> None:
    state = empty(TABLES)
    starts = []
    for batch in (
        [(7, ("tracking", TrackingMessage(1, "a", 5, "/"))), (8, ("tracking", Heartbeat(99)))],
        [(3, ("orders", Heartbeat(99)))],  # a is complete, and emitted by this one
        [(4, ("orders", Heartbeat(100)))],
        [(20, ("tracking", TrackingMessage(2, "b", 101, "/")))],
        [(21, ("tracking", TrackingMessage(3, "b", 102, "/")))],
    ):
        rows = merge(state, squeeze(frame(batch)), limits=LIMITS, topics=TOPICS)
        starts.append(rows.select("from_0", "from_1").row(-1))
        state["open"].settle()
    assert starts == [(7, None), (7, 3), (9, 4), (9, 5), (20, 5)]


@pytest.mark.parametrize(("clock", "fragment"), [(150, 1), (151, 0)])
def test_an_ssid_is_remembered_for_just_its_horizon(clock: int, fragment: int) -> None:
    state = empty(TABLES)
    by_hand = MergeByHand(TOPICS, LIMITS)
    for at, message in ((100, TrackingMessage(1, "a", 5, "/")), (clock, Heartbeat(clock))):
        both = [("tracking", message), *((topic, Heartbeat(at)) for topic in TOPICS)]
        by_hand.process(both)
        merge(state, squeeze(frame(list(enumerate(both)))), limits=LIMITS, topics=TOPICS)
    late = ("tracking", TrackingMessage(2, "a", 6, "/"))
    rows = merge(state, squeeze(frame([(9, late)])), limits=LIMITS, topics=TOPICS)
    found = rows.filter(kind=MERGED)["fragment"].to_list()
    assert found == [visit.fragment for visit in by_hand.process([late])] == [fragment]


def test_a_topic_that_is_idle_does_not_hold_the_clock_back() -> None:
    wall = [1000]
    idle = Idle(timeout=100, run=1, now=lambda: wall[0])
    state = empty(TABLES)

    def clock(at: int, *came: tuple[str, int]) -> int | None:
        wall[0] = at
        batch = [(n, (topic, Heartbeat(time))) for n, (topic, time) in enumerate(came)]
        rows = merge(state, frame(batch), limits=LIMITS, topics=TOPICS, idle=idle)
        return rows.filter(kind=CLOCK)["timestamp"][0]

    assert clock(1001, ("tracking", 50)) is None
    assert clock(1101, ("tracking", 60)) is None, "orders have not been silent for long enough"
    assert clock(1102, ("tracking", 70)) == 70
    assert clock(1110, ("orders", 30)) == 70, "it counts again, and the clock doesn't go back"
    assert clock(1210, ("tracking", 80)) == 70
    assert clock(1211, ("tracking", 90)) == 90
    restarted = Idle(timeout=100, run=2, now=lambda: wall[0])
    for at, time, expected in ((1, 95, 90), (101, 96, 90), (102, 97, 97)):  # as after a boot
        wall[0] = at
        batch = frame([(at, ("tracking", Heartbeat(time)))])
        rows = merge(state, batch, limits=LIMITS, topics=TOPICS, idle=restarted)
        found = rows.filter(kind=CLOCK)["timestamp"][0]
        assert found == expected, "nothing is idle before this run has looked at it for so long"


def test_what_a_topic_brings_that_was_idle_is_late_and_not_lost() -> None:
    wall = [1000]
    state = empty(TABLES)

    def emitted(at: int, run: int, topic: str, *came: VisitMessage) -> list[tuple[Any, ...]]:
        wall[0] = at
        batch = frame([(n, (topic, message)) for n, message in enumerate(came)])
        idle = Idle(timeout=100, run=run, now=lambda: wall[0])
        rows = merge(state, batch, limits=LIMITS, topics=TOPICS, idle=idle).filter(kind=MERGED)
        held = [len(row["tracking"]) + len(row["orders"]) for row in rows.iter_rows(named=True)]
        return list(zip(rows["ssid"], rows["fragment"], held, strict=True))

    assert emitted(1001, 1, "tracking", TrackingMessage(1, "a", 50, "/")) == []
    # Orders have said nothing for so long: by tracking alone, a is complete.
    assert emitted(1102, 1, "tracking", TrackingMessage(2, "b", 75, "/")) == [("a", 0, 1)]
    # At 30 it's behind the clock, and due at 50: a late part of a, at once.
    assert emitted(1103, 1, "orders", OrderMessage(1, "a", 30, "o1", 1)) == [("a", 1, 1)]
    assert emitted(1104, 1, "orders", OrderMessage(2, "b", 60, "o2", 1)) == []
    # A new run waits for orders, and knows where the clock stood.
    late = (TrackingMessage(3, "a", 20, "/"), TrackingMessage(4, "c", 96, "/"))
    assert emitted(9001, 2, "tracking", *late) == [("a", 2, 1)]
    assert emitted(9002, 2, "orders", OrderMessage(3, "c", 96, "o3", 1)) == [("b", 0, 2)]


# --- the oracle: message by message, in plain Python ------------------------------------------


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
