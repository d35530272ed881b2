"""The rate of events over time: a daily curve with silent gaps, and its inverse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from workbook.errors import NoSuchStream

STEPS_PER_DAY = 1440
Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class RateCurve:
    """Events per virtual second over time: ``rate`` on average, outside gaps.

    The curve starts at its mean, rises to ``rate * (1 + daily)`` after a quarter of ``day_s``
    seconds and falls to ``rate * (1 - daily)`` after three quarters. With ``gap_s`` > 0 the last
    ``gap_s`` of every ``gap_every_s`` seconds are silent. Raises NoSuchStream for values that
    describe no stream.
    """

    rate: float
    daily: float = 0.0
    day_s: float = 86_400.0
    gap_every_s: float = 0.0
    gap_s: float = 0.0

    def __post_init__(self) -> None:
        for name in ("rate", "day_s"):
            if not 0 < getattr(self, name) < math.inf:
                raise NoSuchStream(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.daily <= 1:
            raise NoSuchStream(f"daily lies between 0 and 1, got {self.daily}")
        if self.gap_s < 0 or (self.gap_s > 0 and self.gap_s >= self.gap_every_s):
            raise NoSuchStream(
                f"gap_s lies between 0 and gap_every_s ({self.gap_every_s}), got {self.gap_s}"
            )

    def arrived_by(self, seconds: float) -> float:
        """Return how many events the curve has let in from its start to ``seconds``."""
        days = 1
        while days * self.day_s < seconds:
            days *= 2
        times, counts = _knots(self, days)
        return float(np.interp(seconds, times, counts))

    def time_of(self, counts: Floats) -> Floats:
        """Return the seconds after the start at which so many events had arrived (the inverse)."""
        highest, days = float(counts.max(initial=0.0)), 1
        while _knots(self, days)[1][-1] <= highest:
            days *= 2
        times, known = _knots(self, days)
        return np.interp(counts, known, times)


@lru_cache(maxsize=32)
def _knots(curve: RateCurve, days: int) -> tuple[Floats, Floats]:
    """Return times (s) and events so far at the ends of the pieces with a constant rate.

    More days only append: what the first knots say never depends on how far we look, which is
    what lets an event's arrival depend on its id alone.
    """
    step, end = curve.day_s / STEPS_PER_DAY, days * curve.day_s
    times = np.arange(days * STEPS_PER_DAY + 1) * step
    if curve.gap_s > 0:
        gap_ends = np.arange(1, int(end // curve.gap_every_s) + 1) * curve.gap_every_s
        times = np.unique(np.concatenate([times, gap_ends, gap_ends - curve.gap_s]))
    middles = (times[1:] + times[:-1]) / 2
    of_day = np.floor(middles / step).astype(np.int64) % STEPS_PER_DAY
    rates = curve.rate * _day(curve.daily)[of_day]
    if curve.gap_s > 0:
        rates[middles % curve.gap_every_s >= curve.gap_every_s - curve.gap_s] = 0.0
    return times, np.concatenate([[0.0], np.cumsum(rates * np.diff(times))])


def _day(daily: float) -> Floats:
    phases = 2 * np.pi * (np.arange(STEPS_PER_DAY) + 0.5) / STEPS_PER_DAY
    return 1 + daily * np.sin(phases)
