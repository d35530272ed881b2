"""Draws a query between two commits: the database's, and the checkpoint's."""

from collections.abc import Sequence
from pathlib import Path

from workbook.spark.checkpoint_files import checkpoint_files
from workbook.views.checkpoint import checkpoint
from workbook.views.picture import Picture

KINDS = ("offsets", "database", "commits")
CAPTION = "Two commits per micro-batch: which one is in the database twice?"


def two_commits(
    folder: str, written: Sequence[tuple[int, float]], died: Sequence[float]
) -> Picture:
    """Draw the micro-batches of the query with its checkpoint in ``folder``.

    ``written`` are the database's commits, a pair of micro-batch and time (s) each; the query
    ``died`` at these times.
    """
    files = [file for file in checkpoint_files(Path(folder)) if file[0] in KINDS]
    commits = [("database", batch, at) for batch, at in written]
    return checkpoint(
        [*files, *commits], kills=died, caption=CAPTION, kinds=KINDS, kill_is="it dies"
    )
