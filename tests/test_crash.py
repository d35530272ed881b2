"""The crash lab: real processes, real kill -9, and what the ledger says of it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from unittest.mock import Mock

import psutil
import pytest
from confluent_kafka import Consumer
from labs import lives, read_until, until
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from workbook.cli.main import main
from workbook.crashlab.__main__ import run_on_spark
from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.lab import CrashLab, crash
from workbook.crashlab.points import Plan, draw
from workbook.crashlab.process import Victim
from workbook.crashlab.report import Outcome
from workbook.errors import CrashFailed, NoSuchCrash
from workbook.kafka.broker import Broker
from workbook.stack.process import family
from workbook.systems import SYSTEMS

SEED = 4
RUNS = [(system, variant) for system, crashes in CRASHES.items() for variant in crashes.variants]
IDS = [f"{system}-{variant.name}" for system, variant in RUNS]
ELSEWHERE = {  # they die in the slow tier, at every point: each goes on as another one here does
    "event_time_merge-spark": "page_views-spark and share_holders-spark",
    "event_time_merge-clamped": "event_time_merge-spark",
    "active_groups-spark": "share_holders-spark",
    "replicate-spark": "page_views-spark",
    "ad_statistics-no-checkpoint": "ad_statistics-spark, by the fence",
    "ad_statistics-replay": "those of test_replay",
}
ON_SPARK = [i for i, (_, variant) in zip(IDS, RUNS, strict=True) if not variant.by_hand]


# --- every variant of every system ------------------------------------------------------------


def life(plan: Plan) -> Victim | Mock:
    """What is to be killed gets a process of its own; what then goes on, the tests' warm Spark."""
    if plan.point or f"{plan.system}-{plan.variant}" not in ON_SPARK:
        return Victim(plan)
    system = SYSTEMS[plan.system]
    run_on_spark(plan, system, CRASHES[plan.system], system.options(plan.words))
    return Mock(code=0, kill_note=None)


@pytest.fixture(scope="module")
def outcome_of(broker: Broker, spark: SparkSession) -> Iterator[Callable[[str], Outcome]]:
    """Each variant killed near its end, once, when it's asked for."""

    @cache
    def outcome(name: str) -> Outcome:
        system, variant = dict(zip(IDS, RUNS, strict=True))[name]
        return crash(broker, system, variant.name, *last_points(variant), seed=SEED)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbook.crashlab.lab.Victim", life)
        yield outcome


def points_of(variant) -> list[str]:
    return [point.name for point in variant.points]


def last_points(variant) -> list[str]:
    """The last two points, of Spark the first of them: what is written and not committed."""
    return points_of(variant)[-2:] if variant.by_hand else points_of(variant)[-2:][:1]


@pytest.mark.parametrize("name", [each for each in IDS if each not in ELSEWHERE])
def test_a_crash_costs_no_more_than_promised(outcome_of, name: str) -> None:
    outcome = outcome_of(name)
    assert outcome.kept, str(outcome)
    points = last_points(outcome.variant)
    assert [kill.point for kill in outcome.kills] == points
    assert len(outcome.recoveries) == len(points)
    assert min(outcome.recoveries) > 0
    assert len(outcome.pictures) == (len(points) if outcome.variant.by_hand else 1)


@pytest.mark.slow
@pytest.mark.parametrize(("system", "variant"), RUNS, ids=IDS)
def test_crashes_at_every_point_cost_no_more_than_promised(broker, system, variant) -> None:
    said: list[str] = []
    points = points_of(variant)
    outcome = crash(broker, system, variant.name, *points, seed=5, progress=said.append)
    assert outcome.kept, str(outcome)
    assert [kill.point for kill in outcome.kills] == points
    assert len(said) == 2 + len(points)


@pytest.mark.parametrize("name", ["auto-commit", "after-poll"])
def test_a_commit_before_delivery_loses(outcome_of, name: str) -> None:
    outcome = outcome_of(f"page_views-{name}")
    assert outcome.counts["lost"], str(outcome)
    assert name == "auto-commit" or not outcome.counts["duplicated"], str(outcome)
    assert outcome.kept  # it has promised nothing


