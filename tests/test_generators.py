"""Generated streams: repeatable, the same however they are cut, and what their facts say."""

import hashlib
import importlib.util
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workbook.errors import NoSuchStream, Rejected
from workbook.kafka.partitioning import murmur2, partition_of
from workbook.streams.events import ad_actions
from workbook.streams.events.ad_actions import (
    HORIZON_MS,
    MAX_AGE_MS,
    VERSIONS,
    Fate,
    decode,
    encode,
)
from workbook.streams.events.clicks import Click
from workbook.streams.events.positions import Position
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import read_message
from workbook.streams.generators.ad_actions import TYPE_WEIGHTS, AdActionStream
from workbook.streams.generators.clicks import MAX_BEHIND, ClickStream
from workbook.streams.generators.positions import SHARES, PositionStream
from workbook.streams.generators.visits import SPOILED, Kind, VisitStream
from workbook.streams.stream_producer import Drawn

ROOT = Path(__file__).parents[1]
CLICKS = ClickStream(
    seed=5, rate=200, partitions=4, visitors=300, late_share=0.1, duplicate_share=0.05,
    bad_share=0.05,
)  # fmt: skip
POSITIONS = PositionStream(
    seed=5, rate=200, partitions=4, positions=300, clients=40, duplicate_share=0.05, bad_share=0.05
)
VISITS = VisitStream(
    rate=100.0, partitions=3, bad_share=0.2, late_share=0.2, duplicate_share=0.2, seed=3
)
ORDERS = replace(VISITS, kind=Kind.ORDERS, orphan_share=0.1)
IDS = (3, 2**31 - 1)
SCHEMAS = dict(zip(IDS, VERSIONS, strict=True))
ACTIONS = AdActionStream(
    seed=5, rate=9.5, partitions=4, ids=IDS, ads=300, users=50, duplicate_share=0.2, late_share=0.1,
    too_old_share=0.1, owner_share=0.2, no_ad_share=0.1, bad_share=0.1, old_version_share=0.3,
)  # fmt: skip
STREAMS = {
    "clicks": CLICKS, "positions": POSITIONS, "tracking": VISITS, "orders": ORDERS,
    "actions": ACTIONS,
}  # fmt: skip


def sent(stream: Any, first: int, last: int) -> list[str]:
    return [str(row) for row in stream.block(first, last).to_pylist()]


def digest(name: str) -> str:
    return hashlib.sha256(repr(sent(STREAMS[name], 100, 900)).encode()).hexdigest()


@pytest.mark.parametrize("name", STREAMS)
def test_any_cut_gives_the_same_stream_and_another_seed_another_one(name: str) -> None:
    stream = STREAMS[name]
    edges = [0, 1, 37, 38, 38, 999, *range(1020, 3001, 60)]
    cut = [row for a, b in pairwise(edges) for row in sent(stream, a, b)]
    whole = sent(stream, 0, 3000)
    assert Counter(cut) == Counter(whole)  # of heartbeats the order may differ
    assert [row for row in cut if "'event_id': None" not in row] == [
        row for row in whole if "'event_id': None" not in row
    ]
    assert sent(replace(stream, seed=6), 0, 3000) != whole
    assert stream.block(50, 50).schema == stream.block(0, 50).schema


def test_another_process_makes_the_same_streams() -> None:
    path = [str(Path(__file__).parent), str(ROOT)]
    code = f"import sys; sys.path[:0] = {path!r}; from {Path(__file__).stem} import *\n"
    code += "print(*map(digest, STREAMS))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [*map(digest, STREAMS)]


def test_every_click_is_what_its_row_says() -> None:
    for message in CLICKS.block(0, 5000).to_pylist():
        if message["reason"]:
            with pytest.raises(Rejected, match=f"^{message['reason']}$"):
                Click.from_json(message["value"], message["arrival"])
            continue
        click = Click.from_json(message["value"], message["arrival"])
        assert click.to_json() == message["value"]
        assert (click.event_id, click.timestamp) == (message["event_id"], message["timestamp"])
        assert message["key"] == (click.tab_id.encode() if click.tab_id else None)


