"""The table of share holders, killed at every point, with several seeds each.

    .venv/bin/python benchmarks/table_crashes.py [--seeds 10] [--write FILE]

Each crash is kill -9 and a restart; the ledger compares store and topic with a recomputation.
Writes docs/table-crashes.md. Ends with 1 where they differ, or where a run gave no verdict.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import statistics
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from workbook.errors import WorkbookError
from workbook.faults.plan import EVENTS, TABLE_BATCH, WHERE_IN_TABLE
from workbook.faults.table import TableOutcome, crash_table
from workbook.kafka.broker import Broker
from workbook.stack import jars
from workbook.stack.broker import kafka

PAGE = Path(__file__).parents[1] / "docs" / "table-crashes.md"


@dataclass(frozen=True)
class Run:
    """What the crashes of one seed came to; ``failure`` says why there is no verdict."""

    seed: int
    outcome: TableOutcome | None = None
    failure: str = ""

    @property
    def kept(self) -> bool:
        """The table equals the recomputation."""
        return self.outcome is not None and self.outcome.kept

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.outcome or self.failure}"


def run(broker: Broker, seed: int) -> Run:
    """All points in an order drawn by the seed; an error becomes part of the result."""
    points = random.Random(seed).sample(list(WHERE_IN_TABLE), len(WHERE_IN_TABLE))
    try:
        return Run(seed, crash_table(broker, points, seed))
    except WorkbookError as error:
        return Run(seed, failure=str(error))


def page(runs: list[Run], minutes: float) -> str:
    """The whole of docs/table-crashes.md."""
    lines = [
        "# The table of share holders, killed",
        "",
        f"Measured on {date.today():%d %B %Y} on {os.cpu_count()} shared cores in {minutes:.0f} "
        "minutes, by `benchmarks/table_crashes.py`, which writes this page. In each run, one per "
        "seed, the table is killed by kill -9 at every point, one after the other, in an order "
        "drawn by the seed, and started again behind each kill.",
        "",
        f"The input of a run: {EVENTS:,} records of 120 positions of 30 clients in two partitions, "
        f"5 % tombstones, 3 % bad ones, in micro-batches of {TABLE_BATCH}. A run is right when "
        "the store, and what a reader of the compacted result topic knows, equal the ledger's "
        "recomputation, tickers too, and every rejected record is in the dead letters.",
        "",
        *(f"- `{point}`: {words}." for point, words in WHERE_IN_TABLE.items()),
        "",
        "| seed | killed at | right | from a kill to the next record, median (range) |",
        "| --- | --- | --- | --- |",
        *map(_row, runs),
        "",
        f"{sum(r.kept for r in runs)} of {len(runs)} runs were right.",
    ]
    return "\n".join(lines) + "\n"


def _row(run: Run) -> str:
    found = run.outcome
    if found is None:
        return f"| {run.seed} | – | no verdict: {run.failure.splitlines()[0]} | – |"
    times = found.recoveries
    span = f"{statistics.median(times):.1f} s ({min(times):.1f} to {max(times):.1f})"
    places = ", ".join(f"`{point}`" for point in found.points)
    return f"| {run.seed} | {places} | {'✓' if run.kept else '✗'} | {span if times else '–'} |"


def main() -> int:
    options = arguments()
    began, runs = time.monotonic(), []
    jars.prefetch()
    broker = kafka("bench")
    for seed in range(1, options.seeds + 1):
        runs.append(run(broker, seed))
        print(runs[-1], flush=True)
        options.write.write_text(page(runs, (time.monotonic() - began) / 60))
    print(f"\nWritten to {options.write}")
    return 0 if all(r.kept for r in runs) else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--write", type=Path, default=PAGE)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