@pytest.mark.parametrize("name", ["page_views-on-delivery", "page_views-spark"])
def test_what_was_written_but_not_committed_comes_again(outcome_of, name: str) -> None:
    outcome = outcome_of(name)
    assert outcome.counts["duplicated"], str(outcome)
    seconds = outcome.verdict.seconds
    again = seconds[seconds["duplicated"] > 0]
    assert len(seconds) == 40
    assert (again["last"] == again.expected).all()


# --- step by step -----------------------------------------------------------------------------


def test_a_crash_by_hand(broker: Broker) -> None:
    with CrashLab(broker, "page_views", "on-delivery", pace=0.002) as lab:
        with pytest.raises(CrashFailed, match=r"call start\(\) first"):
            lab.finish()
        lab.start()
        until(lambda: (lab.offsets().committed or 0) > 200, "a commit")
        with pytest.raises(CrashFailed, match="has not been killed"):
            lab.restart()
        lab.crash()
        assert lab.is_active
        assert lab.state == "killed"
        lab.check()  # a kill is no failure
        stopped = lab.offsets().committed
        with pytest.raises(CrashFailed, match="it commits to Kafka"):
            lab.timeline()
        with pytest.raises(CrashFailed, match="restart it first"):
            lab.finish()
        lab.restart()
        lab.finish()
        assert lab.offsets().committed > stopped
        outcome = lab.outcome()
    assert not lab.is_active
    assert not outcome.counts["lost"]
    assert "killed by hand" in str(outcome)
    assert f"a restart begins here: {stopped:,}" in outcome.pictures[0].words
    assert "From the start again to the next record" in str(outcome)
    assert outcome.recoveries[0] > 0


def test_running_the_cell_twice_leaves_one_process(broker: Broker) -> None:
    first = CrashLab(broker, "page_views", "after-poll", pace=0.02)
    first.start()
    assert first.state == "running"
    with CrashLab(broker, "page_views", "after-poll", replaces=False):
        assert first.state == "running"  # crash() in another cell ends nothing
    second = CrashLab(broker, "page_views", "after-poll", pace=0.02)
    try:
        assert (first.state, first.is_active) == ("closed", False)
        assert first.offsets().end  # its topics stay: a view may still look at them
        with pytest.raises(CrashFailed, match="make it again"):
            first.restart()
        assert second.state == "new"
    finally:
        first.close()
        second.close()


def test_no_other_kill_passes_for_the_one_at_the_point(broker: Broker) -> None:
    with CrashLab(broker, "page_views", "transactions", "after-send") as lab:
        lab._to_come = [("after-send", 10_000)] * 2
        lab.start()
        lab.crash()
        with pytest.raises(CrashFailed, match="the point came"):
            lab.wait_for_crash()
        lab.restart()
        lab._victim._process.kill()
        for step in (lab.wait_for_crash, lab.restart):
            with pytest.raises(CrashFailed, match="not by the lab"):
                step()
        assert [kill.point for kill in lab.kills] == ["by hand"]


PARENT = """
import time
from workbook.crashlab.lab import CrashLab
from workbook.stack.addresses import kafka
broker = kafka()
labs = [CrashLab(broker, "page_views", name, pace=0.1) for name in ("on-delivery", "spark")]
for lab in labs:
    lab.start()
print("both run", flush=True)
time.sleep(600)
"""


@pytest.mark.usefixtures("broker")
def test_nothing_is_left_when_the_parent_is_killed() -> None:
    parent = psutil.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    read_until(parent, "both run")
    killed = parent.children()
    assert [process.cmdline()[1:] for process in killed] == [["-m", "workbook.crashlab"]] * 2

    def started() -> list[psutil.Process]:
        return [process for each in killed for process in family(each)]

    until(lambda: "java" in [process.name() for process in started()], "Spark's Java")
    processes = started()
    parent.kill()
    parent.wait()
    until(lambda: not any(map(lives, processes)), f"the end of {processes}", within=30)


