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
import pyarrow as pa
import pytest
from brokers import delete_before, produce
from labs import until
from pyspark.sql import SparkSession

from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import read_dead_letters
from workbook.pipelines.page_views.completed import (
    ASKED_MS,
    COMPLETE,
    IDLE_MS,
    SUMS,
    TABLES,
    TOO_LATE,
    Clock,
    advance,
    clock_table,
    complete,
    nothing_came,
    per_second,
    slowest,
)
from workbook.sinks.topics import LateLetters
from workbook.spark.runner import Batch, OnPoint
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.fields import MAX_AHEAD_MS
from workbook.streams.events.reasons import Reason
from workbook.streams.metrics import read_metrics
from workbook.systems import SYSTEMS
from workbook.systems.accounts import Sums
from workbook.systems.base import Job
from workbook.tables.state import State, empty
from workbook.topics import Topic

YESTERDAY, MINUTE = 1_767_225_600_000, 60_000
NOW = YESTERDAY + 86_400_000
MakeTopic = Callable[..., Topic]


READ: dict[str, Any] = {
    "partition": pl.Int32, "offset": pl.Int64, "timestamp": pl.Int64, "click_type": pl.String,
    "reason": pl.String, "now": pl.Datetime("ms"),
}  # fmt: skip
"""What a task has read, by column."""


@dataclass
class Query:
    """The steps of a query, micro-batch by micro-batch, and what came out."""

    lateness: int = 5_000
    now: int = NOW
    ahead: int = 0
    """By how much the reader's own time is wrong (ms)."""
    run: int = 1
    state: State = field(default_factory=lambda: empty(TABLES))
    counted: Counter[int] = field(default_factory=Counter)
    late: list[tuple[int, int]] = field(default_factory=list)
    sums: dict[str, int] = field(default_factory=dict)
    ends: Counter[int] = field(default_factory=Counter)

    def knowing(self, *times: int) -> Query:
        """The clocks of partitions 0, 1, ... stand there already."""
        clocks = {p: Clock(time) for p, time in enumerate(times)}
        self.state["clocks"].replace(clock_table(clocks))
        return self

    def read(self, *records: tuple[int, int], after: int = 500) -> Query:
        """A micro-batch of page views: (partition, event time in ms) in the order of appending."""
        self.now += after
        return self.take(*((p, time, "Page", None) for p, time in records))

    def bad(self, partition: int, after: int = 500) -> Query:
        """A micro-batch of one record that nobody can read."""
        self.now += after
        return self.take((partition, None, None, "malformed JSON"))

    def take(self, *records: tuple[Any, ...]) -> Query:
        """A micro-batch of (partition, timestamp, click_type, reason)."""
        rows = []
        for partition, *rest in records:
            rows.append((partition, self.ends[partition], *rest, self.now + self.ahead))
            self.ends[partition] += 1
        frame = pl.DataFrame(rows, schema=READ, orient="row")
        self._tell(per_second(frame).sort("second"))  # in any order
        return self

    def wait(self, seconds: int) -> Query:
        """So many seconds in which nothing comes, a micro-batch in each of them."""
        for _ in range(seconds):
            self.now += 1_000
            self._tell(nothing_came(self.now + self.ahead))
        return self

    def _tell(self, batch: pl.DataFrame) -> None:
        of = {"behind": self.lateness, "run": self.run, "tick": lambda: self.now}
        told = complete(self.state, batch, **of)
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
    return Query(now=YESTERDAY + MINUTE)


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
    query.take((0, YESTERDAY + 20_000, "Action", None))
    assert (query.sums["others"], query.sums["open"], query.sums["counted"]) == (1, 0, 1)


# --- idle partitions --------------------------------------------------------------------------


def test_an_idle_partition_holds_the_others_for_ten_seconds_and_no_longer() -> None:
    live = YESTERDAY
    query = Query(now=live).knowing(live, live).read((0, live), (1, live))
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
    query = Query(now=YESTERDAY).read((0, YESTERDAY), (1, YESTERDAY))
    query.read((0, query.now), after=2_000)
    before = query.now
    query.read((0, before + 40_000), after=45_000)  # what the other one has kept comes next
    query.read(*((1, before + second * 1_000) for second in range(40)))
    assert query.late == []


