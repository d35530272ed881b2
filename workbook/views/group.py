"""A topic's partitions in lines: which keys they have, who reads them, and who did so before."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from workbook.views.picture import Picture, number
from workbook.views.strip import Look, Strip

WRITES = "Who writes where: find each key, and its partition"
READS = "Who reads what: each partition has one reader of the group"
STEP_BY_STEP = f"{READS}. The squares: who had it, step by step; hatched: nobody"
BUSIEST, NAMED, STEPS = 12, 3, 16
"""Keys that are drawn, those with the most records; torn keys that are named; a group's steps that
are drawn, the newest ones."""

TORN, LETTERS = "⇉ ", 16
"""The sign of a key in several partitions, and letters of a key that are drawn."""

Key = str | None
"""A record's key as text; None where a record has none."""

Step = tuple[str, str, Collection[int]]
"""A callback of a rebalance: a member, "assigned", "revoked" or "lost", and the partitions."""

Held = Mapping[str, Collection[int]]
"""The partitions of each member."""


def who_writes(
    written: Iterable[tuple[str | bytes | None, int]],
    partitions: int,
    *,
    mark: str = "",
    caption: str = WRITES,
) -> Picture:
    """Draw each partition with its keys, from the key and partition of each record.

    Of many keys the twelve with the most records are drawn, and ``mark`` in any case, in bold.
    """
    records = _Written(written)
    partitions = max(partitions, records.partitions)
    strip = _lines(partitions, records, records.drawn(mark), mark)
    words = " ".join(records.words(partitions, mark)) or "The topic is empty."
    rows = [_row(partition, records) for partition in range(partitions)]
    return Picture(strip, caption, words, rows)


def who_reads(
    owned: Held,
    log: Sequence[Step],
    partitions: int,
    *,
    written: Iterable[tuple[str | bytes | None, int]] = (),
    caption: str = "",
) -> Picture:
    """Draw which member of a group owns which partitions, and what its callbacks were called with.

    ``log`` has member, "assigned", "revoked" or "lost", and partitions. Both may change meanwhile.
    """
    owned, log = {name: set(those) for name, those in dict(owned).items()}, list(log)
    records = _Written(written)
    seen = [partition for those in owned.values() for partition in those]
    partitions = max(partitions, records.partitions, max(seen, default=-1) + 1)
    history = _history(owned, log)[-STEPS:]
    strip = _lines(partitions, records, records.drawn(""), "", history)
    words = [*records.words(partitions), *_read(owned, partitions), *_handed(log)]
    rows = [_row(partition, records, history, log) for partition in range(partitions)]
    return Picture(strip, caption or (STEP_BY_STEP if log else READS), " ".join(words), rows)


class _Written:
    """How many records each key has in each partition."""

    def __init__(self, written: Iterable[tuple[str | bytes | None, int]]) -> None:
        self.records: Counter[tuple[Key, int]] = Counter()
        for (key, partition), count in Counter(written).items():
            self.records[_text(key), partition] += count
        self.of_key: Counter[Key] = Counter()
        self.of_partition: Counter[int] = Counter()
        self.homes: defaultdict[Key, list[int]] = defaultdict(list)
        for (key, partition), count in self.records.items():
            self.of_key[key] += count
            self.of_partition[partition] += count
            self.homes[key].append(partition)
        self.partitions = max(self.of_partition, default=-1) + 1
        self.keys = len(self.homes) - (None in self.homes)

    def busiest(self, keys: Iterable[Key], count: int) -> list[str]:
        found = ((-self.of_key[key], key) for key in keys if key is not None)
        return [key for _, key in heapq.nsmallest(count, found)]

    def drawn(self, mark: str) -> list[Key]:
        """Return the busiest keys, the marked one, and None for records without a key."""
        busiest: list[Key] = [*self.busiest(self.homes, BUSIEST)]
        if mark in self.homes and mark not in busiest:
            busiest[-1] = mark
        return [*busiest, None] if None in self.homes else busiest

    def words(self, partitions: int, mark: str = "") -> list[str]:
        """Describe who writes where, ``mark`` by name."""
        if not self.records:
            return []
        counts = [self.of_partition[partition] for partition in range(partitions)]
        each = f"between {min(counts):,} and {max(counts):,} in each"
        if partitions <= 8:
            each = ", ".join(f"{count:,}" for count in counts)
        records = number(sum(counts), "record")
        said = [f"{records} in {number(partitions, 'partition')}: {each}."]
        if self.keys:
            said.append(self._of_keys())
        if count := self.of_key[None]:
            said.append(f"{number(count, 'record')} without a key in {_places(self.homes[None])}.")
        return [*said, f"{mark} is in {_places(self.homes[mark])}."] if mark in self.homes else said

    def _of_keys(self) -> str:
        more = f", {BUSIEST} of them drawn" if self.keys > BUSIEST else ""
        said = f"{number(self.keys, 'key')}{more}; "
        torn = [key for key, places in self.homes.items() if key is not None and len(places) > 1]
        if not torn:
            return f"{said}each in one partition."
        named = [f"{key} in {ranges(self.homes[key])}" for key in self.busiest(torn, NAMED)]
        rest = f"; and {len(torn) - NAMED:,} more" if len(torn) > NAMED else ""
        return f"{said}{len(torn):,} in several partitions ({'; '.join(named)}{rest})."


