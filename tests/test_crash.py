"""The crash lab: real processes, real kill -9, and what the ledger says of it."""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Lock
from unittest.mock import Mock

import pytest
from confluent_kafka import Consumer
from labs import own_lab, read_until, until
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
one_at_a_time = Lock()
KILLED = [i for i in IDS if i not in ELSEWHERE]


# --- every variant of every system ------------------------------------------------------------


def life(plan: Plan) -> Victim | Mock:
    """What is to be killed gets a process of its own; what then goes on, the tests' warm Spark."""
    if plan.point or f"{plan.system}-{plan.variant}" not in ON_SPARK:
        return Victim(plan)
    system = SYSTEMS[plan.system]
    with one_at_a_time:
        run_on_spark(plan, system, CRASHES[plan.system], system.options(plan.words))
    return Mock(code=0, kill_note=None)


class Outcomes(dict[str, "Future[Outcome]"]):
    """Each variant killed near its end, once it's asked for; the next one runs meanwhile.

    Two at a time, since much of it is waiting; and with ``-k`` only what is asked for.
    """

    def __init__(self, broker: Broker, pool: ThreadPoolExecutor) -> None:
        self._broker, self._pool = broker, pool

    def __missing__(self, asked: str) -> Future[Outcome]:
        at = IDS.index(asked)
        for name, (system, variant) in list(zip(IDS, RUNS, strict=True))[at : at + 2]:
            if name not in self and name in (asked, *KILLED):
                points = last_points(variant)
                self[name] = self._pool.submit(
                    crash, self._broker, system, variant.name, *points, seed=SEED
                )
        return self[asked]


@pytest.fixture(scope="module")
def outcomes(broker: Broker, spark: SparkSession) -> Iterator[Outcomes]:
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr("workbook.crashlab.lab.Victim", life)
        yield Outcomes(broker, pool)


def points_of(variant) -> list[str]:
    return [point.name for point in variant.points]


def last_points(variant) -> list[str]:
    """The last two points, of Spark the first of them: what is written and not committed."""
    return points_of(variant)[-2:] if variant.by_hand else points_of(variant)[-2:][:1]


@pytest.mark.parametrize("name", KILLED)
def test_a_crash_costs_no_more_than_promised(outcomes, name: str) -> None:
    outcome = outcomes[name].result(timeout=900)
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
def test_a_commit_before_delivery_loses(outcomes, name: str) -> None:
    outcome = outcomes[f"page_views-{name}"].result(timeout=900)
    assert outcome.counts["lost"], str(outcome)
    assert name == "auto-commit" or not outcome.counts["duplicated"], str(outcome)
    assert outcome.kept  # it has promised nothing


@pytest.mark.parametrize("name", ["page_views-on-delivery", "page_views-spark"])
def test_what_was_written_but_not_committed_comes_again(outcomes, name: str) -> None:
    outcome = outcomes[name].result(timeout=900)
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


@pytest.mark.parametrize(("foreign", "says"), [(True, "not by the lab"), (False, "the point came")])
def test_no_other_kill_passes_for_the_one_at_the_point(broker, foreign, says) -> None:
    with CrashLab(broker, "page_views", "transactions", "after-send") as lab:
        lab._to_come = [("after-send", 10_000)]
        lab.start()
        lab._victim._process.kill() if foreign else lab.crash()
        with pytest.raises(CrashFailed, match=says):
            lab.wait_for_crash()
        assert [kill.point for kill in lab.kills] == ([] if foreign else ["by hand"])
        if foreign:
            with pytest.raises(CrashFailed, match="not by the lab"):
                lab.restart()


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


def test_nothing_is_left_when_the_parent_is_killed() -> None:
    with own_lab() as lab:
        parent = lab.start("-c", PARENT)
        read_until(parent, "both run")
        assert len([p for p in lab.servers("workbook.crashlab") if "-m" in p.cmdline()]) == 2
        until(lambda: lab.servers("SparkSubmit"), "Spark's Java")
        ports = lab.ports()
        parent.kill()
        parent.communicate()
        lab.assert_nothing_is_left(ports)


# --- a loop of one's own ----------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _as_in_a_notebook() -> Iterator[None]:
    """A process of the lab can't import this module: its functions are sent as they are."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def publish_counts(reader, producer, source, target, until, doubled: bool) -> None:
    """Publish completed seconds without naming what was counted."""
    views: dict[int, int] = {}
    while not until():
        message = reader.poll(0.05)
        click = json.loads(message.value()) if message is not None else {"click_type": ""}
        if click["click_type"] != "Page":
            continue
        second = click["timestamp"] // 1000
        if views and second not in views:
            done, count = views.popitem()
            producer.produce(target, str(count + doubled), str(done))
        views[second] = views.get(second, 0) + 1


@pytest.mark.parametrize("doubled", [False, True])
def test_a_loop_that_names_no_events_is_judged_by_what_it_has_read(broker, doubled) -> None:
    loop = partial(publish_counts, doubled=doubled)
    with CrashLab(broker, "page_views", loop, settings={"enable.auto.commit": False}) as lab:
        lab.start()
        lab.finish()
        verdict = lab.outcome().verdict
    assert verdict.lost.empty
    assert len(verdict.miscounted) == (len(verdict.seconds) if doubled else 0)
    assert verdict.keeps_last == ("wrong numbers" if doubled else "all right")


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
