"""Archive a long-lived topic of ad actions as Parquet, to follow a count to its messages."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbook.errors import CannotGoOn, WorkbookError
from workbook.spark import checkpoints
from workbook.systems.ad_statistics import SUBJECT, schemas_of
from workbook.systems.base import Job, Read, Shown, Started, System
from workbook.systems.options import Option, path
from workbook.systems.preflight import require_folder
from workbook.topics import Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EVERY_S = 60
"""Seconds between two micro-batches: each writes at least one file for each of its days."""

LOG, MARK = "_spark_metadata", "_checkpoint"
"""In the folder: Spark's list of the files that count, and a link to the checkpoint."""


class Archive(System):
    """A long-lived topic in; a folder of Parquet files out, by day, with each record once.

    Spark's file sink lists the files of a micro-batch in its log, once. Spark's readers of the
    folder look into that log, so that they don't see what a failed attempt has left.
    """

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
        from workbook.spark.cluster import require_reachable

        if not options.folder:
            raise WorkbookError(
                "Expected a folder for the Parquet files, but got none. Name one: --folder PATH."
            )
        folder = Path(options.folder)
        require_reachable(folder, "folder")
        require_folder(folder, "--folder")
        require_own(folder, Path(options.checkpoint) if options.checkpoint else None)

    def check_servers(self, options: Namespace) -> None:
        """Refuse a registry without the schemas."""
        schemas_of(options.subject)

    def remembers(self, options: Namespace) -> dict[str, str]:
        """Return the folder: another checkpoint at the same path may have as many micro-batches."""
        return {"folder": options.folder}

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        return []

    def start(self, job: Job) -> Started:
        from workbook.pipelines.archive import archived
        from workbook.spark.progress import timed
        from workbook.spark.runner import start_copy

        options, folder = job.options, Path(job.options.folder)
        known = schemas_of(options.subject)
        cores = job.spark.sparkContext.defaultParallelism
        claim(folder, job.checkpoint)

        def rows(read: Read) -> DataFrame:
            raw = timed(read(options.source, headers=True))
            return archived(raw, known).coalesce(cores)  # fewer files

        made, again = job.reading(rows)
        every = f"{options.every or EVERY_S} seconds"
        running = start_copy(
            made, {"path": str(folder)}, job.checkpoint, by="day", every=every,
            at=job.at, again=again,
        )  # fmt: skip
        said = f'Read the folder with Spark: spark.read.parquet("{folder}")'
        return Started(running, [], lambda: Shown((), ()), lambda: [said])


def claim(folder: Path, checkpoint: Path) -> None:
    """Mark the folder as the checkpoint's, or raise ``CannotGoOn`` as ``require_own`` does."""
    require_own(folder, checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):  # of two that found an empty folder, one makes the link
        (folder / MARK).symlink_to(checkpoint)
    require_own(folder, checkpoint)


def require_own(folder: Path, checkpoint: Path | None) -> None:
    """Refuse a folder of another checkpoint, or one that is older or newer than its own."""
    mark, there = folder / MARK, any(folder.glob("[!.]*"))
    came = str(os.readlink(mark)) if mark.is_symlink() else "something else"
    if there and came != str(checkpoint):
        raise CannotGoOn(
            f"Expected {folder} to be empty, or filled from this checkpoint, but {came} has filled "
            "it: readers would find records twice. Use the --checkpoint that filled it, or another "
            "folder."
        )
    _, committed, planned = checkpoints.place(checkpoint) if checkpoint else ("", -1, -1)
    last = checkpoints.newest(folder / LOG)
    if not committed <= last <= planned:
        raise CannotGoOn(
            f"Expected {folder} and the checkpoint to be of the same run, but the checkpoint has "
            f"{committed + 1} finished micro-batches of its query, and the folder {last + 1}. "
            "Bring both back from the same moment, or start with a fresh checkpoint and an empty "
            "folder."
        )
