"""Measures how fast a windowed store answers while another process writes it.

    .venv/bin/python benchmarks/windowed_store.py [--groups 10000] [--windows 60] [--seconds 30]

The file is filled first, each group in each window. Then a process applies a batch of 1,000 groups
a second, and this one asks: one group's windows of the hour (``fetch``), one whole window
(``fetch_all``), the list of windows. Rows have what active_groups writes: details of about 400
bytes and six offsets. Marks: p50 2 ms, p99 20 ms, of the time on the clock; the CPU time beside
it shows how much of that was waiting, for a core or a disk. No Spark, no Kafka.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))

from workbook.sinks.windowed_store import MINUTE_MS, WindowedStore
from workbook.spark.runner import Batch

CHANGED = 1000
P50_MS, P99_MS = 2.0, 20.0

Took = tuple[float, float]
"""On the clock, and of CPU; ms."""


def name(number: int) -> str:
    return f"group-{number:05d}"


def rows(numbers: list[int], now: int) -> pa.Table:
    """Rows of groups as active_groups writes them."""
    member: dict[str, Any] = {"member_id": "m" * 40, "client_id": "app", "host": "/10.0.0.1"}
    member |= {"instance_id": None, "session_timeout": 45_000, "rebalance_timeout": 300_000}
    member |= {"topics": ["orders"], "assigned": [{"topic": "orders", "partitions": [*range(6)]}]}
    details = {"protocol": "classic", "generation": 3, "assignor": "range", "members": [member]}
    offsets = [
        {"topic": "orders", "partition": n, "offset": 10**6 + n, "committed_at": now}
        for n in range(6)
    ]
    made = [
        {
            "group": name(number),
            "details": json.dumps({"group": name(number), **details}).encode(),
            "offsets": offsets,
            "changed_at": now,
            "deleted": False,
        }
        for number in numbers
    ]
    return pa.Table.from_pylist(made)


def fill(store: WindowedStore, groups: int, windows: int) -> int:
    """Put each group into each of the windows up to now; return the next batch."""
    now = store.clock()
    for batch in range(windows):
        at = now - (windows - 1 - batch) * MINUTE_MS
        store.write(rows(list(range(groups)), at), Batch("bench", batch))
    return windows


def write(path: Path, groups: int, batch: int, seconds: float) -> None:
    """Apply a batch a second, if the machine is that quick; print how long each took."""
    store, began, draw = WindowedStore(path, "group"), time.monotonic(), random.Random(1)
    for number in range(int(seconds)):
        time.sleep(max(0.0, began + number - time.monotonic()))
        some = draw.sample(range(groups), min(CHANGED, groups))
        changed = rows(sorted(some), store.clock())
        print(*timed(partial(store.write, changed, Batch("bench", batch + number))), flush=True)


def timed(ask: Callable[[], object]) -> tuple[float, float]:
    """Return how long it took, and of this its CPU time, in ms."""
    began, cpu = time.perf_counter(), time.thread_time()
    ask()
    return (time.perf_counter() - began) * 1000, (time.thread_time() - cpu) * 1000


def measure(path: Path, groups: int, writer: subprocess.Popen[str]) -> dict[str, list[Took]]:
    """Ask until the writer ends; return how long each question took."""
    store, draw = WindowedStore(path, "group", reading=True), random.Random(2)
    starts = [start for start, _ in store.windows()]
    full = starts[-2]

    def last() -> str:
        return name(draw.randrange(groups))

    asked: dict[str, Callable[[], object]] = {
        "fetch, a group's hour": lambda: store.fetch(last(), starts[0], 2**62),
        "fetch, its last ten minutes": lambda: store.fetch(last(), starts[-10:][0], 2**62),
        f"fetch_all, a window of {groups:,} groups": lambda: store.fetch_all(full, full),
        "windows": store.windows,
    }
    took: dict[str, list[Took]] = {what: [] for what in asked}
    turn = 0
    while writer.poll() is None:
        # The large questions a hundred times less often, so that each gets some of the time.
        for what, ask in list(asked.items())[: 4 if turn % 100 == 0 else 2]:
            took[what].append(timed(ask))
        turn += 1
        time.sleep(0.002)
    return took


def line(what: str, took: Sequence[tuple[float, ...]]) -> str:
    (p50, cpu50), (p99, cpu99) = np.percentile(took, [50, 99], axis=0)
    met = "yes" if p50 <= P50_MS and p99 <= P99_MS else "no"
    return f"| {what} | {len(took):,} | {p50:.2f} | {p99:.2f} | {cpu50:.2f} | {cpu99:.2f} | {met} |"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--groups", type=int, default=10_000)
    options.add_argument("--windows", type=int, default=60)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--write", nargs=2, help=argparse.SUPPRESS)  # the file, the next batch
    chosen = options.parse_args()
    if chosen.write:
        write(Path(chosen.write[0]), chosen.groups, int(chosen.write[1]), chosen.seconds)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "windows.db"
        batch = fill(WindowedStore(path, "group"), chosen.groups, chosen.windows)
        size = path.stat().st_size / 2**20
        print(f"{chosen.groups:,} groups, {chosen.windows} windows, {size:,.0f} MiB", flush=True)
        same = ["--groups", str(chosen.groups), "--seconds", str(chosen.seconds)]
        more = ["--write", str(path), str(batch)]
        command = [sys.executable, __file__, *same, *more]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()  # its first batch, which also opens the file
            took = measure(path, chosen.groups, writer)
            applied = [tuple(map(float, written.split())) for written in writer.stdout]
    assert writer.returncode == 0, "the writer failed"
    print("| question | times | p50 ms | p99 ms | p50 CPU | p99 CPU | marks met |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    print(*(line(what, some) for what, some in took.items()), sep="\n")
    print(line("apply (no mark)", applied).rsplit("|", 2)[0] + "| |")


if __name__ == "__main__":
    main()
