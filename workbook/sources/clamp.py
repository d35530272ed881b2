"""Decides how far two streams may be read, so that none leads the other by more than allowed.

Partition p of a topic is held against partition p of the other one. What counts is the top of a
partition: the newest time among its records so far.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from confluent_kafka import Message

Rule = Callable[["int | None", "int | None", int], bool]
"""Says by its own top, the other's, and the allowed lead (ms) whether a partition goes on."""

NO_TOP = -1
"""Stands in arrays where no record has counted yet."""

_LARGEST = 2**53


def goes_on(own: int | None, other: int | None, max_lead: int) -> bool:
    """Return whether a partition may be read on: the four cases of OTTO's clamp."""
    if own is None:
        return True
    if other is None:
        return False
    return own - other <= max_lead


@dataclass(frozen=True)
class Unread:
    """What lies ahead in a partition: its top now, and after each record that could be read.

    ``holds`` is False for one that holds nobody back: it has been idle for too long.
    """

    top: int | None
    tops: npt.NDArray[np.int64]
    holds: bool = True

    def after(self, taken: int) -> int | None:
        """Return the top once this number of records is read."""
        if taken == 0:
            return self.top
        top = int(self.tops[taken - 1])
        return None if top == NO_TOP else top


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
        """Note a record, or the end of the partition: its last offsets may hold none."""
        offset = int(message.offset() or 0)
        if message.error() is not None:
            self.position = max(self.position, offset)
        elif offset >= self.position:
            self.position = offset + 1
            self._new[0].append(offset)
            self._new[1].append(message.timestamp()[1])

    def settle(self, latest: int, now: float) -> None:
        """Count what was noted, with times up to ``latest``."""
        if self._new[0]:
            offsets, times = (np.array(new, np.int64) for new in self._new)
            last = int(self.tops[-1]) if len(self.tops) else NO_TOP
            tops = tops_of(counted(times, latest), self.top if last == NO_TOP else last)
            self.offsets = np.concatenate([self.offsets, offsets])
            self.tops = np.concatenate([self.tops, tops])
            self._new, self.new_at = (array("q"), array("q")), now

    def take(self, number: int, end: int, now: float) -> None:
        """Take that many; with the last one also offsets up to ``end`` without a record."""
        if number:
            top = int(self.tops[number - 1])
            self.top = None if top == NO_TOP else top
            self.next, self.new_at = int(self.offsets[number - 1]) + 1, now
            self.offsets, self.tops = self.offsets[number:], self.tops[number:]
        if not len(self):
            self.next = max(self.next, min(self.position, end))


def plan(both: Sequence[Unread], rule: Rule, max_lead: int) -> list[int]:
    """Return how many records to read of each of two partitions.

    Each goes on, by the rule, until its next record would lead the other's top by too much. The
    first record that counts is read in any case, or neither would begin. Where both have records
    and each would wait for the other, across a gap in their times, the earlier of these records is
    read. Only these two may lead by more. ``rule`` must hold for every smaller top of its own, too.
    """
    taken = [0, 0]
    while True:
        before = list(taken)
        for own, other in ((0, 1), (1, 0)):
            top = _reach(both[other], taken[other])
            taken[own] = _taken(both[own], taken[own], top, rule, max_lead)
        if taken == before:
            next_one = _earlier(both, taken, rule, max_lead)
            if next_one is None:
                return taken
            taken[next_one] += 1


def counted(times: npt.NDArray[np.int64], latest: int) -> npt.NDArray[np.int64]:
    """Return the times with ``NO_TOP`` for those that don't count: beyond ``latest``, or negative.

    A time that is far ahead says nothing of how far its stream has come.
    """
    return np.where((times >= 0) & (times <= latest), times, NO_TOP)


def tops_of(times: npt.NDArray[np.int64], top: int | None) -> npt.NDArray[np.int64]:
    """Return the top after each record, for times as ``counted`` gives them."""
    first = NO_TOP if top is None else top
    return np.maximum(np.maximum.accumulate(times), first) if len(times) else times


def _reach(unread: Unread, taken: int) -> int | None:
    return unread.after(taken) if unread.holds else _LARGEST


def _taken(unread: Unread, taken: int, other: int | None, rule: Rule, max_lead: int) -> int:
    own, tops = unread.after(taken), unread.tops
    if taken == len(tops) or not rule(own, other, max_lead):
        return taken
    if own is None:
        taken = min(int(np.searchsorted(tops, NO_TOP, "right")) + 1, len(tops))
    # Tops rise: all up to the first that the rule forbids may be read.
    return bisect_left(tops, True, lo=taken, key=lambda top: not rule(int(top), other, max_lead))


def _earlier(both: Sequence[Unread], taken: list[int], rule: Rule, max_lead: int) -> int | None:
    """Return which of two that wait for each other reads a record; None if one has none left."""
    if any(n == len(unread.tops) for n, unread in zip(taken, both, strict=True)):
        return None
    tops = [_reach(unread, n) for n, unread in zip(taken, both, strict=True)]
    may = [side for side in (0, 1) if rule(tops[side], tops[1 - side], max_lead)]
    return min(may, key=lambda side: int(both[side].tops[taken[side]]), default=None)
