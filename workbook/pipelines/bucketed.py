"""State in columns: rows travel and rest as small Arrow tables, one per bucket of keys.

Spark hands Python one value of state per key, at about 10,000 a second. Here the key is a bucket
of many keys, its state one Arrow table, and a batch of changes another, so that a batch costs a
few joins in Polars instead of a call per row. A bucket's table is written whole in each
micro-batch: this fits while it stays in megabytes; more keys want more buckets.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import StructType

from workbook.pipelines.table_steps import BUCKET, Tables

PACKED = "bucket INT, rows BINARY"

Step = Callable[[Tables, pl.DataFrame], "tuple[Tables, pl.DataFrame]"]
"""State before and a batch in; state after and what is told of it out."""


Idle = Callable[[Tables, int], "tuple[Tables, pl.DataFrame]"]
"""The same where nothing came: state before and the time (ms) in."""

WAKE_MS = 5_000
"""So often an idle bucket is woken."""


def packed(frame: pl.DataFrame) -> bytes:
    """A table as bytes (an Arrow stream)."""
    target = io.BytesIO()
    frame.rechunk().write_ipc_stream(target, compression="lz4")
    return target.getvalue()


def unpacked(data: bytes) -> pl.DataFrame:
    """The table of such bytes."""
    return pl.read_ipc_stream(io.BytesIO(data))


def pack(
    rows: DataFrame, buckets: int, squeeze: Callable[[pl.DataFrame], pl.DataFrame]
) -> DataFrame:
    """Rows with a number in ``__bucket`` as bucket and packed rows, squeezed within each task."""
    return rows.mapInArrow(packing(buckets, squeeze), PACKED)


def packing(
    buckets: int, squeeze: Callable[[pl.DataFrame], pl.DataFrame]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What ``pack`` does in each task."""

    def pack_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [batch for batch in batches if batch.num_rows]
        if found:
            frame = squeeze(pl.DataFrame(pl.from_arrow(pa.Table.from_batches(found))))
            yield _in_buckets(frame, buckets)

    return pack_task


def unpack(packs: DataFrame, schema: StructType, pickled: Sequence[str] = ()) -> DataFrame:
    """The rows of the packs; ``pickled`` columns hold values of Python, whatever Spark's type."""
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
    packs: DataFrame, step: Step, names: list[str], buckets: int, idle: Idle | None = None
) -> DataFrame:
    """Take each bucket's packs of a micro-batch through ``step``, and pack what it tells.

    ``names`` are the tables that it keeps, each a state variable of its own. Nothing in the state
    says what they hold: mark what comes out with that (``checkpoints.marked``), ``buckets`` too,
    and no query of another shape goes on with it.

    With ``idle`` micro-batches come also where nothing was read, as often as the query's trigger
    says, and every ``WAKE_MS`` it gets the state and the time at which the micro-batch was planned
    (ms). ``processAllAvailable`` never returns then.
    """
    if idle is None:
        bucket, mode = _Bucket(step, names, buckets), "None"
    else:
        bucket, mode = _WakingBucket(step, names, buckets, idle), "ProcessingTime"
    return packs.groupBy("bucket").transformWithState(bucket, PACKED, "Update", mode)


class _Bucket(StatefulProcessor):
    def __init__(self, step: Step, names: list[str], buckets: int) -> None:
        self._step, self._names, self._buckets = step, names, buckets

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._states = {name: handle.getValueState(name, "rows BINARY") for name in self._names}

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        frames = [unpacked(row["rows"]) for row in rows]
        if frames:
            batch = pl.concat(frames)
            yield from self._stepped(lambda before: self._step(before, batch))

    def _stepped(self, step: Callable[[Tables], tuple[Tables, pl.DataFrame]]) -> Iterator[Row]:
        kept = {name: state.get() for name, state in self._states.items()}
        before = {name: None if k is None else unpacked(k[0]) for name, k in kept.items()}
        after, told = step(before)
        for name, state in self._states.items():
            frame = after[name]
            if frame is None or frame.is_empty():
                state.clear()
            else:
                state.update((packed(frame),))
        if len(told):
            for batch in _in_buckets(told, self._buckets).to_pylist():
                yield Row(**batch)

    def close(self) -> None:
        pass


class _WakingBucket(_Bucket):
    def __init__(self, step: Step, names: list[str], buckets: int, idle: Idle) -> None:
        super().__init__(step, names, buckets)
        self._idle = idle

    def init(self, handle: StatefulProcessorHandle) -> None:
        super().init(handle)
        self._handle = handle

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        yield from super().handleInputRows(key, rows, timerValues)
        if next(self._handle.listTimers(), None) is None:
            self._handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + WAKE_MS)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        now = timerValues.getCurrentProcessingTimeInMs()
        yield from self._stepped(lambda before: self._idle(before, now))
        self._handle.registerTimer(now + WAKE_MS)


def _in_buckets(frame: pl.DataFrame, buckets: int) -> pa.RecordBatch:
    """A row per bucket: its number, and the frame's rows that belong there."""
    if BUCKET not in frame.columns:
        parts = {(0,): frame}
    else:
        frame = frame.with_columns((pl.col(BUCKET) % buckets).cast(pl.Int32))
        parts = frame.partition_by(BUCKET, as_dict=True, include_key=True)
    numbers = pa.array([number for (number,) in parts], pa.int32())
    data = pa.array([packed(part) for part in parts.values()], pa.binary())
    return pa.RecordBatch.from_arrays([numbers, data], names=["bucket", "rows"])
