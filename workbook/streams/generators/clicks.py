"""Clicks of invented visitors: each event a function of the stream's parameters and its id."""

import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbook.kafka.partitioning import partition_of
from workbook.streams.events.clicks import MAX_AHEAD_MS, ClickType
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.streams import (
    Ints,
    PacedStream,
    RateCurve,
    Spoil,
    changed,
    encode,
    hashed,
    require_ids,
    spoiled,
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

_TYPES = np.array([kind.value for kind, _ in NAMES], dtype=object)

KEYLESS = -1
"""The partition of a visitor without a key: chosen for each event."""

SPOILED: tuple[tuple[Reason, Spoil], ...] = (
    (Reason.EMPTY, lambda key, click: (key, None)),
    (Reason.EMPTY, lambda key, click: (key, b"")),
    (Reason.MALFORMED, lambda key, click: (key, encode(click)[:-20])),
    (Reason.MALFORMED, lambda key, click: (key, encode(click) + b"}")),
    (Reason.MALFORMED, lambda key, click: (key, b"[" + encode(click) + b"]")),
    (Reason.MISSING, without("name")),
    (
        Reason.MISSING,
        lambda key, click: (key, encode(click | {"timestamp": str(click["timestamp"])})),
    ),
    (Reason.UNKNOWN_TYPE, changed(click_type="Scroll")),
    (Reason.NEGATIVE, changed()),
    (Reason.FUTURE, changed()),
)
"""The kinds of bad messages: the reason to expect, and how key and fields become the record.

The last two are spoiled by their timestamp alone.
"""


@dataclass(frozen=True, slots=True)
class ClickStream(PacedStream):
    """An endless, repeatable stream of clicks; event ids count from 0.

    ``rate`` is in events per virtual second, on average outside gaps; ``daily``, ``day_s``,
    ``gap_every_s`` and ``gap_s`` shape it (see RateCurve). Arrivals start at ``start_ms`` on the
    virtual clock (ms since 1970). Of the good events, ``late_share`` carry an event time 1 to
    ``late_by_ms`` before their arrival, and ``duplicate_share`` are sent once more, 1 to 100
    events later. ``bad_share`` of all events are bad, of every kind in SPOILED. A visitor's tab,
    the key, stays on one of the ``partitions``: the one that the partitioner of Kafka's Java client
    and of the package's producers chooses (murmur2). Visitors without a tab are spread over all.
    Raises NoSuchStream for values that describe no stream.
    """

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
        self._need_shares("late_share", "duplicate_share", "bad_share")
        self._need_at_least_one("partitions", "visitors", "late_by_ms")
        _ = self.curve  # refuses a rate that cannot be

    @property
    def curve(self) -> RateCurve:
        """Return the number of events per virtual second, over time."""
        return RateCurve(self.rate, self.daily, self.day_s, self.gap_every_s, self.gap_s)

    def expected(self, first: int, last: int) -> pd.DataFrame:
        """Return the facts of the messages for ids ``first`` to ``last`` (excluded), for a Ledger.

        A row per message, in the order of sending: event_id, partition, arrival and timestamp
        (ms), reason (None when good), duplicate (bool), click_type (as generated, also where
        the message is bad). The duplicates that fall due within these ids are in, those of
        earlier ids too: blocks side by side give the whole stream.
        """
        places, ids = self._messages(first, last)
        reasons = np.array([*(reason.value for reason, _ in SPOILED), None], dtype=object)
        facts = {
            "event_id": ids,
            "partition": self._partitions(ids),
            "arrival": self.arrivals(places),
            "timestamp": self._timestamps(ids),
            "reason": reasons[self._spoiled(ids)],
            "duplicate": places != ids,
            "click_type": _TYPES[self._hash("name", ids) % len(NAMES)],
        }
        return pd.DataFrame(facts)

    def block(self, first: int, last: int) -> pa.Table:
        """Return the messages: the columns of ``expected``, and key and value (bytes or null).

        The key is the visitor's tab id; visitors without one have none.
        """
        facts = self.expected(first, last)
        visitors = self._visitor(facts.event_id.to_numpy())
        _, keys = _visitors(self.seed, self.visitors)
        table = pa.table({name: pa.array(facts[name], from_pandas=True) for name in facts})
        for text in ("reason", "click_type"):  # of no type where there is none to look at
            column = table.column_names.index(text)
            table = table.set_column(column, text, table[text].cast(pa.string()))
        good, kinds = self._values(facts, visitors), self._spoiled(facts.event_id.to_numpy())
        keys, values = spoiled(
            keys.take(pa.array(visitors)), good, kinds, [how for _, how in SPOILED]
        )
        return table.append_column("key", keys).append_column("value", values)

    def _messages(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return each message's place (the id at whose arrival it is sent) and its event id."""
        require_ids(first, last)
        ids = np.arange(max(first - MAX_BEHIND, 0), last)
        again = ids[self._draw("again", ids) < self.duplicate_share]
        again = again[self._spoiled(again) == -1]
        due = again + 1 + self._hash("behind", again) % MAX_BEHIND
        again, due = again[(due >= first) & (due < last)], due[(due >= first) & (due < last)]
        own = np.arange(first, last)
        places, sent = np.concatenate([own, due]), np.concatenate([own, again])
        order = np.lexsort((-sent, places))  # the event itself, then what is due behind it
        return places[order], sent[order]

    def _timestamps(self, ids: Ints) -> Ints:
        times, kinds = self.arrivals(ids), self._spoiled(ids)
        delays = 1 + self._hash("delay", ids) % self.late_by_ms
        late = (self._draw("late", ids) < self.late_share) & (kinds == -1)
        times = np.where(late, times - delays, times)
        future = times + MAX_AHEAD_MS + 1 + delays
        negative = -1 - delays
        by_kind = [kinds == _kind(Reason.FUTURE), kinds == _kind(Reason.NEGATIVE)]
        return np.select(by_kind, [future, negative], times)

    def _spoiled(self, ids: Ints) -> Ints:
        """Return the index into SPOILED, or -1 for a good event."""
        return self._kind_of_bad(ids, len(SPOILED), self.bad_share)

    def _values(self, facts: pd.DataFrame, visitors: Ints) -> pa.Array:
        """Join the JSON of Click.to_json from whole columns."""
        ids = facts.event_id.to_numpy()
        tails, _ = _visitors(self.seed, self.visitors)
        names = self._hash("name", ids) % len(NAMES)
        return pc.binary_join_element_wise(
            '{"event_id":',
            pa.array(ids).cast(pa.string()),
            _names().take(pa.array(names)),
            pa.array(facts.timestamp.to_numpy()).cast(pa.string()),
            tails.take(pa.array(visitors)),
            "",
        ).cast(pa.binary())

    def _partitions(self, ids: Ints) -> npt.NDArray[np.int32]:
        of_key = _partitions(self.seed, self.visitors, self.partitions)[self._visitor(ids)]
        anywhere = self._hash("partition", ids) % self.partitions
        return np.where(of_key == KEYLESS, anywhere, of_key).astype(np.int32)

    def _visitor(self, ids: Ints) -> Ints:
        return self._hash("visitor", ids) % self.visitors


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
    """Return each visitor's end of the JSON (browser, tab id) and key; one in ten has no tab."""
    ids = np.arange(visitors)
    browsers = [BROWSERS[b] for b in hashed(seed, "browser", ids) % len(BROWSERS)]
    tabs = [f"tab-{v:05d}" if h % 10 else None for v, h in enumerate(hashed(seed, "tab", ids))]
    tails = [
        f',"browser":"{browser}"' + (f',"tab_id":"{tab}"' if tab else "") + "}"
        for browser, tab in zip(browsers, tabs, strict=True)
    ]
    return pa.array(tails), pa.array([t and t.encode() for t in tabs], pa.binary())


@lru_cache(maxsize=8)
def _partitions(seed: int, visitors: int, partitions: int) -> npt.NDArray[np.int32]:
    """Return each visitor's partition, which follows from the key, or KEYLESS."""
    keys: list[bytes | None] = _visitors(seed, visitors)[1].to_pylist()
    found = np.full(visitors, KEYLESS, np.int32)
    keyed = [visitor for visitor, key in enumerate(keys) if key is not None]
    found[keyed] = partition_of([key for key in keys if key is not None], partitions)
    return found
