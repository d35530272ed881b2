"""Write each micro-batch into a folder of Parquet files, exactly once, for any reader."""

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame

from workbook.errors import CannotGoOn
from workbook.spark.runner import Batch, ExecutorSink, OnPoint


class ParquetFolder(ExecutorSink):
    """Writes micro-batch N into ``FOLDER/batch=N/BY=.../*.parquet``, for one query.

    Spark writes into ``FOLDER/_N``, which its readers skip as hidden, and the driver renames it: a
    reader sees all rows of a micro-batch or none. A micro-batch that is in the folder already isn't
    written again. Spark's own file sink guarantees this only to Spark's readers, which look into
    ``_spark_metadata``: all other readers also see the files of failed attempts.

    Each value of the column ``by`` gets a folder. Within a file, rows are sorted by ``sort``, so
    that readers can skip most of a file. ``check`` gets the written rows before they
    are renamed, and may raise. ``at`` is called with ``mid-batch``, in tasks, and
    ``before-rename``. The folder must be on a file system that driver and executors share, and
    whose rename is atomic (not S3).
    """

    kind = "folder"

    def __init__(
        self,
        folder: Path,
        by: str,
        sort: str,
        *,
        check: Callable[[DataFrame], None] = lambda rows: None,
        at: OnPoint | None = None,
    ) -> None:
        self.folder, self._by, self._sort = folder, by, sort
        self._check, self._at = check, at or OnPoint()

    def through(self, rows: DataFrame, batch: Batch) -> DataFrame:
        """Write a micro-batch, and return no rows. Raises ``CannotGoOn`` as ``resume`` does."""
        self._claim(batch.query)
        whole, unfinished = (self.folder / f"{name}{batch.number}" for name in ("batch=", "_"))
        if not whole.exists():
            self._write(self._at.within("mid-batch", rows), str(unfinished))
            self._check(rows.sparkSession.read.schema(rows.schema).parquet(str(unfinished)))
            self._at("before-rename")
            unfinished.rename(whole)
        return rows.limit(0)

    def resume(self, query: str, committed: int, planned: int) -> None:
        """Refuse a folder of another query, or one that is older or newer than the checkpoint."""
        self._require_own(query)
        last = max((int(found.name[6:]) for found in self.folder.glob("batch=[0-9]*")), default=-1)
        if not committed <= last <= planned:
            raise CannotGoOn(
                f"Expected {self.folder} and the checkpoint to be of the same run, but the "
                f"checkpoint has {committed + 1} finished micro-batches of its query, and the "
                f"folder {last + 1}. Bring both back from the same moment, or start with a fresh "
                "checkpoint and an empty folder."
            )

    def _claim(self, query: str) -> None:
        """Leave the query's mark in the folder."""
        self._require_own(query)
        self.folder.mkdir(parents=True, exist_ok=True)
        mark = self.folder / _mark(query)
        if not mark.exists():
            mark.touch()
            try:  # of two that found an empty folder, the second one sees the first one's mark
                self._require_own(query)
            except CannotGoOn:
                mark.unlink()
                raise

    def _require_own(self, query: str) -> None:
        found = {file.name for file in self.folder.glob("[!.]*")}
        marks = {name for name in found if name.startswith(_mark(""))}
        if found and marks != {_mark(query)}:
            came = (
                "another query has filled it, and readers would find records twice"
                if marks
                else "it has files of something else"
            )
            raise CannotGoOn(
                f"Expected {self.folder} to be empty, or filled from this checkpoint, but {came}. "
                "Use the --checkpoint that filled it, or another folder."
            )

    def _write(self, rows: DataFrame, path: str) -> None:
        cores = rows.sparkSession.sparkContext.defaultParallelism
        sorted_rows = rows.coalesce(cores).sortWithinPartitions(self._by, self._sort)
        sorted_rows.write.mode("overwrite").partitionBy(self._by).parquet(path)


def _mark(query: str) -> str:
    return f"_query-{query}"
