"""A topic's partitions in lines: which keys they have; who reads them, and who did so before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from workbook.views.picture import Picture, number
from workbook.views.strip import Look, Strip

WRITES = "Who writes where: find each key, and its partition"
READS = "Who reads what: each partition has one reader of the group"
STEP_BY_STEP = f"{READS}. The squares: who had it, step by step; hatched: nobody"
BUSIEST, NAMED, STEPS = 12, 3, 16
"""Keys that are drawn, those with the most records; keys that are named because they are in several
partitions; a group's steps that are drawn, the newest ones."""

TORN, LETTERS = "⇉ ", 16
"""The sign of a key in several partitions, and letters of a key that are drawn."""

Key = str | None
"""A record's key as text; None where a record has none."""

Step = tuple[str, str, Collection[int]]
"""A callback of a rebalance: a member, "assigned", "revoked" or "lost", and the partitions."""

Held = Mapping[str, Collection[int]]
"""The partitions of each member."""


def who_writes(
    written: Iterable[tuple[str | bytes | None, int]], partitions: int, *, mark: str = ""
) -> Picture:
    """Draw each partition with its keys, from the key and partition of each record.

    Of many keys the twelve with the most records are drawn, and ``mark`` in any case, with a sign.
    """
    its = _Written(written, partitions)
    words = " ".join(_words(its, mark)) if its.records else "The topic is empty."
    keys = Counter(partition for key, partition in its.records if key is not None)
    rows = [
        {"partition": place, "records": count, "keys": keys[place]}
        for place, count in enumerate(its.of_partition)
    ]
    return Picture(_draw(its, mark), WRITES, words, rows)


def who_reads(owned: Held, log: Sequence[Step], partitions: int) -> Picture:
    """Draw which member of a group owns which partitions, and what its callbacks were called with.

    ``log`` has member, "assigned", "revoked" or "lost", and partitions. Both may change meanwhile.
    """
    owned, log = {name: set(those) for name, those in dict(owned).items()}, list(log)
    seen = [partition for those in owned.values() for partition in those]
    partitions = max(partitions, max(seen, default=-1) + 1)
    history = _history(owned, log)[-STEPS:] if log else []
    strip = _draw_readers(owned, history, partitions)
    rows = []
    for partition in range(partitions):
        row = {"partition": str(partition), "read by": _holders(owned, partition) or "nobody"}
        if log:
            row["had by, step by step"] = " ".join(_holders(h, partition) or "–" for h in history)
        rows.append(row)
    words = [*_read(owned, partitions), *_handed(log)]
    return Picture(strip, STEP_BY_STEP if log else READS, " ".join(words), rows)


class _Written:
    """How many records each key has in each partition, and the keys by their number of records."""

    def __init__(self, written: Iterable[tuple[str | bytes | None, int]], partitions: int) -> None:
        self.records: Counter[tuple[Key, int]] = Counter()
        for (key, partition), count in Counter(written).items():
            text = key.decode(errors="backslashreplace") if isinstance(key, bytes) else key
            self.records[text, partition] += count
        self.of_key: Counter[Key] = Counter()
        self.homes: defaultdict[Key, list[int]] = defaultdict(list)
        most = max((partition for _, partition in self.records), default=-1)
        self.of_partition = [0] * max(partitions, most + 1)
        for (key, partition), count in self.records.items():
            self.of_key[key] += count
            self.of_partition[partition] += count
            self.homes[key].append(partition)
        named = (key for key in self.homes if key is not None)
        self.busiest = sorted(named, key=lambda key: (-self.of_key[key], key))
        self.torn = [key for key in self.busiest if len(self.homes[key]) > 1]


def _draw(its: _Written, mark: str) -> Strip:
    drawn: list[Key] = [*its.busiest[:BUSIEST]]
    if mark in its.homes and mark not in drawn:
        drawn[-1] = mark
    strip = Strip(2, widest=20)
    _head(strip, "keys · records", "partition", "records")
    for partition, count in enumerate(its.of_partition):
        keys = [key for key in [*drawn, None] if its.records[key, partition]]
        names = [_named(key, its.records[key, partition], key in its.torn, mark) for key in keys]
        _partition(strip, partition, ", ".join(names))
        bar = "█" * round(8 * count / (max(its.of_partition) or 1))
        strip.text(1, f"{bar} {count:,}", align="left")
    if its.torn:
        strip.note(f"{TORN}a key in several partitions")
    return strip


def _words(its: _Written, mark: str) -> Iterator[str]:
    counts, count = its.of_partition, len(its.of_partition)
    each = f"between {min(counts):,} and {max(counts):,} in each"
    if count <= 8:
        each = ", ".join(f"{each:,}" for each in counts)
    yield f"{number(sum(counts), 'record')} in {number(count, 'partition')}: {each}."
    if its.busiest:
        more = f", {BUSIEST} of them drawn" if len(its.busiest) > BUSIEST else ""
        yield f"{number(len(its.busiest), 'key')}{more}; {_torn(its)}."
    if keyless := its.of_key[None]:
        yield f"{number(keyless, 'record')} without a key in {_places(its.homes[None])}."
    if mark in its.homes:
        yield f"{mark} is in {_places(its.homes[mark])}."


def _torn(its: _Written) -> str:
    if not its.torn:
        return "each in one partition"
    named = "; ".join(f"{key} in {ranges(its.homes[key])}" for key in its.torn[:NAMED])
    more = ", among others" if len(its.torn) > NAMED else ""
    return f"{len(its.torn):,} in several partitions ({named}{more})"


def _draw_readers(owned: Held, history: Sequence[Held], partitions: int) -> Strip:
    strip = Strip(2 + len(history), widest=20)
    _head(strip, "", "partition", "read by")
    if history:
        strip.bracket(2, 2 + len(history), "had by, step by step, until now")
    for partition in range(partitions):
        _partition(strip, partition)
        now = _holders(owned, partition)
        strip.cell(1, now or "✗\N{NO-BREAK SPACE}nobody", Look.ROUND if now else Look.HATCHED)
        for column, held in enumerate(history, 2):
            name = _holders(held, partition)
            title = f"partition {partition}: {name or 'nobody'}"
            strip.cell(column, name[:2], Look.PLAIN if name else Look.HATCHED, title=title)
    for name in (name for name, its in owned.items() if not its):
        strip.note(f"{name} reads nothing")
    return strip


def _head(strip: Strip, name: str, *titles: str) -> None:
    strip.next(name)
    for column, title in enumerate(titles):
        strip.text(column, title, bold=True)


def _partition(strip: Strip, partition: int, keys: str = "") -> None:
    strip.next(keys, bold=False)
    strip.cell(0, str(partition), title=f"partition {partition}", bold=True)


def _named(key: Key, count: int, torn: bool, mark: str) -> str:
    """Name a key with its signs and the number of its records."""
    if key is None:
        return f"no key · {count:,}"
    signs = TORN * torn + "▶ " * (key == mark)
    return f"{signs}{key[:LETTERS] or '(empty)'} · {count:,}"


def _history(owned: Held, log: Sequence[Step]) -> list[Held]:
    """Return who had which partitions: before the first step, and after each one."""
    states = [owned]
    for name, what, those in reversed(log):
        held = {each: set(its) for each, its in states[-1].items()}
        its = held.setdefault(name, set())
        held[name] = its - set(those) if what == "assigned" else its | set(those)
        states.append(held)
    return states[::-1]


def _holders(held: Held, partition: int) -> str:
    return "+".join(name for name, its in held.items() if partition in its)


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
