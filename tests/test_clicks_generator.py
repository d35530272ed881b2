"""The click generator: repeatable, the same however it is cut, and with the shares it names."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from workbook.errors import Rejected
from workbook.kafka.murmur2 import partition_of
from workbook.streams.events.clicks import Click
from workbook.streams.events.reasons import (
    OF_ACTIONS,
    OF_POSITIONS,
    OF_THE_READER,
    OF_VISITS,
    Reason,
)
from workbook.streams.generators.clicks import MAX_BEHIND, ClickStream

ROOT = Path(__file__).parents[1]
MIXED = ClickStream(
    seed=5, rate=200, partitions=4, visitors=300, late_share=0.1, duplicate_share=0.05,
    bad_share=0.05, gap_every_s=10, gap_s=3,
)  # fmt: skip


def digest(table: pa.Table) -> str:
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()


@pytest.mark.parametrize("cuts", [[1], [999], [37, 38, 39, 500], list(range(0, 3000, 60))])
def test_any_cut_gives_the_same_stream(cuts: list[int]) -> None:
    whole = MIXED.block(0, 3000)
    edges = [0, *cuts, 3000]
    pieces = [MIXED.block(a, b) for a, b in pairwise(edges)]
    assert pa.concat_tables(pieces).to_pylist() == whole.to_pylist()


def test_a_far_block_does_not_depend_on_what_was_asked_before() -> None:
    stream = ClickStream(seed=6, rate=1, daily=0.9, gap_every_s=700, gap_s=100)
    far = 500_000  # six virtual days on
    first = stream.block(far, far + 50).to_pylist()
    stream.block(50_000_000, 50_000_001)
    assert stream.block(0, far + 50).slice(far).to_pylist() == first


def test_another_process_makes_the_same_stream_and_another_seed_another_one() -> None:
    script = (
        "from tests_of_clicks import MIXED, digest; print(digest(MIXED.block(100, 900)))"
    ).replace("tests_of_clicks", Path(__file__).stem)
    path = [str(Path(__file__).parent), str(ROOT)]
    code = f"import sys; sys.path[:0] = {path!r}; {script}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == digest(MIXED.block(100, 900))
    assert digest(replace(MIXED, seed=6).block(100, 900)) != run.stdout.strip()


def test_every_message_is_a_click_or_has_the_reason_it_names() -> None:
    messages = MIXED.block(0, 5000).to_pylist()
    good = [message for message in messages if message["reason"] is None]
    assert 4000 < len(good) < len(messages)
    for message in good:
        click = Click.from_json(message["value"], message["arrival"])
        assert click.to_json() == message["value"]
        assert (click.event_id, click.timestamp) == (message["event_id"], message["timestamp"])
        assert message["key"] == (click.tab_id.encode() if click.tab_id else None)
    for message in messages:
        if message["reason"] is not None:
            with pytest.raises(Rejected, match=f"^{message['reason']}$"):
                Click.from_json(message["value"], message["arrival"])


def test_bad_messages_cover_every_reason() -> None:
    reasons = Counter(replace(MIXED, bad_share=1.0).expected(0, 2000)["reason"])
    others = OF_ACTIONS | OF_POSITIONS | OF_VISITS | OF_THE_READER
    assert set(reasons) == {r.value for r in Reason} - others
    assert sum(reasons.values()) == 2000


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 1.0])
def test_shares_are_what_they_say(share: float) -> None:
    stream = ClickStream(seed=8, late_share=share, late_by_ms=5000, duplicate_share=share)
    n = 50_000
    rows = stream.expected(0, n)
    once = rows[~rows["duplicate"]]
    delay = once["arrival"] - once["timestamp"]
    five_sigma = 5 * (n * share * (1 - share)) ** 0.5
    assert len(once) == n
    assert abs((delay > 0).sum() - n * share) <= five_sigma
    assert delay.max() <= 5000
    # Those of the last hundred events may fall due after the end.
    assert -five_sigma - MAX_BEHIND <= rows["duplicate"].sum() - n * share <= five_sigma
    bad = ClickStream(seed=8, bad_share=share).expected(0, n)["reason"].notna().sum()
    assert abs(bad - n * share) <= five_sigma


def test_a_duplicate_follows_its_event_within_a_hundred_events() -> None:
    rows = replace(MIXED, duplicate_share=0.5).expected(0, 3000)
    first = rows[~rows["duplicate"]].set_index("event_id")
    again = rows[rows["duplicate"]]
    assert again["event_id"].is_unique
    assert again["reason"].isna().all()
    origin = first.loc[again["event_id"]]
    assert (origin["timestamp"].to_numpy() == again["timestamp"].to_numpy()).all()
    assert (origin["partition"].to_numpy() == again["partition"].to_numpy()).all()
    current = rows["event_id"].where(~rows["duplicate"]).ffill()[again.index]
    behind = current.to_numpy() - again["event_id"].to_numpy()
    assert behind.min() >= 1
    assert behind.max() <= MAX_BEHIND


def test_arrivals_never_go_back_and_keep_to_the_rate() -> None:
    stream = ClickStream(seed=2, rate=500, daily=0.0)
    arrivals = stream.expected(0, 100_000)["arrival"].to_numpy()
    assert (np.diff(arrivals) >= 0).all()
    per_second = np.bincount((arrivals - stream.start_ms) // 1000)
    assert (np.abs(per_second[:-1] - 500) <= 1).all()


def test_the_day_has_a_peak_and_a_trough() -> None:
    stream = ClickStream(seed=3, rate=50, daily=0.8, day_s=1000)
    seconds = (stream.arrivals(np.arange(200_000)) - stream.start_ms) // 1000
    per_second = np.bincount(seconds)[:4000].reshape(4, 1000).mean(axis=0)  # four days
    shape = 50 * (1 + 0.8 * np.sin(2 * np.pi * (np.arange(1000) + 0.5) / 1000))
    assert np.abs(per_second - shape).max() < 1.5
    assert per_second[200:300].mean() > 8 * per_second[700:800].mean()


def test_a_gap_is_silent() -> None:
    times = (MIXED.arrivals(np.arange(20_000)) - MIXED.start_ms) / 1000
    within = times % 10
    assert times.max() > 100
    assert not ((within >= 7.001) & (within < 9.999)).any()


@pytest.mark.parametrize("speed", [None, 0.5, 1, 3, 100])
def test_the_virtual_clock_never_passes_the_real_one(speed: float | None) -> None:
    now, count = 1_790_000_000_000, 4000
    stream = replace(MIXED, rate=20).ending_by(now, count, speed)
    arrivals = stream.arrivals(np.arange(count))
    if speed is None:
        assert now - 2000 < arrivals[-1] <= now
        return
    for passed in np.linspace(0, (arrivals[-1] - stream.start_ms) / speed, 50):
        sent = min(count, stream.due(stream.start_ms + passed * speed))
        assert sent == 0 or arrivals[sent - 1] <= now + passed


def test_due_is_the_number_of_events_that_have_arrived() -> None:
    arrivals = MIXED.arrivals(np.arange(5000))
    for now in [0, *range(MIXED.start_ms - 5, MIXED.start_ms + 20_000, 331), *arrivals[:50]]:
        assert MIXED.due(int(now)) == np.count_nonzero(arrivals <= now)


def test_a_key_chooses_its_partition_and_events_without_one_are_spread() -> None:
    rows = MIXED.block(0, 5000).to_pandas()
    keyed, keyless = rows.dropna(subset="key"), rows[rows["key"].isna()]
    assert keyed["partition"].tolist() == partition_of(keyed["key"].tolist(), 4).tolist()
    assert keyed["partition"].nunique() == keyless["partition"].nunique() == 4


def test_an_empty_block_has_the_same_columns() -> None:
    assert MIXED.block(50, 50).schema == MIXED.block(0, 50).schema


@pytest.mark.parametrize(
    "wrong",
    [{"rate": 0}, {"daily": 1.5}, {"bad_share": -0.1}, {"gap_every_s": 5, "gap_s": 5},
     {"partitions": 0}, {"late_by_ms": 0}, {"day_s": 0}],
)  # fmt: skip
def test_values_that_describe_no_stream_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match="got"):
        ClickStream(**wrong)


def test_the_fixed_file_is_what_its_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("make_clicks", ROOT / "data" / "make_clicks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "data" / "clicks.jsonl").read_text(encoding="utf-8") == module.text()
    rows = module.STREAM.expected(0, module.GENERATED)
    assert rows["duplicate"].any()
    assert (rows["arrival"] > rows["timestamp"]).any()
