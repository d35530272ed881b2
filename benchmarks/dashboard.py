"""Measures what a look at the dashboard of groups costs; `run active_groups` looks each second.

    .venv/bin/python benchmarks/dashboard.py [--groups 10000] [--looks 30]

Each group has two members and has committed in six partitions, of 300 topics in all; at each look
every partition has grown, so every lag is another one. Between the looks nothing is written to the
store, or 500 groups are. Mark: 150 ms of CPU (median). No Spark, no Kafka: what the client takes
to ask for the ends isn't in it.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))


from workbook.kafka.offsets import EndOffsets, Offsets, Place
from workbook.sinks.store import CachedStore, Store
from workbook.spark.runner import Batch
from workbook.streams.groups import Dashboard

TOPICS, PARTITIONS, CHANGED, MARK_MS = 300, 6, 500, 150.0


class Growing(EndOffsets):
    """Ends that a look finds grown, each by a record."""

    def __init__(self) -> None:
        self.ends, self.denied, self.asked, self.silent = Offsets(), set[Place](), 0.0, False
        self._wanted: list[Place] = []

    def grow(self, now: float, end: int) -> None:
        self.asked, self.ends = now, dict.fromkeys(self._wanted, end)

    def take(self) -> bool:
        return True

    def ask(self, partitions: Iterable[Place] = ()) -> bool:
        self._wanted = [*partitions]
        return True


def rows(numbers: list[int], offset: int) -> pa.Table:
    """Rows of groups as active_groups writes them."""
    now = int(time.time() * 1000)
    made = []
    for number in numbers:
        topic = f"orders-{number % TOPICS}"
        member: dict[str, Any] = {"member_id": "m" * 40, "client_id": "app-1", "host": "/10.0.0.1"}
        member |= {"instance_id": None, "session_timeout": 45_000, "rebalance_timeout": 300_000}
        member |= {"topics": [topic], "assigned": [{"topic": topic, "partitions": [0, 1, 2]}]}
        details = {"protocol": "classic", "generation": 3, "members": [member, member]}
        offsets = [
            {"topic": topic, "partition": n, "offset": offset, "committed_at": now}
            for n in range(PARTITIONS)
        ]
        row = {"group": f"group-{number:05d}", "details": json.dumps(details), "offsets": offsets}
        made.append({**row, "changed_at": now, "deleted": False})
    return pa.Table.from_pylist(made)


def measure(folder: Path, groups: int, looks: int, changed: int) -> list[float]:
    """Return the CPU time of each look, in ms."""
    store, ends, now = Store(folder / f"{changed}.db", "group"), Growing(), [time.time()]
    store.write(rows(list(range(groups)), 100), Batch("bench", 0))
    dashboard = Dashboard(CachedStore(store), ends, clock=lambda: now[0])
    took, draw = [], random.Random(1)
    for turn in range(looks + 2):
        if changed and turn:
            some = sorted(draw.sample(range(groups), min(changed, groups)))
            store.write(rows(some, 100 + turn), Batch("bench", turn))
        now[0] += 1
        ends.grow(now[0], 1000 + turn)
        began = time.process_time()
        dashboard.look()
        took.append((time.process_time() - began) * 1000)
    assert len(dashboard.rows()) == groups
    return took[2:]  # the first ones read everything


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--groups", type=int, default=10_000)
    options.add_argument("--looks", type=int, default=30)
    chosen = options.parse_args()
    print("| between the looks | CPU ms, median | most | mark met |")
    print("| --- | ---: | ---: | --- |")
    with TemporaryDirectory() as folder:
        for changed in (0, CHANGED):
            took = measure(Path(folder), chosen.groups, chosen.looks, changed)
            middle = statistics.median(took)
            met = "yes" if middle <= MARK_MS else "no"
            print(f"| {changed or 'no'} groups written | {middle:.0f} | {max(took):.0f} | {met} |")


if __name__ == "__main__":
    main()
