"""Refuses places that can't be written to, before a topic is created and before Spark starts."""

from __future__ import annotations

import tempfile
from pathlib import Path

from workbook.errors import CannotGoOn

SQLITE = b"SQLite format 3\0"
"""How each file of SQLite begins."""


def require_folder(folder: Path) -> None:
    """Refuse a checkpoint that is a file, or stands where nothing can be written."""
    why = _unwritable(folder)
    if why:
        raise CannotGoOn(
            f"Expected a folder to write to, but --checkpoint {folder} isn't one: {why}. Choose "
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
