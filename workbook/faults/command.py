"""``workbook crash``: one crash from the command line, with its outcome."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable

from workbook.errors import NoSuchCrash
from workbook.faults.plan import POINTS, VARIANTS, WHERE_IN_TABLE, require, where


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``workbook crash``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _points()
    parser.usage = f"{parser.prog} page_views|share_holders [options]"
    parser.add_argument(
        "pipeline", choices=["page_views", "share_holders"], help="which one to kill"
    )
    parser.add_argument(
        "--variant",
        choices=list(VARIANTS),
        metavar="NAME",
        help=f"of page_views: {', '.join(VARIANTS)}; default: on-delivery",
    )
    parser.add_argument(
        "--point", metavar="NAME", help="where kill -9 comes, see below; default: a telling one"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=7,
        metavar="N",
        help="draws the input, and at which pass of the point the kill comes; default: 7",
    )


def _points() -> str:
    lines = []
    for variant, does in VARIANTS.items():
        lines += ["", f"points of {variant} ({does}):"]
        lines += [f"  {point:<18}{where(variant, point)}" for point in POINTS[variant]]
    lines += ["", "points of share_holders (default: all of them, one after the other):"]
    lines += [f"  {point:<18}{words}" for point, words in WHERE_IN_TABLE.items()]
    return "\n".join(lines)


def command(options: argparse.Namespace) -> int:
    """Crash, restart, judge; 0 if the variant kept what it promises."""
    crashes = _crash_table if options.pipeline == "share_holders" else _crash_page_views
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    return crashes(options, lambda text: print(text, flush=True))


def _crash_page_views(options: argparse.Namespace, tell: Callable[[str], None]) -> int:
    from workbook.faults.lab import crash
    from workbook.stack.broker import kafka
    from workbook.stack.jars import prefetch

    variant = options.variant or "on-delivery"
    point = options.point or POINTS[variant][-2]
    require(variant, point)
    prefetch()
    outcome = crash(kafka("crash"), variant, point, options.seed, progress=tell)
    print(f"\n{outcome}")
    return 0 if outcome.kept else 1


def _crash_table(options: argparse.Namespace, tell: Callable[[str], None]) -> int:
    from workbook.faults.table import crash_table
    from workbook.stack.broker import kafka
    from workbook.stack.jars import prefetch

    if options.variant:
        raise NoSuchCrash(f"share_holders has no variant {options.variant!r}: leave --variant out.")
    prefetch()
    points = [options.point] if options.point else list(WHERE_IN_TABLE)
    outcome = crash_table(kafka("crash"), points, options.seed, tell)
    print(f"\n{outcome}")
    return 0 if outcome.kept else 1