def test_a_clock_follows_the_reader_while_idle_and_never_runs_back() -> None:
    now = YESTERDAY + 40_000
    assert slowest({0: Clock(YESTERDAY, IDLE_MS - 1)}, now) == (YESTERDAY, 0)
    assert slowest({0: Clock(YESTERDAY, IDLE_MS), 1: Clock(now)}, now) == (now - IDLE_MS, 0)
    assert slowest({0: Clock(now - 1, IDLE_MS)}, now) == (now - 1, 0)
    known = {0: Clock(YESTERDAY, 4_000)}
    assert advance(known, {0: YESTERDAY - MINUTE}, now, 0) == {0: Clock(YESTERDAY)}
    assert advance(known, {}, now, MINUTE) == {0: Clock(YESTERDAY, 4_000 + ASKED_MS)}


@pytest.mark.parametrize("silent", [3, 6, 12])
@pytest.mark.parametrize("ahead", [-86_400_000, 300_000, 86_400_000])
def test_a_reader_s_clock_that_jumps_completes_nothing_that_is_yet_to_come(silent, ahead) -> None:
    query = live()
    for _ in range(20):
        query.read((0, query.now), (1, query.now), after=1_000)
    query.wait(silent)
    query.ahead = ahead
    query.wait(1 if silent < 10 else 30)  # for one micro-batch, or for long
    query.ahead = 0
    query.read((0, query.now))
    for _ in range(20):
        query.read((0, query.now), (1, query.now - 900), after=1_000)
    assert query.late == []
    assert query.wait(15).sums["counted"] == 81


def test_a_silence_is_counted_anew_after_a_restart() -> None:
    query = live().read((0, YESTERDAY), (1, YESTERDAY)).wait(8)
    query.run, query.now = 2, query.now + 3_600_000
    query.read((0, YESTERDAY + 60_000)).wait(8).read((1, YESTERDAY + 1_000))
    assert query.late == []


def test_a_partition_that_begins_with_what_nobody_can_read_is_waited_for() -> None:
    query = Query().knowing(YESTERDAY).read((0, YESTERDAY)).bad(1)
    query.read((0, YESTERDAY + 200_000)).read((1, YESTERDAY))
    assert query.late == []


def test_a_partition_that_gives_only_what_nobody_can_read_stops_nothing() -> None:
    live = YESTERDAY
    query = Query(now=live).knowing(live, live).read((0, live), (1, live))
    for _ in range(60):
        query.bad(1, after=500).read((0, query.now + 500))
    assert query.sums["open"] < 20


# --- clocks that run ahead --------------------------------------------------------------------


def test_live_a_click_ahead_of_the_reader_moves_the_clock_to_now_at_most() -> None:
    query = Query(now=YESTERDAY)
    query.read((0, query.now), (0, query.now + MAX_AHEAD_MS - 1_000))
    for _ in range(100):
        query.read((0, query.now - 3_000))
    assert query.late == []
    assert query.sums["counted"] > 20


@pytest.mark.parametrize(
    ("lateness", "partitions", "late"), [(5_000, 2, 30), (20_000, 2, 0), (5_000, 1, 0)]
)
def test_a_partition_slow_to_arrive_is_late_after_each_pause_while_others_go_on(
    lateness: int, partitions: int, late: int
) -> None:
    query = Query(lateness, now=YESTERDAY)
    for _ in range(30):
        for _ in range(12):
            query.wait(1)
            if partitions == 2:
                query.read((1, query.now), after=0)
        query.read((0, query.now - 20_000))
    assert query.wait(40).sums[TOO_LATE] == late


def test_what_is_complete_stays_so_where_a_partition_begins_behind_it() -> None:
    query = Query(now=YESTERDAY).knowing(YESTERDAY).read((0, YESTERDAY))
    query.wait(20)  # idle: its only second is complete
    complete_up_to = query.sums["clock"]
    query.bad(1).read((1, YESTERDAY + 500))
    assert query.sums["clock"] == complete_up_to
    assert len(query.late) == 1


def test_counts_come_with_their_events_and_late_actions_are_no_page_views() -> None:
    rows = [
        (p, offset, YESTERDAY + after, kind, None, NOW, 10 * p + offset)
        for p in (0, 1)
        for offset, (after, kind) in enumerate(
            [(0, "Page"), (1, "Page"), (2, "Action"), (-5_000, "Action")]
        )
    ]
    frame = pl.DataFrame(rows, schema={**READ, "event_id": pl.Int64}, orient="row")
    grouped = per_second(frame, with_events=True)
    known = {p: Clock(YESTERDAY + 60_000) for p in (0, 1)}
    state = empty(TABLES)
    state["clocks"].replace(clock_table(known))
    step = partial(complete, state, behind=0, run=1, tick=lambda: NOW)
    told = step(grouped)
    done = told.filter(pl.col("kind") == COMPLETE)
    assert [sorted(ids) for ids in done["event_ids"].to_list()] == [[0, 1, 10, 11]]
    told = step(grouped)  # now all are behind
    late = told.filter(pl.col("offsets").is_not_null()).sort("partition")
    assert [sorted(offsets) for offsets in late["offsets"].to_list()] == [[0, 1], [0, 1]]
    sums = {row["kind"]: row["views"] for row in told.iter_rows(named=True)}
    assert (sums[TOO_LATE], sums["others"], sums["counted"]) == (4, 8, 4)


