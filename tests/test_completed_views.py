"""Complete seconds: step by step without Spark, and one query on real servers."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from collected import Collected
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from labs import until
from pyspark.sql import SparkSession

from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.offsets import Unread
from workbook.kafka.readers import read_dead_letters
from workbook.pipelines.page_views.clocks import IDLE_MS, PASSED, RECENT, Clock, slowest
from workbook.pipelines.page_views.completed import (
    COMPLETE,
    SUMS,
    TOO_LATE,
    clock_table,
    complete,
    completed_views,
    milliseconds,
    nothing_came,
    per_second,
)
from workbook.sinks.late_letters import LateLetters
from workbook.sources.kafka import kafka_stream
from workbook.spark.runner import Running, start_query
from workbook.streams.events.clicks import MAX_AHEAD_MS, Click, ClickType
from workbook.streams.events.reasons import Reason
from workbook.streams.too_late import send_too_late
from workbook.systems.view_sums import Sums
from workbook.tables.packing import Tables
from workbook.topics import Topic

YESTERDAY, MINUTE = 1_767_225_600_000, 60_000
NOW = YESTERDAY + 86_400_000
MakeTopic = Callable[..., Topic]

ALONE = round(RECENT * PASSED) - 1
"""So many records in a row move no clock."""


@dataclass
class Query:
    """The steps of a query, micro-batch by micro-batch, and what came out."""

    lateness: int = 5_000
    waiting: int = 2**62
    now: int = NOW
    asked: int = 0
    tables: Tables = field(default_factory=lambda: {"open": None, "clocks": None, "sums": None})
    counted: Counter[int] = field(default_factory=Counter)
    late: list[tuple[int, int]] = field(default_factory=list)
    sums: dict[str, int] = field(default_factory=dict)
    ends: Counter[int] = field(default_factory=Counter)

    def knowing(self, *times: int) -> Query:
        """The clocks of partitions 0, 1, ... stand there already."""
        self.tables["clocks"] = clock_table({p: Clock(time) for p, time in enumerate(times)})
        return self

    def read(self, *records: tuple[int, int], after: int = 500, delay: int = 0) -> Query:
        """A micro-batch of page views: (partition, event time in ms) in the order of appending.

        Each came ``delay`` ms after it had happened.
        """
        self.now += after
        return self.take(*((p, time, "Page", None, time + delay) for p, time in records))

    def bad(self, partition: int, after: int = 500) -> Query:
        """A micro-batch of one record that nobody can read."""
        self.now += after
        return self.take((partition, None, None, "malformed JSON", self.now))

    def take(self, *records: tuple[Any, ...]) -> Query:
        """A micro-batch of (partition, timestamp, click_type, reason, arrival)."""
        rows = []
        for partition, *rest in records:
            rows.append((partition, self.ends[partition], *rest, self.now))
            self.ends[partition] += 1
        names = ["partition", "offset", "timestamp", "click_type", "reason", "arrival", "now"]
        kinds = [pl.Int32, pl.Int64, pl.Int64, pl.String, pl.String, pl.Int64, pl.Int64]
        frame = pl.DataFrame(rows, schema=dict(zip(names, kinds, strict=True)), orient="row")
        self._tell(self._step(self.tables, per_second(frame).sort("second")))  # in any order
        return self

    def wait(self, seconds: int) -> Query:
        """So many seconds in which nothing comes, a micro-batch in each of them."""
        for _ in range(seconds):
            self.now += 1_000
            self._tell(self._step(self.tables, nothing_came(self.now)))
        return self

    @property
    def _step(self) -> Callable[..., tuple[Tables, pl.DataFrame]]:
        return partial(
            complete,
            behind=self.lateness,
            unread=self._unread,
            by_partition=False,
        )

    def _unread(self, partition: int, offset: int) -> int:
        assert offset == self.ends[partition]
        self.asked += 1
        return self.waiting

    def _tell(self, result: tuple[Tables, pl.DataFrame]) -> None:
        self.tables, told = result
        for row in told.iter_rows(named=True):
            if row["kind"] == COMPLETE:
                assert row["second"] not in self.counted, "a second is complete once"
                self.counted[row["second"]] = row["views"]
            elif row["offsets"] is not None:
                self.late += [(row["partition"], offset) for offset in row["offsets"]]
            else:
                self.sums[row["kind"]] = row["views"]
        parts = sum(self.sums[name] for name in SUMS[1:])
        assert self.sums["read"] == parts, "what was read adds up"
        assert self.sums[TOO_LATE] == len(self.late)
        assert self.sums["counted"] == sum(self.counted.values())


def live() -> Query:
    """One that has read its topic to the end, a minute after YESTERDAY began."""
    return Query(now=YESTERDAY + MINUTE, waiting=0)


def batches(partitions: list[list[int]], size: int) -> Iterator[list[tuple[int, int]]]:
    """Records in micro-batches as Spark cuts them: of each partition a share of what is left."""
    left = [list(times) for times in partitions]
    while total := sum(map(len, left)):
        batch = []
        for partition, times in enumerate(left):
            share = max(size * len(times) // total, 1 if times else 0)
            batch += [(partition, time) for time in times[:share]]
            left[partition] = times[share:]
        yield batch


# --- nothing that is in order is late ---------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_partitions_in_order_lose_nothing_whatever_skew_backlog_and_batches(seed: int) -> None:
    draw = random.Random(seed)
    partitions = []
    for _ in range(draw.randint(1, 6)):
        start, step = draw.randrange(0, 3_600_000), draw.choice([1, 50, 1_000, 30_000, 400_000])
        times = [YESTERDAY + start + step * n for n in range(draw.randint(0, 200))]
        partitions.append(times)
    query = Query(lateness=draw.choice([0, 2_000, 60_000]))
    for batch in batches(partitions, draw.choice([1, 7, 50, 1_000])):
        query.read(*batch, after=draw.choice([10, 500, 20_000]))
    query.wait(15)
    assert query.late == []
    assert query.counted == Counter(t // 1000 for times in partitions for t in times)
    assert query.sums.get("open", 0) == 0


def test_two_partitions_of_uneven_density_count_all_2_000() -> None:
    dense = [YESTERDAY + 100 * n for n in range(1800)]
    sparse = [YESTERDAY + 5_000 * n for n in range(200)]
    query = Query()
    for batch in batches([dense, sparse], 200):
        query.read(*batch)
    query.wait(15)
    assert {name: query.sums[name] for name in SUMS} == {
        **dict.fromkeys(SUMS, 0), "read": 2000, "counted": 2000,
    }  # fmt: skip


def test_what_is_behind_is_late_by_its_own_offset_and_counted_in_no_second() -> None:
    query = live().read((0, YESTERDAY), (0, YESTERDAY + 20_000))
    query.read((0, YESTERDAY + 14_000), (0, YESTERDAY + 900), (0, YESTERDAY + 15_000))
    assert sorted(query.late) == [(0, 2), (0, 3)]
    query.wait(15)
    first = YESTERDAY // 1000
    assert query.counted == {first: 1, first + 20: 1, first + 15: 1}


def test_a_second_is_open_until_its_end_is_so_far_behind() -> None:
    query = live().read((0, YESTERDAY), (0, YESTERDAY + 5_999))
    assert not query.counted
    assert query.read((0, YESTERDAY + 6_000)).counted == {YESTERDAY // 1000: 1}


def test_actions_move_the_clock_and_rejected_records_do_not() -> None:
    query = live().read((0, YESTERDAY)).bad(0)
    assert (query.sums["rejected"], query.sums["open"]) == (1, 1)
    query.take((0, YESTERDAY + 20_000, "Action", None, NOW))
    assert (query.sums["others"], query.sums["open"], query.sums["counted"]) == (1, 0, 1)


# --- idle partitions --------------------------------------------------------------------------


def test_an_idle_partition_holds_the_others_for_ten_seconds_and_no_longer() -> None:
    live = YESTERDAY
    query = Query(now=live, waiting=0).knowing(live, live).read((0, live), (1, live))
    for second in range(1, 10):
        query.read((0, live + 1_000 * second), after=1_000)
    assert not query.counted
    assert query.sums["slowest"] == 1
    for second in range(10, 40):
        query.read((0, live + 1_000 * second), after=1_000)
    newest = max(query.counted)
    assert query.now // 1000 - 18 <= newest <= query.now // 1000 - 15
    assert query.read((1, query.now - 10_000), after=0).late == []


def test_an_outage_is_no_idleness() -> None:
    query = Query(now=YESTERDAY, waiting=0).read((0, YESTERDAY), (1, YESTERDAY))
    query.read((0, query.now), after=2_000)
    before = query.now
    query.read((0, before + 40_000), after=45_000)  # what the other one has kept comes next
    query.read(*((1, before + second * 1_000) for second in range(40)))
    assert query.late == []


def test_micro_batches_five_seconds_apart_count_in_full_as_idle() -> None:
    query = Query(now=YESTERDAY, waiting=0).read((0, YESTERDAY), (1, YESTERDAY))
    query.read((0, query.now + 5_000), after=5_000)
    assert query.sums["clock"] == YESTERDAY - query.lateness
    query.read((0, query.now + 5_000), after=5_000).read((0, query.now), after=5_000)
    assert query.sums["clock"] == (query.now - 10_000 - query.lateness) // 1000 * 1000


def test_the_last_seconds_are_completed_where_nothing_comes_any_more() -> None:
    query = Query().read((0, YESTERDAY), (0, YESTERDAY + 1_000))
    assert query.wait(9).sums["open"] == 2
    assert query.wait(3).sums["open"] == 0


@pytest.mark.parametrize(("gap", "delay"), [(12, 0), (12, 20), (30, 60), (60, 600)])
def test_one_that_is_often_idle_and_late_on_arrival_is_waited_for(gap: int, delay: int) -> None:
    query = Query(now=YESTERDAY, waiting=0)
    for _ in range(30):
        query.wait(gap).read((0, query.now - delay * 1_000), delay=delay * 1_000)
    assert query.late == []
    assert query.sums["counted"] > 20


def delayed(at: int, delay: int) -> tuple[Any, ...]:
    """A page view of so many ms after YESTERDAY that took so long (ms) to arrive."""
    return (0, YESTERDAY + at, "Page", None, YESTERDAY + at + delay)


def of_the_clock(query: Query, name: str) -> int:
    clocks = query.tables["clocks"]
    assert clocks is not None
    return int(clocks[name].item())


def test_an_idle_clock_follows_the_reader_and_never_runs_back() -> None:
    now = YESTERDAY + 40_000
    assert slowest({0: Clock(YESTERDAY, IDLE_MS - 1)}, now) == (YESTERDAY, 0)
    assert slowest({0: Clock(YESTERDAY, IDLE_MS, delay=20_000)}, now) == (YESTERDAY + 10_000, 0)
    assert slowest({0: Clock(YESTERDAY, IDLE_MS, delay=60_000)}, now) == (YESTERDAY, 0)


def test_an_event_ahead_of_its_arrival_makes_no_idle_clock_run_ahead() -> None:
    query = live()
    query.take((0, query.now + 200_000, "Page", None, query.now)).wait(12)
    assert query.read((0, query.now)).late == []


def test_what_comes_late_sets_no_clock_back() -> None:
    query = Query().knowing(YESTERDAY + MINUTE)
    query.read(*((0, YESTERDAY + n) for n in range(RECENT)))
    assert of_the_clock(query, "time") == YESTERDAY + MINUTE


def test_a_reader_whose_own_clock_is_set_back_takes_no_idleness_away() -> None:
    query = live().read((0, YESTERDAY)).wait(4)
    query.now -= 60 * MINUTE
    assert of_the_clock(query.wait(1), "idle") == 4_000


def test_the_delay_is_that_of_the_newest_event() -> None:
    query = live().take(delayed(0, 3_000), delayed(2_000, 20_000), delayed(4_000, 8_000))
    assert of_the_clock(query, "delay") == 8_000


def test_an_event_that_the_clock_has_not_reached_says_nothing_of_the_delay() -> None:
    query = Query().knowing(YESTERDAY + 5_000)
    query.take(delayed(2_000, 3_000), delayed(4_000, 20_000), delayed(50 * MINUTE, 0))
    assert query.sums["clock"] == YESTERDAY
    assert of_the_clock(query, "delay") == 20_000


def test_a_partition_that_begins_with_what_nobody_can_read_is_waited_for() -> None:
    query = Query().knowing(YESTERDAY).read((0, YESTERDAY)).bad(1)
    query.read((0, YESTERDAY + 200_000)).read((1, YESTERDAY))
    assert query.late == []


def test_a_partition_that_gives_only_what_nobody_can_read_stops_nothing() -> None:
    live = YESTERDAY
    query = Query(now=live, waiting=0).knowing(live, live).read((0, live), (1, live))
    for _ in range(60):
        query.bad(1, after=500).read((0, query.now + 500))
    assert query.sums["open"] < 20


# --- clocks that run ahead --------------------------------------------------------------------


def test_live_a_click_ahead_of_the_reader_moves_the_clock_to_now_at_most() -> None:
    query = Query(now=YESTERDAY, waiting=0)
    query.read((0, query.now), (0, query.now + MAX_AHEAD_MS - 1_000))
    for _ in range(100):
        query.read((0, query.now - 3_000))
    assert query.late == []
    assert query.sums["counted"] > 20


@pytest.mark.parametrize("alone", [1, 10, ALONE])
@pytest.mark.parametrize("apart", [0, 100, MAX_AHEAD_MS - 10_000, 2 * MAX_AHEAD_MS])
def test_in_a_replay_one_producer_alone_moves_no_clock(alone: int, apart: int) -> None:
    query = Query()
    query.read(*((0, YESTERDAY + 100 * n) for n in range(RECENT)))
    before = YESTERDAY + 100 * RECENT
    query.read(*((0, before + apart * (n + 1)) for n in range(alone)))
    assert query.sums["clock"] <= before
    for block in range(RECENT, RECENT + 300, 10):
        query.read(*((0, YESTERDAY + 100 * n) for n in range(block, block + 10)))
    assert query.late == []


@pytest.mark.parametrize("ahead", [4 * MINUTE, 50 * MINUTE])
def test_in_a_replay_a_producer_among_others_moves_no_clock_however_much_it_sends(
    ahead: int,
) -> None:
    query = Query()
    for n in range(0, 3_000, 10):
        good, wrong = YESTERDAY + 100 * n, YESTERDAY + ahead + 100 * n
        query.read(*[(0, good)] * 3, *[(0, wrong)] * 20)
    assert query.late == []
    assert query.sums["counted"] > 100


@pytest.mark.parametrize("minutes", [1, 44, 46, 120])
def test_nor_does_it_in_one_large_micro_batch(minutes: int) -> None:
    query = Query()
    for start in (0, minutes, 2 * minutes):
        good = [YESTERDAY + start * MINUTE + 1_000 * n for n in range(60 * minutes)]
        wrong = {10 * n: good[10 * n] + 50 * MINUTE for n in range(6 * minutes)}
        records = [(0, t) for n, time in enumerate(good) for t in (time, wrong.get(n)) if t]
        query.read(*records)
    assert query.late == []


@pytest.mark.parametrize("first", [[50 * MINUTE], [0, 50 * MINUTE], [50 * MINUTE] * ALONE])
def test_the_first_records_of_a_partition_set_no_clock_alone(first: list[int]) -> None:
    query = Query().read(*((0, YESTERDAY + after) for after in first))
    for block in range(0, 3_000, 10):
        query.read(*((0, YESTERDAY + 100 * n) for n in range(block, block + 10)))
    assert query.late == []
    assert query.sums["counted"] > 1_900


def test_a_night_without_clicks_is_over_when_nine_in_ten_of_the_last_records_came_after_it() -> (
    None
):
    query = Query()
    query.read(*((0, YESTERDAY + n) for n in range(RECENT)))
    morning = YESTERDAY + 600 * MINUTE
    for n in range(ALONE):
        query.read((0, morning + n))
    assert not query.counted
    query.read((0, morning + ALONE))
    assert query.counted == {YESTERDAY // 1000: RECENT}
    assert query.sums["clock"] == morning - query.lateness


def test_the_last_records_of_several_micro_batches_and_tasks_count_by_their_offsets() -> None:
    query = Query()
    query.read(*((0, YESTERDAY + 1_000 * n) for n in range(RECENT // 2)))
    assert query.sums["clock"] < YESTERDAY  # too few
    query.read(*((0, YESTERDAY + 1_000 * n) for n in range(RECENT // 2, RECENT)))
    assert query.sums["clock"] == YESTERDAY + 100_000 - query.lateness
    query.read(*((0, YESTERDAY + 1_000 * n) for n in range(RECENT, 5 * RECENT)))
    assert query.sums["clock"] == YESTERDAY + 4_100_000 - query.lateness


def test_the_oldest_of_the_last_records_make_room_first_however_many_lie_in_a_second() -> None:
    query = Query()
    ahead = iter(range(YESTERDAY + 50 * MINUTE, NOW, 1_000))
    for size in (RECENT, *[20] * 20):
        query.read(*((0, YESTERDAY if n % 20 < 3 else next(ahead)) for n in range(size)))
    assert query.late == []


def test_a_tenth_that_comes_late_does_not_hold_the_clock() -> None:
    query = Query()
    for n in range(0, 3_000, 10):
        times = [YESTERDAY + 1_000 * (n + m) for m in range(10)]
        query.read(*((0, time) for time in times[:9]), (0, times[9] - 30 * MINUTE))
    assert YESTERDAY + 1_900_000 < query.sums["clock"] < YESTERDAY + 2_200_000


def test_the_broker_is_asked_only_at_the_reader_s_own_time() -> None:
    query = Query().read(*((0, YESTERDAY + n) for n in range(3 * RECENT)))
    assert query.asked == 0
    query.read((0, query.now))
    assert query.asked == 1


def test_the_end_of_a_partition_counts_up_to_five_minutes_behind_the_reader() -> None:
    query = Query(now=YESTERDAY + MAX_AHEAD_MS, waiting=0).read((0, YESTERDAY), after=2_000)
    assert (query.asked, query.sums["clock"]) == (0, 0)
    query.read((0, YESTERDAY + 2_000))
    assert query.sums["clock"] == YESTERDAY + 2_000 - query.lateness


def test_a_pause_in_a_live_topic_is_believed_at_once() -> None:
    query = Query(now=YESTERDAY, waiting=1).read((0, YESTERDAY))
    query.now += 60 * MINUTE
    assert query.read((0, query.now)).counted == {YESTERDAY // 1000: 1}


def test_in_a_backlog_a_leap_to_now_is_not_believed() -> None:
    """The reader is an hour behind; one producer's clock is ahead by just that hour."""
    query = Query(now=YESTERDAY + 60 * MINUTE, waiting=500).knowing(YESTERDAY)
    query.read((0, YESTERDAY)).read((0, query.now))
    query.read(*((0, YESTERDAY + 1_000 * n) for n in range(500)))
    assert query.late == []