def test_every_position_is_what_its_row_says() -> None:
    stream = replace(POSITIONS, bad_share=0.3)
    expected, block = stream.expected(0, 5000), stream.block(0, 5000)
    facts = block.select([name for name in block.column_names if name in expected]).to_pandas()
    pd.testing.assert_frame_equal(facts, expected[list(facts)], check_dtype=False)
    for message in block.to_pylist():
        try:
            position, reason = Position.from_record(message["key"], message["value"]), None
        except Rejected as why:
            position, reason = None, why.reason
        assert (message["reason"], message["deleted"]) == (reason, position is None)
        fields = (message[f] for f in ("client", "ticker", "amount", "exchange"))
        assert position is None or Position(*fields) == position


@pytest.mark.parametrize("made", [VISITS, ORDERS])
def test_every_message_of_a_visit_is_what_its_row_says(made: VisitStream) -> None:
    facts, rows = made.expected(0, 3000), made.block(0, 3000).to_pylist()
    messages = [row for row in rows if row["event_id"] is not None]
    for fact, row in zip(facts.to_dict("records"), messages, strict=True):
        record = row["key"], row["value"], row["arrival"]
        if fact["reason"]:
            with pytest.raises(Rejected, match=f"^{fact['reason']}$"):
                read_message(*record)
            continue
        found = read_message(*record)
        assert row["arrival"] == found.timestamp
        for name in ("type", "event_id", "ssid", "timestamp", "page", "order_id", "cents"):
            assert getattr(found, name, None) == (None if pd.isna(fact[name]) else fact[name]), name
    assert set(facts["reason"].dropna()) == {reason.value for reason, _ in SPOILED}


def test_every_action_has_the_fate_that_its_bytes_and_its_arrival_say() -> None:
    seen: dict[bytes, int] = {}
    rows, messages = ACTIONS.expected(0, 30_000).itertuples(), ACTIONS.block(0, 30_000).to_pylist()
    for row, message in zip(rows, messages, strict=True):
        value, arrival = message["value"], message["arrival"]
        assert (row.arrival, row.partition) == (arrival, message["partition"])
        if row.fate == "rejected":
            with pytest.raises(Rejected, match=f"^{row.reason}$"):
                decode(value, SCHEMAS, arrival)
            continue
        action = decode(value, SCHEMAS, arrival)
        version = IDS.index(int.from_bytes(value[1:5], "big"))
        assert encode(action, version, IDS[version]) == value
        for name in ("event_id", "ad", "type", "user", "source", "time"):
            assert getattr(action, name) == getattr(row, name)
        assert row.day == ad_actions.day_of(action.time)
        waited = arrival - seen.get(value, arrival - 2 * HORIZON_MS)
        assert row.again == (value in seen and waited > HORIZON_MS)
        seen[value] = arrival
        too_old = arrival - action.time > MAX_AGE_MS
        fate = Fate.FILTERED if action.owner else Fate.TOO_OLD if too_old else Fate.ACCEPTED
        assert row.fate == (Fate.DUPLICATE if waited <= HORIZON_MS else fate)


def test_bad_records_cover_every_reason() -> None:
    made = set[Reason]()
    for stream in (CLICKS, POSITIONS, VISITS):
        found = set(replace(stream, bad_share=1.0).expected(0, 3000)["reason"])
        assert found == {reason.value for reason, _ in stream.BAD}
        made |= {reason for reason, _ in stream.BAD}
    of_readers = {Reason.AHEAD, Reason.TOO_LATE, Reason.TOO_OLD, Reason.NO_VISIT}
    of_avro = {Reason.NO_AVRO, Reason.ID_IN_HEADER, Reason.UNKNOWN_SCHEMA, Reason.OTHER_SCHEMA}
    of_avro |= {Reason.MALFORMED_AVRO, Reason.NO_AD, Reason.NOT_PLAIN, Reason.UNKNOWN_ACTION}
    assert set(Reason) - made == of_readers | of_avro | {Reason.NO_DAY, Reason.NOT_A_COUNT}
    reasons = Counter(replace(ACTIONS, bad_share=1).expected(0, 5000)["reason"])
    one = pytest.approx(1000, rel=0.15)
    kinds = {Reason.NO_AVRO: one, Reason.UNKNOWN_SCHEMA: one, Reason.EMPTY: one}
    assert reasons == kinds | {Reason.MALFORMED_AVRO: pytest.approx(2000, rel=0.15)}


