"""Archive a long-lived topic of ad actions as Parquet, to follow a count to its messages."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.errors import WorkbookError
from workbook.systems.ad_statistics import SUBJECT, schemas_of
from workbook.systems.base import Job, Read, Shown, Started, System
from workbook.systems.options import Option, path
from workbook.systems.preflight import require_folder
from workbook.topics import Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbook.sinks.parquet_folder import ParquetFolder

EVERY_S = 60
"""Seconds between two micro-batches: each writes at least one file for each of its days."""


class Archive(System):
    """A long-lived topic in; a folder of Parquet files out, by day, with each record once."""

    name = "archive"
    does = "archive ad actions as Parquet by day, to follow a count to its messages"
    reads = "ad_actions.long-lived"
    rejects = False  # records that can't be decoded are in the archive, too
    examples = (
        "run archive --in ad_actions.long-lived --folder state/messages --checkpoint state/archive",
    )
    own = (
        Option("--folder", path, "where the Parquet files are written", "none; it must be named"),
        SUBJECT,
    )

    def check(self, options: Namespace) -> None:
        from workbook.spark.checkpoints import place
        from workbook.spark.cluster import require_reachable

        if not options.folder:
            raise WorkbookError(
                "Expected a folder for the Parquet files, but got none. Name one: --folder PATH."
            )
        require_reachable(Path(options.folder), "folder")
        require_folder(Path(options.folder), "--folder")
        known = place(Path(options.checkpoint)) if options.checkpoint else ("", -1, -1)
        _folder(options).resume(*known)

    def check_servers(self, options: Namespace) -> None:
        """Refuse a registry without the schemas."""
        schemas_of(options.subject)

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        return []

    def start(self, job: Job) -> Started:
        from workbook.pipelines.archive import archived
        from workbook.sources.ad_actions import require_unknown
        from workbook.spark.progress import timed
        from workbook.streams.events.reasons import Reason

        options = job.options
        known = schemas_of(options.subject)

        def rows(read: Read) -> DataFrame:
            return archived(timed(read(options.source, headers=True)), known())

        def check(written: DataFrame) -> None:
            unknown = written.where(written.reason == Reason.UNKNOWN_SCHEMA.value)
            if ids := {row.schema_id for row in unknown.select("schema_id").distinct().collect()}:
                require_unknown(ids, known())

        folder = _folder(options, check=check, at=job.at)
        running = job.query(rows, [folder], EVERY_S)
        said = f'Read the folder with any reader of Parquet: spark.read.parquet("{options.folder}")'
        return Started(running, [folder], lambda: Shown((), ()), lambda: [said])


def _folder(options: Namespace, **more: Any) -> ParquetFolder:
    from workbook.sinks.parquet_folder import ParquetFolder

    return ParquetFolder(Path(options.folder), "day", "ad", **more)
