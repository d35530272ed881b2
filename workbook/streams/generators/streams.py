"""The base of generated streams: a seed, a virtual clock, and numbers drawn from an id."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from workbook.errors import NoSuchStream
from workbook.streams.generators.rates import RateCurve

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class PacedStream:
    """Events that arrive at ``rate`` (per virtual second); their ids count from 0.

    Arrivals start at ``start_ms`` on the virtual clock (ms since 1970). What an event is, follows
    from the stream's parameters and its id alone.
    """

    seed: int = 1
    rate: float = 1000.0
    start_ms: int = 1_767_225_600_000  # 2026-01-01
    partitions: int = 1

    @property
    def curve(self) -> RateCurve:
        """Return the number of events per virtual second, over time."""
        return RateCurve(self.rate)

    def ending_by(self, now_ms: int, count: int, speed: float | None = None) -> Self:
        """Return the stream, started so that its virtual clock never passes the real one.

        Unpaced (``speed`` None), the first ``count`` events end at ``now_ms``; sent with a speed
        factor from ``now_ms`` on, the last of them arrives just when it is sent.
        """
        span = int(self._offsets(np.array([max(count - 1, 0)]))[0]) + 1
        ahead = 1.0 if speed is None else max(0.0, 1 - 1 / speed)
        return replace(self, start_ms=now_ms - math.ceil(span * ahead))

    def arrivals(self, ids: Ints) -> Ints:
        """Return the events' arrivals on the virtual clock (ms since 1970), rising with the id."""
        return self.start_ms + self._offsets(ids)

    def due(self, now_ms: float) -> int:
        """Return how many events have arrived when the virtual clock shows ``now_ms``."""
        passed = (now_ms - self.start_ms) / 1000
        if passed < 0:
            return 0
        about = int(self.curve.arrived_by(passed))
        near = np.arange(max(about - 2, 0), about + 3)
        return int(near[0] + np.count_nonzero(self.arrivals(near) <= now_ms))

    def _offsets(self, ids: Ints) -> Ints:
        # The jitter stays within the event's own place, so arrivals never overtake each other.
        seconds = self.curve.time_of(ids + self._draw("jitter", ids))
        return np.floor(seconds * 1000).astype(np.int64)

    def _hash(self, what: str, ids: Ints) -> Ints:
        return hashed(self.seed, what, ids)

    def _draw(self, what: str, ids: Ints) -> Floats:
        """Draw numbers evenly spread between 0 and 1 (exclusive)."""
        return (hashed(self.seed, what, ids) >> 10) * 2.0**-53

    def _need_shares(self, *names: str) -> None:
        for name in names:
            if not 0 <= getattr(self, name) <= 1:
                raise NoSuchStream(f"{name} lies between 0 and 1, got {getattr(self, name)}")

    def _need_at_least_one(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) < 1:
                raise NoSuchStream(f"{name} must be at least 1, got {getattr(self, name)}")


def require_ids(first: int, last: int) -> None:
    """Raise NoSuchStream unless these are the ends of a range of event ids."""
    if not 0 <= first <= last:
        raise NoSuchStream(f"need 0 <= first <= last, got {first} and {last}")


GOLDEN = 0x9E3779B97F4A7C15


def hashed(seed: int, what: str, ids: Ints) -> Ints:
    """Return 63 random-looking bits per id and purpose (splitmix64: Steele, Lea, Flood, 2014)."""
    state = np.array([seed % 2**64, zlib.crc32(what.encode())], dtype=np.uint64)
    start = _mix(_mix(state[:1]) + state[1:])
    return (_mix(start + ids.astype(np.uint64) * np.uint64(GOLDEN)) >> np.uint64(1)).view(np.int64)


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
