"""``workbook crash``: one crash from the command line, with its outcome."""

from __future__ import annotations

import argparse
import signal

from workbook.faults.plan import POINTS, VERSIONS, require, where


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``workbook crash`` takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _points()
    parser.add_argument("pipeline", choices=["page_views"])
    parser.add_argument("--version", choices=list(VERSIONS), default="on-delivery")
    parser.add_argument("--point", help="where kill -9 comes; see below. Default: a telling one")
    parser.add_argument("--seed", type=int, default=7, help="draws the clicks, and which pass")


def _points() -> str:
    lines = []
    for version, does in VERSIONS.items():
        lines += ["", f"points of {version} ({does}):"]
        lines += [f"  {point:<18}{where(version, point)}" for point in POINTS[version]]
    return "\n".join(lines)


def command(options: argparse.Namespace) -> int:
    """Crash, restart, judge; 0 if the version kept what it promises."""
    from workbook.faults.lab import crash
    from workbook.stack.broker import kafka
    from workbook.stack.jars import prefetch

    point = options.point or POINTS[options.version][-2]
    require(options.version, point)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    prefetch()
    outcome = crash(
        kafka("crash"),
        options.version,
        point,
        options.seed,
        progress=lambda text: print(text, flush=True),
    )
    print(f"\n{outcome}")
    return 0 if outcome.kept else 1