def test_of_600_that_wait_one_click_ahead_tells_nothing() -> None:
    query = Query(now=YESTERDAY + 90_000)
    query.read(*((0, YESTERDAY + 100 * n) for n in range(-RECENT, 0)))
    times = [YESTERDAY + 100 * n for n in range(900)]
    times[100] += 85_000
    for start in (0, 300, 600):
        query.waiting = 600 - start
        query.read(*((0, time) for time in times[start : start + 300]))
    assert query.late == []
    assert query.sums["clock"] > YESTERDAY + 80_000


def test_where_so_many_wait_so_many_others_must_have_passed() -> None:
    query = Query(now=YESTERDAY + MINUTE, waiting=30)
    query.read(*((0, YESTERDAY + 1_000 * n) for n in range(40)))
    assert query.sums["clock"] == YESTERDAY + 10_000 - query.lateness
    query.waiting = 42
    query.read((0, YESTERDAY + 50_000))
    assert query.sums["clock"] == YESTERDAY + 10_000 - query.lateness
    query.waiting = 1
    query.read((0, YESTERDAY + 51_000))
    assert query.sums["clock"] == YESTERDAY + 51_000 - query.lateness


def test_what_nobody_can_read_at_the_end_of_a_micro_batch_does_not_wait() -> None:
    query = live()
    query.take(
        (0, YESTERDAY, "Page", None, YESTERDAY), *[(0, None, None, "malformed JSON", query.now)] * 9
    )
    assert query.asked == 1
    assert query.sums["clock"] == YESTERDAY - query.lateness


