"""Kill every variant of every system at every point, with several seeds each.

    .venv/bin/python benchmarks/crash_matrix.py [--seeds 10] [--systems page_views ...]
        [--variants spark ...] [--write FILE]

Each crash is kill -9 and a restart; the ledger says what was lost, duplicated or wrong. Writes
docs/crash-matrix.md. The exit code is 1 if a variant breaks its promise, if a run ends without a
verdict, or if a variant that promises nothing makes no mistake in any run: then the chapter, which
says that it does, would be wrong.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from itertools import groupby
from pathlib import Path

from harness import ROOT

from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.crashes.base import Variant
from workbook.crashlab.lab import crash
from workbook.errors import WorkbookError
from workbook.kafka.broker import Broker
from workbook.stack import jars
from workbook.stack.addresses import kafka

PAGE = ROOT / "docs" / "crash-matrix.md"


@dataclass(frozen=True)
class Run:
    """The result of one crash; ``failure`` says why there is no verdict."""

    system: str
    variant: str
    point: str
    seed: int
    counts: dict[str, int] = field(default_factory=dict)
    recoveries: tuple[float, ...] = ()
    kept: bool = True
    failure: str = ""

    def __str__(self) -> str:
        told = self.failure or ", ".join(f"{n} {name}" for name, n in self.counts.items())
        return f"{self.system}, {self.variant}, {self.point}, seed {self.seed}: {told}"


def run(broker: Broker, what: tuple[str, str, str, int]) -> Run:
    """Run one crash; return an error as its result, so that the other crashes still run."""
    *cell, seed = what
    try:
        found = crash(broker, *cell, seed=seed)
    except WorkbookError as error:
        return Run(*what, kept=False, failure=str(error))
    return Run(*what, found.counts, found.recoveries, found.kept)


def measure(broker: Broker, chosen: list[tuple[str, Variant]], seeds: int) -> list[Run]:
    """Run all crashes: two loops at the same time, but only one Spark."""
    done: list[Run] = []
    for workers, by_hand in ((2, True), (1, False)):
        todo = [
            (system, variant.name, point.name, seed)
            for system, variant in chosen
            if (variant.by_hand is not None) == by_hand
            for point in variant.points
            for seed in range(1, seeds + 1)
        ]
        with ThreadPoolExecutor(workers) as pool:
            for found in pool.map(partial(run, broker), todo):
                print(found, flush=True)
                done.append(found)
    return done


def problems(runs: list[Run], chosen: list[tuple[str, Variant]]) -> list[str]:
    """Return the reasons why this matrix must not be published."""
    found = [f"broken promise or no verdict: {r}" for r in runs if not r.kept]
    for system, variant in chosen:
        mine = of((r for r in runs if r.system == system), variant)
        if not variant.promises and not any(any(r.counts.values()) for r in mine):
            found.append(f"{system}, {variant.name}: promises nothing, but made no mistake")
    return found


def of(runs: Iterable[Run], variant: Variant) -> list[Run]:
    return [r for r in runs if r.variant == variant.name]


# --- the page ---------------------------------------------------------------------------------


def page(runs: list[Run], chosen: list[tuple[str, Variant]], seeds: int, minutes: float) -> str:
    """Return the text of docs/crash-matrix.md."""
    lines = [
        "# The crash matrix",
        "",
        "Written by `make crash-matrix`. Each crash is kill -9 at a named point and then a "
        "restart; a seed draws the input and the moment of the kill. A cell adds up the faults of "
        "its runs: *148 lost (9 of 10)* means that 148 were lost in all, in 9 of 10 runs.",
        "",
        f"Measured on {date.today():%d %B %Y} on {os.cpu_count()} shared cores in {minutes:.0f} "
        f"minutes, with {seeds} crashes per cell.",
        "",
    ]
    for system, pairs in groupby(chosen, key=lambda pair: pair[0]):
        variants = [variant for _, variant in pairs]
        lines += section(system, [r for r in runs if r.system == system], variants)
    lines += [f"**{problem}**" for problem in problems(runs, chosen)]
    return "\n".join(lines).rstrip() + "\n"


def section(system: str, runs: list[Run], variants: list[Variant]) -> Iterator[str]:
    """Yield the tables of a system: the loops by hand share one, the variants on Spark another."""
    described = " ".join((CRASHES[system].__doc__ or "").split())
    yield from (f"## {system}", "", f"Input and verdict: {described}", "")
    for by_hand in (True, False):
        group = [v for v in variants if (v.by_hand is not None) == by_hand]
        if group:
            yield from _table(runs, group)
    for variant in variants:
        promise = " or ".join(variant.promises or ())
        rule = f"that nothing is {promise}" if promise else "nothing"
        yield f"- **{variant.name}**: {variant.does}. Promises {rule}."
    yield from ("", *_recovery(runs, variants), "")


def _table(runs: list[Run], variants: list[Variant]) -> Iterator[str]:
    longest = max(variants, key=lambda v: len(v.points))
    names = [point.name for point in longest.points]
    yield "| | " + " | ".join(f"`{name}`" for name in names) + " |"
    yield "| --- |" + " --- |" * len(names)
    for variant in variants:
        mine = of(runs, variant)
        cells = [_cell([r for r in mine if r.point == name]) for name in names]
        yield f"| **{variant.name}** | " + " | ".join(cells) + " |"
    yield from ("", *(f"- `{point.name}`: {point.says}." for point in longest.points), "")


def _cell(runs: list[Run]) -> str:
    judged = [r.counts for r in runs if r.counts]
    if not judged:
        return "–"
    return "<br>".join(
        f"{sum(found):,} {name} ({sum(map(bool, found))} of {len(judged)})"
        if any(found)
        else f"0 {name}"
        for name in judged[0]
        for found in [[counts[name] for counts in judged]]
    )


def _recovery(runs: list[Run], variants: list[Variant]) -> Iterator[str]:
    yield from ("| from kill -9 to the next record | median | range |", "| --- | --- | --- |")
    for variant in variants:
        times = [seconds for r in of(runs, variant) for seconds in r.recoveries]
        if times:
            span = f"{min(times):.1f} to {max(times):.1f} s"
            yield f"| {variant.name} | {statistics.median(times):.1f} s | {span} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--systems", nargs="+", choices=list(CRASHES), default=list(CRASHES))
    parser.add_argument("--variants", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--write", type=Path, default=PAGE)
    options, began = parser.parse_args(), time.monotonic()
    chosen = [
        (system, variant)
        for system in options.systems
        for variant in CRASHES[system].variants
        if variant.name in (options.variants or [variant.name])
    ]
    jars.prefetch()
    runs = measure(kafka("bench"), chosen, options.seeds)
    options.write.write_text(page(runs, chosen, options.seeds, (time.monotonic() - began) / 60))
    print(f"\nWritten to {options.write}", *problems(runs, chosen), sep="\n✗ ")
    return 1 if problems(runs, chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
