"""Compares the five systems with their peers and with what Spark reads at most: one table.

    .venv/bin/python benchmarks/compare.py [SYSTEM ...] [--full]

Small inputs and one run by default, to see that all works; ``--full`` takes the real inputs and
five runs, which is for a machine that does nothing else for some hours (``make bench FULL=1``).
"""

import argparse
import os
from importlib import import_module

from harness import machine, measure, table

from workbook.stack.addresses import kafka

SYSTEMS = (
    *("page_views", "event_time_merge", "share_holders", "active_groups", "ad_statistics"),
    "sources",  # no system: the package's two sources of records
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=", ".join(SYSTEMS))
    parser.add_argument("--full", action="store_true", help="the real inputs, five runs")
    parser.add_argument("--messages", type=int, help="of each input; default: a 50th of the real")
    parser.add_argument("--runs", type=int, help="default: 1, or 5 with --full")
    parser.add_argument("--rounds", type=int, default=3, help="in one process")
    parser.add_argument("--no-peer", dest="peers", action="store_false", help="without a JDK")
    options = parser.parse_args()
    load, broker, measured = os.getloadavg()[0], kafka("bench"), []
    runs = options.runs or (5 if options.full else 1)
    for name in options.systems or SYSTEMS:
        system = import_module(f"systems.{name}")
        size = options.messages or system.FULL // (1 if options.full else 50)
        one = system.comparison(broker, size, options.peers)
        measured.append((one, measure(one, runs, options.rounds)))
    print(f"{machine(load)}\n{runs} runs of {options.rounds} rounds; messages/s, µs a message\n")
    print(table(measured))


if __name__ == "__main__":
    main()
