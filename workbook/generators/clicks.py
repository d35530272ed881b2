"""Clicks of invented visitors: each event a function of the stream's parameters and its id."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbook.errors import NoSuchStream
from workbook.events import MAX_AHEAD_MS, ClickType, Reason
from workbook.generators.rates import RateCurve

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]

MAX_BEHIND = 100
"""A duplicate follows its original within so many events."""

BROWSERS = ("Firefox", "Chrome", "Safari", "Edge", "Opera")
PAGES = (
    ["/home"] * 6
    + [f"/product/{n}" for n in (7, 12, 19, 23, 42, 77, 101, 123)]
    + ["/search?q=shoes", "/search?q=Müsli", "/category/garden", "/category/toys"]
    + ["/basket", "/basket", "/checkout", "/account"]
)
ACTIONS = ["add-to-basket"] * 3 + ["remove-from-basket", "add-to-wishlist", "order"]
NAMES = [(ClickType.PAGE, page) for page in PAGES] + [(ClickType.ACTION, a) for a in ACTIONS]

_TYPES = np.array([kind.value for kind, _ in NAMES], dtype=object)

Fields = dict[str, Any]


def _encode(fields: Fields) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


SPOILED: tuple[tuple[Reason, Callable[[Fields], bytes | None]], ...] = (
    (Reason.EMPTY, lambda click: None),
    (Reason.EMPTY, lambda click: b""),
    (Reason.MALFORMED, lambda click: _encode(click)[:-20]),
    (Reason.MALFORMED, lambda click: _encode(click) + b"}"),
    (Reason.MALFORMED, lambda click: b"[" + _encode(click) + b"]"),
    (Reason.MISSING, lambda click: _encode({f: click[f] for f in click if f != "name"})),
    (Reason.MISSING, lambda click: _encode(click | {"timestamp": str(click["timestamp"])})),
    (Reason.UNKNOWN_TYPE, lambda click: _encode(click | {"click_type": "Scroll"})),
    (Reason.NEGATIVE, _encode),
    (Reason.FUTURE, _encode),
)
"""The kinds of bad messages: the reason to expect, and how a click's fields become the value.

