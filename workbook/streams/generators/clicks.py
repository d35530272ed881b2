"""Clicks of invented visitors: each event a function of the stream's parameters and its id."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from workbook.kafka.partitioning import partition_of
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.fields import MAX_AHEAD_MS
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.streams import (
    Facts,
    Ints,
    Kinds,
    Messages,
    PacedStream,
    changed,
    encode,
    hashed,
    require_ids,
    without,
)

MAX_BEHIND = 100
"""A duplicate follows its original within this number of events."""

BROWSERS = ("Firefox", "Chrome", "Safari", "Edge", "Opera")
PAGES = (
    ["/home"] * 6
    + [f"/product/{n}" for n in (7, 12, 19, 23, 42, 77, 101, 123)]
    + ["/search?q=shoes", "/search?q=Müsli", "/category/garden", "/category/toys"]
    + ["/basket", "/basket", "/checkout", "/account"]
)
ACTIONS = ["add-to-basket"] * 3 + ["remove-from-basket", "add-to-wishlist", "order"]
NAMES = [(ClickType.PAGE, page) for page in PAGES] + [(ClickType.ACTION, a) for a in ACTIONS]

_KINDS = np.array([kind for kind, _ in NAMES], object)
_TYPES = np.array([kind.value for kind, _ in NAMES], object)
_NAMES = np.array([name for _, name in NAMES], object)

KEYLESS = -1
"""The partition of a visitor without a key: chosen for each event."""

SPOILED: Kinds = (
    (Reason.EMPTY, lambda key, click: (key, None)),
    (Reason.EMPTY, lambda key, click: (key, b"")),
    (Reason.MALFORMED, lambda key, click: (key, encode(click)[:-20])),
    (Reason.MALFORMED, lambda key, click: (key, encode(click) + b"}")),
    (Reason.MALFORMED, lambda key, click: (key, b"[" + encode(click) + b"]")),
    (Reason.MISSING, without("name")),
    (Reason.MISSING, changed(timestamp="now")),
    (Reason.UNKNOWN_TYPE, changed(click_type="Scroll")),
    (Reason.NEGATIVE, changed()),
    (Reason.FUTURE, changed()),
)
"""The kinds of bad messages: the reason to expect, and how key and fields become the record.

The last two are spoiled by their timestamp alone.
"""

NEGATIVE, FUTURE = len(SPOILED) - 2, len(SPOILED) - 1


@dataclass(frozen=True, slots=True)
class ClickStream(PacedStream):
    """An endless, repeatable stream of clicks; event ids count from 0.

    Of the good events, ``late_share`` carry an event time 1 to ``late_by_ms`` before their arrival,
    and ``duplicate_share`` are sent once more, 1 to 100 events later. A visitor's tab, the key,
    stays on one of the ``partitions``: the one that Kafka's Java client chooses (murmur2). Visitors
    without a tab are spread over all.

    Facts: event_id, partition, arrival and timestamp (ms), reason (None when good), duplicate
    (bool), click_type (as generated, also where the message is bad). Duplicates are with the ids
    at which they fall due.
    """

    BAD: ClassVar[Kinds] = SPOILED
    COUNTS: ClassVar[tuple[str, ...]] = ("partitions", "visitors", "late_by_ms")

    visitors: int = 1000
    daily: float = 0.5
    late_share: float = 0.0
    late_by_ms: int = 30_000

    def _facts(self, places: Ints, ids: Ints) -> Facts:
        return {
            "event_id": ids,
            "partition": self._partitions(ids),
            "arrival": self.arrivals(places),
            "timestamp": self._timestamps(ids),
            "reason": self._reasons(ids),
            "duplicate": places != ids,
            "click_type": _TYPES[self._name(ids)],
        }

    def _messages(self, ids: Ints, facts: Facts) -> Messages:
        at, name = self._visitor(ids), self._name(ids)
        browsers, tabs, keys = (each[at].tolist() for each in _visitors(self.seed, self.visitors))
        kinds, names = _KINDS[name].tolist(), _NAMES[name].tolist()
        times = facts["timestamp"].tolist()
        return keys, map(Click, ids.tolist(), kinds, names, times, browsers, tabs)

    def _sent(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return each message's place (the id at whose arrival it is sent) and its event id."""
        require_ids(first, last)
        ids = np.arange(max(first - MAX_BEHIND, 0), last)
        again = ids[self._draw("again", ids) < self.duplicate_share]
        again = again[self._kinds(again) == -1]
        due = again + 1 + self._hash("behind", again) % MAX_BEHIND
        again, due = again[(due >= first) & (due < last)], due[(due >= first) & (due < last)]
        own = np.arange(first, last)
        places, sent = np.concatenate([own, due]), np.concatenate([own, again])
        order = np.lexsort((-sent, places))  # the event itself, then what is due behind it
        return places[order], sent[order]

    def _timestamps(self, ids: Ints) -> Ints:
        times, kinds = self.arrivals(ids), self._kinds(ids)
        delays = 1 + self._hash("delay", ids) % self.late_by_ms
        late = (self._draw("late", ids) < self.late_share) & (kinds == -1)
        times = np.where(late, times - delays, times)
        times = np.where(kinds == FUTURE, times + MAX_AHEAD_MS + 1 + delays, times)
        return np.where(kinds == NEGATIVE, -1 - delays, times)

    def _partitions(self, ids: Ints) -> npt.NDArray[np.int32]:
        of_key = _partitions(self.seed, self.visitors, self.partitions)[self._visitor(ids)]
        anywhere = self._hash("partition", ids) % self.partitions
        return np.where(of_key == KEYLESS, anywhere, of_key).astype(np.int32)

    def _name(self, ids: Ints) -> Ints:
        return self._hash("name", ids) % len(NAMES)

    def _visitor(self, ids: Ints) -> Ints:
        return self._hash("visitor", ids) % self.visitors


@lru_cache(maxsize=8)
def _visitors(seed: int, visitors: int) -> tuple[npt.NDArray[np.object_], ...]:
    """Return each visitor's browser, tab id and key; one in ten has no tab."""
    ids = np.arange(visitors)
    browsers = np.array(BROWSERS, object)[hashed(seed, "browser", ids) % len(BROWSERS)]
    tabs = [f"tab-{v:05d}" if h % 10 else None for v, h in enumerate(hashed(seed, "tab", ids))]
    keys = [tab and tab.encode() for tab in tabs]
    return browsers, np.array(tabs, object), np.array(keys, object)


@lru_cache(maxsize=8)
def _partitions(seed: int, visitors: int, partitions: int) -> npt.NDArray[np.int32]:
    """Return each visitor's partition, which follows from the key, or KEYLESS."""
    keys: list[bytes | None] = _visitors(seed, visitors)[2].tolist()
    found = np.full(visitors, KEYLESS, np.int32)
    keyed = [visitor for visitor, key in enumerate(keys) if key is not None]
    found[keyed] = partition_of([key for key in keys if key is not None], partitions)
    return found