# --- on real servers --------------------------------------------------------------------------


def click(number: int, timestamp: int) -> bytes:
    return Click(number, ClickType.PAGE, "/", timestamp, "Firefox").to_json()


def test_a_backlog_of_uneven_density_with_clocks_ahead_is_exact_across_a_restart(
    spark: Any, broker: Any, topic: MakeTopic, tmp_path: Path
) -> None:
    made, out, system = topic("clicks", partitions=2), topic("metrics").name, SYSTEMS["page_views"]
    config, start = broker.client_config(), int(time.time() * 1000) - 20 * MINUTE
    options = system.options(["--in", made.name, "--out", out, "--max-per-batch", "300"])

    def send(*records: tuple[int, int, int]) -> None:
        produce(config, made.name, *((click(n, at), None, p, at) for n, p, at in records))

    def sums_of(read: int) -> dict[str, int]:
        """Run until so many records have been read, and no second is open any more."""
        started = system.start(Job(spark, broker, options, tmp_path, OnPoint()))
        [sums] = [sink for sink in started.sinks if isinstance(sink, Sums)]

        def done() -> bool:
            started.running.check()
            return sums.now["read"] >= read and sums.now["open"] == 0

        with started.running:
            until(done, "all seconds")
        return {name: sums.now[name] for name in SUMS}

    dense = [(n, 0, start + 100 * n) for n in range(900)]
    sparse = [(1000 + n, 1, start + 5_000 * n) for n in range(100)]
    ahead = int(time.time() * 1000) + 50 * MINUTE  # in both times
    send(*dense, *sparse, (2000, 0, ahead), (2001, 1, ahead))
    assert sums_of(1002) == {
        "read": 1002, "counted": 1000, "open": 0, TOO_LATE: 0, "rejected": 2, "others": 0,
    }  # fmt: skip
    found = read_metrics(config, out)
    seconds = Counter(timestamp // 1000 for _, _, timestamp in (*dense, *sparse))
    assert dict(zip(found["second"], found["views"], strict=True)) == seconds

    send((3000, 0, start + 7), (3001, 1, start + 8), (3002, 1, int(time.time() * 1000)))
    assert SparkSession.getActiveSession() in (None, spark), "that of a micro-batch is its own"
    again = sums_of(1005)
    assert (again["counted"], again[TOO_LATE]) == (1001, 2)
    letters = read_dead_letters(config, made.dead_letters.name)
    once = letters.drop_duplicates(["partition", "offset", "reason"])
    assert Counter(once["reason"]) == {Reason.AHEAD: 2, Reason.TOO_LATE: 2}
    late = once[once["reason"] == Reason.TOO_LATE]
    assert {(row.partition, row.offset, row.value) for row in late.itertuples()} == {
        (0, 901, click(3000, start + 7)), (1, 101, click(3001, start + 8)),
    }  # fmt: skip


def test_what_the_topic_no_longer_has_is_a_dead_letter_without_its_bytes(broker, topic) -> None:
    made, config = topic("clicks", partitions=2), broker.client_config()
    produce(config, made.name, *((click(n, YESTERDAY), b"key", n % 2, NOW) for n in range(6)))
    delete_before(config, made.name, 2, partition=1)
    rows = [
        {"partition": 0, "offsets": [0, 2]}, {"partition": 1, "offsets": [1, 2]},
        {"partition": None, "offsets": None},
    ]  # fmt: skip
    letters = DeadLetters(config, made.dead_letters.name)
    LateLetters(config, made.name, letters).write(pa.Table.from_pylist(rows), Batch("q", 0))
    found = read_dead_letters(config, made.dead_letters.name)
    assert len(found) == 4
    assert {(row.partition, row.offset, row.key, row.value) for row in found.itertuples()} == {
        (0, 0, b"key", click(0, YESTERDAY)), (0, 2, b"key", click(4, YESTERDAY)),
        (1, 1, None, None), (1, 2, b"key", click(5, YESTERDAY)),
    }  # fmt: skip
    assert set(found["reason"]) == {Reason.TOO_LATE}
