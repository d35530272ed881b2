"""The stateful processor of a bucket: a function takes its state and returns it, as bytes.

Before a query's first micro-batch, Spark starts a bare Python for each such operator, only to ask
which state variables it has. So nothing is imported here that takes long, and the function with
all that it needs is unpickled where it's used.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

Packs = dict[str, bytes | None]

Work = Callable[[Packs, list[bytes], int], tuple[Packs, list[tuple[int, bytes]]]]
"""The state by name, what came in (nothing where the bucket was woken) and the time of waking (ms)
to the state after and what goes out: a bucket's number and a pack each."""

WAKE_MS = 5_000
"""So often an idle bucket is woken."""


class Bucket(StatefulProcessor):
    """Keeps a value of bytes per name; a ``waking`` one also runs where no input came."""

    def __init__(self, names: Sequence[str], work: Work, *, waking: bool) -> None:
        self._names, self._waking = names, waking
        self._pickled: bytes = cloudpickle.dumps(work)

    @cached_property
    def _work(self) -> Work:
        work: Work = pickle.loads(self._pickled)
        return work

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._states = {name: handle.getValueState(name, "rows BINARY") for name in self._names}
        self._handle = handle

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        packs = [row["rows"] for row in rows]
        if packs:
            yield from self._worked(packs, 0)
        if self._waking and next(self._handle.listTimers(), None) is None:
            self._handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + WAKE_MS)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        now = timerValues.getCurrentProcessingTimeInMs()
        yield from self._worked([], now)
        self._handle.registerTimer(now + WAKE_MS)

    def _worked(self, packs: list[bytes], now: int) -> Iterator[Row]:
        before: Packs = {}
        for name, state in self._states.items():
            kept = state.get()
            before[name] = None if kept is None else kept[0]
        after, emitted = self._work(before, packs, now)
        for name, state in self._states.items():
            data = after[name]
            if data is None:
                state.clear()
            else:
                state.update((data,))
        for bucket, rows in emitted:
            yield Row(bucket=bucket, rows=rows)

    def close(self) -> None:
        pass
