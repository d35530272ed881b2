"""The stateful processor of a bucket: a function takes its state, as bytes, and says what is left.

Before a query's first micro-batch, Spark starts a bare Python for each such operator, only to ask
which state variables it has. So nothing is imported here that takes long, and the function with
all that it needs is unpickled where it's used.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

from pyspark import TaskContext, cloudpickle
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

TABLES, SEGMENTS = "tables", "segments"
"""The state variables: a list of tables with their segments, and the larger segments by name."""

Read = Callable[[str], bytes]
"""Reads a segment from the state store by its name."""

Left = tuple[bytes | None, Mapping[str, bytes], Iterable[str], Iterable[tuple[int, bytes]]]
"""The list of tables, segments to store and to remove, and what is emitted: packs by bucket."""

Work = Callable[[str, bytes | None, Read, Sequence[bytes], int], Left]
"""Takes the bucket's name, the list of its tables, a reader of its segments, and the packs that
arrived; or no packs and the time in ms at which the bucket was woken."""

WAKE_MS = 5_000
"""An idle bucket is woken at this interval."""


class Bucket(StatefulProcessor):
    """Keeps a bucket's tables in segments; a ``waking`` one also runs where no input came."""

    def __init__(self, work: Work, *, waking: bool) -> None:
        self._waking = waking
        self._pickled: bytes = cloudpickle.dumps(work)

    @cached_property
    def _work(self) -> Work:
        work: Work = pickle.loads(self._pickled)
        return work

    @cached_property
    def _name(self) -> str:
        """Name the operator: the same for each task and, on one checkpoint, each run."""
        task = TaskContext.get()
        query = task and task.getLocalProperty("sql.streaming.queryId")
        return f"{query}-{sha256(self._pickled).hexdigest()[:8]}"

    def init(self, handle: StatefulProcessorHandle) -> None:
        # As types: a schema in words would be sent to Java to be read, at every task.
        rows = StructType([StructField("rows", BinaryType())])
        self._tables = handle.getValueState(TABLES, rows)
        names = StructType([StructField("name", StringType())])
        self._segments = handle.getMapState(SEGMENTS, names, rows)
        self._handle = handle

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        packs = [row["rows"] for row in rows]
        if packs:
            yield from self._worked(key[0], packs, 0)
        if self._waking and next(self._handle.listTimers(), None) is None:
            self._handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + WAKE_MS)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        now = timerValues.getCurrentProcessingTimeInMs()
        yield from self._worked(key[0], [], now)
        self._handle.registerTimer(now + WAKE_MS)

    def _worked(self, bucket: int, packs: list[bytes], now: int) -> Iterator[Row]:
        kept = self._tables.get()
        before = None if kept is None else bytes(kept[0])
        name = f"{self._name}-{bucket}"
        after, stored, removed, emitted = self._work(name, before, self._read, packs, now)
        for segment in removed:
            self._segments.removeKey((segment,))
        for segment, data in stored.items():
            self._segments.updateValue((segment,), (data,))
        if after is None:
            self._tables.clear()
        elif after != before:
            self._tables.update((after,))
        for bucket, rows in emitted:
            yield Row(bucket=bucket, rows=rows)

    def _read(self, name: str) -> bytes:
        kept = self._segments.getValue((name,))
        assert kept is not None, f"expected segment {name} in the state, but it is not there"
        return bytes(kept[0])
