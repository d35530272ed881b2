"""The position generator: repeatable, the same however it is cut, and a changelog that lives."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from workbook.errors import Rejected
from workbook.kafka.murmur2 import murmur2, partition_of
from workbook.streams.events.positions import EXCHANGES, US, Position
from workbook.streams.events.reasons import OF_ACTIONS, OF_THE_READER, OF_VISITS, Reason
from workbook.streams.generators.positions import SHARES, SPOILED, PositionStream
from workbook.streams.ledgers.tables import records_of
from workbook.streams.stream_producer import generate
from workbook.topics import compacted, new_topic

ROOT = Path(__file__).parents[1]
MIXED = PositionStream(
    seed=5, rate=200, partitions=4, positions=300, clients=40, duplicate_share=0.05, bad_share=0.05
)


def digest(table: pa.Table) -> str:
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()


@pytest.mark.parametrize("cuts", [[1], [999], [37, 38, 39, 500], list(range(0, 3000, 60))])
def test_any_cut_gives_the_same_stream(cuts: list[int]) -> None:
    whole = MIXED.block(0, 3000)
    pieces = [MIXED.block(a, b) for a, b in pairwise([0, *cuts, 3000])]
    assert pa.concat_tables(pieces).to_pylist() == whole.to_pylist()


def test_another_process_makes_the_same_stream_and_another_seed_another_one() -> None:
    script = f"from {Path(__file__).stem} import MIXED, digest; print(digest(MIXED.block(9, 900)))"
    path = [str(Path(__file__).parent), str(ROOT)]
    code = f"import sys; sys.path[:0] = {path!r}; {script}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == digest(MIXED.block(9, 900))
    assert digest(replace(MIXED, seed=6).block(9, 900)) != run.stdout.strip()


def test_every_message_is_what_its_row_says() -> None:
    for message in MIXED.block(0, 5000).to_pylist():
        try:
            position, reason = Position.from_record(message["key"], message["value"]), None
        except Rejected as rejected:
            position, reason = None, rejected.reason
        assert message["reason"] == reason
        assert message["deleted"] == (position is None)
        fields = (message[f] for f in ("client", "ticker", "amount", "exchange"))
        assert (None if position is None else Position(*fields)) == position
        if position is not None:
            assert position.to_json() == message["value"]
        if message["position"] is not None:
            assert message["key"] == message["position"].encode()


def test_a_ledger_of_the_records_is_the_ledger_of_the_stream() -> None:
    stream = replace(MIXED, bad_share=0.3)
    expected, block = stream.expected(0, 4000), stream.block(0, 4000).to_pandas()
    block["offset"] = block.groupby("partition").cumcount()
    read = records_of(block)
    shared = [column for column in read if column in expected]
    assert len(shared) == 8
    pd.testing.assert_frame_equal(read[shared], expected[shared], check_dtype=False)


def test_bad_messages_cover_every_kind() -> None:
    all_bad = replace(MIXED, bad_share=1.0)
    reasons = Counter(all_bad.expected(0, 3000)["reason"])
    assert set(reasons) == {reason.value for reason, _ in SPOILED}
    of_clicks = {Reason.UNKNOWN_TYPE, Reason.NEGATIVE, Reason.FUTURE}
    others = of_clicks | OF_ACTIONS | OF_VISITS | OF_THE_READER
    assert set(reasons) == {r.value for r in Reason} - {r.value for r in others}
    assert sum(reasons.values()) == 3000  # a bad one is never sent twice
    assert all(key is not None for key in all_bad.block(0, 3000)["key"].to_pylist())


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 1.0])
def test_shares_are_what_they_say(share: float) -> None:
    n = 50_000
    five_sigma = 5 * (n * share * (1 - share)) ** 0.5
    for name, found in (
        ("closed_share", lambda rows: rows["deleted"]),
        ("bad_share", lambda rows: rows["reason"].notna()),
        ("duplicate_share", lambda rows: rows["duplicate"]),
    ):
        plain = PositionStream(seed=8, closed_share=0.0)
        rows = replace(plain, **{name: share}).expected(0, n)
        assert abs(found(rows).sum() - n * share) <= five_sigma, name


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.5])
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
    assert (rows["amount"] != by["amount"].shift())[later].mean() > 0.99


def test_positions_live_through_all_that_can_happen() -> None:
    rows = MIXED.expected(0, 20_000)
    rows = rows[rows["position"].notna() & rows["reason"].isna()]
    before = rows.groupby("position")[["deleted", "client", "exchange"]].shift()
    was, is_now = before["deleted"].eq(False), ~rows["deleted"]
    assert (before["deleted"].isna() & is_now).any(), "opened"
    assert (before["deleted"].isna() & rows["deleted"]).any(), "closed before it was opened"
    assert (was & rows["deleted"]).any(), "closed"
    assert (before["deleted"].eq(True) & is_now).any(), "reopened"
    assert (was & is_now & (before["client"] != rows["client"])).any(), "moved"
    left = before["exchange"].isin(US) & is_now & ~rows["exchange"].isin(US)
    assert (was & left).any(), "no US share any more"
    small = PositionStream(positions=5, clients=50, moved_share=0.5).expected(0, 200)
    moves = small[~small["deleted"]].groupby("position")["client"].nunique()
    assert (moves > 5).all(), "moves again and again within a batch"


def test_a_duplicate_follows_its_event_at_once() -> None:
    rows = replace(MIXED, duplicate_share=0.5).block(0, 3000).to_pandas()
    again = np.flatnonzero(rows["duplicate"])
    same = ["event_id", "position", "partition", "arrival", "key", "value"]
    first, second = rows.iloc[again - 1][same], rows.iloc[again][same]
    assert len(again) > 1000
    assert first.to_numpy().tolist() == second.to_numpy().tolist()
    assert rows.loc[~rows["duplicate"], "event_id"].tolist() == list(range(3000))


def test_the_exchange_follows_from_the_ticker() -> None:
    listed = dict(SHARES)
    assert len(listed) == len(SHARES) == 30
    assert set(listed.values()) == EXCHANGES
    rows = MIXED.expected(0, 20_000).dropna(subset="ticker")
    assert (rows["ticker"].map(listed) == rows["exchange"]).all()
    assert set(rows["ticker"]) == set(listed)
    assert set(rows["client"]) == {f"c{n:05d}" for n in range(40)}
    assert set(rows["position"]) == {f"p{n:06d}" for n in range(300)}


def test_a_position_stays_on_one_partition_in_the_order_of_arrival() -> None:
    rows = MIXED.expected(0, 5000)
    assert (rows.groupby("position")["partition"].nunique() == 1).all()
    assert rows["partition"].nunique() == 4
    assert rows["arrival"].is_monotonic_increasing
    assert MIXED.due(MIXED.start_ms + 10_000) == pytest.approx(2000, abs=2)
    now = 1_790_000_000_000
    assert now - 50 < MIXED.ending_by(now, 5000).arrivals(np.array([4999]))[0] <= now


def test_keys_are_hashed_as_the_java_client_does() -> None:
    known = {  # from Kafka's own UtilsTest
        b"21": -973932308,
        b"foobar": -790332482,
        b"a-little-bit-long-string": -985981536,
        b"a-little-bit-longer-string": -1486304829,
        b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
        b"abc": 479470107,
    }
    assert murmur2(list(known)).view(np.int32).tolist() == list(known.values())
    assert partition_of([b"foobar"], 10).tolist() == [(-790332482 & 0x7FFFFFFF) % 10]
    assert partition_of([], 3).tolist() == []


def test_an_empty_block_has_the_same_columns() -> None:
    assert MIXED.block(50, 50).schema == MIXED.block(0, 50).schema
    assert list(MIXED.expected(5, 5)) == list(MIXED.expected(0, 5))


@pytest.mark.parametrize(
    "wrong", [{"rate": 0}, {"closed_share": 1.5}, {"moved_share": -0.1}, {"positions": 0},
              {"clients": 0}, {"partitions": 0}, {"swapped_share": 2}],
)  # fmt: skip
def test_values_that_describe_no_stream_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="got"):
        PositionStream(**wrong)


def test_it_is_fast_enough(broker: Any, capsys: pytest.CaptureFixture[str]) -> None:
    count = 200_000
    topic = compacted(new_topic("positions", "test-speed").name, 8)
    broker.create(topic)
    stream = PositionStream(
        rate=100_000, partitions=8, positions=100_000, clients=10_000
    ).ending_by(int(time.time() * 1000), count)
    sent = generate(broker.client_config(), topic.name, stream, count)
    assert sent.messages == count
    with capsys.disabled():
        print(f" {sent.rate:,.0f} messages/s", end="")
