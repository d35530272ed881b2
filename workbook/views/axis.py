"""A vertical axis of event times that leaves out empty stretches, and times in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

BREAKS = 6
"""At most so many stretches are left out."""

EMPTY_STEPS, EMPTY_SHARE = 10, 0.15
"""A stretch is left out when it's longer than so many steps and this share of what's drawn."""

BREAK, LEAST = 18, 16
"""The height of a stretch that's left out, and the least height of one that's drawn."""

APART, LINE = 26, 13
"""The distance between two labels, and the least that they need."""

DAY = 86_400_000

_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400)
_STEPS = [s * 1000 for s in _SECONDS] + [DAY * 10**n for n in range(1, 7)]
"""Round lengths between two labels, in ms."""

_UNITS = (("year", 31_557_600_000), ("day", DAY), ("hour", 3_600_000), ("minute", 60_000))


@dataclass(frozen=True)
class Stretch:
    """A part of the axis: times from ``start`` to ``end`` (ms), drawn from ``bottom`` to ``top``.

    With ``left_out`` nothing happened in it.
    """

    start: int
    end: int
    bottom: float
    top: float
    left_out: bool


class TimeAxis:
    """An axis upwards from ``bottom`` to ``top`` with a place for each of the points (ms).

    ``step`` is the length of a window in ms: the axis begins and ends at a window's border.
    """

    def __init__(
        self, points: Sequence[int] | NDArray[np.int64], bottom: float, top: float, step: int
    ) -> None:
        self.step = step
        times = np.asarray(points if len(points) else [0], np.int64)
        borders = np.unique(times // step * step)
        self.stretches = _stretches(np.union1d(borders, borders + step), bottom, top, step)
        self._times = [self.stretches[0].start, *(part.end for part in self.stretches)]
        self._places = [self.stretches[0].bottom, *(part.top for part in self.stretches)]
        days, counts = np.unique(times // DAY, return_counts=True)
        self._day = moment(int(days[counts.argmax()]) * DAY, day=True)[:10]

    def __call__(self, time: float) -> float:
        """Return where a time stands; outside the axis it's the nearest end."""
        return float(np.interp(time, self._times, self._places))

    def places(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return where many times stand."""
        return np.interp(times, self._times, self._places)

    def words(self, time: int) -> str:
        """Return a time in words, with its date where that isn't the day of most points."""
        dated = moment(time, day=True)
        return moment(time) if dated.startswith(self._day) else dated

    @property
    def drawn(self) -> list[Stretch]:
        return [part for part in self.stretches if not part.left_out]

    @property
    def left_out(self) -> list[Stretch]:
        return [part for part in self.stretches if part.left_out]

    @property
    def band(self) -> float:
        """The height of the lowest window that's drawn."""
        return min(self.step * _scale(part) for part in self.drawn)

    def labels(self) -> list[tuple[int, str]]:
        """Return the times to write beside the axis, with their words."""
        times = [time for part in self.drawn for time in self._ticks(part)]
        return [(time, self.words(time)) for time in times]

    def _ticks(self, part: Stretch) -> Iterable[int]:
        """Yield round times of a stretch, its first one, and its last window where there's room."""
        scale, last = _scale(part), part.end - self.step
        fitting = (every for every in _STEPS if every >= self.step and every * scale >= APART)
        every = next(fitting, part.end)
        found = [part.start]
        for time in range(part.start // every * every + every, part.end, every):
            if (time - found[-1]) * scale >= LINE:
                found.append(time)
        return found if (last - found[-1]) * scale < LINE else [*found, last]


def _scale(part: Stretch) -> float:
    return abs(part.top - part.bottom) / (part.end - part.start)


def _stretches(ordered: NDArray[np.int64], bottom: float, top: float, step: int) -> list[Stretch]:
    gaps, span, breaks = np.diff(ordered), int(ordered[-1] - ordered[0]), []
    for place in np.argsort(-gaps, kind="stable")[:BREAKS]:
        if gaps[place] <= max(EMPTY_STEPS * step, EMPTY_SHARE * span):
            break
        breaks.append((int(ordered[place]), int(ordered[place + 1])))
        span -= int(gaps[place])
    inner = (time for gap in sorted(breaks) for time in gap)
    borders = [int(ordered[0]), *inner, int(ordered[-1])]
    room = abs(bottom - top) - BREAK * len(breaks) - LEAST * (len(breaks) + 1)
    sign, found, at = (-1 if top < bottom else 1), [], bottom
    for number, (start, end) in enumerate(pairwise(borders)):
        left_out = number % 2 == 1
        high = BREAK if left_out else LEAST + room * (end - start) / span
        found.append(Stretch(start, end, at, at + sign * high, left_out))
        at += sign * high
    return found


def moment(ms: int, day: bool = False) -> str:
    """Return a time (UTC) as "22:31:05" or "22:31:05.250"; with ``day`` the date before it."""
    try:
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    except OverflowError:
        return f"{ms:,} ms"
    text = time.strftime("%H:%M:%S") + (f".{ms % 1000:03}" if ms % 1000 else "")
    return f"{time.date().isoformat()} {text}" if day else text


def duration(ms: int) -> str:
    """Return a length of time in its largest unit: "55 seconds", "1 minute", "73 years"."""
    for name, size in _UNITS:
        count = round(ms / size)
        if ms >= size and abs(count * size - ms) <= 0.12 * ms:  # 90 seconds are no 2 minutes
            return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"
    return "1 second" if ms == 1000 else f"{ms / 1000:,g} seconds"
