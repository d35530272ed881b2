"""What a rule would have made of two recorded streams: how many visits were open, for any lead."""

import heapq
from collections.abc import Callable, Sequence

from workbook.views.open_state import Curve

Rule = Callable[["int | None", "int | None", int], bool]
Stream = Sequence[tuple[int, "str | None"]]
"""Records in the order of their offsets: time, and the visit's ssid; None for a heartbeat."""

EVERY = 120
"""Messages to a point of the curve, which is the most visits that were open meanwhile."""


def walked(
    name: str, streams: Sequence[Stream], stuck: int, rule: Rule, max_lead: int, timeout: int
) -> Curve:
    """Read two recorded streams record by record, as far as a rule allows; return the state.

    Of the second stream only ``stuck`` records exist at first; the others arrive once no more may
    be read. A visit is open from its first message until the clock of both streams is more than
    ``timeout`` past its newest one. Times, ``max_lead`` and ``timeout`` have the same unit.
    """
    merge, at = _Merge(timeout), [0, 0]
    points, most, came = [(0, 0)], 0, 0
    for ends in ((len(streams[0]), stuck), (len(streams[0]), len(streams[1]))):
        came = merge.messages
        while (side := _next(streams, at, ends, merge.tops, rule, max_lead)) is not None:
            merge.take(side, *streams[side][at[side]])
            at[side] += 1
            most = max(most, len(merge.open))
            if merge.messages % EVERY == 0:
                points.append((merge.messages, most))
                most = 0
    return Curve(name, [*points, (merge.messages, len(merge.open))], came)


class _Merge:
    """Knows which visits are open, and how far each stream has come."""

    def __init__(self, timeout: int) -> None:
        self.tops: list[int | None] = [None, None]
        self.open: dict[str, int] = {}
        self.messages = 0
        self._timeout, self._due = timeout, list[tuple[int, str]]()

    def take(self, side: int, time: int, ssid: str | None) -> None:
        top = self.tops[side]
        self.tops[side] = time if top is None else max(top, time)
        if ssid is not None:
            self.messages += 1
            self.open[ssid] = max(time, self.open.get(ssid, time))
            heapq.heappush(self._due, (self.open[ssid] + self._timeout, ssid))
        one, other = self.tops
        while one is not None and other is not None and self._due:
            due, ssid = self._due[0]
            if due >= min(one, other):
                break
            heapq.heappop(self._due)
            if self.open.get(ssid, due) + self._timeout == due:
                del self.open[ssid]


def _next(
    streams: Sequence[Stream], at: Sequence[int], ends: Sequence[int],
    tops: Sequence[int | None], rule: Rule, max_lead: int,
) -> int | None:  # fmt: skip
    """Return which stream's next record is read; None if both must wait, or have no more."""
    left = [side for side in (0, 1) if at[side] < ends[side]]
    for side in left:
        top, time = tops[side], streams[side][at[side]][0]
        if top is None or rule(max(top, time), tops[1 - side], max_lead):
            return side
    if len(left) == 2:  # across a gap in both
        return min(left, key=lambda side: streams[side][at[side]][0])
    return None
