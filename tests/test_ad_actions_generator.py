"""The generator of ad actions: repeatable, with the shares it names and the fates it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from workbook.errors import NoSuchStream, Rejected
from workbook.streams.events import ad_actions as events
from workbook.streams.events.ad_actions import (
    HORIZON_MS,
    MAX_AGE_MS,
    VERSIONS,
    Fate,
    decode,
    encode,
)
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.ad_actions import ODD_AD, TYPE_WEIGHTS, AdActionStream

IDS = (3, 2**31 - 1)
SCHEMAS = dict(zip(IDS, VERSIONS, strict=True))
MIXED = AdActionStream(
    seed=5, rate=9.5, partitions=4, ids=IDS, ads=300, users=50, duplicate_share=0.2, late_share=0.1,
    too_old_share=0.1, owner_share=0.2, no_ad_share=0.1, bad_share=0.1, old_version_share=0.3,
)  # fmt: skip
N = 30_000
STREAM = AdActionStream(seed=2)


def test_any_cut_gives_the_same_stream() -> None:
    whole, edges = MIXED.block(0, 3000), [0, 1, 37, 38, 38, 999, 3000]
    pieces = [MIXED.block(a, b) for a, b in pairwise(edges)]
    assert pa.concat_tables(pieces).to_pylist() == whole.to_pylist()
    assert replace(MIXED, seed=6).block(0, 3000)["value"] != whole["value"]
    rows = pd.concat([MIXED.expected(a, b) for a, b in pairwise(edges)], ignore_index=True)
    pd.testing.assert_frame_equal(rows, MIXED.expected(0, 3000))


def test_every_message_has_the_fate_that_its_bytes_and_its_arrival_say() -> None:
    seen: dict[bytes, int] = {}
    for row, sent in zip(
        MIXED.expected(0, N).itertuples(), MIXED.block(0, N).to_pylist(), strict=True
    ):
        value, arrival = sent["value"], sent["arrival"]
        assert (row.arrival, row.partition) == (arrival, sent["partition"])
        if row.fate == "rejected":
            with pytest.raises(Rejected, match=f"^{row.reason}$"):
                decode(value, SCHEMAS, arrival)
            assert not row.again
            continue
        action = decode(value, SCHEMAS, arrival)
        version = IDS.index(int.from_bytes(value[1:5], "big"))
        assert encode(action, version, IDS[version]) == value
        assert (action.browser == events.UNKNOWN_BROWSER) == (version == 0)
        for name in ("event_id", "ad", "type", "user", "source", "time"):
            assert getattr(action, name) == getattr(row, name)
        assert row.day == events.day_of(action.time)
        waited = arrival - seen.get(value, arrival - 2 * HORIZON_MS)
        assert row.again == (value in seen and waited > HORIZON_MS)
        seen[value] = arrival
        if waited <= HORIZON_MS:
            fate = Fate.DUPLICATE
        elif action.owner:
            fate = Fate.FILTERED
        else:
            fate = Fate.TOO_OLD if arrival - action.time > MAX_AGE_MS else Fate.ACCEPTED
        assert row.fate == fate
        assert row.reason == (Reason.TOO_OLD if fate is Fate.TOO_OLD else None)


def test_shares_are_what_they_say() -> None:
    n = 200_000
    rows = STREAM.expected(0, n)
    delays = rows["arrival"] - rows["time"]
    twice = rows["number"] != rows["event_id"]
    own = rows[~twice]
    bad = rows["fate"].eq("rejected") & rows["reason"].ne(Reason.NO_AD)
    values = replace(STREAM, bad_share=0).block(0, 20_000)["value"].to_pylist()
    for share, found in (
        (0.02 * 0.98 * 0.985, twice[2000:].mean()),  # whose source is good, and no repetition
        (0.01, delays[~twice].between(3_600_000, 3 * 86_400_000).mean()),
        (0.001, (delays > MAX_AGE_MS).mean()),
        (0.01 * 0.995, rows["reason"].eq(Reason.NO_AD).mean()),
        (0.005, bad.mean()),
        (0.05, own["fate"].eq("filtered").mean() / own["fate"].ne("rejected").mean()),
        (TYPE_WEIGHTS["view"], own["type"].eq("view").mean()),
        (0.1, np.mean([value[4:5] == b"\x01" for value in values])),
        (1 / np.sum(np.arange(1, 20_001) ** -1.3), own["ad"].eq("ad-00001").mean()),
    ):
        assert found == pytest.approx(share, rel=0.15), share
    assert own["ad"].eq(ODD_AD).any()
    assert rows["arrival"].is_monotonic_increasing
    assert rows["arrival"].iloc[-1] - rows["arrival"].iloc[0] == pytest.approx(n / 1.157, rel=0.01)


def test_a_repetition_comes_within_a_minute_or_well_beyond_the_horizon() -> None:
    stream = replace(MIXED, rate=100)
    rows = stream.expected(0, 300_000)
    twice = rows[rows["number"] != rows["event_id"]]
    assert twice["event_id"].is_unique
    minutes = (twice["arrival"] - stream.arrivals(twice["event_id"].to_numpy())) / 60_000
    far = minutes[minutes > 1]
    assert far.between(11, 30).all()
    assert (twice["again"] == (minutes > 1)).all()
    assert far.size / minutes.size == pytest.approx(0.05, abs=0.03)


def test_bad_messages_are_of_every_kind_in_equal_parts() -> None:
    reasons = Counter(replace(MIXED, bad_share=1).expected(0, 5000)["reason"])
    one = pytest.approx(1000, rel=0.15)
    kinds = {Reason.NO_AVRO: one, Reason.UNKNOWN_SCHEMA: one, Reason.EMPTY: one}
    assert reasons == kinds | {Reason.MALFORMED_AVRO: pytest.approx(2000, rel=0.15)}


@pytest.mark.parametrize("wrong", [{"bad_share": 2}, {"ads": 0}, {"rate": 0.5}])
def test_what_describes_no_stream(wrong: dict[str, float]) -> None:
    with pytest.raises(NoSuchStream):
        replace(MIXED, **wrong)  # type: ignore[arg-type]
