"""``workbook crash``: kills from the command line, with their outcome."""

from __future__ import annotations

from argparse import Namespace

from workbook.cli.console import end_like_ctrl_c
from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.lab import crash as run_and_kill
from workbook.stack.addresses import kafka
from workbook.stack.jars import prefetch


def crash(options: Namespace) -> int:
    """Crash, restart, judge; 0 if the variant kept what it promises."""
    variant = CRASHES[options.system].variant(options.variant)
    points = options.points or [point.name for point in variant.points]
    for point in points:
        variant.point(point)  # refuses, before anything starts
    end_like_ctrl_c()
    prefetch()
    try:
        outcome = run_and_kill(
            kafka("crash"),
            options.system,
            variant.name,
            *points,
            seed=options.seed,
            progress=lambda text: print(text, flush=True),
        )
    except KeyboardInterrupt:
        print("\nInterrupted: there's no verdict.")
        raise
    print(f"\n{outcome}")
    return 0 if outcome.kept else 1
