"""Keeps what is known of a partition's records that no micro-batch has read yet."""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt
from confluent_kafka import Message

from workbook.sources.clamp import NO_TOP, counted, tops_of


class Ahead:
    """Holds the times of a partition's records that no micro-batch has read yet."""

    def __init__(self, offset: int, top: int | None, seen_at: float) -> None:
        self.next = self.position = offset
        self.top = top
        self.offsets: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.tops: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.new_at = seen_at
        self._new = (array("q"), array("q"))

    def __len__(self) -> int:
        return len(self.offsets) + len(self._new[0])

    def see(self, message: Message) -> None:
        """Note a record."""
        self._new[0].append(int(message.offset() or 0))
        self._new[1].append(message.timestamp()[1])

    def settle(self, latest: int, now: float) -> None:
        """Count what was noted, with times up to ``latest``."""
        if self._new[0]:
            offsets, times = (np.array(new, np.int64) for new in self._new)
            tops = tops_of(counted(times, latest), self._last_top())
            self.offsets = np.concatenate([self.offsets, offsets])
            self.tops = np.concatenate([self.tops, tops])
            self._new, self.new_at = (array("q"), array("q")), now

    def take(self, number: int, end: int, now: float) -> None:
        """Take so many of them; with the last one also offsets up to ``end`` without a record."""
        if number:
            top = int(self.tops[number - 1])
            self.top = None if top == NO_TOP else top
            self.next, self.new_at = int(self.offsets[number - 1]) + 1, now
            self.offsets, self.tops = self.offsets[number:], self.tops[number:]
        if not len(self):
            self.next = max(self.next, min(self.position, end))

    def _last_top(self) -> int | None:
        last = int(self.tops[-1]) if len(self.tops) else NO_TOP
        return self.top if last == NO_TOP else last
