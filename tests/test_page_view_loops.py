"""The loops that tell completed seconds: what each one promises, on a real broker."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from labs import until

from workbook.errors import Rejected, SeveralPartitions
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.loops import within
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.readers import consumer, read_dead_letters
from workbook.pipelines.page_views.metrics import (
    AHEAD,
    AHEAD_MS,
    LATE,
    Completed,
    Seconds,
    auto_commit,
    commit_after_poll,
    commit_on_delivery,
    in_transactions,
    share,
)
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.metrics import MetricsProducer, read_metrics, record
from workbook.streams.stream_producer import generate
from workbook.topics import Topic

START = 1_700_000_000
ARRIVAL = (START + 60) * 1000

# --- one step ---------------------------------------------------------------------------------


def click(second: int, event_id: int = 0, kind: ClickType = ClickType.PAGE) -> Click:
    return Click(event_id, kind, "home", (START + second) * 1000 + 500, "Firefox")


def test_the_first_click_completes_nothing_and_no_second_0() -> None:
    assert Seconds().step(click(5), "clicks", 0, 0) is None
    seconds = Seconds()
    first = Click(1, ClickType.PAGE, "home", 0, "Firefox")
    assert seconds.step(first, "clicks", 0, 0) is None
    assert seconds.step(click(5), "clicks", 0, 1) == Completed(0, "clicks", 0, 1, (1,))


def test_a_second_is_complete_at_the_first_page_view_of_a_later_one() -> None:
    seconds = Seconds()
    for offset, event_id in enumerate([7, 8, 9]):
        assert seconds.step(click(5, event_id), "clicks", 0, offset) is None
    done = seconds.step(click(9, 10), "clicks", 0, 3)
    assert done == Completed(START + 5, "clicks", 0, 3, (7, 8, 9))
    assert (done.views, done.restart().offset) == (3, 3)
    assert (done.metric().partition, done.metric(by_partition=True).partition) == (None, 0)
    assert seconds.step(click(10, 11), "clicks", 0, 4) == Completed(
        START + 9, "clicks", 0, 4, (10,)
    )


def test_actions_neither_count_nor_complete_nor_come_late() -> None:
    seconds = Seconds()
    assert seconds.step(click(4, 1, ClickType.ACTION), "clicks", 0, 0) is None
    assert seconds.open == {}
    seconds.step(click(5, 2), "clicks", 0, 1)
    assert seconds.step(click(6, 3, ClickType.ACTION), "clicks", 0, 2) is None
    assert seconds.step(click(4, 4, ClickType.ACTION), "clicks", 0, 3) is None
    assert seconds.open == {0: (START + 5, [2])}


def test_a_page_view_of_an_earlier_second_is_rejected_and_changes_nothing() -> None:
    seconds = Seconds()
    seconds.step(click(5, 1), "clicks", 0, 0)
    with pytest.raises(Rejected) as why:
        seconds.step(click(4, 2), "clicks", 0, 1)
    assert why.value.reason == LATE
    assert seconds.open == {0: (START + 5, [1])}


def test_partitions_are_counted_apart_and_can_be_forgotten() -> None:
    seconds = Seconds()
    seconds.step(click(9, 1), "clicks", 0, 0)
    seconds.step(click(5, 2), "clicks", 1, 0)
    assert seconds.step(click(6, 3), "clicks", 1, 1) == Completed(START + 5, "clicks", 1, 1, (2,))
    seconds.forget([TopicPartition("clicks", 0), TopicPartition("clicks", 7)])
    assert seconds.open == {1: (START + 6, [3])}
    assert seconds.step(click(2, 4), "clicks", 0, 0) is None, "it begins anew"


def test_only_partition_0_can_do_without_the_partition_in_the_key() -> None:
    done = Completed(START, "clicks", 1, 3, (1, 2))
    assert done.metric(by_partition=True).key() == b"%d/1" % START
    with pytest.raises(SeveralPartitions, match=r"partition 1 of 'clicks'.*by_partition=True"):
        done.metric()


def test_the_last_record_again_is_not_counted_twice() -> None:
    seconds = Seconds()
    for offset in (3, 4, 4):
        assert seconds.step(click(5, offset), "clicks", 0, offset) is None
    assert seconds.step(click(6), "clicks", 0, 5) == Completed(START + 5, "clicks", 0, 5, (4,))


# --- the loops on a scripted reader -----------------------------------------------------------


@dataclass(frozen=True)
class Handed:
    """What a consumer hands out: a click, where it lies and when it arrived."""

    click: Click
    number: int
    place: int = 0
    arrived: int = ARRIVAL

    def value(self) -> bytes:
        return self.click.to_json()

    def timestamp(self) -> tuple[int, int]:
        return 1, self.arrived

    def topic(self) -> str:
        return "clicks"

    def partition(self) -> int:
        return self.place

    def offset(self) -> int:
        return self.number


class Scripted:
    """A reader, its metrics, its dead letters and its producer; ``log`` is what happened.

    All that is sent is delivered at once. So many commits find the broker ``away``.
    """

    away = 0

    def __init__(self, *handed: Handed) -> None:
        self.left, self.log = list(handed), list[Any]()

    def poll(self, timeout: float) -> Handed | None:
        return self.left.pop(0) if self.left else None

    def when_gone(self, forget: Callable[[list[TopicPartition]], None]) -> None:
        self.gone = forget

    def over(self) -> bool:
        return not self.left

    def commit(
        self,
        message: Handed | None = None,
        offsets: Sequence[TopicPartition] = (),
        asynchronous: bool = True,
    ) -> None:
        assert not asynchronous, "the loop goes on when the broker has it"
        if message is not None:
            offsets = [TopicPartition("clicks", message.place, message.number + 1)]
        if self.away:
            self.away -= 1
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        self.log.append(("commit", offsets[0].offset))

    def send(
        self, metric: Any, ids: Sequence[int], then: Callable[[], None] = lambda: None
    ) -> None:
        self.log.append(("sent", metric.second - START, metric.views))
        then()

    def serve(self) -> None:
        pass

    def __call__(self, message: Handed, why: Rejected) -> None:
        self.log.append(("rejected", message.number, why.reason))

    def close(self) -> None:
        self.log.append("closed")

    def consumer_group_metadata(self) -> str:
        return "group"

    def send_offsets_to_transaction(self, offsets: list[TopicPartition], group: str) -> None:
        self.log.append(("commit", offsets[0].offset))

    def produce(self, sent: tuple[str, int, int]) -> None:
        self.log.append(sent)

    def init_transactions(self) -> None:
        pass

    begin_transaction = commit_transaction = init_transactions


def handed(*seconds: int | Click, **more: int) -> list[Handed]:
    """Clicks, or page views of these seconds; number and event id count from 0."""
    clicks = [click(s, n) if isinstance(s, int) else s for n, s in enumerate(seconds)]
    return [Handed(one, number, **more) for number, one in enumerate(clicks)]


def on_delivery(bench: Scripted, **more: Any) -> None:
    commit_on_delivery(bench, bench, bench.over, bench, **more)


def transactions(bench: Scripted) -> None:
    def to_send(done: Completed) -> dict[str, Any]:
        return {"sent": ("sent", done.metric().second - START, done.views)}

    in_transactions(bench, bench, to_send, bench.over, bench)  # type: ignore[arg-type]


@pytest.mark.parametrize("work", [on_delivery, transactions])
def test_no_commit_passes_a_dead_letter_that_is_still_on_its_way(
    work: Callable[[Scripted], None],
) -> None:
    bench = Scripted(*handed(0, 1, 0, 2))
    work(bench)
    events = [event for event in bench.log if event == "closed" or event[0] != "sent"]
    assert events[:4] == ["closed", ("commit", 1), ("rejected", 2, LATE), "closed"]
    assert events[4] == ("commit", 3)


def test_at_its_end_the_loop_waits_for_what_it_has_sent() -> None:
    bench = Scripted(*handed(0, 1))
    on_delivery(bench)
    assert bench.log == [("sent", 0, 1), "closed", ("commit", 1), "closed"]


class LateDelivery(Scripted):
    """What was sent is delivered at the next ``serve``."""

    def __init__(self, *handed: Handed | None) -> None:
        super().__init__(*handed)  # type: ignore[arg-type]
        self.thens = list[Callable[[], None]]()

    def send(
        self, metric: Any, ids: Sequence[int], then: Callable[[], None] = lambda: None
    ) -> None:
        super().send(metric, ids)
        self.thens.append(then)

    def serve(self) -> None:
        while self.thens:
            self.thens.pop(0)()


def test_a_delivery_is_committed_also_where_no_click_comes_any_more() -> None:
    bench = LateDelivery(*handed(0, 1), None)
    on_delivery(bench)
    assert bench.log == [("sent", 0, 1), "closed", ("commit", 1), "closed"]


def test_at_most_once_each_record_is_committed_before_it_is_counted() -> None:
    bench = Scripted(*handed(0, 1, 1))
    commit_after_poll(bench, bench, bench.over, bench)
    assert bench.log == [("commit", 1), ("commit", 2), ("sent", 0, 1), ("commit", 3)]


def test_a_commit_that_fails_is_made_good_by_the_next_one() -> None:
    bench = Scripted(*handed(0, 1, 2))
    bench.away = 1
    on_delivery(bench)
    assert [event for event in bench.log if event[0] == "commit"] == [("commit", 2)]


def test_the_loop_counts_in_the_seconds_of_who_shares_the_topic() -> None:
    seconds = Seconds()
    on_delivery(Scripted(*handed(0, 1)), seconds=seconds)
    assert seconds.open == {0: (START + 1, [1])}


def test_what_rejects_needs_no_close() -> None:
    bench, put_aside = Scripted(*handed(0, 1, 0, 2)), list[str]()
    commit_on_delivery(bench, bench, bench.over, lambda message, why: put_aside.append(why.reason))
    assert [event for event in bench.log if event[0] == "commit"] == [("commit", 1), ("commit", 3)]
    assert put_aside == [LATE]


def ahead(ms: int, kind: ClickType = ClickType.PAGE) -> Click:
    """A click whose event time lies that much after its arrival."""
    return Click(99, kind, "home", ARRIVAL + ms, "Firefox")


def test_one_click_that_is_far_ahead_does_not_put_the_others_aside() -> None:
    """290 s are near enough for a click; here they would make 600 good ones late."""
    near = handed(*(second for second in range(290) for _ in range(2)), 290)
    far = Handed(ahead(290_000), 2)
    arrived = [Handed(h.click, h.number + 1, 0, h.click.timestamp) for h in near[2:]]
    bench = Scripted(*near[:2], far, *arrived)
    on_delivery(bench)
    assert [e for e in bench.log if e[0] == "rejected"] == [("rejected", 2, AHEAD)]
    assert [e for e in bench.log if e[0] == "sent"] == [("sent", s, 2) for s in range(290)]


def test_a_producer_whose_clock_is_ahead_in_both_times_puts_nobody_aside() -> None:
    now = int(time.time() * 1000)
    fast = Click(99, ClickType.PAGE, "home", now + 3_000_000, "Firefox")
    good = [Click(n, ClickType.PAGE, "home", now - 5_000 + 1_000 * n, "Firefox") for n in range(4)]
    times = [fast.timestamp, *(click.timestamp for click in good)]
    clicks = zip([fast, *good], range(5), times, strict=True)
    bench = Scripted(*(Handed(click, number, 0, arrival) for click, number, arrival in clicks))
    on_delivery(bench)
    assert [e for e in bench.log if e[0] == "rejected"] == [("rejected", 0, Reason.AHEAD.value)]


def test_five_seconds_ahead_are_near_enough_and_actions_may_be_anywhere() -> None:
    bench = Scripted(*handed(ahead(AHEAD_MS), ahead(AHEAD_MS + 1), ahead(9_000, ClickType.ACTION)))
    on_delivery(bench)
    assert [e for e in bench.log if e[0] == "rejected"] == [("rejected", 1, AHEAD)]


def test_two_partitions_under_one_key_are_refused_before_the_wrong_number_is_told() -> None:
    """It was 5 page views for 35: each partition told its part of second 0, and the last won."""
    bench = Scripted(*handed(*[0] * 30, 1), *handed(*[0] * 5, 1, place=1))
    with pytest.raises(SeveralPartitions):
        on_delivery(bench)
    assert bench.log == [("sent", 0, 30), "closed", ("commit", 30)]
    bench = Scripted(*handed(*[0] * 30, 1), *handed(*[0] * 5, 1, place=1))
    on_delivery(bench, by_partition=True)
    assert [e for e in bench.log if e[0] == "sent"] == [("sent", 0, 30), ("sent", 0, 5)]


def test_the_open_second_is_forgotten_with_its_partition() -> None:
    bench = Scripted(*handed(0, 0), Handed(click(1, 7), 10), Handed(click(2, 8), 11))

    def polled() -> bool:
        if len(bench.left) == 2:
            bench.gone([TopicPartition("clicks", 0)])  # 2 to 9 were counted by another reader
        return bench.over()

    commit_on_delivery(bench, bench, polled, bench)
    assert [e for e in bench.log if e[0] == "sent"] == [("sent", 1, 1)]


# --- a bench ----------------------------------------------------------------------------------


class Crash(Exception):
    """The end of a program in the middle of something."""


def crash_at(number: int) -> Callable[[str], None]:
    """Crash when a point is passed for the nth time, whichever."""
    passed = Counter[str]()

    def at(point: str) -> None:
        passed["all"] += 1
        if passed["all"] == number:
            raise Crash(point)

    return at


def crash_when(point: str, number: int = 1) -> Callable[[str], None]:
    """Crash when this point is passed for the nth time."""
    passed = Counter[str]()

    def at(where: str) -> None:
        passed[where] += 1
        if where == point and passed[where] == number:
            raise Crash(where)

    return at


@dataclass
class Bench:
    """A topic of clicks with its metrics and dead letters, and programs that live more than once.

    ``points`` are those that the last life has passed.
    """

    config: dict[str, str]
    clicks: Topic
    metrics: Topic
    points: list[str] = field(default_factory=list)
    known: tuple[int, bool] = (-1, False)

    def send(
        self, *seconds: int | Click | bytes, partition: int = 0, arrival: int = ARRIVAL
    ) -> None:
        """Clicks of these seconds, by event ids from 0 on, or a click or bytes as they are."""
        producer = Producer(self.config)
        for number, what in enumerate(seconds):
            one = click(what, number) if isinstance(what, int) else what
            value = one if isinstance(one, bytes) else one.to_json()
            producer.produce(self.clicks.name, value, partition=partition, timestamp=arrival)
        assert producer.flush(10) == 0

    def reader(self, auto: bool = False, **more: str) -> Any:
        settings = {"enable.auto.commit": str(auto).lower(), **more}
        return consumer({**self.config, **settings}, self.clicks.name, "counter")

    def live(
        self,
        work: Callable[..., None] = commit_on_delivery,
        until: Callable[[Bench], bool] = lambda bench: False,
        at: Callable[[str], None] = lambda point: None,
        auto: bool = False,
        **more: Any,
    ) -> str:
        """One life, until ``until`` holds or a crash; where it crashed."""
        self.points, self.known = [], (-1, False)
        reader = self.reader(auto)
        sender = MetricsProducer(self.config, self.metrics.name, with_events=True)

        def passed(point: str) -> None:
            self.points.append(point)
            at(point)

        letters = DeadLetters(self.config, self.clicks.dead_letters.name)
        over = within(30, lambda _: until(self))
        try:
            with letters:
                work(reader, sender, lambda: over(self.points), letters, passed, **more)
            sender.close()
            return ""
        except Crash as crash:
            return str(crash)
        finally:
            reader.close()

    def committed(self, **more: str) -> list[int | None]:
        config = {**self.config, **more}
        return [place.committed for place in partition_offsets(config, self.clicks.name, "counter")]

    def at_end(self, offset: int) -> bool:
        """Is this offset committed? Asked again after each commit of this life only."""
        commits = self.points.count("after-commit")
        if self.known[0] != commits:
            self.known = (commits, self.committed() == [offset])
        return self.known[1]

    def found(self, **more: str) -> list[tuple[int, int, list[int]]]:
        """Second (from START), views and event ids of all metrics, in their order."""
        rows = read_metrics({**self.config, **more}, self.metrics.name)
        return [(r.second - START, r.views, sorted(r.event_ids)) for r in rows.itertuples()]


@pytest.fixture
def bench(broker: Any, topic: Callable[..., Topic]) -> Bench:
    return Bench(broker.client_config(), topic("clicks"), topic("metrics"))


def commits(number: int) -> Callable[[Bench], bool]:
    return lambda bench: bench.points.count("after-commit") >= number


def polls(number: int) -> Callable[[Bench], bool]:
    return lambda bench: bench.points.count("after-poll") >= number


# --- at least once ----------------------------------------------------------------------------

HISTORY = [0, 0, click(0, 70, ClickType.ACTION), 1, 1, click(2, 71, ClickType.ACTION), 1, 2, 2, 5]
FULL = [(0, 2, [0, 1]), (1, 3, [3, 4, 6]), (2, 2, [7, 8])]


def test_the_first_record_of_the_open_second_is_committed(bench: Bench) -> None:
    bench.send(*HISTORY[:9])
    bench.live(until=commits(2))
    assert bench.committed() == [7], "the first page view of second 2"
    assert bench.found() == FULL[:2]
    # The next life counts second 2 from there: it repeats nothing and leaves nothing out.
    bench.send(*HISTORY[9:])
    bench.live(until=commits(1))
    assert bench.committed() == [9]
    assert bench.found() == FULL
    assert bench.points.count("after-poll") == 3


def test_nothing_is_told_and_committed_while_the_first_second_is_open(bench: Bench) -> None:
    bench.send(0, 0, click(1, 9, ClickType.ACTION))
    bench.live(until=polls(3))
    assert (bench.found(), bench.committed()) == ([], [None])


def test_a_crash_at_any_step_repeats_whole_seconds_and_loses_none(bench: Bench) -> None:
    """Life after life: one ends at each point, then each is a step longer until one ends well."""
    bench.send(*HISTORY)
    for point in ("after-poll", "before-send", "after-send", "before-commit", "after-commit"):
        assert bench.live(at=crash_when(point, 1)) == point
    for steps in range(1, 60):
        # A last commit at offset 9 is the end: there is nothing but the open second behind it.
        if not bench.live(at=crash_at(steps), until=lambda b: b.at_end(9)):
            break
    assert bench.committed() == [9]
    found = bench.found()
    assert [row for row in found if row not in FULL] == [], "no partial second, ever"
    assert [row for row in FULL if row not in found] == []
    assert len(found) > len(FULL), "some were repeated: else the crashes hit nothing"


def test_a_late_page_view_becomes_a_dead_letter(bench: Bench) -> None:
    late = click(0, 50)
    bench.send(0, 1, late, b"junk", 1, 2)
    bench.live(until=commits(2))
    assert bench.found() == [(0, 1, [0]), (1, 2, [1, 4])]
    letters = read_dead_letters(bench.config, bench.clicks.dead_letters.name)
    assert [(r.reason, r.offset, r.value) for r in letters.itertuples()] == [
        (LATE, 2, late.to_json()), (Reason.MALFORMED, 3, b"junk")
    ]  # fmt: skip


def test_dead_letters_are_safe_before_a_commit_passes_them(bench: Bench) -> None:
    bench.send(0, 1, click(0, 50), 2)
    done: list[str] = []

    def crash(point: str) -> None:
        done.append(point)
        if done.count("before-commit") == 2:
            raise Crash(point)

    letters = DeadLetters(bench.config, bench.clicks.dead_letters.name)
    sender = MetricsProducer(bench.config, bench.metrics.name)
    reader = bench.reader()
    over = within(30, lambda _: False)
    try:
        with pytest.raises(Crash):
            commit_on_delivery(
                reader, sender, lambda: over(done), letters, crash, settle=letters.close
            )
    finally:
        reader.close()
    assert (letters.asked, letters.sent) == (1, 1)


def test_partitions_have_clocks_and_commits_of_their_own(
    broker: Any, topic: Callable[..., Topic]
) -> None:
    bench = Bench(broker.client_config(), topic("clicks", partitions=3), topic("metrics"))
    bench.send(50, 50, 51, 52, partition=0)
    bench.send(0, 1, 1, partition=1)  # far behind, and not late
    bench.live(until=commits(3), by_partition=True)
    assert bench.committed() == [3, 1, None]
    metrics = read_metrics(bench.config, bench.metrics.name)
    found = {(r.second - START, int(r.partition)): r.views for r in metrics.itertuples()}
    assert found == {(50, 0): 2, (51, 0): 1, (0, 1): 1}
    assert len(metrics) == 3


# --- the other promises -----------------------------------------------------------------------


@pytest.mark.parametrize(("work", "auto"), [(auto_commit, True), (commit_after_poll, False)])
def test_without_a_crash_the_other_loops_tell_the_same(
    bench: Bench, work: Callable[..., None], auto: bool
) -> None:
    bench.send(*HISTORY)
    bench.live(work, until=polls(len(HISTORY)), auto=auto)
    assert bench.found() == FULL
    assert bench.committed() == [len(HISTORY)]


@pytest.mark.parametrize(("work", "auto"), [(auto_commit, True), (commit_after_poll, False)])
def test_the_other_loops_lose_what_was_in_memory(
    bench: Bench, work: Callable[..., None], auto: bool
) -> None:
    """Even an orderly end is enough: the records of the open second are committed."""
    bench.send(*HISTORY)
    bench.live(work, until=polls(5), auto=auto)
    bench.live(work, until=polls(5), auto=auto)
    assert bench.found() == [FULL[0], (1, 1, [6]), FULL[2]]


def test_a_commit_after_poll_loses_the_record_at_hand(bench: Bench) -> None:
    bench.send(0, 0, 1)
    assert bench.live(commit_after_poll, at=crash_when("after-commit", 3)) == "after-commit"
    assert (bench.committed(), bench.found()) == ([3], [])


# --- transactions -----------------------------------------------------------------------------

UNCOMMITTED = {"isolation.level": "read_uncommitted"}


def transacting(bench: Bench) -> Callable[..., None]:
    """``in_transactions`` with a producer of its own life, in the form of the other loops."""

    def work(reader: Any, _: Any, *rest: Any) -> None:
        producer = Producer({**bench.config, "transactional.id": bench.metrics.name})

        def metric(done: Completed) -> dict[str, Any]:
            return {"topic": bench.metrics.name, **record(done.metric(), done.event_ids)}

        in_transactions(reader, producer, metric, *rest)

    return work


def test_metric_and_offset_move_together(bench: Bench) -> None:
    bench.send(*HISTORY)
    bench.live(transacting(bench), until=commits(3))
    assert bench.found() == bench.found(**UNCOMMITTED) == FULL
    assert bench.committed() == [9]


def test_an_open_transaction_is_invisible_and_a_restart_replaces_it(bench: Bench) -> None:
    bench.send(*HISTORY)
    dies = crash_when("before-commit", 2)

    def crash(point: str) -> None:
        if bench.points.count("before-commit") == 2:  # the producer sends in the background
            until(lambda: bench.found(**UNCOMMITTED) == FULL[:2], "it reaches the broker")
        dies(point)

    assert bench.live(transacting(bench), at=crash) == "before-commit"
    assert bench.found() == FULL[:1]
    assert bench.committed(**UNCOMMITTED) == [3]
    bench.live(transacting(bench), until=commits(2))
    assert bench.found(**UNCOMMITTED) == [*FULL[:2], *FULL[1:]], "the aborted one is still there"
    assert bench.found() == FULL
    assert bench.committed() == [9]


def test_exactly_once_after_a_crash_at_any_step(bench: Bench) -> None:
    bench.send(*HISTORY)
    for steps in range(1, 60, 3):
        if not bench.live(transacting(bench), at=crash_at(steps), until=lambda b: b.at_end(9)):
            break
    assert bench.found() == FULL


@pytest.mark.parametrize("work", [commit_on_delivery, transacting])
def test_a_partition_that_comes_back_further_on_is_not_told_in_part(
    bench: Bench, work: Callable[..., Any]
) -> None:
    """Forty clicks of second 0 are counted when another reader gets them all, and tells 100."""
    bench.send(*[0] * 40)
    reader, taken = bench.reader(), list[int]()

    def elsewhere(_: Consumer, places: list[TopicPartition]) -> None:
        if not taken:
            bench.send(*[0] * 60, *[1] * 20, 2)
            told = TopicPartition(bench.clicks.name, 0, 100)
            reader.commit(offsets=[told], asynchronous=False)
            taken.extend(place.partition for place in places)

    reader.subscribe([bench.clicks.name], on_revoke=elsewhere)
    group = {"group.id": "counter", "log_level": "0", **bench.config}
    other = Consumer(group)  # joins for another topic: the group is made anew, and we get ours back

    def over() -> bool:
        if bench.points.count("after-poll") == 40:
            other.subscribe([bench.metrics.name])
            other.poll(0)
        return bench.points.count("after-commit") > 0

    sender = MetricsProducer(bench.config, bench.metrics.name, with_events=True)
    loop = work(bench) if work is transacting else work
    waits = within(60, lambda _: over())
    with DeadLetters(bench.config, bench.clicks.dead_letters.name) as letters:
        loop(reader, sender, lambda: waits(bench.points), letters, bench.points.append)
    reader.close()
    other.close()
    assert taken == [0]
    assert [(second, views) for second, views, _ in bench.found()] == [(1, 20)]


# --- two readers of a group -------------------------------------------------------------------


def test_partitions_are_given_away_after_what_was_sent_is_safe() -> None:
    called: dict[str, Any] = {}
    steps: list[Any] = []
    seconds = Seconds({0: (5, [1]), 1: (5, [2]), 2: (5, [3])})

    class Reader:
        def subscribe(self, topics: list[str], **listeners: Any) -> None:
            called.update(listeners, topics=topics)

    class Sender(MetricsProducer):
        def __init__(self) -> None:
            pass

        def close(self) -> None:
            steps.append(sorted(seconds.open))

    share(Reader(), "clicks", Sender(), seconds)
    assert called["topics"] == ["clicks"]
    called["on_revoke"](None, [TopicPartition("clicks", 1)])
    assert (steps, sorted(seconds.open)) == ([[0, 1, 2]], [0, 2])
    called["on_lost"](None, [TopicPartition("clicks", 2)])
    assert (len(steps), sorted(seconds.open)) == (1, [0])


class Counting(threading.Thread):
    """A reader of the group in a thread of its own, until ``leave``; its error, if it had one."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(daemon=True)
        self.bench, self.places, self.error = bench, 0, None
        self.leave = threading.Event()
        self.sender = MetricsProducer(bench.config, bench.metrics.name, with_events=True)
        self.start()

    def run(self) -> None:
        reader, seconds = self.bench.reader(), Seconds()
        letters = DeadLetters(self.bench.config, self.bench.clicks.dead_letters.name)
        share(reader, self.bench.clicks.name, self.sender, seconds)

        def until() -> bool:
            self.places = len(seconds.open)
            return self.leave.is_set()

        try:
            with letters:
                commit_on_delivery(
                    reader, self.sender, until, letters,
                    by_partition=True, seconds=seconds, settle=letters.close,
                )  # fmt: skip
        except Exception as error:
            self.error = error
        finally:
            reader.close()


