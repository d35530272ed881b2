"""Measures a migration out of Cassandra: rows a second, and the seconds from a kill to a new range.

    .venv/bin/python benchmarks/migrate.py [--ads 1500] [--days 60] [--ranges 64]

An old table is filled in the lab's own Cassandra, and migrated twice in one session of Spark, the
second time warm. Then `run migrate` is killed by SIGKILL once three ranges are finished, and
started again. No figure is printed before each day is equal in both tables.
"""

import argparse
import os
import subprocess
import sys
import time
from contextlib import suppress
from datetime import date
from typing import Any

from harness import machine, wait_for

from workbook.errors import WorkbookError
from workbook.sinks.migration import Migration, Progress
from workbook.sources.token_ranges import Legacy, split_ring
from workbook.spark import session
from workbook.stack.addresses import cassandra, database
from workbook.stack.cassandra import connected
from workbook.stack.process import end_now, family
from workbook.streams.events.legacy_counts import LEGACY
from workbook.streams.generators.legacy_counts import fill, legacy_counts
from workbook.systems.migrate import migrate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("--ads", 1500), ("--days", 60), ("--ranges", 64)):
        parser.add_argument(name, type=int, default=default)
    options, load = parser.parse_args(), os.getloadavg()[0]
    points, url = cassandra("bench"), database("bench")
    rows = (row for row, _ in legacy_counts(date(2026, 1, 31), options.ads, options.days))
    with connected(points) as filled:
        sent = fill(filled, LEGACY, rows)
    target = Migration(url, LEGACY, "bench")
    spark = session.spark_session("bench")
    for name in ("fresh session", "warm"):
        began = time.monotonic()
        ended: list[float] = []

        def say(progress: Progress, ended: list[float] = ended) -> None:
            if progress.finished == progress.ranges:
                ended.append(time.monotonic())

        report = migrate(
            spark, Legacy(points, LEGACY), target, split_ring(options.ranges), again=True, say=say
        )
        assert report.equal, report
        compared = time.monotonic() - ended[0]
        took = ended[0] - began
        rate = f"{sent:,} rows in {took:.1f} s, {sent / took:,.0f} rows/s"
        print(f"{name}: {rate}; compared in {compared:.1f} s", flush=True)
    spark.stop()
    print(f"from a kill to the next range: {after_a_kill(target):.1f} s")
    print(machine(load))


def after_a_kill(target: Migration) -> float:
    """Kill `run migrate` behind its third range; return the seconds until one more is finished."""
    command = [sys.executable, "-m", "workbook", "run", "migrate", "--schema", target.schema]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "start_new_session": True}
    killed = subprocess.Popen([*command, "--again", "--rate", "20000"], **quiet)
    wait_for(lambda: 3 <= finished(target) < 60, 300)
    end_now(family(killed.pid))  # with its Spark, which would finish a range or two
    killed.wait()
    began, before = time.monotonic(), target.progress().finished
    again = subprocess.Popen(command, **quiet)
    wait_for(lambda: finished(target) > before, 300)
    took = time.monotonic() - began
    assert again.wait(600) == 0, "days differ"
    return took


def finished(target: Migration) -> int:
    """Return the number of finished ranges; 0 while there is no progress to ask for."""
    with suppress(WorkbookError):
        return target.progress().finished
    return 0


if __name__ == "__main__":
    main()
