"""Who reads what: system 4."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.systems.base import Job, Shown, Started, TableSystem
from workbook.systems.options import Option, path, topic
from workbook.topics import CONSUMER_OFFSETS, Topic, compacted

if TYPE_CHECKING:
    from workbook.sinks.store import Store, WindowedStore
    from workbook.streams.groups import Dashboard

COLUMNS = ("group", "state", "members", "topics", "lag", "seconds behind", "last commit")
MOST, SHOWN = 200, 10
"""Rows of the table, which is drawn four times a second, and of the summary at the end."""


class ActiveGroups(TableSystem):
    """The broker's own records of groups in; who reads what out, in two stores.

    It joins no group and writes nothing to the cluster, but for ``--out``.
    """

    name = "active_groups"
    does = "show which applications read what, and how far behind they are"
    reads = CONSUMER_OFFSETS
    examples = ("run active_groups",)
    rejects = False

    own = (
        Option("--out", topic, "a compacted topic for the groups", "none; nothing is written"),
        Option("--store", path, "a file for the groups; windows beside it", "in the checkpoint"),
    )

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        return [compacted(options.out)] if options.out else []

    def start(self, job: Job) -> Started:
        from pyspark.sql import functions as F  # noqa: N812

        from workbook.kafka.offsets import EndOffsets
        from workbook.pipelines.active_groups import active_groups
        from workbook.sinks.topics import TableTopic
        from workbook.sources.consumer_offsets import UNKNOWN, UNREADABLE, decode
        from workbook.sources.kafka import assigned_stream
        from workbook.spark.progress import timed
        from workbook.streams.groups import Dashboard

        options, config, most = job.options, job.config, job.options.max_per_batch
        raw = assigned_stream(job.spark, job.broker, options.source, max_per_batch=most)
        left_out = (F.count_if(F.col("kind") == of).alias(of) for of in (UNKNOWN, UNREADABLE))
        decoded = decode(timed(raw)).observe("left out", *left_out)
        groups = active_groups(decoded).withColumn("details", F.col("details").cast("string"))
        store, windows = _stores(options, job.checkpoint)
        out = [TableTopic(config, options.out, "group")] if options.out else []
        dashboard = Dashboard(store.all, EndOffsets(config))

        def look() -> str:
            dashboard.look()
            return str(dashboard)

        store.says = look
        sinks = [*out, store, windows]
        return Started(
            job.query(lambda read: groups, sinks, every_s=1),
            sinks,
            lambda: groups_table(dashboard.rows()),
            lambda: _summary(dashboard),
            store.path,
            settle=dashboard.settle,
        )


def _stores(options: Namespace, checkpoint: Path) -> tuple[Store, WindowedStore]:
    """Return the store of the groups as they are, and that of their windows, a file beside it."""
    from workbook.sinks.store import Store, WindowedStore

    file = Path(options.store or checkpoint / "groups.db").absolute()
    beside = f"{file.stem}.windows.db" if options.store else "windows.db"
    return Store(file, "group"), WindowedStore(file.with_name(beside), "group")


def groups_table(rows: Sequence[Mapping[str, Any]]) -> Shown:
    """Return the first rows of ``Dashboard.rows`` as a table for the terminal."""
    remarks = [f"{row['group']}: {' '.join(row['remarks'])}" for row in rows if row["remarks"]]
    return Shown(COLUMNS, [_cells(row) for row in rows[:MOST]], len(rows[MOST:]), remarks[:MOST])


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    from workbook.views.groups import ago

    seconds = f"{'≥ ' if row['at_least'] else ''}{row['seconds']:,.1f}" if row["seconds"] else "0.0"
    return (
        *(row["group"], row["state"], f"{row['members']:,}", ", ".join(row["topics"])),
        _lag(row["lag"]),
        "?" if row["lag"] is None else seconds,
        "never" if row["commit_age"] is None else ago(row["commit_age"]),
    )


def _lag(messages: int | None) -> str:
    return "?" if messages is None else f"{messages:,}"


def _summary(dashboard: Dashboard) -> list[str]:
    """Name the first groups, the one furthest behind on top, with what should be looked at."""
    lines, rows = list[str](), dashboard.rows()
    for row in rows[:SHOWN]:
        lines.append(f"  {row['group']}: {row['state']}, lag {_lag(row['lag'])}")
        lines += [f"    {remark}" for remark in row["remarks"]]
    more = [f"  ... and {len(rows) - SHOWN:,} more"] if len(rows) > SHOWN else []
    return [f"{dashboard}{':' if rows else '.'}", *lines, *more]