# --- shares and shapes ------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.01, 1.0])
def test_shares_are_what_they_say(share: float) -> None:
    n, five_sigma = 50_000, 5 * (50_000 * share * (1 - share)) ** 0.5

    def near(found: Any) -> bool:
        return bool(abs(found.sum() - n * share) <= five_sigma + MAX_BEHIND)

    clicks = ClickStream(seed=8, late_share=share, late_by_ms=5000, duplicate_share=share)
    rows = clicks.expected(0, n)
    delay = (rows["arrival"] - rows["timestamp"])[~rows["duplicate"]]
    assert near(delay > 0)
    assert delay.max() <= 5000
    assert near(rows["duplicate"])
    assert near(ClickStream(seed=8, bad_share=share).expected(0, n)["reason"].notna())
    plainly = PositionStream(seed=8, closed_share=0.0)
    for name, column in (("closed_share", "deleted"), ("duplicate_share", "duplicate")):
        assert near(replace(plainly, **{name: share}).expected(0, n)[column]), name


def test_shares_of_ad_actions_are_what_they_say() -> None:
    n, stream = 200_000, AdActionStream(seed=2)
    rows = stream.expected(0, n)
    delays, twice = rows["arrival"] - rows["time"], rows["number"] != rows["event_id"]
    own, bad = rows[~twice], rows["fate"].eq("rejected") & rows["reason"].ne(Reason.NO_AD)
    for share, found in (
        (0.02 * 0.98 * 0.985, twice[2000:].mean()),  # whose source is good, and no repetition
        (0.01, delays[~twice].between(3_600_000, 3 * 86_400_000).mean()),
        (0.001, (delays > MAX_AGE_MS).mean()),
        (0.01 * 0.995, rows["reason"].eq(Reason.NO_AD).mean()),
        (0.005, bad.mean()),
        (0.05, own["fate"].eq("filtered").mean() / own["fate"].ne("rejected").mean()),
        (TYPE_WEIGHTS["view"], own["type"].eq("view").mean()),
        (1 / np.sum(np.arange(1, 20_001) ** -1.3), own["ad"].eq("ad-00001").mean()),
    ):
        assert found == pytest.approx(share, rel=0.15), share
    rows = replace(ACTIONS, rate=100).expected(0, 300_000)
    twice = rows[rows["number"] != rows["event_id"]]
    arrivals = replace(ACTIONS, rate=100).arrivals(twice["event_id"].to_numpy())
    minutes = (twice["arrival"] - arrivals) / 60_000
    assert ((minutes <= 1) | minutes.between(11, 30)).all()  # within the horizon, or well beyond
    assert (twice["again"] == (minutes > 1)).all()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5])
def test_positions_move_and_swap_as_often_as_they_say(share: float) -> None:
    stream = PositionStream(
        positions=500, clients=10_000, closed_share=0, moved_share=share, swapped_share=share
    )
    rows = stream.expected(0, 50_000)
    by = rows.groupby("position")
    later = by.cumcount() > 0
    for column in ("client", "ticker"):
        changed = (rows[column] != by[column].shift())[later].mean()
        assert abs(changed - share) < 0.02 + 0.15 * share
    assert (rows["ticker"].map(dict(SHARES)) == rows["exchange"]).all()
    assert (by["partition"].nunique() == 1).all()


def test_a_visit_begins_with_tracking_and_ends_in_time() -> None:
    made = VisitStream(rate=200.0, visit_s=10.0)
    orders = VisitStream(kind=Kind.ORDERS, rate=40.0, tracking_rate=200.0, visit_s=10.0)
    tracked, ordered = made.expected(0, 20_000), orders.expected(0, 4000)
    visits = tracked.groupby("ssid")["timestamp"].agg(["min", "max", "size"])
    assert 4 < visits["size"].mean() < 6
    assert (visits["max"] - visits["min"]).max() <= 10_500
    inside = ordered.merge(visits, left_on="ssid", right_index=True)
    assert len(inside) == len(ordered)
    assert (inside["timestamp"] - inside["min"]).between(-100, 10_500).all()