# --- a loop of one's own ----------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _as_in_a_notebook() -> Iterator[None]:
    """A process of the lab can't import this module: its functions are sent as they are."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def publish_counts(reader, producer, source, target, until) -> None:
    """Publish completed seconds without naming what was counted; a fourth has one too many."""
    views: dict[int, int] = {}
    while not until():
        message = reader.poll(0.05)
        click = json.loads(message.value()) if message is not None else {"click_type": ""}
        if click["click_type"] != "Page":
            continue
        second = click["timestamp"] // 1000
        if views and second not in views:
            done, count = views.popitem()
            producer.produce(target, str(count + (done % 4 == 0)), str(done))
        views[second] = views.get(second, 0) + 1


def test_a_loop_that_names_no_events_is_judged_by_what_it_has_read(broker: Broker) -> None:
    own = {"enable.auto.commit": False}
    with CrashLab(broker, "page_views", publish_counts, settings=own) as lab:
        lab.start()
        lab.finish()
        verdict = lab.outcome().verdict
    assert verdict.lost.empty
    assert len(verdict.miscounted) == len(verdict.seconds) // 4 == 10
    assert (verdict.miscounted.second % 4 == 0).all()
    assert verdict.keeps_last == "wrong numbers"


def test_an_error_in_a_loop_of_ones_own_is_shown(broker: Broker) -> None:
    with pytest.raises(CrashFailed, match="ZeroDivisionError"):
        crash(broker, "page_views", lambda *_: 1 // 0, "after-send")


def test_what_another_process_cannot_have_is_refused(broker: Broker) -> None:
    reader = Consumer({"group.id": "here"})
    with pytest.raises(CrashFailed, match=r"refers to something that can't be sent there \(.*'"):
        CrashLab(broker, "page_views", lambda *_: reader)
    with pytest.raises(NoSuchCrash, match="'share_holders' runs no loop of your own"):
        CrashLab(broker, "share_holders", publish_counts)


# --- words and numbers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "variant", "point", "told"),
    [
        ("orders", "spark", "after-commit", "page_views, event_time_merge, share_holders"),
        ("page_views", "autocommit", "after-poll", "Choose one of: spark, auto-commit, after-poll"),
        ("page_views", "auto-commit", "before-commit", "does not pass 'before-commit'"),
        ("share_holders", "spark", "before-send", r"does not pass 'before-send'.*before-store"),
    ],
)
def test_a_crash_that_there_is_not(broker, system, variant, point, told) -> None:
    with pytest.raises(NoSuchCrash, match=told):
        crash(broker, system, variant, point)


def test_the_command_refuses_before_it_starts_anything(capsys, monkeypatch) -> None:
    monkeypatch.setattr("workbook.cli.run.kafka", lambda role: pytest.fail("started"))
    assert main(["crash", "page_views", "--variant", "on-delivery", "--point", "mid-write"]) == 1
    assert "does not pass 'mid-write'" in capsys.readouterr().err


def test_the_help_of_the_command_has_every_point(capsys) -> None:
    for system, variant in RUNS:
        with pytest.raises(SystemExit):
            main(["crash", system, "--help"])
        said = capsys.readouterr().out
        assert all(f"  {point.name} " in said and point.says in said for point in variant.points)


@pytest.mark.parametrize(("system", "variant"), RUNS, ids=IDS)
def test_passes_are_drawn_from_the_seed_and_several_kills_come_before_the_end(
    system: str, variant
) -> None:
    for point in variant.points:
        drawn = [draw(variant.name, [point], seed) for seed in range(30)]
        assert drawn == [draw(variant.name, [point], seed) for seed in range(30)]
        passes = [number for [number] in drawn]
        assert len(set(passes)) > min(3, point.last - point.first)
        assert point.first <= min(passes) <= max(passes) <= point.last
    last = max(point.last for point in variant.points)
    for seed in range(30):
        drawn = draw(variant.name, variant.points, seed)
        assert min(drawn) >= 1
        assert sum(drawn) <= last