@pytest.fixture
def group(broker: Any, topic: Callable[..., Topic]) -> Iterator[Callable[[], Counting]]:
    bench = Bench(broker.client_config(), topic("clicks", partitions=8), topic("metrics"))
    members: list[Counting] = []

    def join() -> Counting:
        members.append(Counting(bench))
        return members[-1]

    join.bench = bench  # type: ignore[attr-defined]
    yield join
    for member in members:
        member.leave.set()
        member.join(30)


def wait(until: Callable[[], bool], members: Sequence[Counting]) -> None:
    over = within(40, lambda _: until())
    while not over([(m.places, m.sender.delivered) for m in members]):
        assert [m.error for m in members] == [None] * len(members)
        time.sleep(0.02)


def test_who_leaves_in_the_middle_loses_nothing(group: Any) -> None:
    bench: Bench = group.bench
    stream = ClickStream(seed=5, rate=60, partitions=8, late_share=0.02, late_by_ms=4000)
    count = 6000
    stream = stream.ending_by(int(time.time() * 1000), count)

    def send(first: int, last: int) -> None:
        part = Part(stream, first, last)
        generate(bench.config, bench.clicks.name, part, last - first)

    # Who stays counts everything, gives half of it away in the middle of a second and has it back
    # when the others are further: what it still remembered would be wrong by then.
    send(0, 2000)
    stays = group()
    wait(lambda: stays.places == 8, [stays])
    leaves = group()
    wait(lambda: leaves.places >= 4, [stays, leaves])
    send(2000, 4000)
    before = leaves.sender.delivered
    wait(lambda: leaves.sender.delivered > before + 20, [stays, leaves])
    leaves.leave.set()
    send(4000, count)
    now = int(time.time())
    for partition in range(8):
        last = click(now + 2 - START, -1)  # completes what came before
        bench.send(last, partition=partition, arrival=now * 1000)
    leaves.join(30)
    ends = [o.end - 1 for o in partition_offsets(bench.config, bench.clicks.name)]
    wait(lambda: bench.committed() == ends, [stays])
    assert leaves.error is None
    judge(bench, stream.expected(0, count))


