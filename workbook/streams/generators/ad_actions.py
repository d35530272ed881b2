"""Actions on invented ads, in Avro: each message a function of the parameters and its number."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbook.errors import Rejected
from workbook.streams.events.ad_actions import (
    HEAD,
    HORIZON_MS,
    MAX_AGE_MS,
    OSLO,
    SOURCES,
    VERSIONS,
    ActionType,
    Fate,
    decode,
    head,
)  # fmt: skip
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.clicks import BROWSERS
from workbook.streams.generators.streams import Floats, Ints, PacedStream, hashed, require_ids

ZIPF_EXPONENT = 1.3
"""The ad of rank r gets a share of all actions that is proportional to r ** -1.3."""

TYPE_WEIGHTS = dict(zip(ActionType, (0.82, 0.08, 0.02, 0.03, 0.01, 0.04), strict=True))
SOURCE_WEIGHTS = dict(zip(SOURCES, (0.55, 0.25, 0.05, 0.15), strict=True))

ODD_AD = "'); DROP TABLE ad_counts; --"
"""The id of the ad with rank 100: it's plain text to anybody who quotes it."""

UNKNOWN_ID = 2**31 - 7
"""A schema id that no registry has given."""

FAR_ONE_IN = 20
"""One repetition in this number arrives beyond the horizon of deduplication."""

SPOILED: tuple[Callable[[bytes, bytes], bytes], ...] = (
    lambda value, noise: bytes([1 + noise[0] % 255]) + value[1:],
    lambda value, noise: head(UNKNOWN_ID) + value[HEAD:],
    lambda value, noise: value[: HEAD + noise[0] % (len(value) - HEAD)],
    lambda value, noise: b"",
    # With its top bit set, no byte ends a number: no reader takes these for a record.
    lambda value, noise: value[:HEAD] + bytes(byte | 0x80 for byte in noise),
)
"""The kinds of bad messages: how a good value, and 32 random bytes, become a bad one."""

