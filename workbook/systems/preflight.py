"""Refuses what can't be written to or continued, before a topic is created and Spark starts."""

import tempfile
import time
from datetime import timedelta
from pathlib import Path

from workbook.errors import CannotGoOn, TopicMissing
from workbook.spark import checkpoints

SQLITE = b"SQLite format 3\0"
"""How each file of SQLite begins."""


def require_folder(folder: Path, option: str = "--checkpoint") -> None:
    """Refuse an option's folder that is a file, or is where nothing can be written."""
    why = _unwritable(folder)
    if why:
        raise CannotGoOn(
            f"Expected a folder to write to, but {option} {folder} isn't one: {why}. Choose "
            "a folder that can be written."
        )


def require_store(file: Path) -> None:
    """Refuse a store in a folder that cannot be written to, or a file that is something else."""
    why = "it is a folder" if file.is_dir() else _unwritable(file.parent)
    if not why and file.is_file():
        why = _no_store(file)
    if why:
        raise CannotGoOn(
            f"Expected a file for the store, but --store {file} can't be one: {why}. Choose "
            "another file."
        )


def require_tombstones(config: dict[str, str], topic: str, checkpoint: str | None) -> None:
    """Refuse to resume a table if tombstones it never read may have been compacted away.

    A compacted topic keeps a tombstone for ``delete.retention.ms``. So none is missed by a query
    that was planned within that time, nor where the next record of each partition is as young.
    """
    from workbook.kafka.offsets import first_since
    from workbook.kafka.require import tombstones_kept

    known = checkpoints.last_read(Path(checkpoint) / "0", topic) if checkpoint else None
    kept = tombstones_kept(config, topic) if known else None
    if known is None or kept is None:
        return
    (ends, planned), now = known, int(time.time() * 1000)
    if 0 <= now - planned <= kept:
        return
    first = first_since(config, topic, now - kept)
    if any(first.get(number, end) > end for number, end in ends.items()):
        raise CannotGoOn(
            f"Expected to resume {topic} within {timedelta(milliseconds=kept)} (its "
            f"delete.retention.ms), but the next record for {checkpoint} is older than that: "
            "tombstones may be gone that it hasn't read, and what they delete would stay in the "
            "table for ever. Use a new folder for --checkpoint (and a new topic for --out): its "
            "query reads the topic from the beginning."
        )


def require_empty(config: dict[str, str], out: str, checkpoint: str | None, why: str) -> None:
    """Refuse a result topic that a former run has filled, if the checkpoint is a new one."""
    from workbook.kafka.offsets import partition_offsets

    begun = checkpoint is not None and checkpoints.begun(Path(checkpoint))
    try:
        held = sum(o.end - o.begin for o in partition_offsets(config, out))
    except TopicMissing:
        held = 0
    if held and not begun:
        raise CannotGoOn(
            f"Expected {out} to be empty, since the checkpoint is a new one, but it has {held:,} "
            f"records of a former run: {why}. Use the --checkpoint of that run, or another topic "
            "for --out."
        )


def _unwritable(folder: Path) -> str:
    """Say why nothing can be written into a folder, which may not be there yet; empty if it can.

    A file without a name is made and gone: the mode bits alone don't know of root, of access
    lists, or of what is mounted read-only.
    """
    nearest = folder
    try:
        while not nearest.exists():
            nearest = nearest.parent
        if not nearest.is_dir():
            return f"{nearest} is a file"
        with tempfile.TemporaryFile(dir=nearest):
            return ""
    except OSError as error:
        return f"nothing can be created in {nearest} ({error.strerror})"


def _no_store(file: Path) -> str:
    """Say why a file cannot be taken for a store; empty if it can."""
    try:
        with file.open("r+b") as opened:
            begins = opened.read(len(SQLITE))
    except OSError as error:
        return str(error.strerror)
    return "" if begins in (b"", SQLITE) else "it is a file of another kind"
