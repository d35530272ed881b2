"""The ledger finds exactly the anomalies that a test plants, and names the very events."""

import time

import numpy as np
import pandas as pd
import pytest

from workbook.streams.events.reasons import Reason
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.ledgers.events import MEANINGS, Ledger

STREAM = ClickStream(seed=4, rate=100, partitions=3, duplicate_share=0.1, bad_share=0.1)
SENT = STREAM.expected(0, 5000)
GOOD = SENT[SENT["reason"].isna()]
ONCE = GOOD[~GOOD["duplicate"]].reset_index(drop=True)
DEAD = SENT[SENT["reason"].notna()]
SEEN = ["event_id", "timestamp", "partition"]
IN_ORDER = pd.DataFrame({"event_id": range(6), "timestamp": range(1000, 7000, 1000)})


def faults(verdict: object) -> dict[str, int]:
    return {name: n for name, n in verdict.counts.items() if n}


def test_every_event_once_is_clean() -> None:
    verdict = Ledger(SENT).judge(ONCE[SEEN], DEAD)
    assert verdict.clean
    assert faults(verdict) == {}
    assert verdict.expected == verdict.observed == len(ONCE)


def test_a_copy_has_each_event_as_often_as_it_was_sent() -> None:
    assert Ledger(SENT, once=False).judge(GOOD[["event_id"]]).counts["duplicated"] == 0
    assert Ledger(SENT, once=False).judge(GOOD[SEEN], DEAD).clean
    assert Ledger(SENT).judge(GOOD[SEEN]).counts["duplicated"] == GOOD["duplicate"].sum() > 0
    missing = Ledger(SENT, once=False).judge(ONCE[SEEN])
    assert missing.counts["lost"] == GOOD["duplicate"].sum()
    assert set(missing.lost["event_id"]) == set(GOOD.loc[GOOD["duplicate"], "event_id"])


def test_it_finds_exactly_what_is_planted() -> None:
    lost, twice = ONCE["event_id"][[3, 700, 4000]], ONCE.loc[[10, 10, 900], SEEN]
    unknown = pd.DataFrame({"event_id": [-1, 10**9], "timestamp": 0, "partition": 9})
    counted_anyway = DEAD.iloc[:1][SEEN].assign(partition=8)
    kept = ONCE[~ONCE["event_id"].isin(lost)]
    observed = pd.concat([kept[SEEN], twice.assign(partition=7), unknown, counted_anyway])
    verdict = Ledger(SENT).judge(observed)
    assert not verdict.clean
    assert faults(verdict) == {"lost": 3, "duplicated": 3, "unexpected": 3}
    assert list(verdict.lost["event_id"]) == list(lost)
    assert list(verdict.duplicated["event_id"]) == list(twice["event_id"])
    assert list(verdict.duplicated["position"]) == list(range(len(kept), len(kept) + 3))
    assert list(verdict.unexpected["event_id"]) == [-1, 10**9, DEAD["event_id"].iloc[0]]


def test_the_second_observation_is_the_duplicate() -> None:
    observed = IN_ORDER.iloc[[0, 1, 0, 2, 3, 0, 4, 5]]
    verdict = Ledger(IN_ORDER).judge(observed)
    assert list(verdict.duplicated["position"]) == [2, 5]


@pytest.mark.parametrize(
    ("order", "lateness_ms", "out_of_order", "late"),
    [
        ([0, 1, 2, 3, 4, 5], 0, [], []),
        ([0, 2, 1, 3, 5, 4], 0, [1, 4], [1, 4]),
        ([0, 2, 1, 3, 5, 4], 1000, [1, 4], []),
        ([5, 0, 4, 3, 1, 2], 3000, [0, 4, 3, 1, 2], [0, 1]),
    ],
)
def test_order_and_lateness(
    order: list[int], lateness_ms: int, out_of_order: list[int], late: list[int]
) -> None:
    ledger = Ledger(IN_ORDER, lateness_ms=lateness_ms)
    for observed in (IN_ORDER.loc[order], IN_ORDER.loc[order, ["event_id"]]):
        verdict = ledger.judge(observed)
        assert list(verdict.out_of_order["event_id"]) == out_of_order
        assert list(verdict.late["event_id"]) == late
        assert verdict.clean


def test_partitions_are_judged_each_by_its_own_clock() -> None:
    observed = IN_ORDER.loc[[3, 0, 4, 1, 5, 2]].assign(partition=[0, 1, 0, 1, 0, 1])
    assert len(Ledger(IN_ORDER).judge(observed).out_of_order) == 0
    assert len(Ledger(IN_ORDER).judge(observed.assign(partition=0)).out_of_order) == 3


