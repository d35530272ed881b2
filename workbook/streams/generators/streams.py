"""The base of generated streams: a rate over time, a virtual clock, numbers drawn from an id."""

import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from workbook.errors import NoSuchStream
from workbook.streams.events.fields import Event
from workbook.streams.events.reasons import Reason

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]

DAY_S, MINUTES_PER_DAY = 86_400.0, 1440

Facts = Mapping[str, Any]
"""Columns of facts by name: of NumPy, texts as objects, or of pandas."""

Messages = tuple[Iterable[Any], Iterable[Event | None]]
"""Keys (bytes or None) and events, None for a tombstone."""

Fields = dict[str, Any]
Record = tuple[bytes | None, bytes | None]
Spoil = Callable[[bytes | None, Fields], Record]
"""How a key and the fields of a good value become a bad record."""

Kinds = tuple[tuple[Reason | None, Spoil], ...]
"""The kinds of bad records: the reason to expect, if there is one, and how they are made."""


@lru_cache(maxsize=8)
def _day(daily: float) -> tuple[Floats, Floats]:
    """Return times and events so far at the ends of a day's minutes, both as shares of the day."""
    minutes = np.arange(MINUTES_PER_DAY + 1) / MINUTES_PER_DAY
    rates = 1 + daily * np.sin(np.pi * (minutes[1:] + minutes[:-1]))
    return minutes, np.concatenate([[0.0], np.cumsum(rates) / rates.sum()])


@dataclass(frozen=True, slots=True)
class PacedStream:
    """Events that arrive at ``rate`` (per virtual second); their ids count from 0.

    Arrivals start at ``start_ms`` on the virtual clock (ms since 1970). On average there are
    ``rate`` a second: ``rate * (1 + daily)`` after a quarter of a day, and ``rate * (1 - daily)``
    after three quarters. What an event is, follows from the stream's parameters and its id alone.
    Of all events ``bad_share`` are bad, of every kind in ``BAD``. ``duplicate_share`` of the good
    ones are sent twice, by default in a row. Raises NoSuchStream for values that describe no
    stream.
    """

    BAD: ClassVar[Kinds] = ()
    COUNTS: ClassVar[tuple[str, ...]] = ("partitions",)
    FROM_0: ClassVar[tuple[str, ...]] = ()
    """The parameters that must be 1 or more, and those that must be 0 or more."""

    seed: int = 1
    rate: float = 1000.0
    start_ms: int = 1_767_225_600_000  # 2026-01-01
    partitions: int = 1
    duplicate_share: float = 0.0
    bad_share: float = 0.0
    daily: float = 0.0

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if (name == "daily" or name.endswith("_share")) and not 0 <= value <= 1:
                raise NoSuchStream(f"{name} lies between 0 and 1, got {value}")
            if name in self.COUNTS and value < 1:
                raise NoSuchStream(f"{name} must be at least 1, got {value}")
            if name in self.FROM_0 and value < 0:
                raise NoSuchStream(f"{name} must be 0 or more, got {value}")
        if not 0 < self.rate < math.inf:
            raise NoSuchStream(f"rate must be above 0, got {self.rate}")

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

    def _offsets(self, ids: Ints) -> Ints:
        # The jitter stays within the event's own place, so arrivals never overtake each other.
        days, rest = np.divmod((ids + self._draw("jitter", ids)) / (self.rate * DAY_S), 1)
        minutes, arrived = _day(self.daily)
        seconds = (days + np.interp(rest, arrived, minutes)) * DAY_S
        return np.floor(seconds * 1000).astype(np.int64)

    def _hash(self, what: str, ids: Ints) -> Ints:
        return hashed(self.seed, what, ids)

    def _draw(self, what: str, ids: Ints) -> Floats:
        """Draw numbers evenly spread between 0 and 1 (exclusive)."""
        return (hashed(self.seed, what, ids) >> 10) * 2.0**-53

    def expected(self, first: int, last: int) -> pd.DataFrame:
        """Return the facts of the messages for ids ``first`` to ``last`` (excluded).

        A row per message, in the order of sending; the class says which columns. Blocks side by
        side give the whole stream.
        """
        return pd.DataFrame(self._facts(*self._sent(first, last)))

    def block(self, first: int, last: int) -> pa.Table:
        """Return the messages: the columns of ``expected``, and key and value (bytes or null)."""
        places, ids = self._sent(first, last)
        facts = self._facts(places, ids)
        columns = {
            name: pa.array(column, pa.string() if column.dtype == object else None)
            for name, column in facts.items()
        }
        return pa.table({**columns, **self._records(ids, *self._messages(ids, facts))})

    def _facts(self, places: Ints, ids: Ints) -> Facts:
        """Return what is to be known of messages."""
        raise NotImplementedError

    def _messages(self, ids: Ints, facts: Facts) -> Messages:
        """Return the keys and the events of messages, as if all were good."""
        raise NotImplementedError

    def _sent(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return each message's place, the id at whose arrival it is sent, and its event id."""
        require_ids(first, last)
        ids = np.arange(first, last)
        again = (self._draw("again", ids) < self.duplicate_share) & (self._kinds(ids) < 0)
        sent = np.repeat(ids, 1 + again)
        return sent, sent

    def _kinds(self, ids: Ints) -> Ints:
        """Return the place in BAD, or -1 for a good event."""
        kinds = self._hash("kind", ids) % len(self.BAD)
        return np.where(self._draw("bad", ids) < self.bad_share, kinds, -1)

    def _reasons(self, ids: Ints) -> npt.NDArray[np.object_]:
        """Return why each event is rejected, None for a good one."""
        values = [reason and reason.value for reason, _ in self.BAD]
        return np.array([*values, None], object)[self._kinds(ids)]

    def _records(
        self, ids: Ints, keys: Iterable[bytes | None], events: Iterable[Event | None]
    ) -> dict[str, pa.Array]:
        """Return the columns key and value, both spoiled where an event is bad."""
        found, kinds = list(keys), self._kinds(ids)
        values = [None if event is None else encode(event) for event in events]
        for row in np.flatnonzero(kinds >= 0).tolist():
            if (good := values[row]) is not None:
                _, spoil = self.BAD[kinds[row]]
                found[row], values[row] = spoil(found[row], msgspec.json.decode(good))
        return {"key": pa.array(found, pa.binary()), "value": pa.array(values, pa.binary())}


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


# --- bad records --------------------------------------------------------------------------------


encode = msgspec.json.Encoder().encode


def changed(**values: Any) -> Spoil:
    """Return how a record is spoiled by other values of some fields."""
    return lambda key, fields: (key, encode(fields | values))


def without(field: str) -> Spoil:
    """Return how a record is spoiled by a field that is missing."""
    return lambda key, fields: (key, encode({n: v for n, v in fields.items() if n != field}))
