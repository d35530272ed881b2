"""Every variant of the page view pipeline, killed at every point, with several seeds each.

    .venv/bin/python benchmarks/crash_matrix.py [--seeds 10] [--variants spark ...] [--write FILE]

Each crash is kill -9 and a restart; the ledger says which page views were lost or duplicated.
Writes docs/crash-matrix.md. Ends with 1 where a variant breaks its promise, where auto-commit loses
nothing in all of its runs (then the lesson would be a lie), or where a run gave no verdict.
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from workbook.errors import WorkbookError
from workbook.faults.lab import crash
from workbook.faults.plan import EVENTS, POINTS, PROMISES, SECONDS, VARIANTS, where
from workbook.kafka.broker import Broker
from workbook.stack import jars
from workbook.stack.broker import kafka

PAGE = Path(__file__).parents[1] / "docs" / "crash-matrix.md"


@dataclass(frozen=True)
class Run:
    """What one crash came to; ``failure`` says why there is no verdict."""

    variant: str
    point: str
    seed: int
    lost: int = 0
    duplicated: int = 0
    recovery: float | None = None
    kept: bool = True
    failure: str = ""

    def __str__(self) -> str:
        told = self.failure or f"{self.lost} lost, {self.duplicated} duplicated"
        return f"{self.variant}, {self.point}, seed {self.seed}: {told}"


def run(broker: Broker, what: tuple[str, str, int]) -> Run:
    """One crash; an error becomes part of the result, so that the others go on."""
    try:
        found = crash(broker, *what)
    except WorkbookError as error:
        return Run(*what, kept=False, failure=str(error))
    return Run(*what, len(found.lost), len(found.duplicated), found.recovery, found.kept)


def measure(broker: Broker, variants: Iterable[str], seeds: int) -> list[Run]:
    """All crashes: the loops two at a time, Spark one at a time."""
    done: list[Run] = []
    for spark in (False, True):
        todo = [
            (variant, point, seed)
            for variant in variants
            if (variant == "spark") == spark
            for point in POINTS[variant]
            for seed in range(1, seeds + 1)
        ]
        with ThreadPoolExecutor(1 if spark else 2) as pool:
            for found in pool.map(partial(run, broker), todo):
                print(found, flush=True)
                done.append(found)
    return done


def problems(runs: list[Run]) -> list[str]:
    """What makes the matrix one that must not be believed or shown."""
    found = [f"broken promise or no verdict: {r}" for r in runs if not r.kept]
    auto = [r for r in runs if r.variant == "auto-commit"]
    if auto and not any(r.lost for r in auto):
        found.append("auto-commit lost nothing in any run: the lesson would be a lie")
    return found


# --- the page ---------------------------------------------------------------------------------


def page(runs: list[Run], seeds: int, minutes: float) -> str:
    """The whole of docs/crash-matrix.md."""
    variants = [v for v in VARIANTS if any(r.variant == v for r in runs)]
    loops = [v for v in variants if v != "spark"]
    lines = [
        "# The crash matrix",
        "",
        f"Measured on {date.today():%d %B %Y} on {os.cpu_count()} shared cores in {minutes:.0f} "
        "minutes, by `make crash-matrix`, which writes this page. Each cell holds "
        f"{seeds} crashes by kill -9, each with a seed of its own, which draws the clicks and the "
        "moment, and a restart behind each.",
        "",
        f"The input of a run: {EVENTS:,} clicks in {SECONDS} s of event time in one partition, "
        "about 1,500 of them page views, 1 % bad records. **Lost** are page views that a reader "
        "misses who keeps the last value of each key; **duplicated** those that a reader counts "
        "twice who adds up. Both are summed over the runs of a cell; in brackets, in how many of "
        "the runs there were any.",
        "",
    ]
    for group in filter(None, (loops, [v for v in variants if v == "spark"])):
        points = list(dict.fromkeys(p for v in group for p in POINTS[v]))
        # In the order in which a loop passes them, though auto-commit lacks one.
        points.sort(key=lambda p: max(POINTS[v].index(p) for v in group if p in POINTS[v]))
        lines += [*_table(runs, group, points), ""]
        lines += [f"- `{point}`: {where(group[-1], point)}." for point in points] + [""]
    lines += [*_promises(variants), "", *_recovery(runs, variants), ""]
    lines += [f"**{problem}**" for problem in problems(runs)]
    return "\n".join(lines).rstrip() + "\n"


def _table(runs: list[Run], variants: list[str], points: list[str]) -> list[str]:
    head = [
        "| | " + " | ".join(f"`{p}`" for p in points) + " |",
        "| --- |" + " --- |" * len(points),
    ]
    rows = []
    for variant in variants:
        cells = [_cell([r for r in runs if (r.variant, r.point) == (variant, p)]) for p in points]
        rows.append(f"| **{variant}** | " + " | ".join(cells) + " |")
    return head + rows


def _cell(runs: list[Run]) -> str:
    if not runs:
        return "–"
    return "<br>".join(
        f"{sum(counts):,} {name} ({sum(map(bool, counts))} of {len(runs)})"
        if any(counts)
        else f"0 {name}"
        for name in ("lost", "duplicated")
        for counts in [[getattr(r, name) for r in runs]]
    )


def _promises(variants: list[str]) -> list[str]:
    told = ["What each variant does, and what it promises:", ""]
    for variant in variants:
        promise = " or ".join(PROMISES.get(variant, ()))
        told.append(
            f"- **{variant}**: {VARIANTS[variant]}. Promises "
            + (f"that nothing is {promise}." if promise else "nothing.")
        )
    told += [
        "",
        "`auto-commit` has no `before-commit`: the client commits in the background, and only the "
        "end of it is seen. At `mid-batch` one task of a micro-batch has written and another kills "
        "the driver, its JVM and itself.",
    ]
    return told


def _recovery(runs: list[Run], variants: list[str]) -> list[str]:
    lines = ["| from kill -9 to the next metric | median | range |", "| --- | --- | --- |"]
    for variant in variants:
        times = [r.recovery for r in runs if r.variant == variant and r.recovery is not None]
        if times:
            span = f"{min(times):.1f} to {max(times):.1f} s"
            lines.append(f"| {variant} | {statistics.median(times):.1f} s | {span} |")
    return [
        *lines,
        "",
        "The start of a new process is in it (of a new Spark, too), and the reading of what was "
        "not committed until a second is complete.",
    ]


def main() -> int:
    options = arguments()
    began = time.monotonic()
    jars.prefetch()
    runs = measure(kafka("bench"), options.variants, options.seeds)
    options.write.write_text(page(runs, options.seeds, (time.monotonic() - began) / 60))
    print(f"\nWritten to {options.write}")
    for problem in problems(runs):
        print(f"✗ {problem}")
    return 1 if problems(runs) else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--write", type=Path, default=PAGE)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
