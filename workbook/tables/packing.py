"""State in columns: rows travel as small Arrow tables, one per bucket of keys.

Spark hands Python one value of state per key, at about 10,000 a second. Here the key is a bucket
of many keys, its state tables in segments (``segments``), and a batch of changes an Arrow table, so
that a batch costs a few joins in Polars instead of a call per row.
"""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from workbook.tables.processor import Bucket, Left, Read, Work
from workbook.tables.segments import Keyed
from workbook.tables.state import BUCKET, State, Step, closed, opened, packed, unpacked

PACKED = "bucket INT, rows BINARY"

Idle = Callable[[State, int], pl.DataFrame]
"""Changes the state where nothing came, by the time (ms), and returns what is emitted."""


def pack(
    rows: DataFrame, buckets: int, squeeze: Callable[[pl.DataFrame], pl.DataFrame]
) -> DataFrame:
    """Pack rows by the number in ``__bucket``, squeezed within each task: bucket, packed rows."""
    return rows.mapInArrow(packing(buckets, squeeze), PACKED)


def packing(
    buckets: int, squeeze: Callable[[pl.DataFrame], pl.DataFrame]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that ``pack`` runs in each task."""

    def pack_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [batch for batch in batches if batch.num_rows]
        if found:
            frame = squeeze(pl.DataFrame(pl.from_arrow(pa.Table.from_batches(found))))
            yield _in_buckets(frame, buckets)

    return pack_task


def unpack(packs: DataFrame, schema: StructType, pickled: Sequence[str] = ()) -> DataFrame:
    """Return the packs' rows; ``pickled`` columns hold Python values, whatever Spark's type."""
    kinds = to_arrow_schema(schema)

    def unpack_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for data in batch.column("rows").to_pylist():
                table = unpacked(data).select(kinds.names).to_arrow()
                columns = [
                    _unpickled(table.column(field.name), field.type)
                    if field.name in pickled
                    else table.column(field.name).cast(field.type)
                    for field in kinds
                ]
                yield from pa.Table.from_arrays(columns, schema=kinds).combine_chunks().to_batches()

    return packs.mapInArrow(unpack_task, schema)


def _unpickled(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    values = [None if data is None else pickle.loads(data) for data in column.to_pylist()]
    return pa.chunked_array([pa.array(values, kind)])


def stateful(
    packs: DataFrame,
    step: Step,
    tables: Mapping[str, Keyed],
    buckets: int,
    idle: Idle | None = None,
) -> DataFrame:
    """Take each bucket's packs of a micro-batch through ``step``, and pack what it emits.

    ``tables`` are those that it keeps, by name. Nothing in the state says what they hold: a
    pipeline of another shape needs another ``VERSION``, which a checkpoint remembers.

    With ``idle`` micro-batches come also where nothing was read, as often as the query's trigger
    says, and every ``WAKE_MS`` it gets the state and the time at which the micro-batch was planned
    (ms). ``processAllAvailable`` never returns then.
    """
    mode = "None" if idle is None else "ProcessingTime"
    bucket = Bucket(_worker(step, idle, dict(tables), buckets), waking=idle is not None)
    return packs.groupBy("bucket").transformWithState(bucket, PACKED, "Update", mode)


def _worker(step: Step, idle: Idle | None, tables: Mapping[str, Keyed], buckets: int) -> Work:
    """Wrap the steps to work on bytes, as a ``Bucket`` calls them."""

    def work(bucket: str, kept: bytes | None, read: Read, packs: Sequence[bytes], now: int) -> Left:
        state = opened(bucket, kept, tables, read)
        if packs or idle is None:
            emitted = step(state, pl.concat([unpacked(data) for data in packs]))
        else:
            emitted = idle(state, now)
        rows = _in_buckets(emitted, buckets).to_pylist() if len(emitted) else []
        return *closed(bucket, state), [(row["bucket"], row["rows"]) for row in rows]

    return work


def _in_buckets(frame: pl.DataFrame, buckets: int) -> pa.RecordBatch:
    """Split a frame into one row per bucket: its number, and its rows as bytes."""
    if BUCKET not in frame.columns:
        parts = {(0,): frame}
    else:
        frame = frame.with_columns((pl.col(BUCKET) % buckets).cast(pl.Int32))
        parts = frame.partition_by(BUCKET, as_dict=True, include_key=True)
    numbers = pa.array([number for (number,) in parts], pa.int32())
    data = pa.array([packed(part) for part in parts.values()], pa.binary())
    return pa.RecordBatch.from_arrays([numbers, data], names=["bucket", "rows"])
