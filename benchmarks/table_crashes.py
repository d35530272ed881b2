"""The table of share holders, killed at every point, with several seeds each.

    .venv/bin/python benchmarks/table_crashes.py [--seeds 10] [--write FILE]

Each crash is kill -9 and a restart; the ledger compares store and topic with a recomputation.
Writes docs/table-crashes.md. Ends with 1 where they differ, or where a run gave no verdict.
"""

from __future__ import annotations

import argparse
import os
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
from workbook.faults.plan import BATCH, EVENTS, WHERE_IN_TABLE
from workbook.faults.table import TableOutcome, crash_table
from workbook.stack import jars
from workbook.stack.broker import Broker, kafka

PAGE = Path(__file__).parents[1] / "docs" / "table-crashes.md"


@dataclass(frozen=True)
class Run:
    """What one crash came to; ``failure`` says why there is no verdict."""

    point: str
    seed: int
    outcome: TableOutcome | None = None
    failure: str = ""

    @property
    def kept(self) -> bool:
        """The table equals the recomputation."""
        return self.outcome is not None and self.outcome.kept

    def __str__(self) -> str:
        mark = "✓" if self.kept else "✗"
        return f"{mark} {self.point}, seed {self.seed} {self.failure or ''}"


def run(broker: Broker, point: str, seed: int) -> Run:
    """One crash; an error becomes part of the result, so that the others go on."""
    try:
        return Run(point, seed, crash_table(broker, point, seed))
    except WorkbookError as error:
        return Run(point, seed, failure=str(error))


def page(runs: list[Run], seeds: int, minutes: float) -> str:
    """The whole of docs/table-crashes.md."""
    lines = [
        "# The table of share holders, killed",
        "",
        f"Measured on {date.today():%d %B %Y} on {os.cpu_count()} shared cores in {minutes:.0f} "
        "minutes, by `benchmarks/table_crashes.py`, which writes this page. Each row holds "
        f"{seeds} crashes by kill -9, each with a seed of its own, which draws the input and the "
        "micro-batch, and a restart behind each.",
        "",
        f"The input of a run: {EVENTS:,} records of 120 positions of 30 clients in two partitions, "
        f"5 % tombstones, 3 % bad ones, read in micro-batches of {BATCH}. A run is right when "
        "the store, and what a reader of the compacted result topic knows, equal the ledger's "
        "recomputation, tickers too, and every rejected record is in the dead letters.",
        "",
        "| killed when | right | from the kill to the next record, median (range) |",
        "| --- | --- | --- |",
    ]
    for point, words in WHERE_IN_TABLE.items():
        cell = [r for r in runs if r.point == point]
        right = f"{sum(r.kept for r in cell)} of {len(cell)}"
        lines.append(f"| `{point}`: {words} | {right} | {_recovery(cell)} |")
    lines += [f"\n**{run}**" for run in runs if not run.kept]
    return "\n".join(lines) + "\n"


def _recovery(runs: list[Run]) -> str:
    times = [r.outcome.recovery for r in runs if r.outcome and r.outcome.recovery is not None]
    if not times:
        return "–"
    return f"{statistics.median(times):.1f} s ({min(times):.1f} to {max(times):.1f})"


def main() -> int:
    options = arguments()
    began, runs = time.monotonic(), []
    jars.prefetch()
    broker = kafka("bench")
    for seed in range(1, options.seeds + 1):
        for point in WHERE_IN_TABLE:
            runs.append(run(broker, point, seed))
            print(runs[-1], flush=True)
    options.write.write_text(page(runs, options.seeds, (time.monotonic() - began) / 60))
    print(f"\nWritten to {options.write}")
    return 0 if all(r.kept for r in runs) else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--write", type=Path, default=PAGE)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