def test_dead_letters_are_compared_reason_by_reason() -> None:
    negative = DEAD["reason"] == Reason.NEGATIVE.value
    wrong = DEAD.assign(reason=DEAD["reason"].where(~negative, "other"))
    verdict = Ledger(SENT).judge(ONCE[SEEN], wrong)
    assert not verdict.clean
    found = verdict.misrouted.set_index("reason")
    assert set(found.index) == {"other", Reason.NEGATIVE.value}
    assert tuple(found.loc["other"]) == (0, negative.sum())
    assert tuple(found.loc[Reason.NEGATIVE.value]) == (negative.sum(), 0)
    good = ONCE.iloc[:1].assign(reason=DEAD["reason"].iloc[0])  # instead of one that is lost
    good = good.assign(value=[b'{"event_id": %d}' % good["event_id"].iloc[0]])
    swapped = pd.concat([DEAD.iloc[1:].assign(value=b'{"event_id": 1e999}'), good])
    assert len(Ledger(SENT).judge(ONCE[SEEN], swapped).misrouted) == 2
    none = Ledger(SENT).judge(ONCE[SEEN], DEAD.iloc[:0])
    assert none.misrouted["expected"].sum() == len(DEAD)


def test_nothing_observed_is_all_lost_and_nothing_expected_all_unexpected() -> None:
    verdict = Ledger(SENT).judge(ONCE[SEEN].iloc[:0])
    assert faults(verdict) == {"lost": len(ONCE)}
    verdict = Ledger(SENT.iloc[:0]).judge(IN_ORDER)
    assert faults(verdict) == {"unexpected": 6}


def test_a_column_of_yours_does_not_change_what_counts() -> None:
    twice = pd.concat([ONCE, ONCE.head(1)], ignore_index=True)[SEEN].assign(events=7)
    assert Ledger(SENT).judge(twice).counts["duplicated"] == 1


def test_the_text_and_the_table_name_the_events_in_words() -> None:
    verdict = Ledger(IN_ORDER).judge(IN_ORDER.loc[[0, 1, 1, 2, 3, 4]])
    for shown in (str(verdict), verdict._repr_html_()):
        assert "not clean: 6 expected, 6 observed" in shown
        assert "Dead letters were not judged" in shown
        assert all(meaning in shown for meaning in MEANINGS.values())
        assert "6000" in shown  # the lost event's time
    assert "✓ clean" in str(Ledger(IN_ORDER).judge(IN_ORDER, IN_ORDER.iloc[:0].assign(reason="")))


def test_missing_columns_are_named() -> None:
    with pytest.raises(ValueError, match=r"needs \['timestamp'\]"):
        Ledger(IN_ORDER[["event_id"]])
    with pytest.raises(ValueError, match=r"what was observed needs \['event_id'\]"):
        Ledger(IN_ORDER).judge(IN_ORDER[["timestamp"]])


def test_a_large_history_is_judged_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    ids = np.random.default_rng(1).permutation(500_000)
    sent = pd.DataFrame({"event_id": ids, "timestamp": np.arange(500_000)})
    observed = pd.concat([sent.iloc[1000:], sent.iloc[-10:]]).assign(partition=ids[0] % 2)
    began = time.perf_counter()
    verdict = Ledger(sent).judge(observed)
    with capsys.disabled():
        print(f" {len(observed) / (time.perf_counter() - began):,.0f} events/s judged", end="")
    assert faults(verdict) == {"lost": 1000, "duplicated": 10, "out_of_order": 9}


def test_what_came_too_late_is_a_dead_letter_and_not_lost() -> None:
    letters = pd.DataFrame(
        [
            ("too late", b'{"event_id":2}'),
            ("too late", b'{"event_id":2}'),  # at least once
            ("too late", b'{"event_id":3}'),  # but counted: its duplicate came too late
            ("too late", None),  # the topic no longer had it
            ("too late", b'{"event_'),
        ],
        columns=["reason", "value"],
    )
    verdict = Ledger(IN_ORDER).judge(IN_ORDER[IN_ORDER["event_id"] != 2].iloc[1:], letters)
    assert verdict.counts["too_late"] == 1
    assert list(verdict.too_late["event_id"]) == [2]
    assert list(verdict.lost["event_id"]) == [0]
    assert verdict.expected == verdict.observed + len(verdict.too_late) + len(verdict.lost)
    assert not len(verdict.misrouted)
