"""The clamp: never beyond the lead, and never a stall while something may be read."""

import random

import numpy as np
import pytest

from workbook.sources.clamp import NO_TOP, Unread, counted, goes_on, plan, tops_of

LEAD = 10


@pytest.mark.parametrize(
    ("own", "other", "goes"),
    [(None, None, True), (None, 5, True), (5, None, False), (15, 5, True), (16, 5, False)],
)
def test_the_four_cases(own: int | None, other: int | None, goes: bool) -> None:
    assert goes_on(own, other, LEAD) is goes


def unread(*times: int, top: int | None = None, holds: bool = True) -> Unread:
    return Unread(top, tops_of(np.array(times, np.int64), top), holds)


@pytest.mark.parametrize(
    ("one", "other", "taken"),
    [
        (unread(), unread(1, 2, 3), [0, 1]),  # the first record is read, then the other is awaited
        (unread(1, 2), unread(5, 11, 12, 13), [2, 3]),
        (unread(top=5), unread(14, 15, 16, 15, top=4), [0, 2]),  # stops before the first beyond
        (unread(top=5, holds=False), unread(14, 99, top=4), [0, 2]),  # idle: holds nobody back
        (unread(1000, top=10), unread(1005, top=15), [1, 1]),  # across a gap in both
        (unread(1000, 1500, top=10), unread(2000, top=15), [2, 1]),
        (unread(1000, top=10), unread(top=15), [0, 0]),  # the other may get an earlier one still
        (unread(NO_TOP, NO_TOP, 7), unread(), [3, 0]),  # what doesn't count is read through
        (unread(30, NO_TOP, top=20), unread(top=25), [2, 0]),
    ],
)
def test_a_plan(one: Unread, other: Unread, taken: list[int]) -> None:
    assert plan([one, other], goes_on, LEAD) == taken
    assert plan([other, one], goes_on, LEAD) == taken[::-1]


@pytest.mark.parametrize("seed", range(100))
def test_two_streams_are_never_further_apart_and_never_stall(seed: int) -> None:
    draw = random.Random(seed)
    logs = [_log(draw) for _ in range(2)]
    model, at = Model(draw, draw.choice([1, 5, 50])), [0, 0]
    tops: list[int | None] = [None, None]
    while all(position < len(log) for position, log in zip(at, logs, strict=True)):
        ahead = [log[n : n + draw.randint(0, 40)] for n, log in zip(at, logs, strict=True)]
        both = [
            Unread(top, tops_of(np.array(times, np.int64), top))
            for top, times in zip(tops, ahead, strict=True)
        ]
        taken = plan(both, goes_on, model.lead)
        assert taken == model.read(tops, ahead)
        assert any(taken) or not all(ahead), "both have records, and neither is read"
        tops = [each.after(n) for each, n in zip(both, taken, strict=True)]
        at = [position + n for position, n in zip(at, taken, strict=True)]


class Model:
    """Reads record by record, either stream first, and refutes each lead that isn't allowed."""

    def __init__(self, draw: random.Random, lead: int) -> None:
        self.draw, self.lead = draw, lead

    def read(self, tops: list[int | None], ahead: list[list[int]]) -> list[int]:
        self.tops, self.ahead, self.taken = list(tops), ahead, [0, 0]
        while True:
            sides = [side for side in (0, 1) if self._may(side)]
            if not sides:
                waiting = [side for side in (0, 1) if self._next(side) is not None]
                if len(waiting) < 2:
                    return self.taken
                led = [s for s in waiting if not self._leads(s)]
                sides = [min(led, key=lambda s: max(self._next(s) or 0, self.tops[s] or 0))]
            self._take(self.draw.choice(sides))

    def _next(self, side: int) -> int | None:
        left = self.ahead[side][self.taken[side] :]
        return left[0] if left else None

    def _leads(self, side: int) -> bool:
        own, other = self.tops[side], self.tops[1 - side]
        return own is not None and (other is None or own - other > self.lead)

    def _may(self, side: int) -> bool:
        time, own, other = self._next(side), self.tops[side], self.tops[1 - side]
        if time is None or self._leads(side):
            return False
        if own is None or time == NO_TOP:
            return True
        return other is not None and time <= other + self.lead

    def _take(self, side: int) -> None:
        time = self._next(side)
        self.taken[side] += 1
        if time not in (None, NO_TOP):
            self.tops[side] = max(time or 0, self.tops[side] or 0)


def _log(draw: random.Random) -> list[int]:
    """Return times out of order, with gaps, and some that don't count."""
    now, times = draw.randint(0, 300), []
    for _ in range(draw.randint(1, 150)):
        now += draw.choice([0, 1, 1, 3, 100 if draw.random() < 0.1 else 2])
        times.append(NO_TOP if draw.random() < 0.05 else max(0, now - draw.choice([0, 0, 7, 30])))
    return times


def test_times_far_ahead_do_not_count() -> None:
    times = counted(np.array([5, -1, 4_102_444_800_000, 7]), latest=1000)
    assert times.tolist() == [5, NO_TOP, NO_TOP, 7]
    assert tops_of(times, 6).tolist() == [6, 6, 6, 7]
    assert tops_of(times[1:3], None).tolist() == [NO_TOP, NO_TOP]