def test_a_length_of_time() -> None:
    assert [milliseconds(text) for text in ("5 seconds", "1 day", "0 seconds", "1.5 minutes")] == [
        5_000, 86_400_000, 0, 90_000,
    ]  # fmt: skip
    for text in ("banana", "", "-1 seconds", "5"):
        with pytest.raises(ValueError, match="Expected a length of time"):
            milliseconds(text)


# --- on real servers --------------------------------------------------------------------------


def click(number: int, timestamp: int) -> bytes:
    return Click(number, ClickType.PAGE, "/", timestamp, "Firefox").to_json()


class Life:
    """A query over a topic of two partitions; started again it goes on."""

    def __init__(self, spark: Any, broker: Any, topic: Topic, checkpoint: Path) -> None:
        self.sums, self.table = Sums(), Collected("second", "kind")
        config = broker.client_config()
        letters = DeadLetters(config, topic.dead_letters.name)
        raw = kafka_stream(spark, broker, topic.name, max_per_batch=300)
        views = completed_views(raw, letters, unread=Unread(config, topic.name))
        sinks = [LateLetters(config, topic.name, letters), self.table, self.sums]
        self.running: Running = start_query(views, sinks, checkpoint, every="1 second")

    def views(self) -> dict[int, int]:
        """The views of each complete second."""
        rows = self.table.rows.values()
        return {row["second"]: row["views"] for row in rows if row["kind"] == COMPLETE}

    def end(self, read: int) -> None:
        """Wait until so many records have been read and no second is open any more."""

        def done() -> bool:
            self.running.check()
            return self.sums.now["read"] >= read and self.sums.now["open"] == 0

        with self.running:
            until(done, "all seconds")


