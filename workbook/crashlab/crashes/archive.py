"""The archive of ad actions under kill -9."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.crashlab.crashes.ad_statistics import SUBJECT, AdStatisticsCrashes
from workbook.crashlab.crashes.base import (
    AFTER_COMMIT,
    Crashes,
    Filled,
    Outputs,
    Variant,
    Verdict,
    on_spark,
)

if TYPE_CHECKING:
    import pandas as pd


class ArchiveCrashes(Crashes):
    """The same 1,600 actions as for ``ad_statistics``, 160 to a micro-batch."""

    words = ("--max-per-batch", "160", "--every", "0.1")
    variants = (
        Variant(
            "spark",
            "Spark, its checkpoint, and a folder of Parquet files",
            on_spark(
                *("before-compute", "before-folder", "mid-batch", "before-rename"),
                *("before-checkpoint", AFTER_COMMIT),
            ),
            promises=("lost", "twice", "wrong"),
        ),
    )

    def out(self, name: str, folder: Path) -> tuple[str, ...]:
        return ("--folder", str(folder / "archive"), "--subject", SUBJECT)

    def written(self, outputs: Outputs) -> list[float]:
        folders = Path(outputs.options.folder).glob("batch=*")
        return [folder.stat().st_mtime for folder in folders]

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Send the actions as the replicator would, one after the other."""
        return AdStatisticsCrashes().fill(config, topic, seed, clean=clean)

    def judge(self, filled: Filled, outputs: Outputs) -> Verdict:
        """Judge the rows by the facts of the generator."""
        from workbook.streams.ledgers.archive import judge

        # They were sent to a single partition, one after the other.
        expected = filled.expected.assign(offset=filled.expected["number"])
        return judge(expected, rows_in(Path(outputs.options.folder)))


def rows_in(folder: Path) -> pd.DataFrame:
    """Read an archive as any reader would, without Spark."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    names = pa.schema([("batch", pa.int32()), ("day", pa.date32())])
    found = ds.dataset(folder, format="parquet", partitioning=ds.partitioning(names, flavor="hive"))
    return found.to_table().to_pandas()
