"""Copies of segments on this worker's disk, mapped into memory: the state store is read once."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

import polars as pl
import pyarrow as pa

LARGE_ROWS = 4096
"""A smaller segment stays in this process's memory instead."""

_OPEN_AT_MOST = 1024
_opened: OrderedDict[str, pl.DataFrame] = OrderedDict()


def copy_of(name: str, read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """Return a segment: opened already, from its copy, or as ``read`` gives it."""
    if name in _opened:
        _opened.move_to_end(name)
        return _opened[name]
    file = _file(name)
    if file is not None:
        with suppress(FileNotFoundError):  # never made, or gone meanwhile
            return _open(name, _mapped(file))
    return keep(name, read())


def keep(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Keep a copy of a segment; return it as it's kept: in memory, if the disk has no room."""
    file = _file(name) if len(frame) >= LARGE_ROWS else None
    if file is not None:
        unfinished = file.with_suffix(f".{os.getpid()}")
        try:
            _write(frame.rechunk(), unfinished)
            unfinished.replace(file)
            return _open(name, _mapped(file))
        except OSError:
            with suppress(OSError):
                unfinished.unlink()
    return _open(name, frame)


def forget(name: str) -> None:
    """Remove the copy of a segment; who has it open still, may read on."""
    _opened.pop(name, None)
    file = _file(name)
    if file is not None:
        file.unlink(missing_ok=True)


def _open(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    _opened[name] = frame
    while len(_opened) > _OPEN_AT_MOST:
        _opened.popitem(last=False)
    return frame


def _write(frame: pl.DataFrame, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    frame.write_ipc(file, compression="uncompressed", record_batch_size=len(frame))


def _mapped(file: Path) -> pl.DataFrame:
    """Map a copy into memory, in one piece: what isn't asked for isn't read."""
    with pa.memory_map(str(file)) as mapped:
        table = pa.ipc.open_file(mapped).read_all()
    return cast(pl.DataFrame, pl.from_arrow(table, rechunk=False))


def _file(name: str) -> Path | None:
    """Return the place of a copy below the folders that Spark gives its workers, and clears."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return Path(folders[0], "segments", f"{name}.arrow") if folders[0] else None
