"""The state of a bucket: tables by name, stored in the state store and copied to the disk.

In the store a list of segments with the young ones in it is one value; each other segment is a
value of its own, written once. So that it's read once, too, a worker keeps a copy on its disk,
mapped into memory.
"""

import io
import os
import pickle
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
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

_BUCKETS_AT_MOST = 256
_copies: OrderedDict[str, dict[str, pl.DataFrame]] = OrderedDict()
"""The segments of each bucket, by name; the bucket that was opened last is the last one."""


def packed(frame: pl.DataFrame) -> bytes:
    """Serialize a table as an Arrow stream."""
    return frame.rechunk().write_ipc_stream(None, compression="lz4").getvalue()


def unpacked(data: bytes) -> pl.DataFrame:
    """Deserialize a table that ``packed`` wrote."""
    return pl.read_ipc_stream(io.BytesIO(data))


def empty(tables: Mapping[str, Keyed]) -> State:
    """Return a state in which nothing is kept yet."""
    return {name: Segments(keyed) for name, keyed in tables.items()}


def opened(bucket: str, data: bytes | None, tables: Mapping[str, Keyed], read: Read) -> State:
    """Open a bucket's state that ``closed`` wrote; ``read`` reads a segment by its name."""
    version, kept = (pl.__version__, {}) if data is None else pickle.loads(data)
    state = {name: _opened(bucket, kept.get(name), keyed, read) for name, keyed in tables.items()}
    _keep_only(bucket, state)
    if version != pl.__version__:  # whose hashes may differ
        for table in state.values():
            table.hash_anew()
    return state


def closed(bucket: str, state: State) -> tuple[bytes | None, dict[str, bytes], list[str]]:
    """Settle the tables; return their list, segments to store by name, and names to remove.

    The list is None if nothing is kept.
    """
    stored, removed, kept = {}, [], {}
    for name, table in state.items():
        table.settle()
        for segment in table.added:
            assert segment.frame is not None
            stored[segment.name] = _stored(segment.frame)
            _keep(bucket, segment.name, segment.frame)
        removed += table.dropped
        written = [_written(segment) for segment in table.segments]
        kept[name] = (astuple(table.keyed), table.floor, written)
    _keep_only(bucket, state)
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


def _opened(bucket: str, kept: tuple[Any, ...] | None, keyed: Keyed, read: Read) -> Segments:
    """Open a table from how it is keyed, its floor and its segments."""
    _, floor, written = kept or ((), None, [])

    def load(name: str) -> pl.DataFrame:
        copy = _copy_of(bucket, name)
        return _keep(bucket, name, hashed(unpacked(read(name)), keyed)) if copy is None else copy

    segments = [
        Segment(*facts, None if data is None else unpacked(data), data is not None)  # type: ignore[call-arg]
        for *facts, data in written
    ]
    return Segments(keyed, segments, floor, load)


# --- copies of segments on this worker's disk -------------------------------------------------


def _copy_of(bucket: str, name: str) -> pl.DataFrame | None:
    """Return a segment that is open already, or from its copy; None where there is none."""
    mine, folder = _copies.setdefault(bucket, {}), _folder(bucket)
    if name not in mine and folder is not None:
        with suppress(FileNotFoundError):  # never made, or gone meanwhile
            mine[name] = _mapped(folder / f"{name}.arrow")
    return mine.get(name)


def _keep(bucket: str, name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Keep a copy of a segment; return it as it's kept: in memory, if the disk has no room."""
    folder = _folder(bucket) if len(frame) >= LARGE_ROWS else None
    if folder is not None:
        file, unfinished = folder / f"{name}.arrow", folder / f"{name}.{os.getpid()}"
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            whole = frame.rechunk()
            whole.write_ipc(unfinished, compression="uncompressed", record_batch_size=len(whole))
            unfinished.replace(file)
            frame = _mapped(file)
        with suppress(OSError):
            unfinished.unlink()
    _copies.setdefault(bucket, {})[name] = frame
    return frame


def _keep_only(bucket: str, state: State) -> None:
    """Remove a bucket's copies that its state doesn't name.

    Another worker may have merged those segments, or a task that ran again may have made them. A
    process that has such a file open can still read it.
    """
    names: Collection[str] = {each.name for table in state.values() for each in table.segments}
    mine = _copies.pop(bucket, {})
    _copies[bucket] = {name: frame for name, frame in mine.items() if name in names}
    while len(_copies) > _BUCKETS_AT_MOST:
        _copies.popitem(last=False)
    folder = _folder(bucket)
    with suppress(OSError):  # none there yet, or another worker is removing the same file
        for file in folder.iterdir() if folder is not None else ():
            if file.stem not in names:
                file.unlink(missing_ok=True)


def _mapped(file: Path) -> pl.DataFrame:
    """Map a copy into memory, in one piece: only rows that are looked up are read."""
    with pa.memory_map(str(file)) as mapped:
        table = pa.ipc.open_file(mapped).read_all()
    return pl.DataFrame(pl.from_arrow(table, rechunk=False))


def _folder(bucket: str) -> Path | None:
    """Return the folder of a bucket's copies, in one that Spark makes for workers and removes."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return Path(folders[0], "segments", bucket) if folders[0] else None
