"""Ad statistics: what counts, what is a duplicate, and that every record is accounted for."""

import json
import secrets
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl
import pytest
from ad_runs import Run
from brokers import delete_before
from labs import until
from pyspark.sql import SparkSession

from workbook.errors import CannotGoOn
from workbook.kafka.broker import Broker
from workbook.kafka.registry import register
from workbook.pipelines import ad_statistics
from workbook.sinks.counts_table import CountsTable
from workbook.sinks.viewers import sketch_of
from workbook.sources.ad_actions import parse
from workbook.spark import session
from workbook.spark.runner import Batch
from workbook.stack.addresses import registry
from workbook.stack.client import lease
from workbook.streams.events.ad_actions import HORIZON_MS, VERSIONS, AdAction, Fate, encode, head
from workbook.streams.generators.ad_actions import AdActionStream
from workbook.streams.stream_producer import send_replicated
from workbook.tables.state import State, empty

NOW = 1_790_000_000_000
IDS = {11: VERSIONS[0], 12: VERSIONS[1]}
MINUTE = 60_000


# --- a partition's state ----------------------------------------------------------------------


def rows(*of: tuple[int, int], begin: int = 0, **more: object) -> pl.DataFrame:
    """A micro-batch: hash and arrival (ms after NOW) of records, from an offset on."""
    base = {"ad": "a", "type": "view", "source": "search", "day": None, "owner": False, "user": 5}
    return pl.DataFrame(
        [
            {
                **base, "too_old": False, "hash": value, "arrival": NOW + at, "counts": True,
                "partition": 0, "offset": begin + n, "reason": None, "key": None, "value": None,
                **more,
            }
            for n, (value, at) in enumerate(of)
        ],
        schema_overrides={
            "day": pl.Date, "reason": pl.String, "partition": pl.Int32, "key": pl.Binary,
            "value": pl.Binary,
        },
    )  # fmt: skip


def state() -> State:
    return empty(ad_statistics._TABLES)


def fates(counted: pl.DataFrame) -> dict[str, int]:
    return {
        kind: count
        for kind, count in counted.group_by("kind").agg(pl.col("count").sum()).iter_rows()
        if kind in {fate.value for fate in Fate} and count
    }


def test_a_value_counts_again_only_beyond_the_horizon_of_the_one_that_counted() -> None:
    kept = state()
    times = (0, HORIZON_MS - 1, HORIZON_MS, HORIZON_MS + 1, HORIZON_MS + 2)
    counted = ad_statistics.count(kept, rows(*((7, at) for at in times)))
    assert fates(counted) == {"accepted": 2, "duplicate": 3}
    later = rows((7, 2 * HORIZON_MS + 1), (7, 2 * HORIZON_MS + 2), (8, 0), begin=5)
    assert fates(ad_statistics.count(kept, later)) == {"accepted": 2, "duplicate": 1}


def test_records_an_hour_ahead_empty_nothing_and_old_hashes_expire(monkeypatch) -> None:
    monkeypatch.setattr(ad_statistics, "KEPT", 2_000)
    kept, hour = state(), 60 * MINUTE
    batch = [(n, n * 100) for n in range(5_000)]  # ten a second, for over eight minutes
    ad_statistics.count(kept, rows(*batch, *((-n, hour) for n in range(1, 60)), begin=0))
    again = ad_statistics.count(kept, rows(*batch[:100], begin=9_000))
    assert fates(again) == {"duplicate": 100}
    for part in range(1, 8):
        more = [(n, n * 100) for n in range(5_000 * part, 5_000 * (part + 1))]
        ad_statistics.count(kept, rows(*more, begin=10_000 * part))
        kept["seen"].settle()
    floor = kept["seen"].floor or 0
    assert NOW < floor <= NOW + 40_000 * 100 - HORIZON_MS
    there = sum(segment.rows for segment in kept["seen"].segments)
    assert there < 16_000, "hashes of more than twice the horizon are kept"


def test_the_newest_hashes_are_kept_however_old(monkeypatch) -> None:
    monkeypatch.setattr(ad_statistics, "KEPT", 3_000)
    kept = state()
    slow = [(n, n * MINUTE) for n in range(2_500)]  # one a minute
    ad_statistics.count(kept, rows(*slow))
    repeated = ad_statistics.count(kept, rows(*slow[:50], begin=5_000))
    assert fates(repeated) == {"duplicate": 50}, "as the replicator sends a micro-batch again"