def _text(key: str | bytes | None) -> Key:
    return key.decode(errors="backslashreplace") if isinstance(key, bytes) else key


def _history(owned: Held, log: Sequence[Step]) -> list[Held]:
    """Return who had which partitions: before the first step, and after each one."""
    states = [owned]
    for name, what, those in reversed(log):
        held = {each: set(its) for each, its in states[-1].items()}
        its = held.setdefault(name, set())
        held[name] = its - set(those) if what == "assigned" else its | set(those)
        states.append(held)
    return states[::-1]


def _lines(
    partitions: int, written: _Written, keys: Sequence[Key], mark: str,
    history: Sequence[Held] = (),
) -> Strip:  # fmt: skip
    """Draw a line per partition; what isn't known has no column."""
    steps = history[:-1] and history
    strip = Strip(3 + len(steps), widest=20)
    strip.next("keys · records" if written.records else "")
    for column, title in enumerate(("partition", "records", "read by")):
        if title == "partition" or (history if title == "read by" else written.records):
            strip.text(column, title, bold=True)
    if steps:
        strip.bracket(3, 3 + len(steps), "had by, step by step, until now")
    for partition in range(partitions):
        strip.next(_named(partition, written, keys, mark), bold=False)
        strip.cell(0, str(partition), title=f"partition {partition}", bold=True)
        if written.records:
            strip.text(1, _bar(partition, written), align="left")
        if history:
            now = _holders(history[-1], partition)
            strip.cell(2, now or "✗ nobody", Look.ROUND if now else Look.HATCHED)
        for column, held in enumerate(steps, 3):
            name = _holders(held, partition)
            look = Look.PLAIN if name else Look.HATCHED
            title = f"partition {partition}: {name or 'nobody'}"
            strip.cell(column, name[:2], look, title=title)
    for name in (name for name, its in (history[-1] if history else {}).items() if not its):
        strip.note(f"{name} reads nothing")
    if any(len(written.homes[key]) > 1 for key in keys if key is not None):
        strip.note(f"{TORN}: a key in several partitions")
    return strip


def _named(partition: int, written: _Written, keys: Sequence[Key], mark: str) -> str:
    """Name the keys of a partition with the number of their records."""
    its = [key for key in keys if partition in written.homes[key]]
    signs = {
        key: TORN * (key is not None and len(written.homes[key]) > 1) + "▶ " * (key == mark)
        for key in its
    }
    names = {key: "no key" if key is None else key[:LETTERS] or "(empty)" for key in its}
    said = [f"{signs[key]}{names[key]} · {written.records[key, partition]:,}" for key in its]
    return ",  ".join(said)


def _bar(partition: int, written: _Written) -> str:
    count, most = written.of_partition[partition], max(written.of_partition.values())
    return f"{'█' * round(8 * count / most)} {count:,}"


def _holders(held: Held, partition: int) -> str:
    return "+".join(name for name, its in held.items() if partition in its)


def _row(
    partition: int, written: _Written, history: Sequence[Held] = (), log: Sequence[Step] = ()
) -> dict[str, Any]:
    row: dict[str, Any] = {"partition": partition}
    if written.records:
        its = [key for key, place in written.records if place == partition and key is not None]
        row |= {"records": written.of_partition[partition], "keys": len(its)}
    if history:
        row["read by"] = _holders(history[-1], partition) or "nobody"
    if log:
        row["had by, step by step"] = " ".join(_holders(h, partition) or "–" for h in history)
    return row


def _read(owned: Held, partitions: int) -> list[str]:
    """Describe who reads what."""
    held = [f"{name} reads {_places(its) if its else 'nothing'}" for name, its in owned.items()]
    said = ["; ".join(held) + "." if held else "The group has no member."]
    readers = {p: [name for name, its in owned.items() if p in its] for p in range(partitions)}
    if unread := [partition for partition, names in readers.items() if not names]:
        said.append(f"Nobody reads {_places(unread)}.")
    return said + [
        f"Partition {partition} has {len(names)} readers: {', '.join(names)}."
        for partition, names in readers.items()
        if len(names) > 1
    ]


def _handed(log: Sequence[Step]) -> list[str]:
    """Describe what was taken away, what another member got of it, and what came back."""
    if not log:
        return []
    taken = moved = back = 0
    former: dict[int, str] = {}
    for name, what, those in log:
        for partition in those:
            if what != "assigned":
                taken += 1
                former[partition] = name
            elif partition in former:
                same = former.pop(partition) == name
                moved, back = moved + (not same), back + same
    counts = {
        "taken away": taken,
        "given to another reader": moved,
        "given back to the same one": back,
        "not yet given to anybody": taken - moved - back,
    }
    why = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    said = f"{number(moved, 'hand-over')} of partitions"
    return [f"{said}: {why}." if why else f"{said}."]


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


def _places(partitions: Collection[int]) -> str:
    return f"partition{'s' * (len(partitions) > 1)} {ranges(partitions)}"