# --- clocks and partitions --------------------------------------------------------------------


def test_arrivals_keep_to_the_rate_and_the_day() -> None:
    even = ClickStream(seed=2, rate=500, daily=0.0)
    arrivals = even.expected(0, 100_000)["arrival"].to_numpy()
    assert (np.diff(arrivals) >= 0).all()
    per_second = np.bincount((arrivals - even.start_ms) // 1000)
    assert (np.abs(per_second[:-1] - 500) <= 1).all()
    daily = ClickStream(seed=3, rate=0.5, daily=0.8)
    minutes = (daily.arrivals(np.arange(173_000)) - daily.start_ms) // 864_000  # of four days
    mean = np.bincount(minutes)[:400].reshape(4, 100).mean(axis=0)
    shape = 432 * (1 + 0.8 * np.sin(2 * np.pi * (np.arange(100) + 0.5) / 100))
    assert np.abs(mean - shape).max() < 1.5
    rows = VISITS.block(0, 1500).to_pandas()
    beats = rows[rows["event_id"].isna()]
    seconds = (beats["arrival"] - VISITS.start_ms) // 1000
    assert (seconds.value_counts() == 3).all()  # a heartbeat a second in each partition


@pytest.mark.parametrize("name", STREAMS)
def test_a_paced_stream_sends_the_same_rows_as_an_unpaced_one(name: str) -> None:
    stream = STREAMS[name]
    drawn, now, found, events = Drawn(stream, 0, 500), stream.start_ms, [], 0
    while events < 500:
        now += 7
        events, rows = drawn.until(now)
        assert max(rows["arrival"].to_pylist(), default=0) <= now
        found += rows.to_pylist()
    assert found == stream.block(0, 500).to_pylist()


@pytest.mark.parametrize("speed", [None, 0.5, 1, 3, 100])
def test_the_virtual_clock_never_passes_the_real_one(speed: float | None) -> None:
    now, count = 1_790_000_000_000, 4000
    stream = replace(CLICKS, rate=20).ending_by(now, count, speed)
    arrivals = stream.arrivals(np.arange(count))
    if speed is None:
        assert now - 2000 < arrivals[-1] <= now
        return
    for passed in np.linspace(0, (arrivals[-1] - stream.start_ms) / speed, 50):
        at = stream.start_ms + passed * speed
        due = np.count_nonzero(arrivals <= at)
        assert due == 0 or arrivals[due - 1] <= now + passed


def test_keys_choose_the_partition_that_the_java_client_chooses() -> None:
    known = {  # from Kafka's own UtilsTest
        b"21": -973932308,
        b"foobar": -790332482,
        b"a-little-bit-long-string": -985981536,
        b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    }
    assert murmur2(list(known)).view(np.int32).tolist() == list(known.values())
    assert partition_of([b"foobar"], 10).tolist() == [(-790332482 & 0x7FFFFFFF) % 10]
    rows = CLICKS.block(0, 5000).to_pandas()
    keyed, keyless = rows.dropna(subset="key"), rows[rows["key"].isna()]
    assert keyed["partition"].tolist() == partition_of(keyed["key"].tolist(), 4).tolist()
    assert keyless["partition"].nunique() == 4


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *((ClickStream, wrong) for wrong in (
            {"rate": 0}, {"daily": 1.5}, {"bad_share": -0.1},
            {"partitions": 0}, {"late_by_ms": 0},
        )),
        *((PositionStream, wrong) for wrong in ({"rate": 0}, {"moved_share": -1}, {"clients": 0})),
        *((VisitStream, wrong) for wrong in ({"pages": 0}, {"late_share": 2}, {"visit_s": -1})),
        *((AdActionStream, wrong) for wrong in ({"bad_share": 2}, {"ads": 0}, {"rate": 0.5})),
    ],
)  # fmt: skip
def test_values_that_describe_no_stream_are_refused(kind: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(NoSuchStream):
        kind(**wrong)


def test_the_fixed_file_is_what_its_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("make_clicks", ROOT / "data" / "make_clicks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "data" / "clicks.jsonl").read_text(encoding="utf-8") == module.text()