def test_a_backlog_of_uneven_density_with_clocks_ahead_is_exact_across_a_restart(
    spark: Any, broker: Any, topic: MakeTopic, tmp_path: Path
) -> None:
    made, config = topic("clicks", partitions=2), broker.client_config()
    start = int(time.time() * 1000) - 20 * MINUTE

    def send(*records: tuple[int, int, int]) -> None:
        producer = Producer(config)
        for number, partition, timestamp in records:
            producer.produce(
                made.name, click(number, timestamp), None, partition, timestamp=timestamp
            )
        assert producer.flush(20) == 0

    dense = [(n, 0, start + 100 * n) for n in range(900)]
    sparse = [(1000 + n, 1, start + 5_000 * n) for n in range(100)]
    ahead = int(time.time() * 1000) + 50 * MINUTE  # in both times
    send(*dense, *sparse, (2000, 0, ahead), (2001, 1, ahead))
    life = Life(spark, broker, made, tmp_path / "mine")
    life.end(1002)
    assert {name: life.sums.now[name] for name in SUMS} == {
        "read": 1002, "counted": 1000, "open": 0, TOO_LATE: 0, "rejected": 2, "others": 0,
    }  # fmt: skip
    seconds = Counter(timestamp // 1000 for _, _, timestamp in (*dense, *sparse))
    assert life.views() == seconds

    send((3000, 0, start + 7), (3001, 1, start + 8), (3002, 1, int(time.time() * 1000)))
    assert SparkSession.getActiveSession() in (None, spark), "that of a micro-batch is its own"
    again = Life(spark, broker, made, tmp_path / "mine")
    again.end(1005)
    assert (again.sums.now["counted"], again.sums.now[TOO_LATE]) == (1001, 2)
    letters = read_dead_letters(config, made.dead_letters.name)
    once = letters.drop_duplicates(["partition", "offset", "reason"])
    assert Counter(once["reason"]) == {Reason.AHEAD: 2, Reason.TOO_LATE: 2}
    late = once[once["reason"] == Reason.TOO_LATE]
    assert {(row.partition, row.offset, row.value) for row in late.itertuples()} == {
        (0, 901, click(3000, start + 7)), (1, 101, click(3001, start + 8)),
    }  # fmt: skip


def test_what_the_topic_no_longer_has_is_a_dead_letter_without_its_bytes(
    broker: Any, topic: MakeTopic
) -> None:
    made, config = topic("clicks", partitions=2), broker.client_config()
    producer = Producer(config)
    for number in range(6):
        producer.produce(made.name, click(number, YESTERDAY), b"key", number % 2, timestamp=NOW)
    assert producer.flush(20) == 0
    admin = AdminClient(config)
    gone = admin.delete_records([TopicPartition(made.name, 1, 2)])
    assert all(future.result(30) for future in gone.values())
    rows = [{"partition": 0, "offsets": [0, 2]}, {"partition": 1, "offsets": [1, 2]}]
    letters = DeadLetters(config, made.dead_letters.name)
    assert send_too_late(rows, config, made.name, letters) == letters.sent == 4
    found = read_dead_letters(config, made.dead_letters.name)
    assert {(row.partition, row.offset, row.key, row.value) for row in found.itertuples()} == {
        (0, 0, b"key", click(0, YESTERDAY)), (0, 2, b"key", click(4, YESTERDAY)),
        (1, 1, None, None), (1, 2, b"key", click(5, YESTERDAY)),
    }  # fmt: skip
    assert set(found["reason"]) == {Reason.TOO_LATE}


def test_what_is_not_committed_yet_waits_too(broker: Any, topic: MakeTopic) -> None:
    made, config = topic("clicks"), broker.client_config()
    producer = Producer({**config, "transactional.id": made.name})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(3):
        producer.produce(made.name, click(number, YESTERDAY), partition=0)
    assert producer.flush(20) == 0
    unread = Unread(config, made.name)
    assert [unread(0, offset) for offset in (0, 2, 3)] == [3, 1, 0]
    producer.abort_transaction(30)


def test_counts_by_partition_come_with_their_events_and_late_actions_are_no_page_views() -> None:
    names = ["partition", "offset", "timestamp", "click_type", "reason", "arrival", "now"]
    rows = [
        (p, offset, YESTERDAY + after, kind, None, NOW, NOW, 10 * p + offset)
        for p in (0, 1)
        for offset, (after, kind) in enumerate([(0, "Page"), (1, "Page"), (2, "Action")])
    ]
    frame = pl.DataFrame(rows, schema=[*names, "event_id"], orient="row")
    frame = frame.with_columns(pl.col("partition").cast(pl.Int32), pl.col("reason").cast(pl.String))
    grouped = per_second(frame, with_events=True)
    known = {p: Clock(YESTERDAY + 60_000) for p in (0, 1)}
    step = partial(complete, behind=0, unread=lambda p, o: 0, by_partition=True)
    before: Tables = {"open": None, "clocks": clock_table(known), "sums": None}
    tables, told = step(before, grouped)
    done = told.filter(pl.col("kind") == COMPLETE).sort("partition")
    assert done["partition"].to_list() == [0, 1]
    assert [sorted(ids) for ids in done["event_ids"].to_list()] == [[0, 1], [10, 11]]
    tables, told = step(tables, grouped)  # now all are behind
    late = told.filter(pl.col("offsets").is_not_null()).sort("partition")
    assert [sorted(offsets) for offsets in late["offsets"].to_list()] == [[0, 1], [0, 1]]
    sums = {row["kind"]: row["views"] for row in told.iter_rows(named=True)}
    assert (sums[TOO_LATE], sums["others"], sums["counted"]) == (4, 4, 4)


def test_what_is_complete_stays_so_where_a_clock_is_set_back() -> None:
    query = Query(now=YESTERDAY).knowing(YESTERDAY).read((0, YESTERDAY))
    query.wait(20)  # idle: complete up to fifteen seconds ago
    complete_up_to = query.sums["clock"]
    query.bad(1).read((1, YESTERDAY + 1_000))
    assert query.sums["clock"] == complete_up_to
    assert len(query.late) == 1


def clicks(*rows: tuple[int, int, int, str, int]) -> pl.DataFrame:
    """What a task has read: partition, offset, timestamp, click_type, arrival."""
    columns = ["partition", "offset", "timestamp", "click_type", "arrival"]
    return pl.DataFrame(
        rows, schema=columns, schema_overrides={"partition": pl.Int32}, orient="row"
    ).with_columns(reason=pl.lit(None, pl.String), now=pl.lit(NOW))


def test_the_recent_records_are_the_last_thousand_of_each_partition() -> None:
    many = [(0, offset, offset // 5 * 1_000, "Page", 0) for offset in range(RECENT + 5)]
    few = [(1, offset, 0, "Page", 0) for offset in range(3)]
    grouped = per_second(clicks(*many, *few))
    recent = {
        partition: sorted(rows["recent"].explode().drop_nulls())
        for (partition,), rows in grouped.group_by("partition")
    }
    assert recent == {0: list(range(5, RECENT + 5)), 1: [0, 1, 2]}


def test_the_delay_of_a_second_is_its_longest() -> None:
    grouped = per_second(clicks((0, 0, 100, "Page", 400), (0, 1, 200, "Page", 9_200)))
    assert grouped["delay"].to_list() == [9_000]


def test_a_late_action_alone_in_its_second_is_not_too_late() -> None:
    step = partial(complete, behind=0, unread=lambda p, o: 0, by_partition=False)
    known: Tables = {
        "open": None,
        "clocks": clock_table({0: Clock(YESTERDAY + 60_000)}),
        "sums": pl.DataFrame({**dict.fromkeys(SUMS, 0), "closed": YESTERDAY // 1000, "now": NOW}),
    }
    late = clicks((0, 7, YESTERDAY - 5_000, "Action", YESTERDAY))
    _, emitted = step(known, per_second(late))
    assert emitted.filter(pl.col("offsets").is_not_null()).is_empty()