@dataclass(frozen=True)
class Part:
    """The events of a stream from ``first`` up to ``last``, as a stream of its own."""

    stream: ClickStream
    first: int
    last: int

    @property
    def start_ms(self) -> int:
        return self.stream.start_ms

    def due(self, now_ms: float) -> int:
        return self.last - self.first

    def block(self, first: int, last: int) -> Any:
        return self.stream.block(self.first + first, self.first + last)


def judge(bench: Bench, expected: pd.DataFrame) -> None:
    """By the last metric of each key and the dead letters, every page view is there once."""
    pages = expected[expected.click_type == ClickType.PAGE]
    metrics = read_metrics(bench.config, bench.metrics.name)
    assert [r for r in metrics.itertuples() if r.views != len(r.event_ids)] == []
    latest = metrics.groupby(["second", "partition"]).last()
    counted = [int(i) for ids in latest.event_ids for i in ids]
    letters = read_dead_letters(bench.config, bench.clicks.dead_letters.name)
    assert set(letters.reason) == {LATE}
    late = {Click.from_json(value, ARRIVAL * 2).event_id for value in letters.value}
    assert Counter(counted) - Counter(pages.event_id) == Counter(), "none twice, none unknown"
    assert set(pages.event_id) - set(counted) - late == set(), "none lost"
    assert set(counted) & late == set()
    # Nobody crashed, so nothing had to come again.
    assert not metrics.duplicated(["second", "partition"]).any()
