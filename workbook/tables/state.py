"""The state of a bucket: tables by name, and how they rest in the state store.

A list of segments with the young ones in it is one value; each other segment is a value of its own,
written once.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from dataclasses import astuple

import polars as pl
import pyarrow as pa

from workbook.tables import local_copies
from workbook.tables.segments import HASH, YOUNG_ROWS, Keyed, Segment, Segments, hashed

BUCKET = "__bucket"
"""The column with a row's bucket."""

State = Mapping[str, Segments]
"""A bucket's tables by name."""

Step = Callable[[State, pl.DataFrame], pl.DataFrame]
"""Changes the state by a batch, and returns what is emitted."""

Read = Callable[[str], bytes]
"""Reads a segment from the state store by its name."""


def packed(frame: pl.DataFrame) -> bytes:
    """Serialize a table as an Arrow stream."""
    target = io.BytesIO()
    frame.rechunk().write_ipc_stream(target, compression="lz4")
    return target.getvalue()


def unpacked(data: bytes) -> pl.DataFrame:
    """Deserialize a table that ``packed`` wrote."""
    return pl.read_ipc_stream(io.BytesIO(data))


def _stored(frame: pl.DataFrame) -> bytes:
    """Serialize a large segment, without its hashes: they don't compress, and are quickly made.

    By Arrow's own writer, which with many rows takes half to two thirds as long as Polars'.
    """
    table, target = frame.drop(HASH).to_arrow(), pa.BufferOutputStream()
    fast = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_stream(target, table.schema, options=fast) as writer:
        writer.write_table(table)
    return target.getvalue().to_pybytes()


def _loaded(data: bytes, keyed: Keyed) -> pl.DataFrame:
    return hashed(unpacked(data), keyed)


def empty(tables: Mapping[str, Keyed]) -> State:
    """Return a state in which nothing is kept yet."""
    return {name: Segments(keyed) for name, keyed in tables.items()}


def opened(data: bytes | None, tables: Mapping[str, Keyed], read: Read) -> State:
    """Open a state that ``closed`` wrote; ``read`` reads a segment by its name."""
    if data is None:
        return empty(tables)
    version, kept = pickle.loads(data)
    state = {name: _opened(kept.get(name, _NOTHING), keyed, read) for name, keyed in tables.items()}
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
            local_copies.keep(segment.name, segment.frame)
        for gone in table.dropped:
            local_copies.forget(gone)
            removed.append(gone)
        written = [_written(segment) for segment in table.segments]
        kept[name] = (astuple(table.keyed), table.floor, written)
    some = any(table.segments for table in state.values())
    return pickle.dumps((pl.__version__, kept)) if some else None, stored, removed


Written = tuple[str, int, int | None, int | None, tuple[int | None, ...], bytes | None]

Kept = tuple[tuple[object, ...], int | None, list[Written]]
"""How a table is keyed, its floor, its segments."""

_NOTHING: Kept = ((), None, [])


def _written(segment: Segment) -> Written:
    young = segment.rows <= YOUNG_ROWS
    data = packed(segment.frame) if young and segment.frame is not None else None
    return segment.name, segment.rows, segment.low, segment.high, segment.least, data


def _segment(written: Written) -> Segment:
    *facts, data = written
    frame = None if data is None else unpacked(data)
    return Segment(*facts, frame, frame is not None)  # type: ignore[call-arg, arg-type]


def _opened(kept: Kept, keyed: Keyed, read: Read) -> Segments:
    _, floor, written = kept

    def load(name: str) -> pl.DataFrame:
        return local_copies.copy_of(name, lambda: _loaded(read(name), keyed))

    return Segments(keyed, [_segment(each) for each in written], floor, load)