The last two are spoiled by their timestamp alone.
"""


@dataclass(frozen=True, slots=True)
class ClickStream:
    """An endless, repeatable stream of clicks; event ids count from 0.

    ``rate`` is in events per virtual second, on average outside gaps; ``daily``, ``day_s``,
    ``gap_every_s`` and ``gap_s`` shape it (see RateCurve). Arrivals start at ``start_ms`` on the
    virtual clock (ms since 1970). Of the good events, ``late_share`` carry an event time 1 to
    ``late_by_ms`` before their arrival, and ``duplicate_share`` are sent once more, 1 to 100
    events later. ``bad_share`` of all events are bad, of every kind in SPOILED. A visitor stays
    on one of the ``partitions``. Raises NoSuchStream for values that describe no stream.
    """

    seed: int = 1
    rate: float = 1000.0
    start_ms: int = 1_767_225_600_000  # 2026-01-01
    partitions: int = 1
    visitors: int = 1000
    daily: float = 0.5
    day_s: float = 86_400.0
    gap_every_s: float = 0.0
    gap_s: float = 0.0
    late_share: float = 0.0
    late_by_ms: int = 30_000
    duplicate_share: float = 0.0
    bad_share: float = 0.0

    def __post_init__(self) -> None:
        for name in ("late_share", "duplicate_share", "bad_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise NoSuchStream(f"{name} lies between 0 and 1, got {getattr(self, name)}")
        for name in ("partitions", "visitors", "late_by_ms"):
            if getattr(self, name) < 1:
                raise NoSuchStream(f"{name} must be at least 1, got {getattr(self, name)}")
        _ = self.curve  # refuses a rate that cannot be

    @property
    def curve(self) -> RateCurve:
        """Events per virtual second."""
        return RateCurve(self.rate, self.daily, self.day_s, self.gap_every_s, self.gap_s)

    def ending_by(self, now_ms: int, count: int, speed: float | None = None) -> ClickStream:
        """The same stream, started so that its virtual clock never passes the real one.

        Unpaced (``speed`` None), the first ``count`` events end at ``now_ms``; sent with a speed
        factor from ``now_ms`` on, the last of them arrives just when it is sent.
        """
        span = int(self._offsets(np.array([max(count - 1, 0)]))[0]) + 1
        ahead = 1.0 if speed is None else max(0.0, 1 - 1 / speed)
        return replace(self, start_ms=now_ms - math.ceil(span * ahead))

    def arrivals(self, ids: Ints) -> Ints:
        """When the events arrive on the virtual clock (ms since 1970), rising with the id."""
        return self.start_ms + self._offsets(ids)

    def due(self, now_ms: float) -> int:
        """How many events have arrived when the virtual clock shows ``now_ms``."""
        passed = (now_ms - self.start_ms) / 1000
        if passed < 0:
            return 0
        about = int(self.curve.arrived_by(passed))
        near = np.arange(max(about - 2, 0), about + 3)
        return int(near[0] + np.count_nonzero(self.arrivals(near) <= now_ms))

    def expected(self, first: int, last: int) -> pd.DataFrame:
        """What is sent for the ids from ``first`` up to but not including ``last``, for a Ledger.

        A row per message, in the order of sending: event_id, partition, arrival and timestamp
        (ms), reason (None when good), duplicate (bool), click_type (as generated, also where
        the message is bad). The duplicates that fall due within these ids are in, those of
        earlier ids too: blocks side by side give the whole stream.
        """
        places, ids = self._messages(first, last)
        reasons = np.array([*(reason.value for reason, _ in SPOILED), None], dtype=object)
        facts = {
            "event_id": ids,
            "partition": _hash(self.seed, "partition", self._visitor(ids)) % self.partitions,
            "arrival": self.arrivals(places),
            "timestamp": self._timestamps(ids),
            "reason": reasons[self._spoiled(ids)],
            "duplicate": places != ids,
            "click_type": _TYPES[_hash(self.seed, "name", ids) % len(NAMES)],
        }
        return pd.DataFrame(facts).astype({"partition": np.int32})

    def block(self, first: int, last: int) -> pa.Table:
        """The messages themselves: the columns of ``expected``, and key and value (bytes or null).

        The key is the visitor's tab id; visitors without one have none.
        """
        facts = self.expected(first, last)
        visitors = self._visitor(facts.event_id.to_numpy())
        _, keys = _visitors(self.seed, self.visitors)
        table = pa.table({name: pa.array(facts[name], from_pandas=True) for name in facts})
        for text in ("reason", "click_type"):  # of no type where there is none to look at
            place = table.column_names.index(text)
            table = table.set_column(place, text, table[text].cast(pa.string()))
        table = table.append_column("key", keys.take(pa.array(visitors)))
        return table.append_column("value", self._values(facts, visitors))

    def _offsets(self, ids: Ints) -> Ints:
        # The jitter stays within the event's own place, so arrivals never overtake each other.
        seconds = self.curve.time_of(ids + self._draw("jitter", ids))
        return np.floor(seconds * 1000).astype(np.int64)

    def _messages(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Of each message its place (the id at whose arrival it is sent) and its event id."""
        if not 0 <= first <= last:
            raise NoSuchStream(f"need 0 <= first <= last, got {first} and {last}")
        ids = np.arange(max(first - MAX_BEHIND, 0), last)
        again = ids[self._draw("again", ids) < self.duplicate_share]
        again = again[self._spoiled(again) == -1]
        due = again + 1 + _hash(self.seed, "behind", again) % MAX_BEHIND
        again, due = again[(due >= first) & (due < last)], due[(due >= first) & (due < last)]
        own = np.arange(first, last)
        places, sent = np.concatenate([own, due]), np.concatenate([own, again])
        order = np.lexsort((-sent, places))  # the event itself, then what is due behind it
        return places[order], sent[order]

    def _timestamps(self, ids: Ints) -> Ints:
        times, kinds = self.arrivals(ids), self._spoiled(ids)
        delays = 1 + _hash(self.seed, "delay", ids) % self.late_by_ms
        late = (self._draw("late", ids) < self.late_share) & (kinds == -1)
        times = np.where(late, times - delays, times)
        future = times + MAX_AHEAD_MS + 1 + delays
        negative = -1 - delays
        by_kind = [kinds == _kind(Reason.FUTURE), kinds == _kind(Reason.NEGATIVE)]
        return np.select(by_kind, [future, negative], times)

    def _spoiled(self, ids: Ints) -> Ints:
        """The index into SPOILED, or -1 for a good event."""
        kinds = _hash(self.seed, "kind", ids) % len(SPOILED)
        return np.where(self._draw("bad", ids) < self.bad_share, kinds, -1)

    def _values(self, facts: pd.DataFrame, visitors: Ints) -> pa.Array:
        """The JSON of Click.to_json, joined from whole columns; bad events are spoiled after."""
        ids = facts.event_id.to_numpy()
        tails, _ = _visitors(self.seed, self.visitors)
        names = _hash(self.seed, "name", ids) % len(NAMES)
        good = pc.binary_join_element_wise(
            '{"event_id":',
            pa.array(ids).cast(pa.string()),
            _names().take(pa.array(names)),
            pa.array(facts.timestamp.to_numpy()).cast(pa.string()),
            tails.take(pa.array(visitors)),
            "",
        ).cast(pa.binary())
        kinds = self._spoiled(ids)
        bad = np.flatnonzero(kinds >= 0)
        if not len(bad):
            return good
        clicks = [json.loads(value) for value in good.take(pa.array(bad)).to_pylist()]
        spoiled = [SPOILED[kind][1](click) for kind, click in zip(kinds[bad], clicks, strict=True)]
        return pc.replace_with_mask(good, pa.array(kinds >= 0), pa.array(spoiled, pa.binary()))

    def _visitor(self, ids: Ints) -> Ints:
        return _hash(self.seed, "visitor", ids) % self.visitors

    def _draw(self, what: str, ids: Ints) -> Floats:
        """Evenly spread between 0 and 1 (exclusive)."""
        return (_hash(self.seed, what, ids) >> 10) * 2.0**-53


