"""The crash lab: real processes, real kill -9, and what the ledger says of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from labs import own_lab, read_until, until
from workbook.faults.lab import CrashLab, crash
from workbook.faults.outcome import Outcome, judge
from workbook.faults.plan import EVENTS, POINTS, VARIANTS, draw, where

from workbook import faults
from workbook.errors import CrashFailed, NoSuchCrash
from workbook.kafka.broker import Broker

BEFORE_CHECKPOINT, MID_BATCH = ("spark", "before-checkpoint"), ("spark", "mid-batch")
MATRIX = [
    BEFORE_CHECKPOINT,  # first: it takes longest
    ("auto-commit", "after-poll"),
    ("auto-commit", "after-commit"),
    ("after-poll", "after-send"),
    ("after-poll", "after-commit"),
    ("on-delivery", "after-send"),
    ("on-delivery", "before-commit"),
    ("transactions", "after-send"),
    ("transactions", "before-commit"),
]
SEED = 4


# --- the matrix, small ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def matrix(broker: Broker) -> Iterator[dict[tuple[str, str], Future[Outcome]]]:
    """All the crashes, two at a time: much of it is waiting."""
    with ThreadPoolExecutor(2) as pool:
        yield {cell: pool.submit(crash, broker, *cell, SEED) for cell in MATRIX}


@pytest.mark.parametrize(("variant", "point"), MATRIX)
def test_a_crash_costs_no_more_than_promised(matrix, variant: str, point: str) -> None:
    outcome = matrix[variant, point].result(timeout=600)
    assert outcome.kept, str(outcome)
    assert (outcome.variant, outcome.point) == (variant, point)
    assert outcome.recovery > 0
    assert len(outcome.seconds) == 40


def test_auto_commit_loses(matrix) -> None:
    outcome = matrix["auto-commit", "after-commit"].result(timeout=600)
    assert len(outcome.lost), str(outcome)
    assert outcome.kept  # it has promised nothing


def test_commit_after_poll_loses_and_never_doubles(matrix) -> None:
    outcomes = [matrix["after-poll", p].result(timeout=600) for p in ("after-send", "after-commit")]
    assert any(len(o.lost) for o in outcomes)
    assert not any(len(o.duplicated) for o in outcomes)


def test_what_was_written_but_not_committed_comes_again(matrix) -> None:
    for cell in (("on-delivery", "before-commit"), BEFORE_CHECKPOINT):
        _came_again(matrix[cell].result(timeout=600))


@pytest.mark.slow
def test_what_was_written_in_the_middle_of_a_micro_batch_comes_again(broker: Broker) -> None:
    outcome = crash(broker, *MID_BATCH, SEED)
    assert outcome.kept, str(outcome)
    _came_again(outcome)


def _came_again(outcome: Outcome) -> None:
    assert len(outcome.duplicated), str(outcome)
    again = outcome.seconds[outcome.seconds["duplicated"] > 0]
    assert (again["last"] == again.expected).all()


# --- step by step -----------------------------------------------------------------------------


def test_a_crash_by_hand(broker: Broker) -> None:
    with CrashLab(broker, "on-delivery", pace=0.002) as lab:
        with pytest.raises(CrashFailed, match=r"call start\(\) first"):
            lab.finish()
        lab.start()
        until(lambda: (lab.offsets().committed or 0) > 200, "a commit")
        with pytest.raises(CrashFailed, match="has not been killed"):
            lab.restart()
        lab.crash()
        assert lab.is_active
        assert not lab.alive
        lab.check()  # a kill is no failure
        stopped = lab.offsets().committed
        with pytest.raises(CrashFailed, match="restart it first"):
            lab.finish()
        lab.restart()
        lab.finish()
        assert lab.offsets().committed > stopped
        outcome = lab.outcome()
    assert not lab.is_active
    assert not len(outcome.lost)
    assert "killed by hand" in str(outcome)
    assert "From the start again to the next metric" in str(outcome)
    assert outcome.recovery > 0


def test_running_the_cell_twice_leaves_one_process(broker: Broker) -> None:
    first = CrashLab(broker, "after-poll", pace=0.02)
    first.start()
    assert first.state == "running"
    with CrashLab(broker, "after-poll", replaces=False):
        assert first.alive  # crash() in another cell ends nothing
    second = CrashLab(broker, "after-poll", pace=0.02)
    try:
        assert (first.state, first.alive, first.is_active) == ("closed", False, False)
        assert first.offsets().end  # its topics stay: a view may still look at them
        with pytest.raises(CrashFailed, match="make it again"):
            first.restart()
        assert second.state == "new"
    finally:
        first.close()
        second.close()


def test_a_pipeline_that_fails_says_why(broker: Broker) -> None:
    with CrashLab(broker, "on-delivery") as lab:
        broker.delete([lab.clicks.name])
        lab.start()
        with pytest.raises(CrashFailed, match=lab.clicks.name):
            lab.finish()
        assert not lab.is_active


def test_a_point_that_never_comes_is_an_error(broker: Broker) -> None:
    with CrashLab(broker, "transactions", "after-send") as lab:
        lab.passes = 10_000
        lab.start()
        with pytest.raises(CrashFailed, match="before the point came"):
            lab.wait_for_crash()


PARENT = """
import time
from workbook.faults import CrashLab
from workbook.stack.broker import kafka
broker = kafka()
labs = [CrashLab(broker, "on-delivery", pace=0.1), CrashLab(broker, "spark", pace=0.01)]
for lab in labs:
    lab.start()