def test_arrivals_a_year_ahead_switch_no_deduplication_off(monkeypatch) -> None:
    monkeypatch.setattr(ad_statistics, "KEPT", 500)
    monkeypatch.setattr(ad_statistics, "MOST", 5_000)
    kept, year = state(), 365 * 24 * 60 * MINUTE
    for part in range(20):
        usual = [(n, n * 1_000) for n in range(3_000 * part, 3_000 * (part + 1))]
        ahead = [(-n - 1, year + n) for n in range(300 * part, 300 * (part + 1))]
        counted = ad_statistics.count(kept, rows(*ahead, *usual, begin=5_000 * part))
        assert counted.filter(kind="start")["count"][0] <= 5_000 * part, "all of this micro-batch"
        kept["seen"].settle()
        again = rows(*usual[-500:], *ahead[-100:], begin=5_000 * part + 4_000)
        assert fates(ad_statistics.count(kept, again)) == {"duplicate": 600}
    assert sum(each.rows for each in kept["seen"].segments) < 12_000, "those are forgotten, too"


def test_a_start_without_a_checkpoint_knows_each_hash_that_counts(
    monkeypatch, url: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(ad_statistics, "KEPT", 3_000)
    waits = [20_000] * 1_500 + [400] * 800 + [45] * 6_000  # a night, a morning, and the rush
    known, plans = [*enumerate(accumulate(waits))], tmp_path / "0" / "offsets"
    table = CountsTable(url, "ads", ("in", "1"), tmp_path, schema=f"s{secrets.token_hex(3)}")
    kept, new = state(), state()
    plans.mkdir(parents=True)
    table.claim("")
    for number, (begin, end) in enumerate(pairwise((0, 1_500, 2_300, 5_300, 8_300))):
        (plans / str(number)).write_text(f'v1\n{{}}\n{{"in": {{"0": {end}}}}}')
        counted = ad_statistics.count(kept, rows(*known[begin:end], begin=begin))
        table.write(counted.to_arrow(), Batch("lost", number))
    fence = table.claim("")
    table.close()
    start = fence.starting[0]
    assert (fence.counted[0], start > 1_300) == (8_300, True), "and no earlier than it has to"
    ad_statistics.count(new, rows(*known[start:], begin=start, counts=False))
    due = [each for each in known if each[1] > known[-1][1] - HORIZON_MS]
    assert fates(ad_statistics.count(new, rows(*due, begin=8_300))) == {"duplicate": len(due)}


def test_what_is_before_the_fence_fills_the_state_and_counts_as_nothing() -> None:
    kept = state()
    before = ad_statistics.count(kept, rows((1, 0), (2, 0), counts=False))
    assert fates(before) == {}
    assert before.filter(kind="count")["count"].to_list() == [0], "its totals are sent again"
    assert fates(ad_statistics.count(kept, rows((1, 5), (3, 5), begin=2))) == {
        "accepted": 1,
        "duplicate": 1,
    }


def test_viewers_are_the_users_of_accepted_views_behind_the_fence() -> None:
    kept = state()
    ad_statistics.count(kept, rows((1, 0), user=10, counts=False))
    batch = [
        rows((2, 0), (3, 0), (4, 0), (4, 1), user=11),
        rows((5, 0), user=12), rows((6, 0), user=13, ad="b"), rows((7, 0), user=14, type="click"),
        rows((8, 0), user=15, owner=True), rows((9, 0), user=16, too_old=True),
        rows((10, 0), user=17, reason="no Avro"), rows((1, 0), user=10),
    ]  # fmt: skip
    counted = ad_statistics.count(kept, pl.concat(batch)).filter(kind="viewers")
    found = {row["ad"]: row["sketch"] for row in counted.iter_rows(named=True)}
    assert found == {"a": sketch_of([11, 12]), "b": sketch_of([13])}


# --- decoding ---------------------------------------------------------------------------------


def action(**of: object) -> AdAction:
    base = {"event_id": 1, "ad": "a", "type": "view", "user": 5, "owner": False}
    return AdAction(**{**base, "source": "search", "browser": "Firefox", "time": NOW, **of})


def test_the_arrival_is_the_replicators_header_or_the_timestamp(spark) -> None:
    cases = [
        (None, NOW), ([], NOW), ([("arrival", b"123")], 123), ([("arrival", b"x")], NOW),
        ([("arrival", b"5"), ("other", b"6")], NOW), ([("arrival", b"-9223372036854775808")], NOW),
        ([("arrival", b"9223372036854775807")], NOW), ([("arrival", None)], NOW),
        ([("arrival", str(NOW * 1000).encode())], NOW),
    ]  # fmt: skip
    value = encode(action(), 1, 12)
    raw = spark.createDataFrame(
        [(None, value, "t", 0, offset, header) for offset, (header, _) in enumerate(cases)],
        "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, "
        "headers ARRAY<STRUCT<key: STRING, value: BINARY>>",
    ).selectExpr("*", f"timestamp_millis({NOW}) AS timestamp")
    found = parse(raw, IDS).orderBy("offset").collect()
    assert [(row["arrival"], row["user"]) for row in found] == [(at, 5) for _, at in cases]


# --- the whole system, on real servers --------------------------------------------------------


@pytest.fixture
def run(broker: Broker, spark: SparkSession, request) -> Callable[..., Run]:
    return lambda partitions=4: Run(broker, spark, request.node.originalname[5:35], partitions)


def test_each_action_counts_once_and_all_records_are_accounted_for(run) -> None:
    system, checkpoint = run(), session.checkpoint("ads")
    stream = AdActionStream(ids=system.ids, rate=8, ads=120, duplicate_share=0.1, bad_share=0.03)
    expected = stream.expected(0, 12_000)
    system.send(stream, 0, 6_000)
    open_now = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    before = system.ask(open_now)
    system.through(checkpoint)
    until(lambda: system.ask(open_now) == before, "a stopped query's connections to end")
    system.send(stream, 6_000, 12_000)
    system.through(checkpoint)
    verdict = system.verdict(expected)
    assert verdict.clean, str(verdict)
    assert set(expected["fate"]) == {fate.value for fate in Fate}
    assert expected["again"].any()  # beyond the horizon, and counted

    views = expected[(expected["fate"] == "accepted") & (expected["type"] == "view")]
    viewers = views.groupby(["ad", "day"])["user"].agg(sketch_of).to_dict()
    assert system.viewers() == viewers, "in whatever micro-batches and partitions they came"

    # Without its checkpoint it begins ten minutes before the fence, and counts nothing twice.
    system.send(stream, 0, 6_000)  # by a replicator that was stopped for an hour, say
    system.through(session.checkpoint("ads"))
    everything = system.ask("SELECT sum(count) FROM fates")[0][0]
    assert everything == 18_000
    totals = dict(system.ask("SELECT type, sum(count)::bigint FROM counts GROUP BY type"))
    accepted = expected[expected["fate"] == "accepted"].groupby("type").size().to_dict()
    assert totals == accepted, "values that arrived again at the same time are duplicates"
    assert system.viewers() == viewers


def test_servers_away_for_a_while_cost_nothing_and_a_schema_registered_meanwhile_is_read(
    run,
) -> None:
    system, lab = run(1), lease("tests")
    newer = json.loads(VERSIONS[1])
    newer["fields"].append({"name": "device", "type": "string", "default": "phone"})

    def send(value: bytes) -> None:
        send_replicated(system.config, system.topic.name, [(value, NOW), (head(99), NOW)])

    with system.start(session.checkpoint("ads")) as running:
        for number, server in enumerate(("postgres", "registry")):
            lab.ask("stop", name=server)
            try:
                send(encode(action(event_id=number), 1, system.ids[1]))
                until(lambda: running.query.status["isTriggerActive"], "a micro-batch", 60)
            finally:
                lab.ask("start", name=server)
            running.process_all()
        new = register(registry("test"), f"{system.name}-value", json.dumps(newer))
        send(head(new) + encode(action(event_id=2), 1, new)[5:] + b"\x06abc")
        running.process_all()
    assert dict(system.ask("SELECT fate, count FROM fates WHERE count > 0")) == {
        "accepted": 3,
        "rejected": 3,
    }


def test_of_two_runs_the_later_goes_on(run) -> None:
    system = run(1)
    send_replicated(system.config, system.topic.name, [(encode(action(), 1, system.ids[1]), NOW)])
    first, second = session.checkpoint("one"), session.checkpoint("two")
    running = system.start(first)
    running.process_all()
    delete_before(system.config, system.topic.name, 1)  # its retention has passed
    with system.start(second) as later:
        later.process_all()
        send_replicated(system.config, system.topic.name, [(b"", NOW)])
        later.process_all()
        with pytest.raises(Exception, match="the only run that writes"):
            running.process_all()
    assert dict(system.ask("SELECT fate, count FROM fates WHERE count > 0")) == {
        "accepted": 1,
        "rejected": 1,
    }
    with pytest.raises(CannotGoOn, match="same run"):  # its checkpoint is behind the database
        system.start(first)
