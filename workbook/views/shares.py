"""Who shares a topic: keys with their partitions, and partitions with the members of a group."""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from workbook.views.picture import number

Key = str | None
"""A record's key as text; None where a record has none."""

Step = tuple[str, str, Collection[int]]
"""A callback of a rebalance: a member, "assigned", "revoked" or "lost", and the partitions."""

NAMED = 3
"""So many keys that lie in several partitions are named, and so many of their partitions."""

SAMPLE = 100_000
"""Of more records so many are counted, taken at random."""


@dataclass(frozen=True)
class Shares:
    """A topic of ``partitions``: how many records each key has in each, and who reads which.

    ``reads`` is None where readers aren't the subject; ``log`` has the group's steps so far.
    ``sampled_of`` is how many records there were where only a sample was counted, else 0.
    """

    partitions: int
    records: Mapping[tuple[Key, int], int] = field(default_factory=dict)
    reads: Mapping[str, Collection[int]] | None = None
    log: Sequence[Step] = ()
    sampled_of: int = 0

    @cached_property
    def of_key(self) -> Mapping[Key, int]:
        """Count the records of each key, and under None those without one."""
        totals: defaultdict[Key, int] = defaultdict(int)
        for (key, _), count in self.records.items():
            totals[key] += count
        return totals

    @cached_property
    def of_partition(self) -> Mapping[int, int]:
        totals: defaultdict[int, int] = defaultdict(int)
        for (_, partition), count in self.records.items():
            totals[partition] += count
        return totals

    @cached_property
    def homes(self) -> Mapping[Key, list[int]]:
        """Return the partitions of each key; those of None have records without a key."""
        found: dict[Key, list[int]] = {}
        for key, partition in self.records:
            if key in found:
                found[key].append(partition)
            else:
                found[key] = [partition]
        return found

    @cached_property
    def keys(self) -> int:
        return len(self.homes) - (None in self.homes)

    def busiest(self, count: int, *, torn: bool = False) -> list[str]:
        """Return the keys with the most records; with ``torn`` those in several partitions."""
        totals, homes = self.of_key, self.homes
        keys = [key for key, places in homes.items() if len(places) > 1] if torn else homes
        found = ((-totals[key], key) for key in keys if key is not None)
        return [key for _, key in heapq.nsmallest(count, found)]

    def readers_of(self, partition: int) -> list[str]:
        return [name for name, held in (self.reads or {}).items() if partition in held]

    @cached_property
    def unread(self) -> list[int]:
        """Return the partitions without a reader; none where readers aren't the subject."""
        known = range(self.partitions if self.reads is not None else 0)
        return [partition for partition in known if not self.readers_of(partition)]

    @cached_property
    def history(self) -> list[dict[str, set[int]]]:
        """Return who had which partitions: before the first step, and after each one."""
        held = {name: set(those) for name, those in (self.reads or {}).items()}
        states = [held]
        for name, what, those in reversed(self.log):
            held = {each: set(its) for each, its in held.items()}
            its = held.setdefault(name, set())
            held[name] = its - set(those) if what == "assigned" else its | set(those)
            states.append(held)
        return states[::-1]

    @cached_property
    def hands(self) -> tuple[int, int, int]:
        """Count what was taken away, what another member got of it, and what came back."""
        taken = moved = back = 0
        former: dict[int, str] = {}
        for name, what, those in self.log:
            for partition in those:
                if what != "assigned":
                    taken += 1
                    former[partition] = name
                elif partition in former:
                    same = former.pop(partition) == name
                    moved, back = moved + (not same), back + same
        return taken, moved, back


def shares(
    partitions: int,
    written: Iterable[tuple[str | bytes | None, int]] = (),
    reads: Mapping[str, Collection[int]] | None = None,
    log: Sequence[Step] = (),
) -> Shares:
    """Count records, each given as key and partition; of more than 100,000 a sample."""
    given = list(written)
    counted = random.Random(0).sample(given, SAMPLE) if len(given) > SAMPLE else given
    records: Mapping[tuple[Any, int], int] = Counter(counted)
    if any(isinstance(key, bytes) for key, _ in records):
        records = {(_text(key), place): count for (key, place), count in records.items()}
    reads = None if reads is None else {name: set(those) for name, those in dict(reads).items()}
    seen = [partition for _, partition in records]
    seen += [partition for those in (reads or {}).values() for partition in those]
    most = max(partitions, max(seen, default=-1) + 1)
    return Shares(most, records, reads, list(log), len(given) if counted is not given else 0)