def _kind(reason: Reason) -> int:
    return next(kind for kind, (r, _) in enumerate(SPOILED) if r is reason)


@lru_cache(maxsize=1)
def _names() -> pa.Array:
    return pa.array(
        f',"click_type":"{kind.value}","name":{json.dumps(name, ensure_ascii=False)},"timestamp":'
        for kind, name in NAMES
    )


@lru_cache(maxsize=8)
def _visitors(seed: int, visitors: int) -> tuple[pa.Array, pa.Array]:
    """Of each visitor the end of the JSON (browser, tab id) and the key; one in ten has no tab."""
    ids = np.arange(visitors)
    browsers = [BROWSERS[b] for b in _hash(seed, "browser", ids) % len(BROWSERS)]
    tabs = [f"tab-{v:05d}" if h % 10 else None for v, h in enumerate(_hash(seed, "tab", ids))]
    tails = [
        f',"browser":"{browser}"' + (f',"tab_id":"{tab}"' if tab else "") + "}"
        for browser, tab in zip(browsers, tabs, strict=True)
    ]
    return pa.array(tails), pa.array([t and t.encode() for t in tabs], pa.binary())


GOLDEN = 0x9E3779B97F4A7C15


def _hash(seed: int, what: str, ids: Ints) -> Ints:
    """63 random-looking bits for each id and purpose (splitmix64: Steele, Lea, Flood, 2014)."""
    state = np.array([seed % 2**64, zlib.crc32(what.encode())], dtype=np.uint64)
    start = _mix(_mix(state[:1]) + state[1:])
    return (_mix(start + ids.astype(np.uint64) * np.uint64(GOLDEN)) >> np.uint64(1)).view(np.int64)


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
