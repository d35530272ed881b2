"""Migrate an old table of counts out of Cassandra into the tables of the ad statistics, once.

It isn't a stream: it ends. The old table is read by ranges of tokens, a task for each, and each
range is written in one transaction with the mark that it is finished. So a migration that was
killed continues with the ranges that aren't, and in the end each day is compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workbook.sinks.migration import DaySum, Migration, Progress
    from workbook.sources.token_ranges import Legacy, Ring

RANGES = 64
LOOK_S = 0.5

Sums = Mapping[date, "DaySum"]
Differences = dict[date, str]
"""A day, and what is different: ``missing`` (the new table has nothing of it), ``extra`` (the old
one), ``rows``, ``total``, or ``checksum`` (the same total, of other counts)."""


@dataclass(frozen=True)
class Report:
    """How a migration ended. ``days`` are those of the old table; see ``Differences``.

    While ranges have ``failures``, days aren't compared, and ``differences`` is None.
    """

    progress: Progress
    failures: Mapping[tuple[int, int], str]
    days: int = 0
    differences: Differences | None = None

    @property
    def equal(self) -> bool:
        """Return True if all is migrated, and each day, at least one, is equal in both tables."""
        return self.differences == {} and self.days > 0


def reconcile(old: Sums, new: Sums) -> Differences:
    """Return the days that differ, and the first thing that does."""
    found = {}
    for day in sorted({*old, *new}):
        if day not in new:
            found[day] = "missing"
        elif day not in old:
            found[day] = "extra"
        elif old[day] != new[day]:
            names = ("rows", "total", "checksum")
            pairs = zip(names, old[day], new[day], strict=True)
            found[day] = next(name for name, before, after in pairs if before != after)
    return found


def migrate(
    spark: SparkSession,
    legacy: Legacy,
    target: Migration,
    ranges: Ring | None = None,
    *,
    before: date | None = None,
    again: bool = False,
    compare: Callable[[Sums, Sums], Differences] = reconcile,
    say: Callable[[Progress], None] = lambda progress: None,
    at: Callable[[str], None] | None = None,
) -> Report:
    """Migrate what isn't migrated yet, and compare the days once all of it is.

    ``ranges`` are used where the migration begins, and kept; None: RANGES equal ones. ``before``,
    ``again`` and the errors of ``begin`` are those of ``Migration``. ``say`` hears about twice a
    second how far it is, and again before the comparison. ``at`` is called in tasks with ``page``
    and ``before-commit``. Raises ``CassandraUnreachable`` and ``DatabaseUnreachable``, as an error
    of Spark.
    """
    from workbook.pipelines.migrate import migrated
    from workbook.sources.token_ranges import read_ranges, require_table, split_ring

    require_table(legacy)
    target.begin(ranges or split_ring(RANGES), before, again=again)
    before = target.before()
    if pending := target.ranges("finished IS NULL"):
        rows = migrated(read_ranges(spark, legacy, pending, at), before)
        _watched(spark, target.write(rows, at).collect, lambda: say(target.progress()))
    progress, failures = target.progress(), target.failures()
    if progress.finished < progress.ranges:
        return Report(progress, failures)
    say(progress)  # the comparison may take as long as the migration
    old, new = _old_sums(spark, legacy, target), target.day_sums()
    return Report(progress, failures, len(old), compare(old, new))


def _old_sums(spark: SparkSession, legacy: Legacy, target: Migration) -> dict[date, DaySum]:
    """Read the old table once more, and sum up the days that were to be migrated."""
    from workbook.pipelines.migrate import day_sums, migrated
    from workbook.sinks.migration import DaySum
    from workbook.sources.token_ranges import read_ranges, split_ring

    ring = split_ring(len(target.ranges()))  # whatever its ranges are, all tokens are compared
    rows = migrated(read_ranges(spark, legacy, ring, strict=True), target.before())
    sums = day_sums(rows.where("reason IS NULL AND NOT ended")).collect()
    return {row.day: DaySum(row.rows, row.total, int(row.checksum)) for row in sums}


def _watched(spark: SparkSession, work: Callable[[], Any], look: Callable[[], None]) -> None:
    """Do the work in a thread, and look about twice a second how far it is; Ctrl-C ends it."""
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work)
        try:
            while not done.done():
                look()
                time.sleep(LOOK_S)
        except BaseException:
            spark.sparkContext.cancelAllJobs()
            raise
        done.result()
    look()