def described(all_of: Shares, drawn: int, mark: str = "") -> str:
    """Describe who writes where, ``mark`` by name, who reads what, and what changed hands."""
    parts = _written(all_of, drawn)
    if mark and mark in all_of.homes:
        parts.append(f"{mark} lies in {_places(all_of.homes[mark])}.")
    return " ".join([*parts, *_read(all_of), *_handed(all_of)])


def ranges(numbers: Iterable[int]) -> str:
    """Write numbers in short: 0, 1, 2 and 5 as "0–2, 5"."""
    runs: list[list[int]] = []
    for each in sorted(numbers):
        if runs and each == runs[-1][-1] + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ", ".join(
        f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def _text(key: str | bytes | None) -> Key:
    return key.decode(errors="backslashreplace") if isinstance(key, bytes) else key


def _written(all_of: Shares, drawn: int) -> list[str]:
    if not all_of.records:
        return ["The topic is empty."] if all_of.reads is None else []
    counts = [all_of.of_partition[partition] for partition in range(all_of.partitions)]
    each = f"between {min(counts):,} and {max(counts):,} in each"
    if len(counts) <= 8:
        each = ", ".join(f"{count:,}" for count in counts)
    where = number(len(counts), "partition")
    sample = f"A sample of {sum(counts):,} of " if all_of.sampled_of else ""
    records = number(all_of.sampled_of or sum(counts), "record")
    said = [f"{sample}{records} in {where}: {each}."]
    if all_of.keys:
        said.append(_of_keys(all_of, drawn))
    if count := all_of.of_key[None]:
        has = "has no key and lies" if count == 1 else "have no key and lie"
        said.append(f"{number(count, 'record')} {has} in {_places(all_of.homes[None])}.")
    return said


def _of_keys(all_of: Shares, drawn: int) -> str:
    more = f", {drawn} of them drawn" if drawn < all_of.keys else ""
    said = f"{number(all_of.keys, 'key')}{more}; "
    torn = all_of.busiest(all_of.keys, torn=True)
    if not torn:
        return said + ("it lies" if all_of.keys == 1 else "each lies") + " in one partition."
    named = [f"{key} in {_some(all_of.homes[key])}" for key in torn[:NAMED]]
    rest = f"; and {len(torn) - NAMED:,} more" if len(torn) > NAMED else ""
    lies = "lies" if len(torn) == 1 else "lie"
    return f"{said}{len(torn):,} {lies} in several partitions ({'; '.join(named)}{rest})."


def _some(places: Sequence[int]) -> str:
    return ranges(places) if len(places) <= NAMED else f"{len(places)} partitions"


def _read(all_of: Shares) -> list[str]:
    if all_of.reads is None:
        return []
    held = [
        f"{name} reads {_places(its) if its else 'nothing'}" for name, its in all_of.reads.items()
    ]
    said = ["; ".join(held) + "." if held else "The group has no member."]
    if all_of.unread:
        said.append(f"Nobody reads {_places(all_of.unread)}.")
    for partition in range(all_of.partitions):
        if len(names := all_of.readers_of(partition)) > 1:
            said.append(f"Partition {partition} has {len(names)} readers: {', '.join(names)}.")
    return said


def _places(partitions: Collection[int]) -> str:
    return f"partition{'s' * (len(partitions) > 1)} {ranges(partitions)}"


def _handed(all_of: Shares) -> list[str]:
    if not all_of.log:
        return []
    taken, moved, back = all_of.hands
    times = {0: "No hand-over", 1: "One hand-over of a partition"}
    said = times.get(moved, f"{moved} hand-overs of partitions")
    counts = (
        (taken, "taken away"),
        (moved, "given to another reader"),
        (back, "given back to the same one"),
        (taken - moved - back, "not yet given to anybody"),
    )
    why = ", ".join(f"{count} {what}" for count, what in counts if count)
    return [f"{said}: {why}." if why else f"{said}."]