print("both run", flush=True)
time.sleep(600)
"""


def test_nothing_is_left_when_the_parent_is_killed() -> None:
    with own_lab() as lab:
        parent = lab.start("-c", PARENT)
        read_until(parent, "both run")
        assert len([p for p in lab.servers("workbook.faults") if "-m" in p.cmdline()]) == 2
        until(lambda: lab.servers("SparkSubmit"), "Spark's Java")
        ports = lab.ports()
        parent.kill()
        parent.communicate()
        lab.assert_nothing_is_left(ports)


# --- words and numbers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "point", "told"),
    [
        ("autocommit", "after-poll", "Choose one of: auto-commit, after-poll, on-delivery"),
        ("auto-commit", "before-commit", "does not pass 'before-commit'"),
        ("spark", "after-send", "Choose one of: before-send, mid-batch, before-checkpoint"),
    ],
)
def test_a_crash_that_there_is_not(broker: Broker, variant: str, point: str, told: str) -> None:
    with pytest.raises(NoSuchCrash, match=told):
        crash(broker, variant, point)


def test_the_command_refuses_before_it_starts_anything() -> None:
    parser = argparse.ArgumentParser()
    faults.add_arguments(parser)
    options = parser.parse_args(["page_views", "--point", "mid-batch"])
    assert options.seed == 7
    with pytest.raises(NoSuchCrash, match="'on-delivery' does not pass 'mid-batch'"):
        faults.command(options)


def test_the_pass_is_drawn_from_the_seed() -> None:
    for variant in VARIANTS:
        for point in POINTS[variant]:
            drawn = [draw(variant, point, seed) for seed in range(30)]
            assert drawn == [draw(variant, point, seed) for seed in range(30)]
            assert len(set(drawn)) > 3
            assert 1 <= min(drawn) <= max(drawn) < EVENTS
            assert where(variant, point)


def metrics(*emitted: tuple[int, list[int]]) -> pd.DataFrame:
    rows = [
        (second, None, len(ids), offset, 0, np.array(ids, dtype=np.int64))
        for offset, (second, ids) in enumerate(emitted)
    ]
    return pd.DataFrame(
        rows, columns=["second", "partition", "views", "offset", "timestamp", "event_ids"]
    )


def outcome_of(*emitted: tuple[int, list[int]], variant: str = "on-delivery") -> Outcome:
    """Second 1 has the page views 1 to 4, second 2 has 5 and 6."""
    ids = [1, 2, 3, 4, 5, 6]
    seconds = [1, 1, 1, 1, 2, 2]
    expected = pd.DataFrame({"event_id": ids, "timestamp": [s * 1000 for s in seconds]})
    judged = judge(expected.assign(second=seconds), metrics(*emitted))
    return Outcome(variant, "after-send", 7, 5, **judged)


RIGHT = (2, [5, 6])


@pytest.mark.parametrize(
    ("emitted", "lost", "duplicated", "told", "meaning"),
    [
        ([(1, [1, 2, 3, 4])], [], [], "4", "right"),
        ([], [1, 2, 3, 4], [], "–", "never told: all lost"),
        ([(1, [3, 4])], [1, 2], [], "2", "told in part: 2 lost"),
        ([(1, [1, 2, 3, 4])] * 2, [], [1, 2, 3, 4], "4, 4", "the last value is right"),
        ([(1, [1, 2]), (1, [3, 4])], [1, 2], [], "2, 2", "2 lost; the parts add up"),
        ([(1, [1, 2, 3, 4]), (1, [4])], [1, 2, 3], [4], "4, 1", "3 lost; who adds up counts 1"),
    ],
)
def test_the_verdict(emitted, lost, duplicated, told, meaning) -> None:
    outcome = outcome_of(*emitted, RIGHT, (99, [77]))  # 99: not judged
    first = outcome.seconds.iloc[0]
    assert list(outcome.lost.event_id) == lost
    assert list(outcome.duplicated.event_id) == duplicated
    assert first.emitted == told
    assert meaning in first.meaning
    assert outcome.seconds.iloc[1].meaning == "right"
    assert outcome.kept == (not lost)
    for text in (str(outcome), outcome._repr_html_()):
        assert f"{len(lost)} lost, {len(duplicated)} duplicated of 6 page views" in text
        assert meaning in text
        assert ("All 2 seconds" if told == "4" else "The other 1 of 2 seconds") in text


def test_a_prediction_is_compared() -> None:
    outcome = outcome_of((1, [1, 2, 3, 4]), (1, [4]), RIGHT)
    assert outcome.found == "both"
    assert outcome.against("both") == "✓ As you predicted: both."
    assert outcome.against("lost") == "✗ You predicted: lost. The ledger found: both."
    assert "nothing" in outcome.against(...)
    assert "one of lost, duplicated, both, neither" in outcome.against("Both!")


def test_the_mark_is_for_the_promise() -> None:
    twice, part = [(1, [1, 2, 3, 4])] * 2, [(1, [3, 4])]
    assert str(outcome_of(*twice, RIGHT)).startswith("✓ 0 lost, 4 duplicated of 6 page views")
    assert str(outcome_of(*part, RIGHT)).startswith("✗ 2 lost")
    assert str(outcome_of(*twice, RIGHT, variant="transactions")).startswith("✗ 0 lost, 4")
    assert str(outcome_of(*part, RIGHT, variant="auto-commit")).startswith("· 2 lost")


def test_neither_is_told_in_one_sentence() -> None:
    whole = (1, [1, 2, 3, 4])
    kept, lucky = outcome_of(whole, RIGHT), outcome_of(whole, RIGHT, variant="auto-commit")
    assert "All 2 seconds were told once, and right." in str(kept)
    assert "and right: by luck, for nothing is promised." in str(lucky)
    assert "<table" not in kept._repr_html_()


def test_the_table_has_what_tells_something_and_wraps() -> None:
    text = outcome_of((1, [3, 4]), RIGHT)._repr_html_()
    table = text[text.index("<table") : text.index("</table>")]
    names = [cell.split("</th>")[0].split(">")[1] for cell in table.split("<th")[1:]]
    assert names == ["second (UTC)", "expected", "emitted", "last", "meaning"]
    assert ">00:00:01<" in table
    assert "nowrap" not in text
