"""A process of the crash lab: one system over the whole input, as the plan on stdin says."""

import shutil
import sys
from argparse import Namespace
from pathlib import Path

from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.crashes.base import AFTER_COMMIT, ByHand, Crashes
from workbook.crashlab.loops import unpacked
from workbook.crashlab.points import (
    WARM,
    KillAt,
    NoteRead,
    Plan,
    die_with_parent,
    kill_after_commit,
)
from workbook.kafka.broker import Broker
from workbook.systems import SYSTEMS
from workbook.systems.base import Job, System


def run_on_spark(plan: Plan, system: System, crashes: Crashes, options: Namespace) -> None:
    """Start the system as ``workbook run`` does, and end when its input is processed."""
    from workbook.spark import spare
    from workbook.spark.session import spark_session

    security = {name: value for name, value in plan.config.items() if name != "bootstrap.servers"}
    broker = Broker(plan.config["bootstrap.servers"], security)
    spark = spark_session("crash lab", quiet=True, brief=True)
    if spare.was_taken(spark):
        (Path(plan.folder) / WARM).touch()
    checkpoint = Path(plan.folder) / "checkpoint"
    if crashes.variant(plan.variant).forgets:
        shutil.rmtree(checkpoint, ignore_errors=True)
    if plan.point == AFTER_COMMIT:
        kill_after_commit(plan, checkpoint / "0" / "commits")
    started = system.start(Job(spark, broker, options, checkpoint, KillAt(plan, options)))
    with started.running:
        crashes.finish(started, plan.records)


def main() -> None:
    """Read the plan, and carry it out."""
    plan = Plan.from_json(sys.stdin.buffer.readline())
    die_with_parent(Path(plan.folder))
    system, crashes = SYSTEMS[plan.system], CRASHES[plan.system]
    options = system.options(plan.words)
    own = unpacked(plan.own) if plan.own else None
    variant = crashes.own if own and crashes.own else crashes.variant(plan.variant)
    if variant.by_hand is None:
        run_on_spark(plan, system, crashes, options)
    else:
        run = ByHand(
            plan.variant, plan.config, options, plan.group, plan.records, plan.pace, own,
            on_read=NoteRead(Path(plan.folder)),
        )  # fmt: skip
        variant.by_hand(run, KillAt(plan, options))


if __name__ == "__main__":
    main()
