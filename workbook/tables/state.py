"""The state of a bucket: tables by name, stored in the state store and copied to the disk.

In the store a list of segments with the young ones in it is one value; each other segment is a
value of its own, written once. So that it's read once, too, a worker keeps a copy on its disk,
mapped into memory.
"""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from workbook.tables.processor import Read
from workbook.tables.segments import HASH, YOUNG_ROWS, Keyed, Segment, Segments, hashed

BUCKET = "__bucket"
"""The column with a row's bucket."""

State = Mapping[str, Segments]
"""A bucket's tables by name."""

Step = Callable[[State, pl.DataFrame], pl.DataFrame]
"""Changes the state by a batch, and returns what is emitted."""

LARGE_ROWS = 4096
"""A smaller segment stays in this process's memory instead of a copy on the disk."""

_OPEN_AT_MOST = 1024
_copies: OrderedDict[str, pl.DataFrame] = OrderedDict()


def packed(frame: pl.DataFrame) -> bytes:
    """Serialize a table as an Arrow stream."""
    return frame.rechunk().write_ipc_stream(None, compression="lz4").getvalue()


def unpacked(data: bytes) -> pl.DataFrame:
    """Deserialize a table that ``packed`` wrote."""
    return pl.read_ipc_stream(io.BytesIO(data))


def empty(tables: Mapping[str, Keyed]) -> State:
    """Return a state in which nothing is kept yet."""
    return {name: Segments(keyed) for name, keyed in tables.items()}


def opened(data: bytes | None, tables: Mapping[str, Keyed], read: Read) -> State:
    """Open a state that ``closed`` wrote; ``read`` reads a segment by its name."""
    if data is None:
        return empty(tables)
    version, kept = pickle.loads(data)
    state = {name: _opened(kept.get(name), keyed, read) for name, keyed in tables.items()}
    if version != pl.__version__:  # whose hashes may differ
        for table in state.values():
            table.hash_anew()
    return state


def closed(state: State) -> tuple[bytes | None, dict[str, bytes], list[str]]:
    """Settle the tables; return their list, segments to store by name, and names to remove.

    The list is None if nothing is kept.
    """
    stored, removed, kept = {}, [], {}
    for name, table in state.items():
        table.settle()
        for segment in table.added:
            assert segment.frame is not None
            stored[segment.name] = _stored(segment.frame)
            _keep(segment.name, segment.frame)
        for gone in table.dropped:
            _forget(gone)
            removed.append(gone)
        written = [_written(segment) for segment in table.segments]
        kept[name] = (astuple(table.keyed), table.floor, written)
    some = any(table.segments for table in state.values())
    return pickle.dumps((pl.__version__, kept)) if some else None, stored, removed


# --- in the state store -----------------------------------------------------------------------


def _stored(frame: pl.DataFrame) -> bytes:
    """Serialize a large segment, without its hashes: they don't compress, and are quickly made.

    By Arrow's own writer, which with many rows takes half to two thirds as long as Polars'.
    """
    table, target = frame.drop(HASH).to_arrow(), pa.BufferOutputStream()
    fast = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_stream(target, table.schema, options=fast) as writer:
        writer.write_table(table)
    return target.getvalue().to_pybytes()


def _written(segment: Segment) -> tuple[Any, ...]:
    """Return what the list says of a segment: facts, and the rows of a young one."""
    young = segment.rows <= YOUNG_ROWS
    data = packed(segment.frame) if young and segment.frame is not None else None
    return segment.name, segment.rows, segment.low, segment.high, segment.least, data


def _opened(kept: tuple[Any, ...] | None, keyed: Keyed, read: Read) -> Segments:
    """Open a table from how it is keyed, its floor and its segments."""
    _, floor, written = kept or ((), None, [])

    def load(name: str) -> pl.DataFrame:
        copy = _copy_of(name)
        return _keep(name, hashed(unpacked(read(name)), keyed)) if copy is None else copy

    segments = [
        Segment(*facts, None if data is None else unpacked(data), data is not None)  # type: ignore[call-arg]
        for *facts, data in written
    ]
    return Segments(keyed, segments, floor, load)


# --- copies of segments on this worker's disk -------------------------------------------------


def _copy_of(name: str) -> pl.DataFrame | None:
    """Return a segment that is open already, or from its copy; None where there is none."""
    if name in _copies:
        _copies.move_to_end(name)
        return _copies[name]
    file = _file(name)
    if file is not None:
        with suppress(FileNotFoundError):  # never made, or gone meanwhile
            return _open(name, _mapped(file))
    return None


def _keep(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Keep a copy of a segment; return it as it's kept: in memory, if the disk has no room."""
    file = _file(name) if len(frame) >= LARGE_ROWS else None
    if file is not None:
        unfinished = file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            whole = frame.rechunk()
            whole.write_ipc(unfinished, compression="uncompressed", record_batch_size=len(whole))
            unfinished.replace(file)
            frame = _mapped(file)
        with suppress(OSError):
            unfinished.unlink()
    return _open(name, frame)


def _forget(name: str) -> None:
    """Remove the copy of a segment; a process that has it open can still read it."""
    _copies.pop(name, None)
    file = _file(name)
    if file is not None:
        file.unlink(missing_ok=True)


def _open(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    _copies[name] = frame
    while len(_copies) > _OPEN_AT_MOST:
        _copies.popitem(last=False)
    return frame


def _mapped(file: Path) -> pl.DataFrame:
    """Map a copy into memory, in one piece: only rows that are looked up are read."""
    with pa.memory_map(str(file)) as mapped:
        table = pa.ipc.open_file(mapped).read_all()
    return pl.DataFrame(pl.from_arrow(table, rechunk=False))


def _file(name: str) -> Path | None:
    """Return the place of a copy below the folders that Spark gives its workers, and clears."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return Path(folders[0], "segments", f"{name}.arrow") if folders[0] else None
