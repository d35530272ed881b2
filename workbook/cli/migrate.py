"""``workbook run migrate`` and ``generate legacy_counts``: the old table of counts."""

import time
from argparse import Namespace
from contextlib import suppress
from datetime import datetime

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from workbook.cli.console import Line, end_like_ctrl_c, typed, waiting_for
from workbook.sinks.counts_table import TABLES as COUNTS
from workbook.sinks.migration import TABLES, Migration, Progress
from workbook.sinks.postgres import require_rights
from workbook.sources.token_ranges import Legacy, split_ring
from workbook.spark import session
from workbook.spark.failures import query_failed
from workbook.stack.addresses import cassandra, database
from workbook.stack.cassandra import connected
from workbook.streams.events.ad_actions import OSLO
from workbook.streams.generators.legacy_counts import fill, legacy_counts
from workbook.systems.migrate import Report
from workbook.systems.migrate import migrate as run

SHOWN = 5
"""Failed ranges, or days that differ, that are listed."""


def generate(options: Namespace) -> None:
    """Create the old table, and insert generated rows."""
    end_like_ctrl_c()
    last = options.last or datetime.now(OSLO).date()
    rows = (row for row, _ in legacy_counts(last, options.ads, options.days, options.seed))
    line, began = Line(), time.monotonic()
    with connected(cassandra("generate")) as open_session:
        sent = fill(open_session, options.table, rows, lambda n: line.show(f"{n:,} rows"))
    seconds = time.monotonic() - began
    text = f"{sent:,} rows inserted into {options.table} in {seconds:.1f} s"
    line.show(f"{text}: {sent / seconds:,.0f} rows/s", last=True)


def migrate(options: Namespace) -> int:
    """Migrate, and print how it ended; 0 if all days are equal, else 1."""
    end_like_ctrl_c()
    with waiting_for("Looking for Cassandra and PostgreSQL"):
        points, url = cassandra("run"), database("run")
    require_rights(url, options.schema, COUNTS, TABLES)
    spark = session.spark_session("migrate")
    end_like_ctrl_c()  # after Spark, which has handlers of its own
    tasks = spark.sparkContext.defaultParallelism
    target = Migration(url, options.table, options.schema)
    line, began, compares = Line(), time.monotonic(), False

    def say(progress: Progress) -> None:
        nonlocal compares
        if compares:
            return
        compares, seconds = progress.finished == progress.ranges, time.monotonic() - began
        more = "; to compare, the old table is read once more ..." if compares else ""
        line.show(
            f"{progress.finished} of {progress.ranges} ranges, {progress.migrated:,} rows, "
            f"{seconds:.0f} s{more}",
            last=compares,
        )

    try:
        report = run(
            spark,
            Legacy(points, options.table, (options.rate or 0) / tasks),
            target,
            split_ring(options.ranges),
            before=options.before,
            again=options.again,
            say=say,
        )
    except KeyboardInterrupt:
        print(f"\nEnded. To continue: {typed()} run migrate (with the same --schema)")
        raise
    except (PySparkException, Py4JError) as error:
        raise query_failed(str(error)) from error
    finally:
        with waiting_for("Ending Spark"), suppress(ConnectionError, Py4JError):
            spark.stop()
    print("\n".join(_lines(report, target)))
    return 0 if report.equal else 1


def _lines(report: Report, target: Migration) -> list[str]:
    of = report.progress
    said = [
        f"{of.finished} of {of.ranges} ranges are finished: {of.migrated:,} rows migrated into "
        f"{target.schema}.counts, {of.rejected:,} rejected (in {target.schema}.rejected_rows, with "
        "their reasons)."
    ]
    if report.differences is None:
        some = list(report.failures.items())[:SHOWN]
        said += [f"  tokens {first} to {last}: {why}" for (first, last), why in some]
        said.append(
            f"{of.ranges - of.finished} ranges couldn't be read. Repair the cause (for tombstones, "
            "compact the table), and start again: only these are read."
        )
    elif report.differences:
        said += [f"  {day}: {what}" for day, what in list(report.differences.items())[:SHOWN]]
        said.append(
            f"Days that differ: {len(report.differences)}; {target.source} has {report.days}. If "
            "somebody still writes to it, end that, and run migrate with --again."
        )
    elif not report.days:
        said.append(
            f"{target.source} has no row that could be migrated, so no day was compared. Check the "
            "table's name, --before, and the reasons of rejected rows."
        )
    else:
        said.append(
            f"All {report.days} days are equal in both tables, by rows, total and checksum."
        )
    return said
