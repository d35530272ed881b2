"""A day of readings that phones send, with one of six hidden characters (chapter 60)."""

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbook.kafka.partitioning import partition_of

READINGS, PHONES, PARTITIONS = 20_000, 40, 4
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
KEYS = [f"phone-{number:02d}".encode() for number in range(PHONES)]

Ints = npt.NDArray[np.int64]
Random = np.random.Generator


class Character(StrEnum):
    """What sets a day apart from a plain one."""

    TUNNELS = "tunnels"
    NIGHT = "a silent night"
    CLOCK = "a wrong clock"
    REPLAY = "a replayed hour"
    GIANT = "a giant key"
    HASHES = "two hashes"


@dataclass
class _Day:
    """Columns with an item per record; times are in ms from the begin of the day."""

    phone: Ints
    reading: npt.NDArray[np.float64]
    at: Ints
    arrival: Ints
    partition: Ints

    def pick(self, rows: npt.NDArray[np.int64]) -> "_Day":
        return _Day(*(column[rows] for column in vars(self).values()))


@dataclass(frozen=True)
class HiddenDay:
    """About 20,000 readings in four partitions; the ``seed`` draws them, and the character.

    The six characters: groups of phones in tunnels, whose readings arrive minutes later in a burst;
    a partition without a record for seven hours; a phone whose clock is hours ahead or behind; an
    hour that is sent twice; a phone with four of ten readings; two producers with different hashes.
    """

    seed: int

    @property
    def character(self) -> Character:
        """Return what is hidden in this day."""
        return [*Character][int(np.random.default_rng(self.seed).integers(len(Character)))]

    def block(self, ending: int) -> pa.Table:
        """Return the records in the order of their arrival, the last one at ``ending`` (ms).

        Columns: key (the phone), value (JSON: device, reading, and at in ms), partition, arrival.
        """
        random = np.random.default_rng([self.seed, READINGS])
        at = np.sort(random.integers(0, DAY_MS, READINGS))
        phone = random.integers(0, PHONES, READINGS)
        travels = 20 + random.exponential(1_500.0, READINGS).astype(np.int64)
        reading = random.normal(20.0, 3.0, READINGS).round(1)
        plain = _Day(phone, reading, at, at + travels, _homes()[phone])
        day = _CHANGES[self.character](plain, random)
        day = day.pick(np.argsort(day.arrival, kind="stable"))
        begin = ending - int(day.arrival[-1])
        values = zip(day.phone, day.reading.tolist(), (day.at + begin).tolist(), strict=True)
        return pa.table({
            "key": pa.array([KEYS[number] for number in day.phone]),
            "value": pa.array([
                json.dumps({"device": KEYS[number].decode(), "reading": one, "at": ms}).encode()
                for number, one, ms in values
            ]),
            "partition": pa.array(day.partition),
            "arrival": pa.array(day.arrival + begin),
        })  # fmt: skip


def _homes() -> Ints:
    """Return each phone's partition, as the Java client chooses it."""
    return partition_of(KEYS, PARTITIONS).astype(np.int64)


def _tunnels(day: _Day, random: Random) -> _Day:
    for begin in random.integers(0, DAY_MS - HOUR_MS, 60).tolist():
        end = begin + int(random.integers(3, 15)) * MINUTE_MS
        inside = (day.phone % 8 == random.integers(8)) & (day.at >= begin) & (day.at < end)
        burst = end + random.integers(20, 2_000, len(day.at))
        day.arrival = np.where(inside, np.maximum(day.arrival, burst), day.arrival)
    return day


def _night(day: _Day, random: Random) -> _Day:
    begin = int(random.integers(4, 12)) * HOUR_MS
    silent = (day.at >= begin) & (day.at < begin + 7 * HOUR_MS)
    return day.pick(np.flatnonzero(~silent | (day.partition != random.integers(PARTITIONS))))


def _clock(day: _Day, random: Random) -> _Day:
    wrong_by = int(random.choice((-1, 1)) * random.integers(2, 6)) * HOUR_MS
    day.at = day.at + wrong_by * (day.phone == random.integers(PHONES))
    return day


def _replay(day: _Day, random: Random) -> _Day:
    begin = int(random.integers(2, 17)) * HOUR_MS
    again = np.flatnonzero((day.at >= begin) & (day.at < begin + HOUR_MS))
    both = day.pick(np.concatenate([np.arange(len(day.at)), again]))
    restart = begin + int(random.integers(3, 6)) * HOUR_MS
    both.arrival[len(day.at) :] = restart + (day.arrival[again] - begin) // 15
    return both


def _giant(day: _Day, random: Random) -> _Day:
    day.phone = np.where(random.random(len(day.at)) < 0.4, random.integers(PHONES), day.phone)
    day.partition = _homes()[day.phone]
    return day


def _hashes(day: _Day, random: Random) -> _Day:
    other = np.array([zlib.crc32(key) % PARTITIONS for key in KEYS])  # librdkafka's default
    day.partition = np.where(random.random(len(day.at)) < 0.5, other[day.phone], day.partition)
    return day


_CHANGES: dict[Character, Callable[[_Day, Random], _Day]] = {
    Character.TUNNELS: _tunnels, Character.NIGHT: _night, Character.CLOCK: _clock,
    Character.REPLAY: _replay, Character.GIANT: _giant, Character.HASHES: _hashes,
}  # fmt: skip