HOUR, DAY = 3_600_000, 86_400_000
Objects = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class AdActionStream(PacedStream):
    """An endless, repeatable stream of messages, one per number, with arrivals that never go back.

    ``ids`` are the schema ids that the registry gave to VERSIONS; ``old_version_share`` of the
    messages are written with version 0. An ad of ``ads`` is drawn by Zipf's law, a user of
    ``users`` evenly. Of the messages, ``no_ad_share`` lack the ad, ``owner_share`` are the owner's
    own, ``late_share`` carry an event time 1 hour to 3 days before their arrival, ``too_old_share``
    31 to 60 days, the others up to 2 seconds. ``bad_share`` are bad, of every kind in SPOILED.

    ``duplicate_share`` have the bytes and the partition of an earlier message, unless that one is
    such a repetition itself or is rejected. They arrive within about a minute, one in FAR_ONE_IN
    11 to 30 minutes later (longer at a rate of a few per second). No message is repeated twice.
    """

    BAD: ClassVar[Any] = SPOILED
    COUNTS: ClassVar[tuple[str, ...]] = ("partitions", "ads", "users", "rate")

    rate: float = 1157.0  # FINN's mean: 100 million a day
    ids: tuple[int, int] = (1, 2)
    ads: int = 20_000
    users: int = 500_000
    duplicate_share: float = 0.02
    late_share: float = 0.01
    too_old_share: float = 0.001
    owner_share: float = 0.05
    no_ad_share: float = 0.01
    bad_share: float = 0.005
    old_version_share: float = 0.1

    def expected(self, first: int, stop: int) -> pd.DataFrame:
        """Return the facts of the messages from ``first`` to ``stop`` (excluded), a row each.

        number, partition, arrival and time (ms), event_id, ad (or None), type, user, source, day
        (in Oslo), fate, reason (of those rejected or too old, else None), and again: True where a
        message is repeated beyond the horizon. A bad message has the facts that it was made from.
        """
        facts = self._columns(first, stop)
        reasons = self._why_rejected(facts)
        waited = facts["arrival"] - self.arrivals(facts["event_id"])
        repeated = facts["number"] != facts["event_id"]
        fates = np.full(len(reasons), Fate.ACCEPTED.value, dtype=object)
        for fate, those in (
            (Fate.TOO_OLD, facts["arrival"] - facts["time"] > MAX_AGE_MS),
            (Fate.FILTERED, facts["owner"] == 1),
            (Fate.DUPLICATE, repeated & (waited <= HORIZON_MS)),
            (Fate.REJECTED, pd.notna(reasons)),
        ):
            fates[those] = fate.value
        reasons[fates == Fate.TOO_OLD.value] = Reason.TOO_OLD.value
        known = ("number", "partition", "arrival", "time", "event_id", "user")
        return pd.DataFrame({name: facts[name] for name in known}).assign(
            ad=_names(self.ads)[facts["ad"]],
            type=_TYPES[facts["type"]],
            source=_SOURCES[facts["source"]],
            day=pd.to_datetime(facts["time"], unit="ms", utc=True).tz_convert(OSLO).date,
            fate=fates,
            reason=reasons,
            again=repeated & (waited > HORIZON_MS),
        )

    def block(self, first: int, last: int) -> pa.Table:
        """Return the messages: event_id, partition, arrival (ms), key (always null) and value."""
        facts = self._columns(first, last)
        columns = {name: pa.array(facts[name]) for name in ("event_id", "partition", "arrival")}
        good, bad = self._values(facts), pa.array(self._bad_values(facts), pa.binary())
        values = pc.replace_with_mask(good, pa.array(facts["kind"] >= 0), bad)
        return pa.table({**columns, "key": pa.nulls(len(values), pa.binary()), "value": values})

    # --- what a message says ----------------------------------------------------------------

    def _columns(self, first: int, last: int) -> dict[str, Ints]:
        """Return columns of numbers; ad, type, source and browser are places in their arrays."""
        require_ids(first, last)
        numbers = np.arange(first, last)
        ids = self._sources(numbers)
        ads = _weighted(np.arange(1.0, self.ads + 1) ** -ZIPF_EXPONENT, self._draw("ad", ids))
        return {
            "number": numbers,
            "event_id": ids,
            "arrival": self.arrivals(numbers),
            "partition": self._hash("partition", ids) % self.partitions,
            "kind": self._kinds(numbers),
            "ad": np.where(self._is("no_ad", ids), self.ads, ads),
            "type": _weighted(TYPE_WEIGHTS.values(), self._draw("type", ids)),
            "user": self._hash("user", ids) % self.users,
            "owner": self._is("owner", ids).astype(np.int64),
            "source": _weighted(SOURCE_WEIGHTS.values(), self._draw("source", ids)),
            "time": self.arrivals(ids) - self._delays(ids),
            "version": 1 - self._is("old_version", ids).astype(np.int64),
            "browser": self._hash("browser", ids) % len(BROWSERS),
        }

    def _delays(self, ids: Ints) -> Ints:
        drawn, more = self._draw("late", ids), self._hash("delay", ids)
        too_old, late = drawn < self.too_old_share, drawn < self.too_old_share + self.late_share
        delays = np.where(late, HOUR + more % (3 * DAY - HOUR), more % 2001)
        return np.where(too_old, 31 * DAY + more % (29 * DAY), delays)

    def _is(self, what: str, numbers: Ints) -> npt.NDArray[np.bool_]:
        return self._draw(what, numbers) < getattr(self, f"{what}_share")

    def _sources(self, numbers: Ints) -> Ints:
        """Return the number of the message whose bytes are sent: mostly its own.

        The numbers are cut into stretches of about a second. The place in its stretch says how many
        stretches before lies the repeated message, and a permutation of the places says where in
        there: so no message is repeated twice, and no other message must be looked at.
        """
        stretch = int(np.ceil(self.rate))
        before, places = _earlier(self.seed, stretch)
        place = numbers % stretch
        earlier = (numbers // stretch - before[place]) * stretch + places[place]
        again = self._is("duplicate", numbers) & ~self._is("bad", numbers) & (earlier >= 0)
        for unfit in ("duplicate", "no_ad", "bad"):
            again &= ~self._is(unfit, earlier)
        return np.where(again, earlier, numbers)

    # --- bytes ------------------------------------------------------------------------------

    def _values(self, facts: dict[str, Ints]) -> pa.Array:
        """Join what ``encode`` writes, from whole columns."""
        heads = pa.array([head(schema_id) for schema_id in self.ids])
        browser = np.where(facts["version"] == 0, len(BROWSERS), facts["browser"])
        return pc.binary_join_element_wise(
            heads.take(pa.array(facts["version"])),
            _longs(facts["event_id"]),
            _ads_in_avro(self.ads).take(pa.array(facts["ad"])),
            _in_avro(_TYPES).take(pa.array(facts["type"])),
            _longs(facts["user"]),
            pa.array([b"\x00", b"\x01"]).take(pa.array(facts["owner"])),
            _in_avro(_SOURCES).take(pa.array(facts["source"])),
            _longs(facts["time"]),
            pa.array([*_in_avro(BROWSERS).to_pylist(), b""]).take(pa.array(browser)),
            b"",
        )

    def _bad_values(self, facts: dict[str, Ints]) -> list[bytes]:
        bad = {name: column[facts["kind"] >= 0] for name, column in facts.items()}
        noise = np.stack([self._hash(f"noise {n}", bad["number"]) for n in range(4)], axis=1)
        good = zip(bad["kind"], self._values(bad).to_pylist(), noise, strict=True)
        return [SPOILED[kind](value, random.tobytes()) for kind, value, random in good]

    def _why_rejected(self, facts: dict[str, Ints]) -> Objects:
        """Return why each message is rejected, or None: of a bad one, its own bytes decide."""
        reasons = np.full(len(facts["number"]), None, dtype=object)
        reasons[facts["ad"] == self.ads] = Reason.NO_AD.value
        schemas = dict(zip(self.ids, VERSIONS, strict=True))
        bad = facts["kind"] >= 0
        arrivals = facts["arrival"][bad].tolist()
        values = self._bad_values(facts)
        reasons[bad] = [_reason(v, schemas, a) for v, a in zip(values, arrivals, strict=True)]
        return reasons


def prepare(topic: str, registry_url: str) -> dict[str, tuple[int, int]]:
    """Register both versions for the topic's values; returns what the stream needs of it: ids."""
    from workbook.kafka.registry import register

    first, second = (register(registry_url, f"{topic}-value", text) for text in VERSIONS)
    return {"ids": (first, second)}


def _reason(value: bytes, schemas: dict[int, str], arrival: int) -> str | None:
    try:
        decode(value, schemas, arrival)
    except Rejected as rejected:
        return str(rejected.reason)
    return None


def _weighted(weights: Iterable[float], draws: Floats) -> Ints:
    bounds = np.cumsum(np.fromiter(weights, float))
    return np.searchsorted(bounds / bounds[-1], draws, side="right")


@lru_cache(maxsize=8)
def _earlier(seed: int, stretch: int) -> tuple[Ints, Ints]:
    """Return for each place in a stretch: how many stretches before, and the place in there."""
    places = np.arange(stretch)
    drawn = (hashed(seed, "lag", places) >> 10) * 2.0**-53
    near = 1 + np.floor(59 * drawn**3).astype(np.int64)  # most are sent again at once
    far = 661 + hashed(seed, "far lag", places) % 1139
    is_far = hashed(seed, "far", places) % FAR_ONE_IN == 0
    return np.where(is_far, far, near), np.argsort(hashed(seed, "place", places))


# --- Avro -----------------------------------------------------------------------------------

_TYPES = np.array([kind.value for kind in TYPE_WEIGHTS], dtype=object)
_SOURCES = np.array(SOURCES, dtype=object)


@lru_cache(maxsize=8)
def _names(ads: int) -> Objects:
    """Return the ids of all ads by rank, and None as the last."""
    names = [f"ad-{rank:05d}" for rank in range(1, ads + 1)]
    names[99:100] = [ODD_AD] * len(names[99:100])
    return np.array([*names, None], dtype=object)


@lru_cache(maxsize=8)
def _ads_in_avro(ads: int) -> pa.Array:
    named = [b"\x02" + text for text in _in_avro(_names(ads)[:-1]).to_pylist()]
    return pa.array([*named, b"\x00"])  # a union of null and string


def _in_avro(texts: Objects | tuple[str, ...]) -> pa.Array:
    """Encode texts shorter than 64 bytes: twice the length (zigzag), and the text."""
    return pa.array([bytes([2 * len(text)]) + text.encode() for text in texts], pa.binary())


def _longs(numbers: Ints) -> pa.Array:
    """Encode numbers as Avro's longs: zigzag, seven bits a byte, the lowest first."""
    zigzag = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    rest = zigzag[:, None] >> np.arange(0, 70, 7, dtype=np.uint64)
    lengths = 1 + np.count_nonzero(rest[:, 1:], axis=1)
    place = np.arange(10)
    goes_on = place < lengths[:, None] - 1
    data = (rest & np.uint64(127)).astype(np.uint8) | goes_on.astype(np.uint8) << 7
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data[place < lengths[:, None]])]
    return pa.Array.from_buffers(pa.binary(), len(numbers), buffers)
